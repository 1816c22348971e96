#include "loadgen/test.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"

namespace assay::loadgen {
namespace {

double of_seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }
double per_second(double count, std::int64_t ns) { return ns > 0 ? count / of_seconds(ns) : 0; }
std::string ms_text(std::int64_t ns) {
  return format("{} ms", three_digits(static_cast<double>(ns) / 1e6));
}

using Samples = std::vector<MeasuredSample>;

// MultiStream: the slowest sample of each query. A query that lost a sample has no latency.
void add_queries(const Samples& samples, std::uint64_t group, Recorded& out) {
  for (std::size_t i = 0; i < samples.size();) {
    const std::uint64_t query = samples[i].index / group;
    std::int64_t slowest = std::numeric_limits<std::int64_t>::min();
    std::uint64_t count = 0;
    for (; i < samples.size() && samples[i].index / group == query; ++i) {
      if (!samples[i].ok) continue;
      ++count;
      slowest = std::max(slowest, samples[i].done - samples[i].due);
    }
    if (count == group) out.query_latencies.push_back(slowest);
  }
  out.queries_issued = out.query_latencies.size();
}

// The last issued query ends the test's time, though an earlier one may end later.
void add_last(const Samples& samples, std::uint64_t group, Recorded& out) {
  const auto last = std::ranges::find_if(samples.rbegin(), samples.rend(), &MeasuredSample::ok);
  if (last == samples.rend()) return;
  const std::uint64_t query = last->index / group;
  out.last_due = last->due;
  out.last_issued = last->issued;
  for (auto at = last; at != samples.rend() && at->index / group == query; ++at) {
    if (at->ok) out.last_done = std::max(out.last_done, at->done);
  }
}

Recorded record_of(const EffectiveSettings& settings, const Test& test, const Samples& samples) {
  Recorded out{.sut_name = test.sut_name};
  const bool offline = settings.scenario == Scenario::Offline;
  const bool tokens = settings.requested.use_token_latencies;
  for (const MeasuredSample& one : samples) {
    if (!one.ok) continue;
    const std::int64_t from = offline ? 0 : one.due;
    out.sample_latencies.push_back(one.done - from);
    if (!tokens) continue;
    out.tokens.push_back(std::max<std::int64_t>(one.tokens, 0));
    if (!offline) out.first_tokens.push_back(one.first_token < 0 ? 0 : one.first_token - from);
  }
  const std::uint64_t group = settings.scenario == Scenario::MultiStream
                                  ? std::max<std::uint64_t>(settings.samples_per_query, 1)
                                  : 1;
  if (settings.scenario == Scenario::MultiStream) {
    add_queries(samples, group, out);
  } else {
    out.queries_issued = offline ? 1 : out.sample_latencies.size();
  }
  add_last(samples, group, out);
  return out;
}

// Reasons that LoadGen lacks: it knows no sample that failed, and waits for a lost one for ever.
std::vector<std::string> others_of(const EffectiveSettings& settings, const Samples& samples,
                                   std::uint64_t failed, const TestEnd& end) {
  std::vector<std::string> out;
  if (!end.complete) out.push_back(format("The run is not whole: {}", end.why));
  if (failed > 0) {
    out.push_back(format("{} of {} failed, and a test has every answer", count_text(failed),
                         counted(samples.size(), "sample")));
  }
  if (!settings.requested.use_token_latencies) return out;
  std::uint64_t uncounted = 0;
  std::uint64_t whole = 0;
  for (const MeasuredSample& one : samples) {
    if (!one.ok) continue;
    if (one.tokens < 0) ++uncounted;
    if (one.first_token < 0) ++whole;
  }
  if (uncounted > 0) {
    out.push_back(format("{} of {} without a count of tokens", count_text(uncounted),
                         counted(samples.size(), "answer")));
  }
  if (whole > 0 && settings.scenario != Scenario::Offline) {
    out.push_back(format("{} of {} without a first token: they did not come as a stream",
                         count_text(whole), counted(samples.size(), "answer")));
  }
  return out;
}

// What LoadGen logs as errors, in its words.
std::vector<std::string> errors_of(const EffectiveSettings& settings, const Test& test,
                                   std::uint64_t samples, const Judgement& judged,
                                   const TestEnd& end) {
  std::vector<std::string> out;
  if (settings.scenario == Scenario::Offline || !judged.verdict || !end.complete) return out;
  const Verdict& v = *judged.verdict;
  const std::uint64_t queries = samples / std::max<std::uint64_t>(settings.samples_per_query, 1);
  const std::uint64_t most = settings.max_query_count;
  if (most > 0 && queries >= most) {
    out.emplace_back("Ending early: Max query count reached.");
    return out;
  }
  const bool server = settings.scenario == Scenario::Server;
  const bool early = server || !v.min_duration_met || !v.min_queries_met;
  if (settings.max_duration_ms > 0 && queries < test.generated && early) {
    out.emplace_back("Ending early: Max test duration reached.");
  } else if (!server && queries == test.generated && early) {
    out.emplace_back(
        "Ending early: Ran out of generated queries to issue before the minimum query count and "
        "test duration were reached. Please update the relevant expected latency or target qps in "
        "the TestSettings so they are more accurate.");
  }
  return out;
}

SuiteMetric latency_metric(const Judgement& j) {
  const bool multi = j.settings.scenario == Scenario::MultiStream;
  const Verdict& v = *j.verdict;
  const std::string percentile =
      format("{:.1f}th percentile latency", j.settings.target_latency_percentile * 100);
  // With token latencies LoadGen's estimate in SingleStream is one of the time per token, so the
  // suite takes the percentile itself.
  const bool tokens = j.settings.requested.use_token_latencies && !multi;
  const auto estimate = v.latency.estimate ? v.latency.estimate : v.tpot.estimate;
  if (tokens || !estimate) {
    const Spread& spread = multi ? v.query_latency : v.sample_latency;
    return {.name = format("result_{:.2f}_percentile_{}latency_ns",
                           j.settings.target_latency_percentile * 100, multi ? "per_query_" : ""),
            .label = percentile,
            .value = static_cast<double>(spread.target) / 1e6,
            .unit = "ms"};
  }
  return {.name = multi ? "early_stopping_latency_ms" : "early_stopping_latency_ss",
          .label = percentile + ", early stopping estimate",
          .value = static_cast<double>(*estimate) / 1e6,
          .unit = "ms"};
}

SuiteMetric metric_of(const Judgement& j) {
  const Verdict& v = *j.verdict;
  const bool tokens = j.settings.requested.use_token_latencies;
  switch (j.settings.scenario) {
    case Scenario::SingleStream:
    case Scenario::MultiStream:
      return latency_metric(j);
    case Scenario::Server:
      if (tokens) {
        return {"result_completed_tokens_per_second", "completed tokens per second",
                per_second(static_cast<double>(v.tokens), j.recorded.last_done), "tokens/s"};
      }
      return {"result_completed_samples_per_sec", "completed samples per second",
              per_second(static_cast<double>(v.samples - 1), j.recorded.last_done), "samples/s"};
    case Scenario::Offline:
      break;
  }
  const double count = static_cast<double>(tokens ? v.tokens : v.samples);
  const double rate = per_second(count, v.sample_latency.max);
  return tokens ? SuiteMetric{"result_tokens_per_second", "tokens per second", rate, "tokens/s"}
                : SuiteMetric{"result_samples_per_second", "samples per second", rate, "samples/s"};
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    std::string_view words = trim(line);
    if (words.starts_with("* ")) words.remove_prefix(2);
    out += (out.empty() ? "" : " ") + std::string(words);
  }
  return out;
}

std::string limit_text(std::string_view what, double fraction, std::int64_t value,
                       std::int64_t limit) {
  return format("{} P{:g} {}, limit {}: {}", what, fraction * 100, ms_text(value), ms_text(limit),
                value <= limit ? "met" : "NOT met");
}

}  // namespace

Json Test::to_json() const {
  Json out = Json::object()
                 .set("scenario", name)
                 .set("edition", edition)
                 .set("model", model)
                 .set("sut_name", sut_name)
                 .set("requested", requested.to_json())
                 .set("samples", library.total)
                 .set("loaded", library.performance)
                 .set("generated_query_count", generated);
  if (in_flight_max > 0) out.set("in_flight_max", in_flight_max);
  if (!library_name.empty()) out.set("library", library_name);
  Json phases = Json::array();
  for (const AccuracyRows& one : accuracy) {
    phases.push_back(Json().set("phase", one.phase).set("samples", one.samples));
  }
  if (!accuracy.empty()) out.set("accuracy", std::move(phases));
  if (!user_conf.empty()) out.set("user_conf", user_conf);
  if (!audit_conf.empty()) out.set("audit_conf", audit_conf);
  return out;
}

Result<Test> Test::from_json(const Json& json) {
  if (!json.is_object()) return invalid("loadgen: must be an object");
  Test out{.name = std::string(json["scenario"].as_string()),
           .edition = std::string(json["edition"].as_string()),
           .model = std::string(json["model"].as_string()),
           .sut_name = std::string(json["sut_name"].as_string()),
           .user_conf = std::string(json["user_conf"].as_string()),
           .audit_conf = std::string(json["audit_conf"].as_string())};
  ASSIGN_OR_RETURN(out.requested, TestSettings::from_json(json["requested"]));
  out.library = {.total = json["samples"].as_uint(), .performance = json["loaded"].as_uint()};
  out.generated = json["generated_query_count"].as_uint();
  out.in_flight_max = static_cast<std::uint32_t>(json["in_flight_max"].as_uint());
  out.library_name = json["library"].as_string();
  for (const Json& one : json["accuracy"].items()) {
    out.accuracy.push_back({.phase = static_cast<std::uint16_t>(one["phase"].as_uint()),
                            .samples = one["samples"].as_uint()});
  }
  return out;
}

Result<Judgement> judge(const Test& test, std::vector<MeasuredSample> samples, const TestEnd& end) {
  std::ranges::sort(samples, {}, &MeasuredSample::index);
  Judgement out{.test = test};
  ASSIGN_OR_RETURN(out.settings, effective(test.requested, test.library));
  out.failed = static_cast<std::uint64_t>(std::ranges::count(samples, false, &MeasuredSample::ok));
  out.recorded = record_of(out.settings, test, samples);
  auto verdict = loadgen::verdict(out.settings, out.recorded);
  if (verdict) {
    verdict->others = others_of(out.settings, samples, out.failed, end);
    out.verdict = *std::move(verdict);
    out.metric = metric_of(out);
  }
  out.errors = errors_of(out.settings, test, samples.size(), out, end);
  out.recorded.errors = out.errors.size() + out.failed;
  if (out.settings.requested.use_token_latencies) {
    // LoadGen counts an answer of one token as an error too.
    out.recorded.errors += static_cast<std::uint64_t>(
        std::ranges::count_if(out.recorded.tokens, [](std::int64_t n) { return n <= 1; }));
  }
  return out;
}

std::string Judgement::reasons() const {
  if (!verdict) return "No sample was completed.";
  std::string out = verdict->reasons();
  if (!verdict->early_stopping_met) {
    if (!out.empty() && out.back() != ' ') out += ' ';
    out += "Early stopping is not satisfied.";
  }
  return std::string(trim(out));
}

std::vector<std::pair<std::string, std::string>> Judgement::lines() const {
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("test",
                   format("{}: {}, {}, LoadGen's settings of {}; no MLPerf result",
                          valid() ? "VALID" : "INVALID", test.name,
                          test.model == "*" ? "any model" : "model " + test.model, test.edition));
  if (metric) {
    out.emplace_back(
        "metric", format("{} {} ({})", three_digits(metric->value), metric->unit, metric->label));
  }
  if (!valid()) out.emplace_back("reason", one_line(reasons()));
  if (!verdict) return out;
  const Verdict& v = *verdict;
  const TestSettings& asked = settings.requested;
  const double p = settings.target_latency_percentile;
  if (settings.scenario == Scenario::Server && !asked.use_token_latencies) {
    out.emplace_back("limit",
                     limit_text("latency", p, v.sample_latency.target, settings.target_latency_ns));
  } else if (settings.scenario == Scenario::Server) {
    out.emplace_back("limit", limit_text("TTFT", p, v.first_token.target,
                                         static_cast<std::int64_t>(asked.server_ttft_latency)));
    out.emplace_back("limit", limit_text("TPOT", p, v.output_token.target,
                                         static_cast<std::int64_t>(asked.server_tpot_latency)));
  }
  for (const EarlyStopping* const rule : {&v.latency, &v.ttft, &v.tpot}) {
    if (!rule->text.empty()) out.emplace_back("stopping", one_line(rule->text));
  }
  for (const std::string& error : errors) out.emplace_back("error", error);
  if (test.in_flight_max > 0) {
    out.emplace_back("cap",
                     format("one query of {}; the client had at most {} in flight",
                            counted(v.samples + failed, "sample"), count_text(test.in_flight_max)));
  }
  return out;
}

std::string Judgement::summary() const {
  if (!verdict) return summary_trailer(recorded.warnings, recorded.errors);
  return summary_text(settings, recorded, *verdict);
}

Json Judgement::to_json() const {
  Json out = Json::object().set("valid", valid()).set("reasons", reasons());
  if (metric) {
    out.set("metric", Json::object()
                          .set("name", metric->name)
                          .set("label", metric->label)
                          .set("value", metric->value)
                          .set("unit", metric->unit));
  }
  out.set("errors", json_list(errors)).set("failed_samples", failed);
  if (verdict) {
    const Verdict& v = *verdict;
    out.set("performance_met", v.performance_met)
        .set("min_duration_met", v.min_duration_met)
        .set("min_queries_met", v.min_queries_met)
        .set("early_stopping_met", v.early_stopping_met)
        .set("queries", recorded.queries_issued)
        .set("samples", v.samples);
    if (settings.requested.use_token_latencies) {
      out.set("tokens", v.tokens);
      if (settings.scenario != Scenario::Offline) {
        out.set("ttft_ns", v.first_token.target).set("tpot_ns", v.output_token.target);
      }
    }
    out.set("latency_ns", settings.scenario == Scenario::MultiStream ? v.query_latency.target
                                                                     : v.sample_latency.target);
  }
  Json asked = Json::object()
                   .set("scenario", test.name)
                   .set("edition", test.edition)
                   .set("model", test.model)
                   .set("effective", settings.to_json());
  if (test.in_flight_max > 0) asked.set("in_flight_max", test.in_flight_max);
  return out.set("asked", std::move(asked));
}

}  // namespace assay::loadgen
