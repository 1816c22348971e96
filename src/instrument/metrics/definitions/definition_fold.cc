#include "metrics/definitions/definition_fold.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "metrics/series.h"

namespace assay::metrics {
namespace {

// OpenTelemetry's boundaries for the three client histograms, in ns: 10 ms, doubled 13 times.
constexpr double kFirstBoundary = 1e7;
constexpr int kBoundaries = 14;

double boundary(int i) { return i < 0 ? 0 : std::ldexp(kFirstBoundary, i); }

bool is_for_loadgen(const RunInfo& info) {
  const Json& pattern = info.facts["run_config"]["load_pattern"];
  return pattern["type"].as_string() == "poisson" &&
         pattern["use_legacy_loadgen_qps_metrics"].as_bool(true);
}

}  // namespace

void WeightedSeries::add(double value, double weight) {
  ++count_;
  total_ += value * weight;
  weight_ += weight;
  if (buckets_ == nullptr && values_.size() >= values_max_) {
    buckets_ = std::make_unique<Histogram>();
    for (const Entry& entry : values_) {
      buckets_->record(static_cast<std::uint64_t>(std::max(entry.value, 0.0)));
    }
    values_ = {};
  }
  if (buckets_ != nullptr) {
    buckets_->record(static_cast<std::uint64_t>(std::max(value, 0.0)));
  } else {
    values_.push_back({value, weight});
  }
}

double WeightedSeries::exact_percentile(PercentileRule rule, double p) const {
  const std::size_t n = values_.size();
  switch (rule) {
    case PercentileRule::lower:
      return values_[static_cast<std::size_t>(percentile_index(p, n))].value;
    case PercentileRule::linear: {
      const double place = p / 100.0 * static_cast<double>(n - 1);
      const auto below = static_cast<std::size_t>(place);
      const std::size_t above = std::min(below + 1, n - 1);
      const double part = place - static_cast<double>(below);
      return values_[below].value + part * (values_[above].value - values_[below].value);
    }
    case PercentileRule::inverse: {
      double seen = 0;
      for (const Entry& entry : values_) {
        seen += entry.weight;
        if (seen >= p / 100.0 * weight_ * (1 - 1e-12)) return entry.value;
      }
      return values_.back().value;
    }
    case PercentileRule::buckets:
      break;
  }
  // Prometheus' histogram_quantile; values above the last boundary become that boundary.
  const double rank = p / 100.0 * static_cast<double>(n);
  std::size_t seen = 0;
  for (int i = 0; i < kBoundaries; ++i) {
    const auto end = std::partition_point(values_.begin(), values_.end(),
                                          [i](const Entry& e) { return e.value <= boundary(i); });
    const auto upto = static_cast<std::size_t>(end - values_.begin());
    // The rank is above what was seen in the buckets before, so this one is not empty.
    if (static_cast<double>(upto) >= rank) {
      const double part = (rank - static_cast<double>(seen)) / static_cast<double>(upto - seen);
      return boundary(i - 1) + part * (boundary(i) - boundary(i - 1));
    }
    seen = upto;
  }
  return boundary(kBoundaries - 1);
}

DefinedSeries WeightedSeries::finish(PercentileRule rule) {
  DefinedSeries out{};
  out.count = count_;
  if (count_ == 0) return out;
  out.exact = buckets_ == nullptr;
  out.mean = weight_ > 0 ? total_ / weight_ : 0;
  std::ranges::sort(values_, {}, &Entry::value);
  for (std::size_t i = 0; i < out.percentiles.size(); ++i) {
    const double p = kDefinitionPercentiles[i];
    out.percentiles[i] = out.exact ? exact_percentile(rule, p) : buckets_->percentile(p);
  }
  return out;
}

DefinitionFold::DefinitionFold(const RunInfo& info, std::vector<const Definition*> wanted,
                               std::size_t values_max)
    : ReplyFold(info), gaps_recorded_(gaps_recorded(info)), loadgen_(is_for_loadgen(info)) {
  for (const Definition* definition : wanted) {
    tools_.push_back({definition, DefinedPoint{.definition = definition},
                      WeightedSeries(values_max), WeightedSeries(values_max),
                      WeightedSeries(values_max), WeightedSeries(values_max)});
  }
}

void DefinitionFold::on_reply(const Reply& reply) {
  for (Tool& tool : tools_) tell(tool, reply);
}

void DefinitionFold::tell(Tool& tool, const Reply& reply) {
  figures_.clear();
  tool.definition->measure(reply, figures_);
  const Figures& f = figures_;
  ++(f.success ? tool.point.succeeded : tool.point.failed);
  if (f.success || tool.definition->window == WindowRule::requests) {
    if (f.start.known()) tool.first = std::min(tool.first, f.start);
    if (f.end.known()) tool.last = std::max(tool.last, f.end);
  }
  if (f.start.known()) tool.first_sent = std::min(tool.first_sent, f.start);
  if (f.success && f.start.known() && f.start >= tool.last_sent) {
    tool.last_sent = f.start;
    tool.last_sent_end = f.end;
  }
  if (f.success) ++tool.point.replies_by_basis[static_cast<std::size_t>(f.basis)];
  if (f.success && f.tokens) {
    tool.point.output_tokens += *f.tokens;
    tool.point.tokens_known = true;
  }
  if (!f.measured) return;
  if (f.ttft) tool.ttft.add(*f.ttft);
  if (f.tpot) tool.tpot.add(*f.tpot, f.tpot_weight);
  for (const double tpot : f.more_tpot) tool.tpot.add(tpot, f.tpot_weight);
  if (f.latency) tool.latency.add(*f.latency);
  if (!gaps_recorded_) return;
  for (const double gap : f.itl) tool.itl.add(gap, f.itl_weight);
}

Duration DefinitionFold::window(const Tool& tool) const {
  const auto between = [](Instant first, Instant last) {
    return last > first ? last - first : Duration{};
  };
  switch (tool.definition->window) {
    case WindowRule::run:
      return between(run_start(), run_end());
    case WindowRule::requests:
    case WindowRule::successes:
      return between(tool.first, tool.last);
    case WindowRule::none:
      break;
  }
  return {};
}

bool DefinitionFold::takes_loadgen_window(const Tool& tool) const {
  return loadgen_ && tool.definition->loadgen_of_poisson && tool.point.succeeded >= 2 &&
         tool.last_sent_end > tool.first_sent;
}

std::vector<DefinedPoint> DefinitionFold::finish() {
  std::vector<DefinedPoint> out;
  for (Tool& tool : tools_) {
    DefinedPoint point = tool.point;
    const PercentileRule rule = tool.definition->percentiles;
    point.ttft = tool.ttft.finish(rule);
    point.tpot = tool.tpot.finish(rule);
    point.itl = tool.itl.finish(rule);
    point.latency = tool.latency.finish(rule);
    point.loadgen_window = takes_loadgen_window(tool);
    point.window = point.loadgen_window ? tool.last_sent_end - tool.first_sent : window(tool);
    if (point.window.ns > 0) {
      const std::uint64_t counted = point.succeeded - (point.loadgen_window ? 1 : 0);
      point.qps = static_cast<double>(counted) / point.window.seconds();
      point.tps = static_cast<double>(point.output_tokens) / point.window.seconds();
    }
    out.push_back(point);
  }
  tools_.clear();
  return out;
}

namespace {

Json defined_series_json(const DefinedSeries& series) {
  if (series.count == 0) return Json(nullptr);
  Json percentiles = Json::object();
  for (std::size_t i = 0; i < series.percentiles.size(); ++i) {
    percentiles.set(json_number(kDefinitionPercentiles[i]), series.percentiles[i]);
  }
  Json out = Json()
                 .set("count", series.count)
                 .set("avg", series.mean)
                 .set("percentiles", std::move(percentiles));
  if (!series.exact) out.set("exact", false);
  return out;
}

Json defined_tokens_json(const DefinedPoint& point) {
  Json replies = Json::object();
  for (std::size_t i = 0; i < kTokenBases; ++i) {
    replies.set(to_string(static_cast<TokenBasis>(i)), point.replies_by_basis[i]);
  }
  return Json()
      .set("first", to_string(point.definition->tokens))
      .set("replies", std::move(replies));
}

Json defined_point_json(const DefinedPoint& point) {
  const Definition& d = *point.definition;
  Json rules = Json()
                   .set("ttft", d.ttft)
                   .set("tpot", d.tpot)
                   .set("itl", d.itl)
                   .set("latency", d.latency)
                   .set("failures", d.failures)
                   .set("percentiles", to_string(d.percentiles))
                   .set("window", point.loadgen_window ? "loadgen" : to_string(d.window));
  const bool rates = point.window.ns > 0;
  return Json()
      .set("title", d.title)
      .set("source", d.source)
      .set("rules", std::move(rules))
      .set("succeeded", point.succeeded)
      .set("failed", point.failed)
      .set("tokens", defined_tokens_json(point))
      .set("ttft_ns", defined_series_json(point.ttft))
      .set("tpot_ns", defined_series_json(point.tpot))
      .set("itl_ns", defined_series_json(point.itl))
      .set("latency_ns", defined_series_json(point.latency))
      .set("window_ns", rates ? Json(point.window.ns) : Json(nullptr))
      .set("qps", rates ? Json(point.qps) : Json(nullptr))
      .set("tps", rates && point.tokens_known ? Json(point.tps) : Json(nullptr));
}

}  // namespace

std::string token_basis_text(const DefinedPoint& point) {
  const auto& replies = point.replies_by_basis;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(replies) - replies.begin());
  std::string out(to_string(static_cast<TokenBasis>(most)));
  for (std::size_t i = 0; i < kTokenBases; ++i) {
    if (i == most || replies[i] == 0) continue;
    out += format(" ({} by {})", replies[i], to_string(static_cast<TokenBasis>(i)));
  }
  return out;
}

Json definitions_json(const std::vector<DefinedPoint>& points) {
  Json out = Json::object();
  for (const DefinedPoint& point : points)
    out.set(point.definition->name, defined_point_json(point));
  return out;
}

}  // namespace assay::metrics
