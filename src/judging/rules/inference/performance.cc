// What a performance run's log says of its settings and its result.
#include <algorithm>

#include "base/text.h"
#include "rules/inference/rule.h"

namespace assay::rules::inference {

std::vector<const DetailLog*> performance_logs(const At& at) {
  std::vector<const DetailLog*> out;
  if (at.result->performance.good()) out.push_back(&at.result->performance);
  if (at.open()) return out;
  for (const ComplianceTest& test : at.result->tests) {
    if (test.log.good()) out.push_back(&test.log);
  }
  return out;
}

namespace {

constexpr std::int64_t kDurationMinMs = 600'000;

std::string number_text(const Json& value) { return value.is_null() ? "nothing" : said(value); }

// Calls `look` for each log; the rule does not apply where there is none.
template <typename Look>
void for_each_log(const At& at, Out& out, const Look& look) {
  const auto logs = performance_logs(at);
  if (logs.empty()) return out.not_applicable();
  for (const DetailLog* const log : logs) look(*log);
}

void check_performance_log(const At& at, Out& out) {
  if (at.result->of_endpoints) return out.not_applicable();
  const DetailLog& log = at.result->performance;
  if (log.absent()) return out.error({log.name(), 0}, "no such file", "the run's detail log");
  if (!log.good()) return out.error(log.place(), log.trouble(), "lines of :::MLLOG and JSON");
  if (at.result->scenario_run().empty()) {
    out.error({log.name(), 0}, "no effective_scenario", "a whole log");
  }
}

void check_performance_errors(const At& at, Out& out) {
  for_each_log(at, out, [&](const DetailLog& log) {
    for (const DetailLog::Error& error : log.errors()) {
      out.warning({log.name(), error.line}, error.text, "a run without errors of LoadGen");
    }
  });
}

void check_performance_valid(const At& at, Out& out) {
  if (!at.result->performance.good()) return out.not_applicable();
  const DetailLog& log = at.result->performance;
  const Json& validity = log["result_validity"];
  if (validity.as_string() == "VALID") return;
  const Json& why = log["result_invalid_reason"];
  out.error(log.place("result_validity"),
            number_text(validity) + (why.is_string() ? ": " + said(why) : ""), "VALID");
}

void check_performance_samples(const At& at, Out& out) {
  const auto* const model = at.result->official;
  if (model == nullptr) return out.not_applicable();
  for_each_log(at, out, [&](const DetailLog& log) {
    const Json& found = log["effective_performance_sample_count"];
    if (found.is_number() && found.as_int() >= model->performance_samples) return;
    out.error(log.place("effective_performance_sample_count"), number_text(found),
              format("at least {}", model->performance_samples));
  });
}

void check_performance_seeds(const At& at, Out& out) {
  const auto& round = at.tree.round;
  for_each_log(at, out, [&](const DetailLog& log) {
    for (const auto& [name, seed] :
         {std::pair{"qsl_rng_seed", round.qsl_rng_seed},
          std::pair{"sample_index_rng_seed", round.sample_index_rng_seed},
          std::pair{"schedule_rng_seed", round.schedule_rng_seed}}) {
      const std::string key = "effective_" + std::string(name);
      if (log[key].is_integer() && log[key].as_uint() == seed) continue;
      out.error(log.place(key), format("{} {}", name, number_text(log[key])),
                format("{}, the seed of round {}", seed, round.name));
    }
  });
}

void check_performance_duration(const At& at, Out& out) {
  const auto* const model = at.result->official;
  if (model != nullptr && model->name.starts_with("e2e-rag-")) return out.not_applicable();
  for_each_log(at, out, [&](const DetailLog& log) {
    const Json& found = log["effective_min_duration_ms"];
    if (found.is_number() && found.as_double() >= kDurationMinMs) return;
    out.error(log.place("effective_min_duration_ms"), number_text(found) + " ms",
              format("at least {} ms", kDurationMinMs));
  });
}

bool early_stopping(const DetailLog& log) {
  const std::string_view scenario = log["effective_scenario"].as_string();
  return scenario == "Server" || scenario == "SingleStream" || scenario == "MultiStream";
}

void check_performance_queries(const At& at, Out& out) {
  const auto* const model = at.result->official;
  if (model == nullptr) return out.not_applicable();
  for_each_log(at, out, [&](const DetailLog& log) {
    const std::string scenario(log["effective_scenario"].as_string());
    if (!early_stopping(log)) {
      const auto least = model->queries_min(scenario);
      const Json& found = log["effective_min_query_count"];
      if (least && !(found.is_number() && found.as_int() >= *least)) {
        out.error(log.place("effective_min_query_count"), number_text(found),
                  format("at least {} queries", *least));
      }
    }
    if (lower(scenario) != "offline" || at.submitter->division != "closed") return;
    const Json& samples = log["effective_samples_per_query"];
    if (model->offline_samples_min == 0) {
      out.error(log.place("effective_samples_per_query"),
                model->name + " has no published least size of an Offline query",
                "a model with one");
    } else if (!samples.is_number() || samples.as_int() < model->offline_samples_min) {
      out.error(log.place("effective_samples_per_query"), number_text(samples),
                format("at least {} samples in the query", model->offline_samples_min));
    }
  });
}

void check_performance_network_name(const At& at, Out& out) {
  if (at.system->description.root()["is_network"].as_string() != "true") {
    return out.not_applicable();
  }
  for_each_log(at, out, [&](const DetailLog& log) {
    if (log["sut_name"].as_string().find("Network SUT") != std::string_view::npos) return;
    out.error(log.place("sut_name"), number_text(log["sut_name"]),
              "a name with \"Network SUT\" in it");
  });
}

// A log of another scenario than its folder's name.
bool inferred(const At& at, const DetailLog& log) {
  const std::string run = lower(log["effective_scenario"].as_string());
  const std::string folder = lower(at.result->scenario);
  return run != folder && !(run == "server" && folder == "interactive");
}

void check_performance_inferred(const At& at, Out& out) {
  for_each_log(at, out, [&](const DetailLog& log) {
    if (!inferred(at, log)) return;
    const std::string run = lower(log["effective_scenario"].as_string());
    const std::string folder = lower(at.result->scenario);
    const Place place = log.place("effective_scenario");
    const std::string found = format("a run of {} stands for {}", run, folder);
    if (lower(at.system->description.root()["system_type"].as_string()).find("edge") ==
        std::string::npos) {
      return out.error(place, found, "results are inferred at the edge alone");
    }
    const bool allowed =
        (run == "singlestream" && (folder == "multistream" || folder == "offline")) ||
        (run == "multistream" && folder == "offline");
    if (!allowed) {
      return out.error(place, found, "MultiStream from SingleStream, Offline from either");
    }
    if (folder == "multistream" && log["early_stopping_latency_ms"].as_double() == 0) {
      out.error(log.place("early_stopping_latency_ms"), "no estimate of the 99th percentile",
                "enough queries for one (662)");
    }
  });
}

void check_performance_metric(const At& at, Out& out) {
  const auto* const model = at.result->official;
  const DetailLog& log = at.result->performance;
  if (model == nullptr || !log.good()) return out.not_applicable();
  const auto want = [&](const std::string& key) {
    if (log[key].is_number() && log[key].as_double() > 0) return;
    out.error(log.place(key), format("{}: {}", key, number_text(log[key])), "a number above 0");
  };
  const std::string_view scenario = log["effective_scenario"].as_string();
  want(model->metric_key(scenario));
  if (!inferred(at, log) || lower(at.result->scenario) != "offline") return;
  want(scenario == "SingleStream" ? "result_qps_without_loadgen_overhead"
                                  : "result_mean_query_latency_ns");
}

void check_performance_summary(const At& at, Out& out) {
  if (!at.result->performance.good()) return out.not_applicable();
  const std::string name = at.result->path + "/performance/run_1/mlperf_log_summary.txt";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(at.tree.root / name, ignored)) return;
  out.warning({name, 0}, "no such file", "the run's summary");
}

}  // namespace

void add_performance(Rules& rules) {
  const ResultRules add{rules, "performance"};
  add("inf-performance-log", Severity::error, "checker: PerformanceCheck.missing_check",
      "performance/run_1 has a readable detail log", "add the log as LoadGen wrote it",
      check_performance_log);
  add("inf-summary-log", Severity::warning, "submission_structure",
      "performance/run_1 has the summary", "add the log as LoadGen wrote it",
      check_performance_summary);
  add("inf-loadgen-errors", Severity::warning, "checker: PerformanceCheck.loadgen_errors_check",
      "LoadGen logged no error", "mend the cause and run again", check_performance_errors);
  add("inf-result-valid", Severity::error, "rules: a result is valid; the checker does not look",
      "the result is VALID", "run again; the summary has the reasons", check_performance_valid);
  add("inf-performance-samples", Severity::error,
      "checker: PerformanceCheck.performance_sample_count_check",
      "the loaded set is at least as large as the round's",
      "run with mlperf.conf's performance_sample_count_override", check_performance_samples);
  add("inf-seeds", Severity::error, "checker: PerformanceCheck.seeds_check",
      "the three seeds are the round's", "run with the round's LoadGen", check_performance_seeds);
  add("inf-queries", Severity::error, "checker: PerformanceCheck.min_query_count_check",
      "Offline's query has enough samples", "raise target_qps or min_query_count",
      check_performance_queries);
  add("inf-duration", Severity::error, "checker: PerformanceCheck.min_duration_check",
      "the least duration is 600 s", "run with min_duration = 600000", check_performance_duration);
  add("inf-network-sut", Severity::error, "checker: PerformanceCheck.network_check",
      "a network system's name has \"Network SUT\" in it", "let Name() return such a name",
      check_performance_network_name);
  add("inf-inferred", Severity::error, "checker: PerformanceCheck.inferred_check",
      "a result stands for another scenario at the edge alone, in the published pairs",
      "measure the scenario itself", check_performance_inferred);
  add("inf-metric", Severity::error, "checker: PerformanceCheck.get_performance_metric_check",
      "the log has the suite's metric", "add the log as LoadGen wrote it",
      check_performance_metric);
}

}  // namespace assay::rules::inference
