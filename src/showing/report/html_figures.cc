#include "report/html_figures.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"
#include "report/svg/density.h"
#include "report/svg/ecdf.h"
#include "report/svg/timeline.h"

namespace assay::report {
namespace {

using metrics::Distribution;
using metrics::Point;
using metrics::Timeline;

struct Figure {
  std::string title{};  // the answer
  std::string text{};   // explains the chart
  std::string wide{};   // the chart for a page; the next for a phone
  std::string narrow{};
  std::string table{};
  std::string classes{};
};

std::string figure_html(const Figure& figure) {
  std::string out =
      format("<figure class=\"card {}\">\n<figcaption><h3>{}</h3><p>{}</p></figcaption>\n",
             figure.classes, markup_text(figure.title), markup_text(figure.text));
  out += "<div class=\"wide\">\n" + figure.wide + "</div>\n";
  out += "<div class=\"narrow\">\n" + figure.narrow + "</div>\n";
  if (!figure.table.empty()) {
    out += "<details><summary>As a table</summary>\n" + figure.table + "</details>\n";
  }
  return out + "</figure>\n";
}

std::string duration_text(double ns) { return quantity_text(Quantity::duration, ns); }

svg::EcdfSeries series_of(std::string_view name, const Distribution& d) {
  svg::EcdfSeries out{std::string(name), {}, {}};
  for (const metrics::QuantilePoint& q : d.quantiles) out.steps.push_back({q.fraction, q.value});
  if (out.steps.empty()) return out;
  for (const double p : {50.0, 90.0, 99.0}) {
    if (d.count < values_needed(p)) continue;
    out.marks.push_back({percentile_name(p), p / 100, d.percentile(p)});
  }
  return out;
}

struct Named {
  std::string name{};
  const Distribution* series = nullptr;
};

// Every percentile of each series, with its 99 % confidence bound where there is one.
std::string percentile_table(const std::vector<Named>& all) {
  std::vector<std::string> heads{"percentile"};
  for (const Named& one : all) {
    heads.push_back(one.name);
    heads.push_back(one.name + ", at most*");
  }
  HtmlTable table(heads);
  for (std::size_t i = metrics::kPercentiles.size(); i-- > 0;) {
    std::vector<std::string> cells{percentile_name(metrics::kPercentiles[i])};
    for (const Named& one : all) {
      cells.push_back(duration_text(one.series->percentiles[i]));
      const bool bound = i < metrics::kEstimates && one.series->early_stopping[i].has_value();
      cells.push_back(bound ? duration_text(*one.series->early_stopping[i]) : "–");
    }
    table.row(cells);
  }
  const auto add = [&](std::string_view name, double Distribution::*field) {
    std::vector<std::string> cells{std::string(name)};
    for (const Named& one : all) {
      cells.push_back(duration_text(one.series->*field));
      cells.emplace_back();
    }
    table.row(cells);
  };
  add("lowest", &Distribution::min);
  add("mean", &Distribution::mean);
  add("highest", &Distribution::max);
  return table.finish() +
         "<p class=\"note\">* with 99 % confidence; – where there are too few values.</p>\n";
}

struct DistributionFigure {
  std::string name{};
  std::string title{};
  std::string text{};
  std::vector<Named> series{};
  bool band = false;  // as in svg::EcdfOptions
};

std::string ecdf_figure(const DistributionFigure& what, bool simulated) {
  std::vector<svg::EcdfSeries> series;
  for (const Named& one : what.series) series.push_back(series_of(one.name, *one.series));
  svg::EcdfOptions options{
      .label = what.title, .x_title = what.name, .simulated = simulated, .band = what.band};
  Figure figure{
      what.title, what.text, svg::ecdf(series, options), "", percentile_table(what.series), "half"};
  options.width = 340;
  options.height = 240;
  figure.narrow = svg::ecdf(series, options);
  return figure_html(figure);
}

std::vector<Named> sent_and_due(const Distribution& sent, const Distribution& due, bool open_loop) {
  std::vector<Named> out{{"from sent", &sent}};
  if (open_loop && !due.empty()) out.push_back({"from due", &due});
  return out;
}

std::string of_values(const Distribution& d, std::string_view what) {
  return format("{} {}", with_thousands(static_cast<std::int64_t>(d.count)), what);
}

bool has_open_loop(const Point& point) {
  return std::ranges::any_of(point.run.phases, [](const PhaseInfo& phase) {
    return phase.kind == PhaseKind::performance && phase.open_loop;
  });
}

// Neighbouring buckets joined, so that none is narrower than a few pixels.
struct Joined {
  std::size_t each = 1;   // buckets joined into one
  std::size_t count = 0;  // of joined buckets
  double width = 0;       // of one, in ns
};

Joined join(const Timeline& timeline, std::size_t most) {
  Joined out;
  const std::size_t buckets = timeline.buckets.size();
  out.each = std::max<std::size_t>(1, (buckets + most - 1) / most);
  out.count = (buckets + out.each - 1) / out.each;
  out.width = static_cast<double>(timeline.width.ns) * static_cast<double>(out.each);
  return out;
}

std::vector<double> means(const Timeline& timeline, const Joined& joined,
                          const std::function<double(const metrics::TimeBucket&)>& figure) {
  std::vector<double> out;
  for (std::size_t i = 0; i < joined.count; ++i) {
    const std::size_t end = std::min(timeline.buckets.size(), (i + 1) * joined.each);
    double sum = 0;
    for (std::size_t k = i * joined.each; k < end; ++k) sum += figure(timeline.buckets[k]);
    out.push_back(sum / static_cast<double>(end - i * joined.each));
  }
  return out;
}

svg::DensityCells ttft_cells(const Timeline& timeline, const Joined& joined) {
  svg::DensityCells cells;
  constexpr std::size_t kRows = Timeline::kTtftBins;
  for (std::size_t row = 0; row < kRows; ++row)
    cells.row_low.push_back(Timeline::ttft_bin_low(row));
  cells.counts.assign(joined.count * kRows, 0);
  for (std::size_t i = 0; i < timeline.ttft.size(); ++i) {
    cells.counts[i / kRows / joined.each * kRows + i % kRows] += timeline.ttft[i];
  }
  return cells;
}

std::vector<svg::Shade> shades(const Point& point, double end) {
  std::vector<svg::Shade> out;
  const Instant origin = point.timeline.origin;
  const auto since = [origin](Instant at) { return static_cast<double>((at - origin).ns); };
  for (const metrics::PhaseSpan& phase : point.phases) {
    if (!phase.started.known()) continue;
    const double until = phase.drained.known() ? since(phase.drained) : end;
    if (phase.kind != PhaseKind::performance) {
      out.push_back(
          {phase.kind == PhaseKind::warmup ? "warm-up" : phase.name, since(phase.started), until});
    } else if (phase.issue_ended.known() && until > since(phase.issue_ended)) {
      out.push_back({"drain", since(phase.issue_ended), until, true});
    }
  }
  return out;
}

std::vector<svg::Alarm> alarms(const Timeline& timeline, const Joined& joined) {
  std::vector<svg::Alarm> out;
  for (std::size_t i = 0; i < joined.count; ++i) {
    std::uint64_t failed = 0;
    const std::size_t end = std::min(timeline.buckets.size(), (i + 1) * joined.each);
    for (std::size_t k = i * joined.each; k < end; ++k) failed += timeline.buckets[k].failed;
    if (failed == 0) continue;
    const double at = (static_cast<double>(i) + 0.5) * joined.width;
    out.push_back({at, format("{}: {} failed", quantity_text(Quantity::elapsed, at), failed)});
  }
  return out;
}

bool has_ttft(const Timeline& timeline) {
  return std::ranges::any_of(timeline.ttft, [](std::uint32_t n) { return n > 0; });
}

// The three charts of the run over time, stacked on one axis.
std::string time_charts(const Point& point, double width, std::size_t most) {
  const Timeline& timeline = point.timeline;
  const Joined joined = join(timeline, most);
  const double seconds = timeline.width.seconds();
  const bool tokens = point.rates.tps.has_value();
  const double end =
      static_cast<double>(timeline.width.ns) * static_cast<double>(timeline.buckets.size());
  svg::TimelineOptions options{.label = "throughput over the run",
                               .width = width,
                               .height = 176,
                               .quantity = tokens ? Quantity::tokens_per_second : Quantity::rate,
                               .y_title = tokens ? "output tok/s" : "fragments/s",
                               .bucket = joined.width,
                               .time = {end, false, shades(point, end)},
                               .alarms = alarms(timeline, joined),
                               .simulated = point.run.simulated};
  const std::vector<double> rates = means(timeline, joined, [&](const metrics::TimeBucket& b) {
    return (tokens ? b.output_tokens : static_cast<double>(b.fragments)) / seconds;
  });
  // Queries in flight have fewer digits than rates: the top chart's labels are the stack's widest.
  options.time.tick_room = svg::tick_room(svg::timeline_axis(rates, options));
  std::string out = svg::timeline(rates, options);
  options.label = "queries in flight over the run";
  options.height = 136;
  options.quantity = Quantity::count;
  options.y_title = "queries in flight";
  options.series = 3;
  options.alarms.clear();
  options.time.shades_named = false;
  options.time.labelled = !has_ttft(timeline);
  out += svg::timeline(
      means(timeline, joined, [](const metrics::TimeBucket& b) { return b.in_flight; }), options);
  const Joined columns = join(timeline, most / 2);
  svg::TimeAxis axis = options.time;
  axis.labelled = true;
  return out + svg::density(ttft_cells(timeline, columns), {.label = "TTFT over the run",
                                                            .width = width,
                                                            .height = 236,
                                                            .y_title = "TTFT, log scale",
                                                            .bucket = columns.width,
                                                            .time = axis,
                                                            .simulated = point.run.simulated});
}

// Explains how to read the charts that are there.
std::string time_text_of(const Point& point) {
  std::string out;
  const std::vector<svg::Shade> shaded = shades(point, 1);
  if (!std::ranges::all_of(shaded, &svg::Shade::counted)) out += "Shaded: not measured. ";
  if (std::ranges::any_of(shaded, &svg::Shade::counted)) {
    out += "Lightly shaded, the drain: nothing new is sent, replies still count. ";
  }
  if (point.counts.failed > 0) out += "A cross: queries failed. ";
  if (has_ttft(point.timeline)) {
    out +=
        "In the lowest chart each moment's first tokens are spread over the time they took: the "
        "stronger the colour, the more of them.";
  }
  return out;
}

std::string time_table(const Point& point) {
  const Timeline& timeline = point.timeline;
  const Joined joined = join(timeline, 24);
  const svg::DensityCells cells = ttft_cells(timeline, joined);
  const double seconds = timeline.width.seconds();
  const auto in_flight =
      means(timeline, joined, [](const metrics::TimeBucket& b) { return b.in_flight; });
  const auto tokens = means(timeline, joined, [seconds](const metrics::TimeBucket& b) {
    return b.output_tokens / seconds;
  });
  HtmlTable table({"from", "sent", "completed", "failed", "in flight", "output tok/s", "TTFT P50*",
                   "TTFT P90*"});
  for (std::size_t i = 0; i < joined.count; ++i) {
    metrics::TimeBucket sum;
    const std::size_t end = std::min(timeline.buckets.size(), (i + 1) * joined.each);
    for (std::size_t k = i * joined.each; k < end; ++k) {
      sum.sent += timeline.buckets[k].sent;
      sum.completed += timeline.buckets[k].completed;
      sum.failed += timeline.buckets[k].failed;
    }
    const auto quantile = [&](double share) {
      const double value = svg::column_quantile(cells, i, share);
      return value > 0 ? duration_text(value) : std::string("–");
    };
    table.row({quantity_text(Quantity::elapsed, static_cast<double>(i) * joined.width),
               with_thousands(sum.sent), with_thousands(sum.completed), with_thousands(sum.failed),
               three_digits(in_flight[i]), point.rates.tps ? three_digits(tokens[i]) : "–",
               quantile(0.5), quantile(0.9)});
  }
  return table.finish() + "<p class=\"note\">* from counts in bins of 9 %, interpolated.</p>\n";
}

}  // namespace

HtmlTable::HtmlTable(const std::vector<std::string>& heads, std::string_view classes) {
  out_ = format("<div class=\"scroll\"><table class=\"{}\">\n<thead><tr>", classes);
  for (const std::string& head : heads)
    out_ += format("<th scope=\"col\">{}</th>", markup_text(head));
  out_ += "</tr></thead>\n<tbody>\n";
}

void HtmlTable::row(const std::vector<std::string>& cells) {
  out_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out_ += i == 0 ? format("<th scope=\"row\">{}</th>", markup_text(cells[i]))
                   : format("<td>{}</td>", markup_text(cells[i]));
  }
  out_ += "</tr>\n";
}

std::string HtmlTable::finish() { return std::move(out_) + "</tbody></table></div>\n"; }

std::string distribution_figures(const Point& point) {
  const metrics::Latencies& l = point.arrival;
  const bool simulated = point.run.simulated;
  const auto half_and_most = [](const Distribution& d, std::string_view sentence) {
    return format("{} within {}, nine in ten within {}", sentence, duration_text(d.median()),
                  duration_text(d.percentile(90.0)));
  };
  std::string out;
  if (!l.ttft.empty()) {
    out += ecdf_figure({"TTFT", half_and_most(l.ttft, "Half of the first tokens came"),
                        "TTFT: request sent to first token, of " + of_values(l.ttft, "replies") +
                            ". The share of replies at least so fast.",
                        sent_and_due(l.ttft, l.ttft_due, has_open_loop(point)), true},
                       simulated);
  }
  if (!l.tpot.empty()) {
    out += ecdf_figure(
        {"TPOT",
         format("Half of the replies took {} a token or less, nine in ten {}",
                duration_text(l.tpot.median()), duration_text(l.tpot.percentile(90.0))),
         "TPOT: time per output token after the first, of " + of_values(l.tpot, "replies") + ".",
         {{"TPOT", &l.tpot}}},
        simulated);
  }
  if (!l.itl.empty()) {
    out += ecdf_figure(
        {"ITL",
         format("Half of the gaps in a stream were {} or less, one in a hundred above {}",
                duration_text(l.itl.median()), duration_text(l.itl.percentile(99.0))),
         "ITL: gap between two fragments of a reply, of " + of_values(l.itl, "gaps") + ".",
         {{"ITL", &l.itl}}},
        simulated);
  }
  if (!l.latency.empty()) {
    out += ecdf_figure(
        {"latency", half_and_most(l.latency, "Half of the replies were complete"),
         "Latency: request sent to reply complete, of " + of_values(l.latency, "replies") + ".",
         sent_and_due(l.latency, l.latency_due, has_open_loop(point)), true},
        simulated);
  }
  return out;
}

std::string timeline_figure(const Point& point) {
  if (point.timeline.buckets.empty()) return {};
  Figure figure;
  const double highest =
      std::ranges::max_element(point.timeline.buckets, {}, &metrics::TimeBucket::in_flight)
          ->in_flight;
  const std::string peak = with_thousands(std::max(1L, std::lround(highest)));
  figure.title = point.rates.tps
                     ? format(
                           "{} output tokens a second over the run, with up to {} queries in "
                           "flight",
                           three_digits(*point.rates.tps), peak)
                     : format("{} replies a second, with up to {} queries in flight",
                              three_digits(point.rates.qps), peak);
  figure.text = time_text_of(point);
  figure.wide = time_charts(point, 960, 240);
  figure.narrow = time_charts(point, 360, 90);
  figure.table = time_table(point);
  return figure_html(figure);
}

std::string client_figure(const Point& point) {
  std::vector<Named> series;
  if (!point.lateness.empty()) series.push_back({"sent after due", &point.lateness});
  if (!point.read_delay.empty()) series.push_back({"read after arrival", &point.read_delay});
  if (series.empty() || point.run.simulated) return {};
  std::string title;
  if (!point.lateness.empty()) {
    title = format("99 % of the queries left within {} of their due instant",
                   duration_text(point.lateness.percentile(99.0)));
  } else {
    title = format("99 % of the events were read within {} of their arrival",
                   duration_text(point.read_delay.percentile(99.0)));
  }
  return ecdf_figure(
      {"client's delay", title,
       "What the client itself added. Arrival is the kernel's receive stamp.", series},
      false);
}

}  // namespace assay::report
