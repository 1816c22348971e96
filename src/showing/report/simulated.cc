#include "report/simulated.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/display.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"
#include "base/version.h"
#include "rulebook/regions.h"

namespace assay::report {
namespace {

constexpr double kIntervalShare = 0.9;

std::string ms_cell(double value) { return human_duration(Duration::from_seconds(value * 1e-3)); }

std::string level_of(const sim::SimPoint& p) {
  if (p.rate > 0) return format("{}/s", three_digits(p.rate));
  return with_thousands(std::llround(p.concurrency));
}

Json trust_json(const sim::Trust& trust) {
  return Json().set("level", to_string(trust.level)).set("says", trust.says);
}

// Where nine of ten measurements of points like it are expected.
Json interval_json(const sim::SimPoint& p) {
  const auto around = [](double value, const sim::Range& range) {
    Json pair = Json::array();
    pair.push_back(value * range.low);
    pair.push_back(value * range.high);
    return pair;
  };
  Json out;
  out.set("share", kIntervalShare)
      .set("unseen_points", p.doubt.points)
      .set("ttft_ms_mean", around(p.ttft_ms.mean, p.doubt.ttft))
      .set("tpot_ms_mean", around(p.tpot_ms.mean, p.doubt.tpot))
      .set("system_tps", around(p.system_tps, p.doubt.throughput))
      .set("tps_per_gpu", around(p.tps_per_gpu, p.doubt.throughput));
  return out;
}

std::string range_text(double value, const sim::Range& range,
                       const std::function<std::string(double)>& cell) {
  return format("{} – {}", cell(value * range.low), cell(value * range.high));
}

// The same as lines below the table; "" if no doubt is known.
std::string intervals_text(const std::vector<sim::SimPoint>& points) {
  std::string out;
  for (const sim::SimPoint& p : points) {
    if (p.doubt.points == 0 || p.queries == 0) continue;
    if (out.empty()) {
      out = format(
          "\n  where 9 of 10 measurements are expected (as far off as points that the fit "
          "had not seen)\n{:>11}  {:>17}  {:>13}  {:>21}  {:>21}  {}\n",
          "in flight", "tok/s", "/GPU", "TTFT mean", "TPOT mean", "unseen points");
    }
    // A dash is one column and three bytes.
    out += format("{:>11}  {:>19}  {:>15}  {:>23}  {:>23}  {}\n", level_of(p),
                  range_text(p.system_tps, p.doubt.throughput, three_digits),
                  range_text(p.tps_per_gpu, p.doubt.throughput, three_digits),
                  range_text(p.ttft_ms.mean, p.doubt.ttft, ms_cell),
                  range_text(p.tpot_ms.mean, p.doubt.tpot, ms_cell), p.doubt.points);
  }
  return out;
}

std::string unsteady_text(const std::vector<sim::SimPoint>& points) {
  std::string out;
  for (const sim::SimPoint& p : points) {
    if (p.unsteady.empty()) continue;
    out += format("  * {}: no steady state: {}\n", level_of(p), p.unsteady);
  }
  return out;
}

std::string trust_text(const std::vector<sim::SimPoint>& points) {
  std::string out;
  std::vector<sim::Trust::Level> said;
  for (const sim::SimPoint& p : points) {
    if (std::find(said.begin(), said.end(), p.trust.level) != said.end()) continue;
    said.push_back(p.trust.level);
    out += format("  {}: {}\n", to_string(p.trust.level), p.trust.says);
  }
  return out;
}

std::string trusts(const std::vector<sim::Sizing>& sized) {
  std::vector<sim::SimPoint> points(sized.size());
  for (std::size_t i = 0; i < sized.size(); ++i) points[i].trust = sized[i].trust;
  return trust_text(points);
}

// Decode workers of a disaggregated system are built for a batch size: the points' batches, in
// words.
std::string decode_batches(const std::vector<sim::SimPoint>& points) {
  std::string list;
  for (const sim::SimPoint& point : points) {
    if (point.decode_batch > 0)
      list += (list.empty() ? "" : ", ") + with_thousands(point.decode_batch);
  }
  if (list.empty()) return {};
  return format("\nsequences of one decode rank  {}  (--decode-batch; else as the recipes)\n",
                list);
}

// "" where no prompt shares anything.
std::string cached(const std::vector<sim::SimPoint>& points) {
  std::string list;
  double most = 0;
  for (const sim::SimPoint& point : points) {
    list += format("{}{:.0f} %", list.empty() ? "" : ", ", 100 * point.prefix_hit_rate);
    most = std::max(most, point.prefix_hit_rate);
  }
  return most > 0 ? format("\nprompt tokens from a cache  {}\n", list) : "";
}

// Why this layout, and what the next ones give.
std::string tried_text(const LayoutsTried& tried) {
  if (tried.best.empty()) return {};
  const sim::SimPoint& first = tried.best.front().point;
  const std::string which = tried.fit == 1 ? "the only layout that fits"
                                           : format("the best of {} layouts that fit", tried.fit);
  std::string out =
      format("           {}, with {} in flight (--parallel says one)\n", which, level_of(first));
  for (std::size_t i = 1; i < tried.best.size(); ++i) {
    out += format("           {:.2f}x  {}\n", tried.best[i].point.system_tps / first.system_tps,
                  tried.best[i].layout);
  }
  return out;
}

metrics::CurvePoint to_point(const sim::SimPoint& p) {
  metrics::CurvePoint out;
  out.concurrency = std::llround(p.concurrency > 0 ? p.concurrency : p.in_flight_mean);
  out.name = p.rate > 0 ? format("{}/s", p.rate) : format("r{}", out.concurrency);
  out.measured = p.queries > 0;
  out.run.system_tps = p.system_tps;
  if (p.tps_per_user > 0) out.run.tps_per_user = p.tps_per_user;
  out.run.qps = p.qps;
  out.run.ttft_p50_ms = p.ttft_ms.p50;
  out.run.ttft_p90_ms = p.ttft_ms.p90;
  out.run.ttft_p99_ms = p.ttft_ms.p99;
  out.run.tpot_p50_ms = p.tpot_ms.p50;
  out.run.tpot_p90_ms = p.tpot_ms.p90;
  out.run.tpot_p99_ms = p.tpot_ms.p99;
  out.run.latency_p50_ms = p.latency_ms.p50;
  out.run.latency_p90_ms = p.latency_ms.p90;
  out.run.latency_p99_ms = p.latency_ms.p99;
  out.run.completed = p.queries;
  out.run.failed = p.refused;
  if (p.watts_mean > 0) out.power_kw = p.watts_mean * 1e-3;
  return out;
}

}  // namespace

Json point_json(const sim::SimPoint& p) {
  Json out;
  if (p.concurrency > 0) out.set("concurrency", static_cast<std::int64_t>(p.concurrency));
  if (p.rate > 0) out.set("rate", p.rate);
  const auto series = [&out](std::string_view name, const sim::SimSeries& s) {
    out.set(format("{}_ms_mean", name), s.mean);
    out.set(format("{}_ms_p50", name), s.p50);
    out.set(format("{}_ms_p90", name), s.p90);
    out.set(format("{}_ms_p99", name), s.p99);
  };
  series("ttft", p.ttft_ms);
  series("tpot", p.tpot_ms);
  series("latency", p.latency_ms);
  if (p.decode_batch > 0) out.set("decode_batch", p.decode_batch);
  out.set("system_tps", p.system_tps)
      .set("tps_per_user", p.tps_per_user)
      .set("tps_per_gpu", p.tps_per_gpu)
      .set("input_tps", p.input_tps)
      .set("qps", p.qps)
      .set("gpus", p.gpus)
      .set("replicas", p.replicas)
      .set("queries", p.queries)
      .set("refused", p.refused)
      .set("isl_mean", p.input_tokens_mean)
      .set("osl_mean", p.output_tokens_mean)
      .set("in_flight_mean", p.in_flight_mean)
      .set("steady", p.unsteady.empty())
      .set("kv_usage_max", p.kv_usage_max)
      .set("prefix_hit_rate", p.prefix_hit_rate)
      .set("preemptions", p.preemptions)
      .set("watts_mean", p.watts_mean)
      .set("joules_per_token", p.joules_per_token)
      .set("steps", p.steps);
  if (!p.unsteady.empty()) out.set("unsteady", p.unsteady);
  if (p.doubt.points > 0) out.set("interval", interval_json(p));
  return out.set("trust", trust_json(p.trust));
}

std::string points_table(const std::vector<sim::SimPoint>& points) {
  std::vector<std::vector<std::string>> rows = {{"in flight", "tok/s", "/user", "/GPU", "TTFT mean",
                                                 "P90", "P99", "TPOT mean", "P90", "P99", "J/token",
                                                 "trust"}};
  for (const sim::SimPoint& p : points) {
    rows.push_back({level_of(p) + (p.unsteady.empty() ? "" : " *"), three_digits(p.system_tps),
                    three_digits(p.tps_per_user), three_digits(p.tps_per_gpu),
                    ms_cell(p.ttft_ms.mean), ms_cell(p.ttft_ms.p90), ms_cell(p.ttft_ms.p99),
                    ms_cell(p.tpot_ms.mean), ms_cell(p.tpot_ms.p90), ms_cell(p.tpot_ms.p99),
                    three_digits(p.joules_per_token), std::string(to_string(p.trust.level))});
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += "  " + (i + 1 == row.size() ? row[i] : pad_left(row[i], widths[i]));
    }
    out += "\n";
  }
  return out;
}

Json simulated_json(const SimulatedCurve& curve) {
  Json out;
  out.set("system", curve.system);
  if (!curve.kv_cache.empty()) out.set("kv_cache", curve.kv_cache);
  if (!curve.lengths.empty()) out.set("lengths", curve.lengths);
  out.set("points", json_list(curve.points, point_json));
  if (curve.tried) out.set("layouts", layouts_json(*curve.tried));
  return out;
}

Json layouts_json(const LayoutsTried& tried) {
  Json list = Json::array();
  for (const TriedLayout& one : tried.best) {
    list.push_back(Json().set("layout", one.layout).set("point", point_json(one.point)));
  }
  return Json().set("fit", tried.fit).set("best", std::move(list));
}

std::string simulated_text(const SimulatedCurve& curve) {
  return format("simulated  {}\n           {}\n{}\n{}\n{}{}{}{}", curve.system, curve.lengths,
                curve.tried ? tried_text(*curve.tried) : "", points_table(curve.points),
                unsteady_text(curve.points), trust_text(curve.points), intervals_text(curve.points),
                decode_batches(curve.points) + cached(curve.points));
}

std::string simulated_beside_text(const SimulatedCurve& first, const SimulatedCurve& second) {
  std::string out = simulated_text(first) + "\n" + simulated_text(second) + "\nsecond over first\n";
  for (std::size_t i = 0; i < first.points.size(); ++i) {
    const sim::SimPoint& a = first.points[i];
    const sim::SimPoint& b = second.points[i];
    out += format("  {:>10}  output {:.2f}x  per GPU {:.2f}x  TPOT {:.2f}x  TTFT {:.2f}x\n",
                  level_of(a), b.system_tps / a.system_tps, b.tps_per_gpu / a.tps_per_gpu,
                  b.tpot_ms.mean / a.tpot_ms.mean, b.ttft_ms.mean / a.ttft_ms.mean);
  }
  return out;
}

std::string cards_text(const std::vector<SimulatedCurve>& cards, double price) {
  std::string out = format("simulated  {}\n\n  {:>9}  {:<11} {:>8} {:>7} {:>7}  {:>9}  {:>9} {:>8}",
                           cards.front().lengths, "in flight", "hardware", "tok/s", "/GPU", "/user",
                           "TTFT mean", "TPOT mean", "tok/s/kW");
  out += price > 0 ? "  $/M tok  trust\n" : "  trust\n";
  std::size_t levels = 0;  // a card's sweep ends behind its own peak
  for (const SimulatedCurve& card : cards) levels = std::max(levels, card.points.size());
  for (std::size_t i = 0; i < levels; ++i) {
    for (const SimulatedCurve& card : cards) {
      if (i >= card.points.size()) continue;
      const sim::SimPoint& p = card.points[i];
      out += format("  {:>9}  {:<11} {:>8} {:>7} {:>7}  {:>9}  {:>9} {:>8}",
                    level_of(p) + (p.unsteady.empty() ? "" : " *"), card.hardware,
                    three_digits(p.system_tps), three_digits(p.tps_per_gpu),
                    three_digits(p.tps_per_user), ms_cell(p.ttft_ms.mean), ms_cell(p.tpot_ms.mean),
                    three_digits(p.watts_mean > 0 ? p.system_tps / p.watts_mean * 1e3 : 0));
      if (price > 0) {
        const double a_million = price * p.gpus / (p.system_tps * 3600) * 1e6;
        out += format("  {:>7}", three_digits(a_million));
      }
      out += format("  {}\n", to_string(p.trust.level));
    }
  }
  for (const SimulatedCurve& card : cards) {
    out += format("\n{}\n{}{}{}{}", card.system, card.tried ? tried_text(*card.tried) : "",
                  unsteady_text(card.points), trust_text(card.points), intervals_text(card.points));
  }
  return out;
}

Json sizing_json(const sim::Sizing& s) {
  Json out;
  out.set("layout", s.layout)
      .set("gpus_per_replica", s.gpus_per_replica)
      .set("replica_qps", s.replica_qps)
      .set("replicas", s.replicas)
      .set("gpus", s.gpus);
  if (s.dollars_per_million > 0) out.set("dollars_per_million_tokens", s.dollars_per_million);
  out.set("trust", trust_json(s.trust));
  if (s.replica_qps > 0) out.set("at_capacity", point_json(s.at_capacity));
  return out;
}

std::string sizing_text(double rate, std::string_view limits, std::string_view lengths,
                        const std::vector<sim::Sizing>& sized) {
  std::string out = format("simulated  {} queries/s within {}; {}\n\n", rate, limits, lengths);
  out += pad_left("GPUs", 8) + pad_left("replicas", 10) + pad_left("queries/s each", 16) +
         pad_left("$/M tokens", 12) + "  trust      layout\n";
  for (const sim::Sizing& s : sized) {
    const bool none = s.replica_qps <= 0;
    out += pad_left(none ? "-" : with_thousands(s.gpus), 8) +
           pad_left(none ? "-" : with_thousands(s.replicas), 10) +
           pad_left(none ? "misses limits" : three_digits(s.replica_qps), 16) +
           pad_left(s.dollars_per_million > 0 ? three_digits(s.dollars_per_million) : "-", 12) +
           format("  {:<9}  ", to_string(s.trust.level)) + s.layout + "\n";
  }

  return out + "\n" + trusts(sized);
}

std::string stage_table(std::string_view model, unsigned gpus, std::string_view hardware,
                        double capacity, const std::vector<sim::SimPoint>& points) {
  std::string out = format("simulated  {} on {} x {}: at most {} queries/s\n\n", model, gpus,
                           hardware, three_digits(capacity));
  out += "   in flight   queries/s   latency mean         P50         P90         P99  trust\n";
  const auto cell = [](double value_ms) {
    return pad_left(human_duration(Duration::from_seconds(value_ms * 1e-3)), 12);
  };
  for (const sim::SimPoint& p : points) {
    const std::string level =
        p.rate > 0 ? three_digits(p.rate) + "/s" : three_digits(p.concurrency);
    out += pad_left(level + (p.unsteady.empty() ? "" : " *"), 12) +
           pad_left(three_digits(p.qps), 12) + pad_left(cell(p.latency_ms.mean), 15) +
           cell(p.latency_ms.p50) + cell(p.latency_ms.p90) + cell(p.latency_ms.p99) +
           format("  {}\n", to_string(p.trust.level));
  }
  return out + "\n" + unsteady_text(points) + trust_text(points);
}

metrics::Curve to_curve(const SimulatedCurve& simulated, std::string_view model,
                        std::string_view calibration) {
  metrics::Curve out;
  out.id = "simulated";
  out.simulated = true;
  out.model = model;
  out.endpoint = simulated.system;
  out.version = std::string(version());
  out.datasets = "synthetic, " + simulated.lengths;
  out.notes.push_back(
      "every figure is computed by a model, nothing was measured; its errors are in "
      "docs/guide/serving_model.md");
  out.notes.push_back(format("calibration: {}", calibration));
  std::string said;
  for (const sim::SimPoint& point : simulated.points) {
    out.points.push_back(to_point(point));
    if (point.trust.says != said) out.notes.push_back("trust: " + point.trust.says);
    said = point.trust.says;
    if (!point.unsteady.empty()) {
      out.notes.push_back(
          format("{}: no steady state: {}", out.points.back().name, point.unsteady));
    }
    out.c_max = std::max(out.c_max, out.points.back().concurrency);
  }
  out.c_min = out.c_max;
  for (const metrics::CurvePoint& p : out.points) out.c_min = std::min(out.c_min, p.concurrency);
  if (const auto regions = rulebook::Regions::make(out.c_max, out.c_min)) {
    for (metrics::CurvePoint& p : out.points) {
      if (const auto region = regions->region_of(p.concurrency)) p.region = to_string(*region);
    }
  }
  return out;
}

namespace {

template <typename Spec>
std::string names_of(const std::vector<Spec>& all) {
  std::string out;
  for (const Spec& spec : all) {
    std::string aliases;
    for (const std::string& alias : spec.aliases) aliases += (aliases.empty() ? "" : ", ") + alias;
    out += format("  {:<22} {}{}\n", spec.name, spec.title,
                  aliases.empty() ? "" : format("  (also: {})", aliases));
  }
  return out;
}

}  // namespace

Result<std::string> catalogue_names(const sim::Catalogue& catalogue, const std::string& what) {
  if (what == "hardware") return names_of(catalogue.all_hardware());
  if (what == "models") return names_of(catalogue.all_models());
  if (what == "backends") return names_of(catalogue.all_backends());
  if (what == "software") return names_of(catalogue.all_software());
  return invalid(format("--list: '{}' is not one of: hardware, models, backends, software", what));
}

}  // namespace assay::report
