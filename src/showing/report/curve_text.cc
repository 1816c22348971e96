#include "report/curve_text.h"

#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "decide/served.h"
#include "report/curve_plot.h"
#include "report/markdown.h"
#include "report/quantity.h"

namespace assay::report {
namespace {

constexpr std::string_view kNone = "–";

std::string or_none(std::string text) { return text.empty() ? std::string(kNone) : text; }

std::string number(const std::optional<double>& value) {
  return value ? three_digits(*value) : std::string(kNone);
}

std::string ms_text(double ms) {
  return ms > 0 ? human_duration(Duration::from_seconds(ms * 1e-3)) : std::string(kNone);
}

std::string basis_text(const metrics::CurvePoint& point) {
  if (point.window_official) {
    const std::string time = clock_text(Duration::from_seconds(point.official().duration_s));
    return "window " + time + (point.verdict == "anomaly" ? ", then a shift" : "");
  }
  const std::string time = clock_text(Duration::from_seconds(point.run.duration_s));
  if (point.offline == "dedicated") return "all at once " + time;
  if (point.status.empty()) return "run " + time;
  const std::string why =
      point.verdict == "STEADY STATE" || point.verdict == "anomaly" ? point.status : point.verdict;
  return "run " + time + ", " + why;
}

std::string accuracy_text(const metrics::CurvePoint& point) {
  std::string out;
  for (const metrics::AccuracyScore& score : metrics::headline_scores(point.accuracy)) {
    if (!out.empty()) out += ", ";
    if (point.accuracy.size() > 1)
      out += (score.metric.empty() ? score.dataset : score.metric) + " ";
    out += three_digits(score.score);
  }
  if (out.empty() && point.accuracy_wanted) return "missing";
  return out;
}

void add_safety(const metrics::CurvePoint& point, CurveRow& row) {
  if (!point.safety) return;
  const metrics::SafetyGrade& safety = *point.safety;
  row.safety = or_none(safety.grade);
  if (safety.safe_share) row.safety += format(", {:.1f} %", 100 * *safety.safe_share);
  if (safety.attack_gap) row.safety += format(", attacks {:+.1f}", 100 * *safety.attack_gap);
  if (safety.queries == 0) return;
  row.safety_failed = format(
      "{:.1f} %", 100 * static_cast<double>(safety.failed) / static_cast<double>(safety.queries));
}

// For a dedicated Offline, which has no concurrency level.
std::string offline_words(const metrics::CurvePoint& point, const metrics::Curve& curve) {
  if (!point.measured) return "not measured";
  return number(point.official().throughput()) + " " + curve.throughput_unit();
}

struct Column {
  std::string head{};
  std::string CurveRow::*cell = nullptr;
  bool right = true;
  bool words = false;  // may stand on a line of its own, under the figures
};

std::vector<Column> columns_of(const std::vector<CurveRow>& rows, const CurveHeads& heads) {
  std::vector<Column> out{{"point", &CurveRow::point, false},
                          {"region", &CurveRow::region, false, true},
                          {heads.throughput, &CurveRow::throughput},
                          {"/user", &CurveRow::per_user},
                          {"latency P90", &CurveRow::latency},
                          {"TTFT P90", &CurveRow::ttft},
                          {"TPOT P90", &CurveRow::tpot},
                          {"accuracy", &CurveRow::accuracy},
                          {"safety", &CurveRow::safety},
                          {"safety failed", &CurveRow::safety_failed},
                          {heads.cost, &CurveRow::cost},
                          {heads.energy, &CurveRow::energy},
                          {"SLO", &CurveRow::slo, false},
                          {"basis", &CurveRow::basis, false, true},
                          {"doubt", &CurveRow::doubt, false, true}};
  std::erase_if(out, [&rows](const Column& column) {
    return std::ranges::all_of(rows, [&column](const CurveRow& row) {
      return (row.*column.cell).empty() || row.*column.cell == kNone;
    });
  });
  return out;
}

std::vector<std::size_t> widths_of(const std::vector<Column>& columns,
                                   const std::vector<CurveRow>& rows) {
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    std::size_t width = display_width(column.head);
    for (const CurveRow& row : rows) width = std::max(width, display_width(row.*column.cell));
    widths.push_back(width);
  }
  return widths;
}

// Takes columns of words out, the last first, until the rest fit side by side.
std::vector<Column> take_words_out(std::vector<Column>& columns, const std::vector<CurveRow>& rows,
                                   std::size_t room) {
  std::vector<Column> out;
  const auto taken = [&] {
    std::size_t all = 0;
    for (const std::size_t width : widths_of(columns, rows)) all += width + 2;
    return all;
  };
  while (taken() > room) {
    const auto last = std::find_if(columns.rbegin(), columns.rend(),
                                   [](const Column& column) { return column.words; });
    if (last == columns.rend()) break;
    out.insert(out.begin(), *last);
    columns.erase(std::next(last).base());
  }
  return out;
}

std::string table(const std::vector<CurveRow>& rows, const CurveHeads& heads,
                  const TerminalStyle& style) {
  std::vector<Column> columns = columns_of(rows, heads);
  const std::vector<Column> under = take_words_out(columns, rows, style.columns);
  const std::vector<std::size_t> widths = widths_of(columns, rows);
  const auto line = [&](const auto& cell_of) {
    std::string out;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string cell(cell_of(columns[i]));
      out += "  " + (columns[i].right ? pad_left(cell, widths[i]) : pad_right(cell, widths[i]));
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  };
  std::string out =
      paint(style, Ink::faint, line([](const Column& column) { return column.head; })) + "\n";
  for (const CurveRow& row : rows) {
    out += line([&row](const Column& column) { return row.*column.cell; }) + "\n";
    std::string words;
    for (const Column& column : under) {
      const std::string& cell = row.*column.cell;
      if (!cell.empty() && cell != kNone) words += (words.empty() ? "" : "; ") + cell;
    }
    if (!words.empty()) {
      out += paint(style, Ink::faint, wrap(words, style.columns, std::string(6, ' '))) + "\n";
    }
  }
  return out;
}

}  // namespace

CurveHeads curve_heads(const metrics::Curve& curve) {
  const std::string unit = curve.unit();
  if (unit.empty()) return {"tok/s", "$/M tok", "J/tok"};
  return {curve.throughput_unit(), format("$/1000 {}s", unit), "J/" + unit};
}

std::string region_words(const metrics::CurvePoint& point) {
  std::string out;
  if (point.region == "low_latency") out = "Ultra Low";
  if (point.region == "low_concurrency") out = "Low";
  if (point.region == "med_concurrency") out = "Medium";
  if (point.region == "high_concurrency") out = "High";
  if (point.region == "margin") out = "margin";
  if (point.declared == "submitters_choice" && !out.empty()) out += " (choice)";
  if (point.offline == "dedicated") out = "Offline";
  if (point.offline == "elected") out += ", Offline";
  return out;
}

std::vector<CurveRow> curve_rows(const metrics::Curve& curve, const CurveOptions& options) {
  std::vector<CurveRow> out;
  for (const metrics::CurvePoint& point : curve.points) {
    CurveRow row{.point = point.name, .region = or_none(region_words(point))};
    row.concurrency = with_thousands(point.concurrency);
    if (!point.measured) {
      row.throughput = row.per_user = row.latency = row.ttft = row.tpot = row.accuracy = kNone;
      row.basis = "not measured";
      out.push_back(std::move(row));
      continue;
    }
    const metrics::PointFigures& figures = point.official();
    row.throughput = number(figures.throughput());
    row.per_user = number(figures.tps_per_user);
    if (!point.unit.empty()) row.latency = ms_text(figures.latency_p90_ms);
    row.ttft = ms_text(figures.ttft_p90_ms);
    row.tpot = ms_text(figures.tpot_p90_ms);
    row.basis = basis_text(point);
    row.accuracy = or_none(accuracy_text(point));
    add_safety(point, row);
    if (const auto cost = decide::per_lot(point, options.price_per_hour)) {
      row.cost = "$" + three_digits(*cost);
    }
    if (const auto joules = joules_each(point)) row.energy = three_digits(*joules);
    if (!options.limits.empty() && point.offline != "dedicated") {
      row.slo = decide::keeps(options.limits, point) ? "kept" : "not";
    }
    if (figures.failed > 0)
      row.doubt = with_thousands(static_cast<std::int64_t>(figures.failed)) + " failed";
    if (point.client == "yes" || point.client == "suspected") {
      row.doubt += row.doubt.empty() ? "" : ", ";
      row.doubt += point.client == "yes" ? "client limited" : "client perhaps limited";
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string curve_verdict(const metrics::Curve& curve) {
  const metrics::CurvePoint* const fast = curve.fastest();
  const metrics::CurvePoint* const near = curve.most_interactive();
  if (curve.measured() == 0) return "nothing was measured yet";
  std::string out;
  if (fast != nullptr) {
    out = format("peak {} {} at concurrency {}", number(fast->official().throughput()),
                 curve.throughput_unit(), with_thousands(fast->concurrency));
  }
  if (near != nullptr) {
    const metrics::PointFigures& figures = near->official();
    const std::string each = near->unit.empty()
                                 ? format("up to {} tok/s per user", number(figures.tps_per_user))
                                 : "latency P90 from " + ms_text(figures.latency_p90_ms);
    out += format("{}{} at concurrency {}", out.empty() ? "" : "; ", each,
                  with_thousands(near->concurrency));
  }
  std::size_t levels = 0;
  std::size_t measured = 0;
  std::size_t steady = 0;
  for (const metrics::CurvePoint& point : curve.points) {
    if (point.all_at_once()) {
      out += format("{}Offline {}", out.empty() ? "" : "; ", offline_words(point, curve));
      continue;
    }
    ++levels;
    measured += point.measured ? 1U : 0U;
    steady += point.measured && point.window_official ? 1U : 0U;
  }
  if (!out.empty()) out += "; ";
  if (curve.simulated) return out + format("{} points, simulated", measured);
  return out + format("{} of {} points measured, {} in steady state", measured, levels, steady);
}

std::vector<std::string> curve_doubts(const metrics::Curve& curve) {
  std::vector<std::string> out;
  if (curve.audit && !curve.audit->passed) out.push_back(metrics::caching_text(*curve.audit));
  out.insert(out.end(), curve.notes.begin(), curve.notes.end());
  std::size_t guilty = 0;
  std::uint64_t failed = 0;
  std::size_t without = 0;
  for (const metrics::CurvePoint& point : curve.points) {
    guilty += point.client == "yes" ? 1U : 0U;
    failed += point.measured ? point.run.failed : 0;
    without += point.measured && point.accuracy_wanted && point.accuracy.empty() ? 1U : 0U;
  }
  if (guilty > 0) out.push_back(format("at {} points the client was the bottleneck", guilty));
  if (failed > 0) {
    out.push_back(format("{} queries failed", with_thousands(static_cast<std::int64_t>(failed))));
  }
  if (without > 0) out.push_back(format("accuracy is missing at {} points that need it", without));
  return out;
}

std::vector<std::string> further_sentences(const metrics::Curve& curve,
                                           const CurveOptions& options) {
  std::vector<std::string> out;
  if (std::string users = decide::users_sentence(curve, options); !users.empty())
    out.push_back(users);
  if (curve.audit && curve.audit->passed) out.push_back(metrics::caching_text(*curve.audit));
  const auto graded = [](const metrics::CurvePoint& point) { return point.safety.has_value(); };
  if (std::ranges::any_of(curve.points, graded)) {
    out.emplace_back(
        "safety is graded by Assay's own rule set at each concurrency, and is not an official "
        "result");
  }
  return out;
}

std::string curve_subject(const metrics::Curve& curve) {
  return format("{}{}{} @ {}", curve.model, curve.precision.empty() ? "" : ", ", curve.precision,
                curve.endpoint);
}

std::string curve_terminal(const metrics::Curve& curve, const CurveOptions& options,
                           const TerminalStyle& style) {
  std::string out =
      paint(style, Ink::strong, "assay curve") + "   " + printable(curve_subject(curve)) + "\n\n";
  for (const std::string& doubt : curve_doubts(curve)) {
    std::string lines = wrap(printable(doubt), style.columns, std::string(12, ' '));
    out += paint(style, Ink::warning, "  ! warning") + lines.substr(11) + "\n";
  }
  out += wrap(curve_verdict(curve), style.columns, "  ") + "\n";
  for (const std::string& more : further_sentences(curve, options)) {
    out += wrap(printable(more), style.columns, "  ") + "\n";
  }
  out += "\n";
  for (const std::string& line : curve_plot(curve, style.columns, 10)) out += line + "\n";
  out += "\n" + table(curve_rows(curve, options), curve_heads(curve), style);
  return out;
}

std::string curve_markdown(const metrics::Curve& curve, const CurveOptions& options) {
  std::string out = format("# {}\n\n", markdown_escape(curve_subject(curve)));
  out += markdown_escape(curve_verdict(curve)) + ".\n\n";
  for (const std::string& more : further_sentences(curve, options)) {
    out += markdown_escape(more) + ".\n\n";
  }
  for (const std::string& doubt : curve_doubts(curve)) {
    out += "- **Warning:** " + markdown_escape(doubt) + "\n";
  }
  const std::vector<CurveRow> rows = curve_rows(curve, options);
  const std::vector<Column> columns = columns_of(rows, curve_heads(curve));
  out += "\n|";
  for (const Column& column : columns) out += format(" {} |", column.head);
  out += "\n|";
  for (const Column& column : columns) out += column.right ? "---:|" : "---|";
  out += "\n";
  for (const CurveRow& row : rows) {
    out += "|";
    for (const Column& column : columns) out += " " + markdown_escape(row.*column.cell) + " |";
    out += "\n";
  }
  out += format(
      "\nRegions are cut from C_min {} to C_max {}; seed set {}, cohort {}. {} Steps, no "
      "interpolation.\n",
      curve.c_min, curve.c_max, or_none(curve.seed_set), or_none(curve.cohort),
      curve.unit().empty() ? "system_tps = output tokens / s; per user = 1000 / TPOT P90 in ms."
                           : format("{} = asked for by the queries that succeeded, a second.",
                                    curve.throughput_unit()));
  return out;
}

}  // namespace assay::report
