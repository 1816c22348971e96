#include "rules/derive.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/word.h"
#include "rules/schemas.h"

namespace assay::rules {
namespace {

std::optional<double> number(const Json& json, std::string_view pointer) {
  const Json* value = find(json, pointer);
  return value != nullptr && value->is_number() ? std::optional(value->as_double()) : std::nullopt;
}

std::optional<std::int64_t> integer(const Json& json, std::string_view pointer) {
  const Json* value = find(json, pointer);
  return value != nullptr && value->is_number() ? std::optional(value->as_int()) : std::nullopt;
}

Offline offline_of(const Json& value) {
  const std::string_view word = value.as_string();
  if (value.is_null() || word == "none") return Offline::none;
  if (word == "dedicated") return Offline::dedicated;
  if (word == "elected") return Offline::elected;
  return Offline::unknown;
}

// Output tokens of completed turns over the server's seconds. The run's own totals stand in for
// them only where the summary has neither, and nothing failed.
std::optional<double> interactivity(const Json& summary, const Metrics& metrics) {
  const auto tokens = number(summary, "/output_tokens_per_turn_total");
  const auto seconds = number(summary, "/e2e_turn_time_seconds_total");
  if (tokens && seconds && *seconds > 0) return *tokens / *seconds;
  if (tokens || seconds) return std::nullopt;
  const auto latency = number(summary, "/latency/total");
  if (metrics.failed.value_or(0) == 0 && metrics.output_tokens && latency && *latency > 0) {
    return *metrics.output_tokens / (*latency / 1e9);
  }
  return std::nullopt;
}

Metrics metrics_of(const Json& summary, const rulebook::Edition& edition,
                   std::int64_t concurrency) {
  Metrics out;
  out.issued = integer(summary, "/n_samples_issued");
  out.completed = integer(summary, "/n_samples_completed");
  out.failed = integer(summary, "/n_samples_failed");
  out.duration_ns = number(summary, "/duration_ns");
  if (const auto total = number(summary, "/output_sequence_lengths/total")) {
    out.output_tokens = std::trunc(*total);
  }
  out.ttft_p90_ns = percentile(summary["ttft"], 90);
  out.tpot_p90_ns = percentile(summary["tpot"], 90);
  if (out.output_tokens && out.duration_ns && *out.duration_ns > 0) {
    out.system_tps = *out.output_tokens / (*out.duration_ns / 1e9);
  }
  if (!edition.tps_per_user_of_tpot) {
    if (out.system_tps) out.tps_per_user = *out.system_tps / static_cast<double>(concurrency);
  } else if (out.tpot_p90_ns && *out.tpot_p90_ns > 0) {
    out.tps_per_user = 1000 / (*out.tpot_p90_ns / 1e6);
  }
  out.interactivity = interactivity(summary, out);
  return out;
}

void derive_units(const Json& summary, Metrics& out) {
  const Json& units = summary["assay"]["units"];
  if (!is_small_word(units["name"].as_string())) return;
  out.unit = units["name"].as_string();
  out.units = number(units, "/completed");
  out.latency_p90_ns = percentile(summary["latency"], 90);
  if (out.units && out.duration_ns && *out.duration_ns > 0) {
    out.units_per_s = *out.units / (*out.duration_ns / 1e9);
  }
}

void derive_point(PointFolder& point, const rulebook::Edition& edition, bool pareto) {
  if (point.point.good()) {
    const Json& root = point.point.root();
    point.point_issues = pareto ? old_point_issues(root) : point_issues(root);
  }
  if (point.description.good()) {
    const Json& root = point.description.root();
    point.description_issues = pareto ? old_description_issues(root) : description_issues(root);
  }
  if (point.summary.good()) point.summary_issues = summary_issues(point.summary.root());
  const std::int64_t declared = point.point.at("/concurrency").as_int(-1);
  const bool valid = declared >= 1 && declared <= rulebook::kConcurrencyMax;
  point.concurrency = valid ? declared : point.named_concurrency;
  point.offline = offline_of(point.point.at("/offline"));
  point.load_pattern = point.point.at("/runtime_settings/load_pattern").as_string();
  // The rules' own reader does the same.
  if (point.point.at("/runtime_settings/load_pattern").is_null()) {
    point.load_pattern = "concurrency";
  }
  point.metrics = metrics_of(point.summary.root(), edition, point.concurrency);
  read_accuracy(point.accuracy);
}

void derive_override(Curve& curve) {
  std::optional<std::int64_t> value;
  bool good = true;
  for (const PointFolder& point : curve.points) {
    const Json* stated = point.description.root().find("c_min_override");
    curve.c_min_stated = curve.c_min_stated || stated != nullptr;
    good =
        good && stated != nullptr && valid_c_min(*stated) && (!value || *value == stated->as_int());
    if (good) value = stated->as_int();
  }
  if (curve.c_min_stated && good) curve.c_min_override = value;
}

void derive_regions(Curve& curve, const rulebook::Edition& edition) {
  for (const PointFolder& point : curve.points) {
    const Json& declared = point.description.at("/max_supported_concurrency");
    if (!curve.c_max && declared.is_number()) curve.c_max = declared.as_int();
    if (!point.usable()) curve.c_min_partial = true;
    curve.c_min = std::min(curve.c_min.value_or(rulebook::kUltraLowMax), point.concurrency);
  }
  if (edition.c_min_derived) {
    derive_override(curve);
  } else {
    curve.c_min = rulebook::kUltraLowMax;
  }
  if (curve.c_min_override) curve.c_min = curve.c_min_override;
  if (!curve.c_max || !curve.c_min) {
    curve.regions_trouble = curve.c_max ? "no concurrency is readable" : "C_max is not declared";
    return;
  }
  // The rule on c_min_override reports it; without it there are no boundaries.
  if (curve.c_min_override && !curve.has_level(*curve.c_min_override)) return;
  auto regions = rulebook::Regions::make(*curve.c_max, *curve.c_min);
  if (regions) {
    curve.regions = *regions;
  } else {
    curve.regions_trouble = regions.error().message;
  }
}

void derive_curve(Curve& curve, const rulebook::Edition& edition, bool pareto) {
  for (PointFolder& point : curve.points) derive_point(point, edition, pareto);
  std::ranges::stable_sort(curve.points, {}, &PointFolder::concurrency);
  curve.benchmark = edition.benchmark(curve.model);
  if (edition.benchmark_like(curve.model) == nullptr) {
    for (PointFolder& point : curve.points) derive_units(point.summary.root(), point.metrics);
  }
  bool any = false;
  bool all = true;
  for (const PointFolder& point : curve.points) {
    if (point.dedicated() || !point.usable()) continue;
    any = true;
    all = all && point.load_pattern == "agentic_inference";
  }
  curve.agentic = any && all;
  derive_regions(curve, edition);
}

void derive_system(System& system, const rulebook::Edition& edition, bool pareto) {
  for (Curve& curve : system.curves) derive_curve(curve, edition, pareto);
  for (const Curve& curve : system.curves) {
    for (const PointFolder& point : curve.points) {
      if (system.described == nullptr && point.description.good()) system.described = &point;
    }
  }
  if (!system.power_file.good()) return;
  static const Json kNone;
  system.power = rulebook::compute_power(
      system.power_file.root(),
      system.described == nullptr ? kNone : system.described->description.root());
}

}  // namespace

bool valid_c_min(const Json& value) {
  return value.is_integer() && value.as_int() >= 1 && value.as_int() <= rulebook::kUltraLowMax;
}

void derive(Submission& tree) {
  for (System& system : tree.systems) derive_system(system, tree.edition, tree.pareto);
}

const PointFolder* Curve::offline_point() const {
  const PointFolder* elected = nullptr;
  for (const PointFolder& point : points) {
    if (point.dedicated()) return &point;
    if (point.offline == Offline::elected && elected == nullptr) elected = &point;
  }
  return elected;
}

const PointFolder* Curve::top_point() const {
  const auto found = std::ranges::find_if(points, [this](const PointFolder& point) {
    return !point.dedicated() && c_max && point.concurrency == *c_max;
  });
  return found == points.end() ? nullptr : &*found;
}

bool Curve::has_level(std::int64_t concurrency) const {
  return std::ranges::any_of(points, [concurrency](const PointFolder& point) {
    return !point.dedicated() && point.concurrency == concurrency;
  });
}

std::optional<rulebook::Region> Curve::region_of(const PointFolder& point) const {
  if (!regions || point.dedicated()) return std::nullopt;
  return regions->region_of(point.concurrency);
}

bool Curve::in_region(const PointFolder& point, rulebook::Region region) const {
  return region_of(point) == region;
}

bool Curve::ultra_low(const PointFolder& point) const {
  return !point.dedicated() && point.concurrency <= ultra_low_end();
}

std::string System::division() const {
  if (described == nullptr) return {};
  const std::string stated = lower(described->description.at("/division").as_string());
  if (!stated.empty()) return stated;
  return lower(described->point.at("/division").as_string());
}

bool Submission::folder(std::string_view below_root) const {
  std::error_code error;
  return std::filesystem::is_directory(root / below_root, error);
}

}  // namespace assay::rules
