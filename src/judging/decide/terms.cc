#include "decide/terms.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "decide/served.h"

namespace assay::decide {
namespace {

const metrics::CurvePoint* point_named(const metrics::Curve& curve, std::string_view name) {
  const auto found = std::ranges::find(curve.points, name, &metrics::CurvePoint::name);
  return found == curve.points.end() ? nullptr : &*found;
}

double distance(const metrics::CurvePoint& a, const metrics::CurvePoint& b) {
  const auto log_of = [](const metrics::CurvePoint& point) {
    return std::log(static_cast<double>(std::max<std::int64_t>(1, point.concurrency)));
  };
  return std::abs(log_of(a) - log_of(b));
}

Json point_with(const Json& point, const metrics::CurvePoint& measured, const Terms& terms) {
  Json out = point;
  if (!measured.measured) return out;
  if (const auto cost = per_lot(measured, terms.price_per_hour)) {
    out.set(lot_of(measured.unit).key, *cost);
  }
  if (!terms.limits.empty()) out.set("slo_kept", keeps(terms.limits, measured));
  return out;
}

}  // namespace

Lot lot_of(std::string_view unit) {
  if (unit.empty()) return {1e6, "a million tokens", "dollars_per_million_tokens"};
  return {1e3, format("a thousand {}s", unit), "dollars_per_thousand_units"};
}

std::optional<double> per_lot(const metrics::CurvePoint& point, std::optional<double> per_hour) {
  const auto rate = point.official().throughput();
  if (!rate || *rate <= 0 || !per_hour || *per_hour <= 0) return std::nullopt;
  return *per_hour / 3600 / *rate * lot_of(point.unit).size;
}

std::string accuracy_words(const metrics::Curve& curve, const metrics::CurvePoint& point) {
  const metrics::CurvePoint* near = nullptr;
  for (const metrics::CurvePoint& other : curve.points) {
    if (!other.measured || other.accuracy.empty()) continue;
    if (near == nullptr || distance(other, point) < distance(*near, point)) near = &other;
  }
  if (near == nullptr) return "not scored";
  std::string scores;
  for (const metrics::AccuracyScore& score : metrics::headline_scores(near->accuracy)) {
    scores += (scores.empty() ? "" : ", ") + (score.metric.empty() ? score.dataset : score.metric) +
              " " + three_digits(score.score);
  }
  return format("scored at {}: {}", near->name, scores);
}

std::string users_sentence(const metrics::Curve& curve, const Terms& terms) {
  if (terms.limits.empty()) return {};
  const Served found = served(levels_of(curve, terms.limits), terms.limits);
  std::string out = served_text(found, terms.limits);
  if (found.level) {
    const metrics::CurvePoint* const point = point_named(curve, found.level->name);
    if (const auto cost = per_lot(*point, terms.price_per_hour)) {
      out +=
          format("; ${} {} with all of them sold", three_digits(*cost), lot_of(point->unit).words);
    }
    if (const auto joules = joules_each(*point)) {
      const std::string each = point->unit.empty() ? "a token" : "for each " + point->unit;
      out += format("; {} J {}", three_digits(*joules), each);
    }
    out += "; accuracy " + accuracy_words(curve, *point);
  }
  return curve.simulated ? out + "; simulated, not measured" : out;
}

Json curve_json(const metrics::Curve& curve, const Terms& terms) {
  Json out = metrics::curve_json(curve);
  Json points = Json::array();
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    points.push_back(point_with(out["points"][i], curve.points[i], terms));
  }
  out.set("points", std::move(points));
  if (terms.price_per_hour) out.set("dollars_per_hour", *terms.price_per_hour);
  if (!terms.limits.empty()) {
    out.set("slo", served_json(served(levels_of(curve, terms.limits), terms.limits), terms.limits));
  }
  return out;
}

}  // namespace assay::decide
