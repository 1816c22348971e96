#include "metrics/curve.h"

#include <algorithm>

#include "base/json_list.h"
#include "base/text.h"
#include "base/word.h"

namespace assay::metrics {
namespace {

constexpr double kNsToMs = 1e-6;

double percentile_ms(const Json& block, std::string_view key) {
  return block["percentiles"][key].as_double() * kNsToMs;
}

std::optional<double> known(const Json& value) {
  return value.is_number() ? std::optional<double>(value.as_double()) : std::nullopt;
}

PointFigures run_figures(const Json& summary) {
  PointFigures out;
  out.system_tps = known(summary["system_tps"]);
  out.tps_per_user = known(summary["tps_per_user"]);
  out.units_per_s = known(summary["assay"]["units"]["per_second"]);
  out.qps = summary["qps"].as_double();
  out.ttft_p50_ms = percentile_ms(summary["ttft"], "50.0");
  out.ttft_mean_ms = summary["ttft"]["avg"].as_double() * kNsToMs;
  out.ttft_p90_ms = percentile_ms(summary["ttft"], "90.0");
  out.ttft_p99_ms = percentile_ms(summary["ttft"], "99.0");
  out.tpot_p50_ms = percentile_ms(summary["tpot"], "50.0");
  out.tpot_mean_ms = summary["tpot"]["avg"].as_double() * kNsToMs;
  out.tpot_p90_ms = percentile_ms(summary["tpot"], "90.0");
  out.tpot_p99_ms = percentile_ms(summary["tpot"], "99.0");
  out.latency_p50_ms = percentile_ms(summary["latency"], "50.0");
  out.latency_p90_ms = percentile_ms(summary["latency"], "90.0");
  out.latency_p99_ms = percentile_ms(summary["latency"], "99.0");
  out.duration_s = summary["duration_ns"].as_double() * 1e-9;
  out.completed = summary["n_samples_completed"].as_uint();
  out.failed = summary["n_samples_failed"].as_uint();
  return out;
}

PointFigures window_figures(const Json& steady) {
  const Json& figures = steady["figures"];
  PointFigures out;
  out.system_tps = known(figures["system_tps"]);
  out.tps_per_user = known(figures["tps_per_user"]);
  out.units_per_s = known(figures["units_per_s"]);
  out.qps = figures["qps"].as_double();
  out.ttft_p50_ms = figures["ttft_ms"]["p50"].as_double();
  out.ttft_mean_ms = figures["ttft_ms"]["mean"].as_double();
  out.ttft_p90_ms = figures["ttft_ms"]["p90"].as_double();
  out.ttft_p99_ms = figures["ttft_ms"]["p99"].as_double();
  out.tpot_p50_ms = figures["tpot_ms"]["p50"].as_double();
  out.tpot_mean_ms = figures["tpot_ms"]["mean"].as_double();
  out.tpot_p90_ms = figures["tpot_ms"]["p90"].as_double();
  out.tpot_p99_ms = figures["tpot_ms"]["p99"].as_double();
  out.latency_p50_ms = figures["latency_ms"]["p50"].as_double();
  out.latency_p90_ms = figures["latency_ms"]["p90"].as_double();
  out.latency_p99_ms = figures["latency_ms"]["p99"].as_double();
  out.duration_s = steady["window"]["duration_s"].as_double();
  out.completed = figures["n_samples_completed"].as_uint();
  out.failed = figures["n_samples_failed"].as_uint();
  return out;
}

// The reference client writes ROUGE's figures as texts.
std::optional<double> score_of(const Json& value) {
  if (value.is_number()) return value.as_double();
  if (!value.is_string()) return {};
  const auto number = parse_double(value.as_string());
  return number ? std::optional(*number) : std::nullopt;
}

void read_accuracy(const Json& accuracy, CurvePoint& point) {
  for (const Json& entry : accuracy["accuracy_scores"].items()) {
    AccuracyScore score{.dataset = std::string(entry["dataset_name"].as_string())};
    score.samples = entry["total_samples"].as_uint(entry["unit_samples"].as_uint() *
                                                   entry["num_repeats"].as_uint(1));
    const Json& value = entry["score"];
    if (const auto number = score_of(value)) {
      score.score = *number;
      point.accuracy.push_back(score);
    }
    for (const auto& [name, part] : value.members()) {
      const auto number = score_of(part);
      if (!number) continue;
      score.metric = name;
      score.score = *number;
      point.accuracy.push_back(score);
    }
  }
}

Json number_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json figures_json(const PointFigures& figures) {
  Json out;
  out.set("system_tps", number_json(figures.system_tps))
      .set("tps_per_user", number_json(figures.tps_per_user));
  if (figures.units_per_s) out.set("units_per_s", *figures.units_per_s);
  return out.set("qps", figures.qps)
      .set("ttft_p50_ms", figures.ttft_p50_ms)
      .set("ttft_p90_ms", figures.ttft_p90_ms)
      .set("ttft_p99_ms", figures.ttft_p99_ms)
      .set("tpot_p50_ms", figures.tpot_p50_ms)
      .set("tpot_p90_ms", figures.tpot_p90_ms)
      .set("tpot_p99_ms", figures.tpot_p99_ms)
      .set("latency_p50_ms", figures.latency_p50_ms)
      .set("latency_p90_ms", figures.latency_p90_ms)
      .set("latency_p99_ms", figures.latency_p99_ms)
      .set("duration_s", figures.duration_s)
      .set("completed", figures.completed)
      .set("failed", figures.failed);
}

// What one user gets, more is better.
std::optional<double> quickness(const CurvePoint& point) {
  const PointFigures& figures = point.official();
  if (point.unit.empty()) return figures.tps_per_user;
  if (figures.latency_p90_ms <= 0) return std::nullopt;
  return 1000 / figures.latency_p90_ms;
}

Json point_json(const CurvePoint& point) {
  Json out;
  out.set("name", point.name)
      .set("concurrency", point.concurrency)
      .set("region", point.region)
      .set("declared_region", point.declared)
      .set("offline", point.offline)
      .set("measured", point.measured);
  if (!point.measured) return out;
  out.set("basis", point.window_official ? "steady_state" : "total")
      .set("steady_state", Json().set("status", point.status).set("verdict", point.verdict))
      .set("official", figures_json(point.official()))
      .set("total", figures_json(point.run));
  if (point.window) out.set("window", figures_json(*point.window));
  // The figures that `assay twin` fits to.
  const PointFigures& told = point.official();
  if (told.tpot_mean_ms > 0) {
    out.set("tpot_ms_mean", told.tpot_mean_ms).set("ttft_ms_mean", told.ttft_mean_ms);
  }
  out.set("client_limited", point.client);
  Json scores = Json::array();
  for (const AccuracyScore& score : point.accuracy) {
    Json one;
    one.set("dataset", score.dataset).set("score", score.score).set("samples", score.samples);
    if (!score.metric.empty()) one.set("metric", score.metric);
    scores.push_back(std::move(one));
  }
  out.set("accuracy", std::move(scores));
  if (point.safety) {
    const SafetyGrade& safety = *point.safety;
    out.set("safety", Json()
                          .set("grade", safety.grade.empty() ? Json() : Json(safety.grade))
                          .set("safe_share", safety.safe_share ? Json(*safety.safe_share) : Json())
                          .set("attack_gap", safety.attack_gap ? Json(*safety.attack_gap) : Json())
                          .set("queries", safety.queries)
                          .set("failed", safety.failed));
  }
  if (point.power_kw) out.set("point_power_kw", *point.power_kw);
  if (const auto joules = joules_each(point)) {
    out.set(point.unit.empty() ? "joules_per_token" : "joules_per_unit", *joules);
  }
  return out.set("warnings", json_list(point.warnings));
}

}  // namespace

std::vector<AccuracyScore> headline_scores(const std::vector<AccuracyScore>& scores) {
  std::vector<AccuracyScore> out;
  for (const AccuracyScore& score : scores) {
    if (std::ranges::find(out, score.dataset, &AccuracyScore::dataset) == out.end()) {
      out.push_back(score);
    }
  }
  return out;
}

const CurvePoint* Curve::fastest() const {
  const CurvePoint* best = nullptr;
  for (const CurvePoint& point : points) {
    const auto rate = point.official().throughput();
    if (!point.measured || !rate || point.all_at_once()) continue;
    if (best == nullptr || *rate > *best->official().throughput()) best = &point;
  }
  return best;
}

const CurvePoint* Curve::most_interactive() const {
  const CurvePoint* best = nullptr;
  for (const CurvePoint& point : points) {
    const auto each = quickness(point);
    if (!point.measured || !each || point.all_at_once()) continue;
    if (best == nullptr || *each > *quickness(*best)) best = &point;
  }
  return best;
}

std::string Curve::unit() const {
  for (const CurvePoint& point : points) {
    if (point.measured) return point.unit;
  }
  return {};
}

std::string Curve::throughput_unit() const {
  const std::string name = unit();
  return name.empty() ? "tok/s" : name + "s/s";
}

std::size_t Curve::measured() const {
  return static_cast<std::size_t>(std::ranges::count_if(points, &CurvePoint::measured));
}

void read_point(const Json& summary, const Json& accuracy, CurvePoint& point) {
  point.measured = true;
  point.run = run_figures(summary);
  const Json& steady = summary["steady_state"];
  if (steady.is_object()) {
    point.status = steady["status"].as_string();
    point.verdict = steady["verdict"].as_string();
    if (steady["figures"].is_object()) point.window = window_figures(steady);
    point.window_official = point.window && steady["official"].as_bool();
  }
  const std::string_view unit = summary["assay"]["units"]["name"].as_string();
  if (is_small_word(unit)) point.unit = unit;
  point.client = summary["client"]["client_limited"].as_string();
  for (const Json& warning : summary["assay"]["warnings"].items()) {
    point.warnings.emplace_back(warning.as_string());
  }
  read_accuracy(accuracy, point);
}

void add_reference_tokens(const Json& summary, CurvePoint& point) {
  const std::optional<double> tps = known(summary["tps"]);
  if (point.run.system_tps || !tps) return;
  point.run.system_tps = tps;
  const PointFigures theirs = run_figures(summary);
  point.run.tpot_p50_ms = theirs.tpot_p50_ms;
  point.run.tpot_mean_ms = theirs.tpot_mean_ms;
  point.run.tpot_p90_ms = theirs.tpot_p90_ms;
  point.run.tpot_p99_ms = theirs.tpot_p99_ms;
  if (theirs.tpot_p90_ms > 0) point.run.tps_per_user = 1000 / theirs.tpot_p90_ms;
  point.warnings.emplace_back("token figures are those that the reference client counted");
}

Json curve_json(const Curve& curve) {
  Json out;
  out.set("format", "assay-curve-summary")
      .set("version", 1)
      .set("curve_id", curve.id)
      .set("assay", curve.version)
      .set("model", curve.model)
      .set("endpoint", curve.endpoint)
      .set("datasets", curve.datasets)
      .set("started", curve.started)
      .set("edition", curve.edition)
      .set("seed_set", curve.seed_set)
      .set("target_cohort", curve.cohort)
      .set("c_max", curve.c_max)
      .set("c_min", curve.c_min)
      .set("quick", curve.quick)
      .set("official", curve.official)
      .set("unit", curve.unit().empty() ? Json() : Json(curve.unit()))
      .set("complete", curve.measured() == curve.points.size())
      .set("notes", json_list(curve.notes));
  if (!curve.precision.empty()) out.set("precision", curve.precision);
  if (curve.audit) out.set("output_caching_audit", caching_json(*curve.audit));
  return out.set("points", json_list(curve.points, point_json));
}

std::optional<double> joules_each(const CurvePoint& point) {
  const auto rate = point.official().throughput();
  if (!rate || *rate <= 0 || !point.power_kw) return std::nullopt;
  return *point.power_kw * 1000 / *rate;
}

}  // namespace assay::metrics
