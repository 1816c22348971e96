// Limits: early stopping, a query's latency, time to first token and per token.
#include "rules/inference/rule.h"

namespace assay::rules::inference {
namespace {

std::string value_text(const Json& value) { return value.is_null() ? "nothing" : said(value); }

bool stops_early(std::string_view scenario) {
  return scenario == "Server" || scenario == "SingleStream" || scenario == "MultiStream";
}

void check_latency_early_stopping(const At& at, Out& out) {
  bool any = false;
  for (const DetailLog* const log : performance_logs(at)) {
    if (!stops_early((*log)["effective_scenario"].as_string())) continue;
    any = true;
    if ((*log)["early_stopping_met"].as_bool()) continue;
    const Json& why = (*log)["early_stopping_result"];
    out.error(log->place("early_stopping_met"),
              "not met" + (why.is_string() ? ": " + said(why) : std::string()), "met");
  }
  if (!any) out.not_applicable();
}

// What the run was held against, where early stopping decides; else what it measured.
void check_latency_latency(const At& at, Out& out) {
  const auto* const model = at.result->official;
  if (model == nullptr) return out.not_applicable();
  bool any = false;
  for (const DetailLog* const log : performance_logs(at)) {
    const std::string_view scenario = (*log)["effective_scenario"].as_string();
    const bool early = stops_early(scenario);
    const auto limit =
        model->latency_ns(early ? std::string(scenario) : at.result->scenario_name());
    if (!limit) continue;
    any = true;
    const std::string key =
        early ? "effective_target_latency_ns" : "result_99.00_percentile_latency_ns";
    const Json& found = (*log)[key];
    if (found.is_number() && found.as_double() <= static_cast<double>(*limit)) continue;
    out.error(log->place(key), value_text(found) + " ns", format("at most {} ns", *limit));
  }
  if (!any) out.not_applicable();
}

void check_latency_tokens_used(const At& at, Out& out) {
  const auto* const model = at.result->official;
  const auto logs = performance_logs(at);
  if (model == nullptr || !model->language_model() || logs.empty()) return out.not_applicable();
  for (const DetailLog* const log : logs) {
    if ((*log)["requested_use_token_latencies"].as_bool()) continue;
    out.error(log->place("requested_use_token_latencies"),
              value_text((*log)["requested_use_token_latencies"]), "true");
  }
}

void check_latency_token_limits(const At& at, Out& out) {
  const auto* const model = at.result->official;
  if (model == nullptr || !model->language_model()) return out.not_applicable();
  bool any = false;
  for (const DetailLog* const log : performance_logs(at)) {
    if ((*log)["effective_scenario"].as_string() != "Server") continue;
    any = true;
    // The checker takes the log's scenario, which is never Interactive, and so the wider limits.
    const std::string folder = at.result->scenario_name();
    const std::string scenario = folder == "Interactive" ? folder : "Server";
    const auto limits = model->token_limits(scenario);
    if (!limits) {
      out.error(log->place("effective_scenario"), model->name + " has no limits for " + scenario,
                "a scenario with limits");
      continue;
    }
    for (const auto& [key, limit] :
         {std::pair{"result_first_token_99.00_percentile_latency_ns", limits->ttft_ns},
          std::pair{"result_time_per_output_token_99.00_percentile_ns", limits->tpot_ns}}) {
      const Json& found = (*log)[key];
      if (found.is_number() && found.as_double() < static_cast<double>(limit)) continue;
      out.error(log->place(key), value_text(found) + " ns",
                format("less than {} ns, {}'s limit", limit, scenario));
    }
  }
  if (!any) out.not_applicable();
}

}  // namespace

void add_latency(Rules& rules) {
  const ResultRules add{rules, "latency"};
  add("inf-early-stopping", "checker: PerformanceCheck.latency_check",
      "early stopping is met in Server, SingleStream and MultiStream",
      "run longer, or ask for less", check_latency_early_stopping);
  add("inf-latency", "checker: PerformanceCheck.latency_check",
      "the latency limit is the round's or less", "run with the round's mlperf.conf",
      check_latency_latency);
  add("inf-token-latencies", "checker: PerformanceCheck.llm_check",
      "a language model's run measures tokens", "run with use_token_latencies = 1",
      check_latency_tokens_used);
  add("inf-token-limits",
      "checker: PerformanceCheck.llm_check; it holds Interactive against Server's limits",
      "TTFT and TPOT of P99 are below the scenario's limits", "ask for less",
      check_latency_token_limits);
}

}  // namespace assay::rules::inference
