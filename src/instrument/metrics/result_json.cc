#include "metrics/result_json.h"

#include <string>
#include <utility>

#include "base/format.h"
#include "base/json_list.h"

namespace assay::metrics {
namespace {

// The finish reasons of the counters, in the reference's order.
constexpr FinishReason kReasons[] = {FinishReason::stop,          FinishReason::length,
                                     FinishReason::tool_calls,    FinishReason::content_filter,
                                     FinishReason::function_call, FinishReason::other};

std::string percentile_key(double percentile) { return json_number(percentile); }

Json whole_or_ratio(const Distribution& series, double value) {
  if (!series.whole) return Json(value);
  return Json(static_cast<std::int64_t>(value));
}

Json total_of(const Distribution& series) {
  return series.whole ? Json(series.total_whole) : Json(series.total);
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json whole_if_whole(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

Json duration_or_null(const std::optional<Duration>& value) {
  return value ? Json(value->ns) : Json();
}

Json percentiles_json(const Distribution& series) {
  Json out = Json::object();
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    out.set(percentile_key(kPercentiles[i]), series.percentiles[i]);
  }
  return out;
}

Json estimates_json(const Distribution& series) {
  Json out = Json::object();
  for (std::size_t i = 0; i < kEstimates; ++i) {
    out.set(percentile_key(kPercentiles[i]), or_null(series.early_stopping[i]));
  }
  return out;
}

Json range_json(const Between& range) {
  Json out = Json::array();
  out.push_back(range.low);
  out.push_back(range.high);
  return out;
}

// The range of the truth for each figure.
Json limits_json(const Limits& limits) {
  Json percentiles = Json::object();
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    percentiles.set(percentile_key(kPercentiles[i]), range_json(limits.percentiles[i]));
  }
  return Json()
      .set("min", range_json(limits.min))
      .set("max", range_json(limits.max))
      .set("avg", range_json(limits.mean))
      .set("percentiles", std::move(percentiles));
}

// A series of the arrival clock with its limits, if they are known.
Json with_limits(const Distribution& series) {
  Json out = metric_block(series);
  if (series.limits) out.set("limits", limits_json(*series.limits));
  return out;
}

Json edges_json(const Bucket& bucket) {
  Json out = Json::array();
  out.push_back(bucket.low);
  out.push_back(bucket.high);
  return out;
}

Json finish_reasons_json(const Counts& counts) {
  Json out = Json::object();
  for (const FinishReason reason : kReasons) {
    out.set(to_string(reason), counts.finish[static_cast<std::size_t>(reason)]);
  }
  return out;
}

Json counts_json(const Counts& counts) {
  Json out = Json::object();
  out.set("issued", counts.issued);
  out.set("completed", counts.completed);
  out.set("failed", counts.failed);
  out.set("unfinished", counts.unfinished);
  return out;
}

// An instant of the run, in ns from its beginning.
Json instant_json(const Point& point, Instant at) {
  if (!at.known() || !point.began.known()) return Json();
  return Json((at - point.began).ns);
}

Json failures_json(const Point& point) {
  Json out = Json::array();
  for (const Failures& failures : point.failures) {
    Json one = Json::object();
    one.set("outcome", to_string(failures.outcome));
    one.set("count", failures.count);
    Json examples = Json::array();
    for (const FailureExample& example : failures.examples) {
      Json e = Json::object();
      e.set("query", example.query);
      e.set("sample", example.sample);
      e.set("endpoint", example.endpoint);
      e.set("http_status", example.http_status == 0 ? Json() : Json(example.http_status));
      e.set("at_ns", instant_json(point, example.at));
      e.set("detail", example.detail);
      examples.push_back(std::move(e));
    }
    one.set("examples", std::move(examples));
    out.push_back(std::move(one));
  }
  return out;
}

Json phases_json(const Point& point) {
  Json out = Json::array();
  for (const PhaseSpan& span : point.phases) {
    Json one = Json::object();
    one.set("name", span.name);
    one.set("kind", to_string(span.kind));
    one.set("started_ns", instant_json(point, span.started));
    one.set("issue_ended_ns", instant_json(point, span.issue_ended));
    one.set("drained_ns", instant_json(point, span.drained));
    Json counts = counts_json(span.counts);
    counts.set("finish_reasons", finish_reasons_json(span.counts));
    one.set("counts", std::move(counts));
    out.push_back(std::move(one));
  }
  return out;
}

Json tokens_json(const Tokens& tokens) {
  Json out = Json::object();
  out.set("source", to_string(tokens.source));
  out.set("replies_counted", tokens.replies_counted);
  out.set("replies_uncounted", tokens.replies_uncounted);
  out.set("prompt", tokens.prompt);
  out.set("output", tokens.output);
  out.set("reasoning", tokens.reasoning);
  out.set("cached", tokens.cached);
  out.set("hidden", tokens.hidden);
  Json by = Json::object();
  for (std::size_t i = 0; i < kTokenBases; ++i) {
    by.set(to_string(static_cast<TokenBasis>(i)), tokens.replies_by[i]);
  }
  out.set("replies_by", std::move(by));
  Json contradicted = Json::object();
  contradicted.set("replies", tokens.contradicted);
  for (std::size_t i = 1; i < kContradictions; ++i) {
    contradicted.set(to_string(static_cast<Contradiction>(i)), tokens.contradicted_by[i]);
  }
  contradicted.set("said", tokens.contradicted_said);
  contradicted.set("counted", tokens.contradicted_counted);
  out.set("contradicted", std::move(contradicted));
  out.set("empty_replies", tokens.empty_replies);
  out.set("not_streamed", tokens.not_streamed);
  out.set("went_on_after_done", tokens.went_on_after_done);
  out.set("replies_of_several_choices", tokens.replies_of_several_choices);
  out.set("short_of_choices", tokens.short_of_choices);
  out.set("unread_events", tokens.unread_events);
  out.set("replies_with_unread", tokens.replies_with_unread);
  if (!tokens.tokenizer.is_null()) {
    out.set("tokenizer", tokens.tokenizer);
    out.set("tokenizer_above_limit", tokens.tokenizer_above_limit);
    out.set("said_beside_tokenizer", tokens.said_beside_tokenizer);
    out.set("tokenizer_beside_said", tokens.tokenizer_beside_said);
  }
  out.set("first_fragment_taken_for_one", tokens.first_fragment_taken_for_one);
  out.set("per_fragment", or_null(tokens.per_fragment));
  return out;
}

Json rates_json(const Rates& rates) {
  Json out = Json::object();
  out.set("qps", rates.duration.ns > 0 ? Json(rates.qps) : Json());
  out.set("tps", or_null(rates.tps));
  out.set("legacy_window_ns", duration_or_null(rates.legacy_window));
  out.set("legacy_qps", or_null(rates.legacy_qps));
  out.set("legacy_tps", or_null(rates.legacy_tps));
  out.set("offered_qps", or_null(rates.offered_qps));
  out.set("achieved_qps", or_null(rates.achieved_qps));
  return out;
}

Json stamps_json(const Stamps& stamps) {
  Json out = Json::object();
  out.set("events", stamps.events);
  out.set("kernel_stamped", stamps.kernel_stamped);
  out.set("shares_read", stamps.shares_read);
  return out;
}

Json latencies_json(const Latencies& latencies) {
  Json out = Json::object();
  out.set("ttft", with_limits(latencies.ttft));
  out.set("ttft_due", with_limits(latencies.ttft_due));
  out.set("ttft_visible", with_limits(latencies.ttft_visible));
  out.set("tpot", with_limits(latencies.tpot));
  out.set("itl", with_limits(latencies.itl));
  out.set("latency", with_limits(latencies.latency));
  out.set("latency_due", with_limits(latencies.latency_due));
  return out;
}

Json audio_json(const Audio& audio) {
  return Json::object()
      .set("replies", audio.replies)
      .set("of_unknown_length", audio.of_unknown_length)
      .set("bytes", audio.bytes)
      .set("seconds", audio.seconds)
      .set("per_second", or_null(audio.per_second))
      .set("played", audio.played)
      .set("waited", audio.waited)
      .set("underruns", audio.underruns)
      .set("first", with_limits(audio.first))
      .set("first_due", with_limits(audio.first_due))
      .set("first_read", metric_block(audio.first_read))
      .set("speed", metric_block(audio.speed))
      .set("waits", metric_block(audio.waits));
}

// All figures for which the reference client's file has no key.
Json assay_json(const Point& point) {
  Json out = Json::object();
  out.set("run_id", point.run.run_id);
  out.set("plan_digest", point.run.plan_digest);
  out.set("clock", point.run.simulated ? "simulated" : "monotonic");
  out.set("started", point.run.simulated ? Json() : Json(rfc3339(point.run.started)));
  out.set("state_reason", point.end.reason);
  out.set("warnings", json_list(point.warnings));
  out.set("counts", counts_json(point.counts));
  out.set("all_phases", counts_json(point.all_phases));
  out.set("failures", failures_json(point));
  out.set("phases", phases_json(point));
  out.set("tokens", tokens_json(point.tokens));
  out.set("rates", rates_json(point.rates));
  if (!point.units.name.empty()) {
    out.set("units", Json::object()
                         .set("name", point.units.name)
                         .set("completed", whole_if_whole(point.units.completed))
                         .set("per_second", or_null(point.units.per_second)));
  }
  if (point.audio.replies > 0) out.set("audio", audio_json(point.audio));
  out.set("stamps", stamps_json(point.stamps));
  out.set("arrival", latencies_json(point.arrival));
  out.set("read", latencies_json(point.read));
  out.set("lateness", metric_block(point.lateness));
  out.set("read_delay", metric_block(point.read_delay));
  out.set("connect", metric_block(point.connect));
  out.set("fragment_tokens", metric_block(point.fragment_tokens));
  return out;
}

Json counter_json(std::string_view name, Json value) {
  Json out = Json::object();
  out.set("type", "counter");
  out.set("name", name);
  out.set("value", std::move(value));
  return out;
}

Json distribution_json(std::string_view name, const Distribution& series) {
  Json out = Json::object();
  out.set("type", "series");
  out.set("name", name);
  out.set("count", series.count);
  out.set("total", total_of(series));
  out.set("min", whole_or_ratio(series, series.min));
  out.set("max", whole_or_ratio(series, series.max));
  out.set("sum_sq", series.sum_sq);
  out.set("percentiles", percentiles_json(series));
  if (series.estimated) out.set("early_stopping_percentiles", estimates_json(series));
  Json histogram = Json::array();
  for (const Bucket& bucket : series.histogram) {
    Json one = Json::array();
    one.push_back(edges_json(bucket));
    one.push_back(bucket.count);
    histogram.push_back(std::move(one));
  }
  out.set("histogram", std::move(histogram));
  return out;
}

double turn_seconds(const Point& point) {
  return static_cast<double>(point.arrival.latency.total_whole) * 1e-9;
}

void add_turns(const Point& point, Json& out) {
  const auto rate = conversation_rate(point);
  if (!rate) return;
  out.set("output_tokens_per_turn_total", point.tokens.output)
      .set("e2e_turn_time_seconds_total", turn_seconds(point))
      .set("e2e_avg_interactivity", *rate);
}

}  // namespace

std::optional<double> conversation_rate(const Point& point) {
  const Json& pattern = point.run.facts["run_config"]["load_pattern"];
  if (pattern["type"].as_string() != "agentic_inference") return {};
  if (!point.rates.tps || point.arrival.latency.total_whole <= 0) return {};
  return static_cast<double>(point.tokens.output) / turn_seconds(point);
}

Json metric_block(const Distribution& series) {
  Json out = Json::object();
  if (!series.empty()) {
    out.set("total", total_of(series));
    out.set("min", whole_or_ratio(series, series.min));
    out.set("max", whole_or_ratio(series, series.max));
    out.set("median", series.median());
    out.set("avg", series.mean);
    out.set("std_dev", series.std_dev);
    out.set("percentiles", percentiles_json(series));
  }
  if (series.estimated) out.set("early_stopping_percentiles", estimates_json(series));
  if (!series.empty()) {
    Json buckets = Json::array();
    Json counts = Json::array();
    for (const Bucket& bucket : series.histogram) {
      buckets.push_back(edges_json(bucket));
      counts.push_back(bucket.count);
    }
    Json histogram = Json::object();
    histogram.set("buckets", std::move(buckets));
    histogram.set("counts", std::move(counts));
    out.set("histogram", std::move(histogram));
    if (!series.exact) out.set("exact", false);
  }
  return out;
}

HeadlineRates headline_rates(const Point& point) {
  const Json& pattern = point.run.facts["run_config"]["load_pattern"];
  const bool legacy = pattern["type"].as_string() == "poisson" &&
                      pattern["use_legacy_loadgen_qps_metrics"].as_bool(true) &&
                      point.rates.legacy_window.has_value();
  HeadlineRates out{};
  if (legacy) {
    out.legacy_window = point.rates.legacy_window;
    out.qps = point.rates.legacy_qps;
    out.tps = point.rates.legacy_tps;
  } else if (point.rates.duration.ns > 0) {
    out.qps = point.rates.qps;
    out.tps = point.rates.tps;
  }
  return out;
}

Json result_summary(const Point& point) {
  const HeadlineRates rates = headline_rates(point);
  const std::int64_t duration = point.rates.duration.ns;
  Json out = Json::object();
  out.set("version", point.run.version);
  out.set("git_sha", point.run.git_sha.empty() ? Json() : Json(point.run.git_sha));
  out.set("test_started_at", point.run.started.ns / 1'000'000'000);
  out.set("n_samples_issued", point.counts.issued);
  out.set("n_samples_completed", point.counts.completed);
  out.set("n_samples_failed", point.counts.failed);
  out.set("duration_ns", duration > 0 ? Json(duration) : Json());
  out.set("state", to_string(point.end.state));
  out.set("complete", point.complete());
  out.set("ttft", metric_block(point.arrival.ttft));
  out.set("tpot", metric_block(point.arrival.tpot));
  out.set("latency", metric_block(point.arrival.latency));
  out.set("output_sequence_lengths", metric_block(point.osl));
  out.set("input_sequence_lengths", metric_block(point.isl));
  out.set("legacy_loadgen_window_duration_ns", duration_or_null(rates.legacy_window));
  out.set("qps", or_null(rates.qps));
  out.set("tps", or_null(rates.tps));
  out.set("finish_reason_counts", finish_reasons_json(point.counts));
  const Json& run_config = point.run.facts["run_config"];
  out.set("run_config", run_config.is_object() ? run_config : Json::object());
  out.set("system_tps", or_null(point.rates.tps));
  out.set("tps_per_user", or_null(point.rates.tps_per_user));
  add_turns(point, out);
  if (point.steady) out.set("steady_state", steady_state_json(*point.steady));
  out.set("assay", assay_json(point));
  return out;
}

Json final_snapshot(const Point& point) {
  Json metrics = Json::array();
  const auto counter = [&metrics](std::string_view name, Json value) {
    metrics.push_back(counter_json(name, std::move(value)));
  };
  counter("total_samples_issued", point.all_phases.issued);
  counter("total_samples_completed", point.all_phases.completed);
  counter("total_samples_failed", point.all_phases.failed);
  counter("tracked_samples_issued", point.counts.issued);
  counter("tracked_samples_completed", point.counts.completed);
  counter("tracked_samples_failed", point.counts.failed);
  for (const FinishReason reason : kReasons) {
    counter(format("tracked_finish_reason_{}", to_string(reason)),
            point.counts.finish[static_cast<std::size_t>(reason)]);
  }
  const bool heard = point.began.known();
  counter("tracked_duration_ns", point.rates.duration.ns);
  counter("legacy_loadgen_window_duration_ns",
          headline_rates(point).legacy_window.value_or(Duration{}).ns);
  counter("total_duration_ns", heard ? (point.ended - point.began).ns : std::int64_t{0});
  metrics.push_back(distribution_json("sample_latency_ns", point.arrival.latency));
  metrics.push_back(distribution_json("isl", point.isl));
  metrics.push_back(distribution_json("osl", point.osl));
  if (!point.arrival.ttft.empty()) {
    metrics.push_back(distribution_json("ttft_ns", point.arrival.ttft));
    metrics.push_back(distribution_json("chunk_delta_ns", point.arrival.itl));
    metrics.push_back(distribution_json("tpot_ns", point.arrival.tpot));
  }
  Json out = Json::object();
  out.set("counter", 1);
  out.set("timestamp_ns", heard ? point.ended.ns : std::int64_t{0});
  out.set("state", to_string(point.end.state));
  out.set("n_pending_tasks", point.counts.unfinished);
  out.set("metrics", std::move(metrics));
  return out;
}

}  // namespace assay::metrics
