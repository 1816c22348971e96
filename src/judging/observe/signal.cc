#include "observe/signal.h"

#include <algorithm>

namespace assay::observe {
namespace {

// A series' place in a signal.
struct Part {
  std::uint32_t series = 0;
  bool is_count = false;  // of a histogram
  bool seen = false;
  double last = 0;    // as read
  double growth = 0;  // of a counter
};

// The series of a source that one row takes.
std::vector<Part> parts_of(const Telemetry& telemetry, std::uint32_t source, const NameRow& row) {
  std::vector<Part> out;
  for (std::uint32_t i = 0; i < telemetry.series.size(); ++i) {
    const TelemetrySeries& series = telemetry.series[i];
    if (series.source != source || !row_has(row, series.name, series.labels)) continue;
    out.push_back({.series = i, .is_count = series.name.ends_with("_count")});
  }
  return out;
}

// Follows the readings of one source and adds the parts up.
class Gatherer {
 public:
  Gatherer(const Measure& measure, const NameRow& row, std::vector<Part> parts)
      : measure_(measure), row_(row), parts_(std::move(parts)) {}

  void read(const TelemetryReading& reading, Signal& out) {
    for (const auto& [series, value] : reading.values) {
      for (Part& part : parts_) {
        if (part.series == series) take(part, value * row_.scale, out);
      }
    }
    first_ = false;
    if (std::ranges::none_of(parts_, &Part::seen)) return;
    out.points.push_back(point_at(reading.at));
  }

 private:
  void take(Part& part, double value, Signal& out) const {
    if (measure_.kind != MeasureKind::gauge) {
      if (!part.seen) {
        part.growth = first_ ? 0 : value;
      } else if (value >= part.last) {
        part.growth += value - part.last;
      } else {
        part.growth += value;
        if (!part.is_count) ++out.restarts;
      }
    }
    part.seen = true;
    part.last = value;
  }

  SignalPoint point_at(Instant at) const {
    SignalPoint out{.at = at};
    std::size_t seen = 0;
    for (const Part& part : parts_) {
      if (!part.seen) continue;
      ++seen;
      if (measure_.kind == MeasureKind::gauge) {
        out.value += part.last;
      } else {
        (part.is_count && measure_.kind == MeasureKind::histogram ? out.count : out.value) +=
            part.growth;
      }
    }
    if (measure_.kind == MeasureKind::gauge && measure_.together == Together::mean) {
      out.value /= static_cast<double>(seen);
    }
    return out;
  }

  const Measure& measure_;
  const NameRow& row_;
  std::vector<Part> parts_;
  bool first_ = true;
};

// A growing value at an instant, between two readings on the line between them.
double grown_at(const Signal& signal, Instant at, double SignalPoint::*field) {
  const auto after = std::ranges::lower_bound(signal.points, at, {}, &SignalPoint::at);
  if (after == signal.points.end()) return signal.points.back().*field;
  if (after == signal.points.begin()) return (*after).*field;
  const SignalPoint& before = *(after - 1);
  const double share = (at - before.at).seconds() / (after->at - before.at).seconds();
  return before.*field + share * ((*after).*field - before.*field);
}

// The growth of the interval between readings that holds `at`.
double growth_around(const Signal& signal, Instant at) {
  const auto after = std::ranges::lower_bound(signal.points, at, {}, &SignalPoint::at);
  if (after == signal.points.end() || after == signal.points.begin()) return 0;
  return after->at == at ? 0 : after->value - (after - 1)->value;
}

// The growth that was not read, at the rate of what was, where the window reaches beyond the
// readings: a source that lags is read that much later, and its readings may end before.
double growth_unread(const Signal& signal, Instant from, Instant to, double growth) {
  const Instant first = std::max(from, signal.points.front().at);
  const Instant last = std::min(to, signal.points.back().at);
  const double read = (last - first).seconds();
  const double whole = (to - from).seconds();
  return read > 0 ? growth * (whole - read) / read : 0;
}

void gauge_figures(const Signal& signal, Instant from, Instant to, WindowFigures& out) {
  double area = 0;
  double seconds = 0;
  bool any = false;
  for (std::size_t i = 0; i < signal.points.size(); ++i) {
    const SignalPoint& point = signal.points[i];
    const bool last = i + 1 == signal.points.size();
    const Instant begin = std::max(point.at, from);
    const Instant end = std::min(last ? to : signal.points[i + 1].at, to);
    if (end <= begin && !(point.at >= from && point.at <= to)) continue;
    const double width = std::max((end - begin).seconds(), 0.0);
    area += point.value * width;
    seconds += width;
    out.min = any ? std::min(out.min, point.value) : point.value;
    out.max = any ? std::max(out.max, point.value) : point.value;
    any = true;
  }
  out.mean = seconds > 0 ? area / seconds : out.max;
}

}  // namespace

std::vector<Signal> signals_of(const Telemetry& telemetry) {
  std::vector<Signal> out;
  for (std::uint32_t source = 0; source < telemetry.sources.size(); ++source) {
    for (const Measure& measure : measures()) {
      for (const NameRow& row : name_rows()) {
        if (row.measure != measure.id) continue;
        std::vector<Part> parts = parts_of(telemetry, source, row);
        if (parts.empty()) continue;
        Signal signal{.measure = &measure,
                      .row = &row,
                      .source = source,
                      .series = static_cast<std::uint32_t>(parts.size())};
        Gatherer gatherer(measure, row, std::move(parts));
        for (const TelemetryReading& reading : telemetry.readings) {
          if (reading.source == source && reading.error.empty()) gatherer.read(reading, signal);
        }
        std::ranges::stable_sort(signal.points, {}, &SignalPoint::at);
        if (!signal.points.empty()) out.push_back(std::move(signal));
        break;
      }
    }
  }
  return out;
}

std::optional<WindowFigures> figures_in(const Signal& signal, Instant from, Instant to) {
  if (signal.points.empty() || to <= from) return std::nullopt;
  const Instant middle = from + (to - from) / 2;
  if (signal.points.front().at > middle || signal.points.back().at < middle) return std::nullopt;
  WindowFigures out;
  for (const SignalPoint& point : signal.points) {
    if (point.at >= from && point.at <= to) ++out.readings;
  }
  switch (signal.measure->kind) {
    case MeasureKind::gauge:
      gauge_figures(signal, from, to, out);
      break;
    case MeasureKind::counter:
      out.delta =
          grown_at(signal, to, &SignalPoint::value) - grown_at(signal, from, &SignalPoint::value);
      out.delta_error = growth_around(signal, from) + growth_around(signal, to) +
                        growth_unread(signal, from, to, out.delta);
      break;
    case MeasureKind::histogram: {
      const double sum =
          grown_at(signal, to, &SignalPoint::value) - grown_at(signal, from, &SignalPoint::value);
      out.delta =
          grown_at(signal, to, &SignalPoint::count) - grown_at(signal, from, &SignalPoint::count);
      if (!(out.delta > 0)) return std::nullopt;
      out.mean = sum / out.delta;
      break;
    }
  }
  return out;
}

}  // namespace assay::observe
