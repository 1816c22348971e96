#include "report/run_document.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/json_list.h"
#include "base/word.h"
#include "metrics/curve.h"
#include "metrics/result_json.h"

namespace assay::report {
namespace {

constexpr double kMsPerNs = 1e-6;
constexpr std::size_t kBucketsMax = 480;  // of a timeline_json: about a chart's width in pixels
constexpr double kShownPoints[] = {50.0, 90.0, 99.0};

Json round_to(double value, double digits) {
  if (!std::isfinite(value)) return Json();
  if (value == 0) return Json(0);
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::fabs(value))));
  return Json(std::round(value * scale) / scale);
}

// Six digits exceed the precision of any measurement here, and halve the bytes.
Json figure(double value) { return round_to(value, 6); }

Json distribution(const metrics::Distribution& series, double unit) {
  Json out = Json::object();
  out.set("count", series.count);
  if (series.empty()) return out;
  out.set("min", figure(series.min * unit)).set("max", figure(series.max * unit));
  out.set("mean", figure(series.mean * unit)).set("std_dev", figure(series.std_dev * unit));
  Json percentiles = Json::object();
  for (std::size_t i = 0; i < metrics::kPercentiles.size(); ++i) {
    percentiles.set(json_number(metrics::kPercentiles[i]), figure(series.percentiles[i] * unit));
  }
  out.set("percentiles", std::move(percentiles));
  if (series.limits) {
    Json limits = Json::object();
    for (std::size_t i = 0; i < metrics::kPercentiles.size(); ++i) {
      const metrics::Between& range = series.limits->percentiles[i];
      Json pair = Json::array();
      pair.push_back(figure(range.low * unit)).push_back(figure(range.high * unit));
      limits.set(json_number(metrics::kPercentiles[i]), std::move(pair));
    }
    out.set("limits", std::move(limits));
  }
  Json quantiles = Json::array();
  for (const metrics::QuantilePoint& point : series.quantiles) {
    Json pair = Json::array();
    pair.push_back(figure(point.fraction)).push_back(figure(point.value * unit));
    quantiles.push_back(std::move(pair));
  }
  out.set("quantiles", std::move(quantiles));
  Json edges = Json::array();
  Json counts = Json::array();
  for (const metrics::Bucket& bucket : series.histogram) {
    edges.push_back(figure(bucket.low * unit));
    counts.push_back(bucket.count);
  }
  if (!series.histogram.empty()) edges.push_back(figure(series.histogram.back().high * unit));
  return out.set("histogram",
                 Json().set("edges", std::move(edges)).set("counts", std::move(counts)));
}

Json distributions_json(const metrics::Point& point) {
  Json out = Json::object();
  const auto add = [&out](std::string_view name, const metrics::Distribution& series,
                          double unit = kMsPerNs) {
    if (!series.empty()) out.set(name, distribution(series, unit));
  };
  add("ttft", point.arrival.ttft);
  add("ttft_due", point.arrival.ttft_due);
  add("tpot", point.arrival.tpot);
  add("itl", point.arrival.itl);
  add("latency", point.arrival.latency);
  add("latency_due", point.arrival.latency_due);
  add("isl", point.isl, 1);
  add("osl", point.osl, 1);
  add("lateness", point.lateness);
  add("read_delay", point.read_delay);
  return out;
}

// The value below which `share` of a bucket's first tokens fell, in ms; null without first tokens.
Json ttft_quantile(const std::vector<std::uint64_t>& bins, double share) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : bins) total += count;
  if (total == 0) return Json();
  const double wanted = share * static_cast<double>(total);
  double before = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const auto count = static_cast<double>(bins[i]);
    if (count > 0 && before + count >= wanted) {
      const double low = metrics::Timeline::ttft_bin_low(i);
      const double high = metrics::Timeline::ttft_bin_low(i + 1);
      return round_to((low + (high - low) * (wanted - before) / count) * kMsPerNs, 3);
    }
    before += count;
  }
  return Json();
}

Json timeline_json(const metrics::Timeline& time) {
  const std::size_t count = time.buckets.size();
  const std::size_t each = std::max<std::size_t>(1, (count + kBucketsMax - 1) / kBucketsMax);
  const double width = time.width.seconds() * static_cast<double>(each);
  Json tokens = Json::array();
  Json sent = Json::array();
  Json completed = Json::array();
  Json failed = Json::array();
  Json in_flight = Json::array();
  Json p50 = Json::array();
  Json p90 = Json::array();
  constexpr std::size_t kBins = metrics::Timeline::kTtftBins;
  for (std::size_t from = 0; from < count; from += each) {
    const std::size_t to = std::min(count, from + each);
    metrics::TimeBucket sum;
    std::vector<std::uint64_t> bins(kBins);
    for (std::size_t i = from; i < to; ++i) {
      const metrics::TimeBucket& bucket = time.buckets[i];
      sum.output_tokens += bucket.output_tokens;
      sum.sent += bucket.sent;
      sum.completed += bucket.completed;
      sum.failed += bucket.failed;
      sum.in_flight += bucket.in_flight;
      for (std::size_t k = 0; k < kBins && (i + 1) * kBins <= time.ttft.size(); ++k) {
        bins[k] += time.ttft[i * kBins + k];
      }
    }
    tokens.push_back(round_to(sum.output_tokens / width, 4));
    sent.push_back(sum.sent);
    completed.push_back(sum.completed);
    failed.push_back(sum.failed);
    in_flight.push_back(round_to(sum.in_flight / static_cast<double>(to - from), 4));
    p50.push_back(ttft_quantile(bins, 0.5));
    p90.push_back(ttft_quantile(bins, 0.9));
  }
  Json out = Json::object();
  out.set("width_s", width).set("output_tps", std::move(tokens)).set("sent", std::move(sent));
  out.set("completed", std::move(completed)).set("failed", std::move(failed));
  out.set("in_flight", std::move(in_flight));
  return out.set("ttft_ms_p50", std::move(p50)).set("ttft_ms_p90", std::move(p90));
}

Json seconds_of(const metrics::Point& point, Instant at) {
  if (!at.known() || !point.began.known()) return Json();
  return figure((at - point.began).seconds());
}

Json phases(const metrics::Point& point) {
  Json out = Json::array();
  for (const metrics::PhaseSpan& span : point.phases) {
    out.push_back(Json()
                      .set("kind", to_string(span.kind))
                      .set("name", span.name)
                      .set("started_s", seconds_of(point, span.started))
                      .set("issue_ended_s", seconds_of(point, span.issue_ended))
                      .set("drained_s", seconds_of(point, span.drained)));
  }
  return out;
}

Json document_failures(const metrics::Point& point) {
  Json out = Json::array();
  for (const metrics::Failures& kind : point.failures) {
    out.push_back(Json()
                      .set("outcome", to_string(kind.outcome))
                      .set("count", kind.count)
                      .set("examples", json_list(kind.examples, &metrics::FailureExample::detail)));
  }
  return out;
}

Json document_files(const RunContext& context) {
  Json out = Json::array();
  for (const ReportFile& file : context.files) {
    Json one;
    one.set("path", path_in_folder(context, file)).set("bytes", file.bytes);
    if (!file.sha256.empty()) one.set("sha256", file.sha256);
    if (!file.about.empty()) one.set("about", file.about);
    out.push_back(std::move(one));
  }
  return out;
}

// The mean over performance phases, by Little's law: an open loop's queries in flight.
double mean_in_flight(const metrics::Point& point) {
  return point.rates.qps * point.arrival.latency.mean * 1e-9;
}

// The part of a run that is its result: the steady-state window where it is official.
const metrics::SteadyState* window_of(const metrics::Point& point) {
  return point.steady && point.steady->official() ? &*point.steady : nullptr;
}

Json steady_state(const metrics::Point& point) {
  if (!point.steady) return Json();
  Json out;
  out.set("status", to_string(point.steady->status));
  out.set("verdict", to_string(point.steady->verdict));
  if (point.steady->found && point.steady->from.known()) {
    out.set("from_s", seconds_of(point, point.steady->from));
    out.set("to_s", seconds_of(point, point.steady->from + point.steady->span));
  }
  if (point.counts.completed > 0) out.set("text", metrics::steady_state_text(*point.steady));
  return out;
}

void set_shown(Json& out, std::string_view name, const metrics::Distribution& series) {
  if (series.empty()) return;
  for (const double p : kShownPoints) {
    out.set(format("{}_ms_p{}", name, static_cast<int>(p)),
            figure(series.percentile(p) * kMsPerNs));
  }
}

// A series of result_summary.json.
Json summary_distribution(const Json& block, double unit) {
  Json out = Json::object();
  for (const char* key : {"min", "max"}) {
    if (block[key].is_number()) out.set(key, figure(block[key].as_double() * unit));
  }
  if (block["avg"].is_number()) out.set("mean", figure(block["avg"].as_double() * unit));
  if (block["std_dev"].is_number()) {
    out.set("std_dev", figure(block["std_dev"].as_double() * unit));
  }
  Json percentiles = Json::object();
  for (const auto& [key, value] : block["percentiles"].members()) {
    if (value.is_number()) percentiles.set(key, figure(value.as_double() * unit));
  }
  out.set("percentiles", std::move(percentiles));
  std::uint64_t count = 0;
  Json counts = Json::array();
  for (const Json& one : block["histogram"]["counts"].items()) {
    count += one.as_uint();
    counts.push_back(one.as_uint());
  }
  Json edges = Json::array();
  for (const Json& bucket : block["histogram"]["buckets"].items()) {
    if (edges.size() == 0) edges.push_back(figure(bucket[0].as_double() * unit));
    edges.push_back(figure(bucket[1].as_double() * unit));
  }
  out.set("count", count);
  if (edges.size() == counts.size() + 1) {
    out.set("histogram", Json().set("edges", std::move(edges)).set("counts", std::move(counts)));
  }
  return out;
}

double positive(const Json& value) {
  const double number = value.as_double();
  return std::isfinite(number) && number > 0 ? number : 0;
}

// The reference client counts failed queries as completed. Its file shows that: more ended than
// were issued.
std::uint64_t failed_in_completed(const Json& summary) {
  const std::uint64_t failed = summary["n_samples_failed"].as_uint();
  const std::uint64_t completed = summary["n_samples_completed"].as_uint();
  const bool counted_twice = completed + failed > summary["n_samples_issued"].as_uint(completed);
  return !summary["assay"].is_object() && counted_twice ? std::min(failed, completed) : 0;
}

std::uint64_t succeeded(const Json& summary) {
  return summary["n_samples_completed"].as_uint() - failed_in_completed(summary);
}

struct SummaryRates {
  double duration_s = 0;
  double qps = 0;
  double system_tps = 0;
  double tps_per_user = 0;
};

SummaryRates rates_of(const Json& summary) {
  SummaryRates out;
  out.duration_s = positive(summary["duration_ns"]) * 1e-9;
  const double tokens = positive(summary["output_sequence_lengths"]["total"]);
  if (out.duration_s > 0) {
    out.qps = static_cast<double>(succeeded(summary)) / out.duration_s;
    out.system_tps = tokens / out.duration_s;
  }
  if (positive(summary["system_tps"]) > 0) out.system_tps = positive(summary["system_tps"]);
  const double tpot = positive(summary["tpot"]["percentiles"]["90.0"]);
  if (tpot > 0) out.tps_per_user = 1e9 / tpot;
  if (positive(summary["e2e_avg_interactivity"]) > 0) {
    out.tps_per_user = positive(summary["e2e_avg_interactivity"]);
  }
  return out;
}

void set_steady(Json& out, std::string_view word) {
  if (!word.empty()) out.set("steady", word);
}

// A summary's steady window where it is the result: its figures replace the whole run's.
void set_window(const Json& summary, Json& out) {
  metrics::CurvePoint told;
  metrics::read_point(summary, Json(), told);
  if (!told.window_official) return;
  const metrics::PointFigures& window = *told.window;
  const auto set = [&out](std::string_view key, double value) {
    if (std::isfinite(value) && value > 0) out.set(key, figure(value));
  };
  set("system_tps", window.system_tps.value_or(0));
  set("tps_per_user", window.tps_per_user.value_or(0));
  set("units_per_s", window.units_per_s.value_or(0));
  set("qps", window.qps);
  set("ttft_ms_p50", window.ttft_p50_ms);
  set("ttft_ms_p90", window.ttft_p90_ms);
  set("ttft_ms_p99", window.ttft_p99_ms);
  set("tpot_ms_p50", window.tpot_p50_ms);
  set("tpot_ms_p90", window.tpot_p90_ms);
  set("tpot_ms_p99", window.tpot_p99_ms);
  set("latency_ms_p50", window.latency_p50_ms);
  set("latency_ms_p90", window.latency_p90_ms);
  set("latency_ms_p99", window.latency_p99_ms);
}

// The official interactivity of conversations is of whole turns, waiting included, and says so.
void set_end_to_end(Json& out, double rate) {
  out.set("tps_per_user", figure(rate)).set("interactivity", "end_to_end");
}

}  // namespace

std::string_view steady_word(std::string_view status, std::string_view verdict,
                             std::uint64_t super_passes) {
  if (verdict.starts_with("drifting")) return "no";
  if (verdict == to_string(metrics::SteadyVerdict::not_found)) {
    return super_passes >= metrics::kSuperPassesMin ? "no" : "";
  }
  return status == to_string(metrics::WindowStatus::windowable) ? "yes" : "";
}

Json point_document(const metrics::Point& point, const RunContext& context) {
  const Json& pattern = point.run.facts["run_config"]["load_pattern"];
  const double wanted = positive(pattern["target_concurrency"]);
  const bool closed = pattern["type"].as_string() == "concurrency" && wanted > 0;
  Json out = Json::object();
  out.set("concurrency", closed ? Json(wanted) : figure(mean_in_flight(point)));
  if (positive(pattern["target_qps"]) > 0) out.set("rate", positive(pattern["target_qps"]));
  const metrics::SteadyState* const window = window_of(point);
  const std::optional<double> tps = window != nullptr ? window->tps : point.rates.tps;
  const std::optional<double> each =
      window != nullptr ? window->tps_per_user : point.rates.tps_per_user;
  if (tps) out.set("system_tps", figure(*tps));
  if (const auto rate = metrics::conversation_rate(point)) {
    set_end_to_end(out, *rate);
  } else if (each) {
    out.set("tps_per_user", figure(*each));
  }
  if (!point.units.name.empty()) {
    const auto rate = window != nullptr ? window->units_per_s : point.units.per_second;
    out.set("unit", point.units.name);
    if (rate) out.set("units_per_s", figure(*rate));
  }
  out.set("qps", figure(window != nullptr ? window->qps : point.rates.qps));
  set_shown(out, "ttft", window != nullptr ? window->ttft : point.arrival.ttft);
  set_shown(out, "tpot", window != nullptr ? window->tpot : point.arrival.tpot);
  set_shown(out, "latency", window != nullptr ? window->latency : point.arrival.latency);
  if (point.steady) {
    set_steady(out, steady_word(to_string(point.steady->status), to_string(point.steady->verdict),
                                point.steady->super_passes));
  }
  if (!point.isl.empty()) out.set("isl_mean", figure(point.isl.mean));
  if (!point.osl.empty()) out.set("osl_mean", figure(point.osl.mean));
  out.set("issued", point.counts.issued).set("failed", point.counts.failed);
  out.set("duration_s", figure(point.rates.duration.seconds()));
  if (context.innocence) {
    out.set("client_limited", to_string(context.innocence->client_limited));
  }
  return out.set("complete", point.complete());
}

Json run_document(const metrics::Point& point, const RunContext& context) {
  const RunInfo& info = point.run;
  Json out = Json::object();
  out.set("run_id", info.run_id);
  if (info.facts["endpoints"].size() > 0) out.set("endpoint", info.facts["endpoints"][0]);
  out.set("api", info.facts["api"].as_string());
  if (!info.simulated) out.set("started", rfc3339(info.started));
  out.set("version", info.version).set("measured_by", "assay");
  out.set("state", to_string(point.end.state)).set("state_reason", point.end.reason);
  out.set("complete", point.complete());
  Json warnings = json_list(point.warnings);
  if (!context.log_note.empty()) warnings.push_back(context.log_note);
  out.set("warnings", std::move(warnings));
  out.set("counts", Json()
                        .set("issued", point.counts.issued)
                        .set("completed", point.counts.completed)
                        .set("failed", point.counts.failed)
                        .set("unfinished", point.counts.unfinished));
  out.set("failures", document_failures(point));
  out.set("tokens", Json()
                        .set("source", to_string(point.tokens.source))
                        .set("prompt", point.tokens.prompt)
                        .set("output", point.tokens.output));
  Json rates;
  rates.set("duration_s", figure(point.rates.duration.seconds()))
      .set("qps", figure(point.rates.qps));
  if (point.rates.tps) rates.set("system_tps", figure(*point.rates.tps));
  if (point.rates.tps_per_user) rates.set("tps_per_user", figure(*point.rates.tps_per_user));
  if (point.rates.offered_qps) rates.set("offered_qps", figure(*point.rates.offered_qps));
  if (point.rates.achieved_qps) rates.set("achieved_qps", figure(*point.rates.achieved_qps));
  out.set("rates", std::move(rates)).set("distributions", distributions_json(point));
  if (!point.timeline.buckets.empty()) out.set("timeline", timeline_json(point.timeline));
  out.set("phases", phases(point)).set("steady_state", steady_state(point));
  if (context.innocence) out.set("client", audit::innocence_json(*context.innocence));
  out.set("stamps", Json()
                        .set("events", point.stamps.events)
                        .set("kernel_stamped", point.stamps.kernel_stamped)
                        .set("shares_read", point.stamps.shares_read));
  out.set("config", context.config_yaml).set("environment", context.environment);
  return out.set("files", document_files(context));
}

Json point_document(const Json& summary) {
  const SummaryRates rates = rates_of(summary);
  Json out = Json::object();
  const auto set = [&out](std::string_view key, double value) {
    if (value > 0) out.set(key, figure(value));
  };
  set("system_tps", rates.system_tps);
  set("tps_per_user", rates.tps_per_user);
  if (const Json& units = summary["assay"]["units"]; is_small_word(units["name"].as_string())) {
    out.set("unit", units["name"].as_string());
    set("units_per_s", positive(units["per_second"]));
  }
  set("qps", rates.qps);
  for (const char* name : {"ttft", "tpot", "latency"}) {
    const Json& percentiles = summary[name]["percentiles"];
    for (const double p : kShownPoints) {
      set(format("{}_ms_p{}", name, static_cast<int>(p)),
          percentiles[json_number(p)].as_double() * kMsPerNs);
    }
  }
  set_window(summary, out);
  if (const double rate = positive(summary["e2e_avg_interactivity"]); rate > 0) {
    set_end_to_end(out, rate);
  }
  const Json& steady = summary["steady_state"];
  set_steady(out, steady_word(steady["status"].as_string(), steady["verdict"].as_string(),
                              steady["super_passes"].as_uint()));
  set("isl_mean", summary["input_sequence_lengths"]["avg"].as_double());
  set("osl_mean", summary["output_sequence_lengths"]["avg"].as_double());
  if (summary["n_samples_issued"].is_integer()) out.set("issued", summary["n_samples_issued"]);
  if (summary["n_samples_failed"].is_integer()) out.set("failed", summary["n_samples_failed"]);
  set("duration_s", rates.duration_s);
  const std::string_view limited = summary["client"]["client_limited"].as_string();
  if (!limited.empty()) out.set("client_limited", limited);
  return out.set("complete", summary["complete"].as_bool(true));
}

Json run_document(const Json& summary) {
  const SummaryRates rates = rates_of(summary);
  Json out = Json::object();
  if (!summary["assay"]["run_id"].as_string().empty()) {
    out.set("run_id", summary["assay"]["run_id"].as_string());
  }
  // Seconds; a client whose value is something else did not say when.
  constexpr std::int64_t kYear2100 = 4'102'444'800;
  const std::int64_t started = summary["test_started_at"].as_int();
  if (started > 0 && started < kYear2100) {
    out.set("started", rfc3339(WallTime{started * 1'000'000'000}));
  }
  out.set("version", summary["version"].as_string());
  out.set("measured_by", summary["assay"].is_object() ? "assay" : "reference client");
  const std::string_view state = summary["state"].as_string("unknown");
  out.set("state",
          state == "complete" || state == "interrupted" || state == "crashed" ? state : "unknown");
  out.set("complete", summary["complete"].as_bool(true));
  out.set("warnings",
          summary["assay"]["warnings"].is_array() ? summary["assay"]["warnings"] : Json::array());
  if (const std::uint64_t also = failed_in_completed(summary); also > 0) {
    out.find("warnings")
        ->push_back(format(
            "its file counts {} failed queries as completed; they are taken off here", also));
  }
  const std::uint64_t failed = summary["n_samples_failed"].as_uint();
  out.set("counts", Json()
                        .set("issued", summary["n_samples_issued"].as_uint())
                        .set("completed", succeeded(summary))
                        .set("failed", failed)
                        .set("unfinished", 0));
  out.set("failures", Json::array());
  out.set("tokens", Json()
                        .set("source", summary["assay"]["tokens"]["source"].as_string("unknown"))
                        .set("prompt", summary["input_sequence_lengths"]["total"].as_int())
                        .set("output", summary["output_sequence_lengths"]["total"].as_int()));
  Json rate;
  rate.set("duration_s", figure(rates.duration_s)).set("qps", figure(rates.qps));
  if (rates.system_tps > 0) rate.set("system_tps", figure(rates.system_tps));
  if (rates.tps_per_user > 0) rate.set("tps_per_user", figure(rates.tps_per_user));
  out.set("rates", std::move(rate));
  Json series = Json::object();
  for (const char* name : {"ttft", "tpot", "latency"}) {
    if (summary[name].size() > 0) series.set(name, summary_distribution(summary[name], kMsPerNs));
  }
  for (const auto& [ours, theirs] :
       {std::pair{"isl", "input_sequence_lengths"}, std::pair{"osl", "output_sequence_lengths"}}) {
    if (summary[theirs].size() > 0) series.set(ours, summary_distribution(summary[theirs], 1));
  }
  out.set("distributions", std::move(series)).set("phases", Json::array());
  out.set("steady_state", nullptr);
  const Json& steady = summary["steady_state"];
  if (steady.is_object()) {
    out.set("steady_state",
            Json().set("status", steady["status"]).set("verdict", steady["verdict"]));
  }
  if (summary["client"].is_object()) out.set("client", summary["client"]);
  return out.set("files", Json::array());
}

}  // namespace assay::report
