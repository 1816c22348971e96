#include "report/conformance_html.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/format.h"
#include "base/markup.h"
#include "report/html_style.h"

namespace assay::report {
namespace {

struct FigureColumn {
  std::string_view series{};
  std::string_view percentile{};
  std::string_view name{};
};
constexpr FigureColumn kFigures[] = {{"ttft", "p50_ms", "TTFT P50"},
                                     {"ttft", "p99_ms", "TTFT P99"},
                                     {"itl", "p50_ms", "ITL P50"},
                                     {"itl", "p99_ms", "ITL P99"}};

// The shortest and the longest bar: a microsecond and a second.
constexpr double kLeastMs = 1e-3;
constexpr double kDecades = 6;
constexpr double kBarWidth = 120;

constexpr std::string_view kConformanceStyle = R"css(
.errors td{min-width:7.5em}
.errors svg{display:block;margin:3px 0 0 auto;max-width:100%}
.errors rect{fill:var(--s1)}
.errors rect.early{fill:var(--s2)}
.errors small{color:var(--soft)}
.errors small.disturbed{color:var(--bad)}
.errors .failed{text-align:left;white-space:normal;color:var(--bad)}
)css";

struct Row {
  std::string peer{};
  std::int64_t streams = 0;
  const Json* json = nullptr;
};

std::string milliseconds(double ms) {
  const double size = std::abs(ms);
  if (size < 1) return format("{:.0f} µs", ms * 1000);
  return format("{:.{}f} ms", ms, size < 10 ? 2 : size < 100 ? 1 : 0);
}

std::optional<double> figure_of(const Json& spreads, const FigureColumn& figure) {
  const Json& value = spreads[figure.series][figure.percentile];
  if (!value.is_number() || !std::isfinite(value.as_double())) return {};
  return value.as_double();
}

std::optional<double> error_of(const Row& row, const FigureColumn& figure) {
  const auto said = figure_of((*row.json)["said"], figure);
  const auto truth = figure_of((*row.json)["truth"], figure);
  if (!said || !truth) return {};
  return *said - *truth;
}

Result<std::vector<Row>> rows_of(const Json& result) {
  if (!result["rows"].is_array() || result["rows"].size() == 0) {
    return invalid("rows: a list with a measurement of each peer");
  }
  std::vector<Row> out;
  for (std::size_t i = 0; i < result["rows"].size(); ++i) {
    const Json& json = result["rows"][i];
    if (json["peer"].as_string().empty()) return invalid(format("rows[{}].peer: its name", i));
    if (!json["streams"].is_integer()) return invalid(format("rows[{}].streams: a number", i));
    const std::string_view title = json["title"].as_string();
    std::string name(title.empty() ? json["peer"].as_string() : title);
    const std::string_view version = json["version"].as_string();
    if (!version.empty()) name += " " + std::string(version);
    out.push_back({.peer = name, .streams = json["streams"].as_int(), .json = &json});
  }
  return out;
}

// Length by the logarithm: a bar that is a fifth longer is an error sixteen times as large.
std::string error_bar(double error) {
  const double decades = std::log10(std::max(std::abs(error), kLeastMs) / kLeastMs);
  const double width = std::max(1.0, kBarWidth * std::min(1.0, decades / kDecades));
  return format(
      "<svg width=\"{0:.0f}\" height=\"8\" viewBox=\"0 0 {0:.0f} 8\" aria-hidden=\"true\">"
      "<rect{1} x=\"{2:.1f}\" y=\"0\" width=\"{3:.1f}\" height=\"8\"/></svg>",
      kBarWidth, error < 0 ? " class=\"early\"" : "", kBarWidth - width, width);
}

std::string figure_cell(const Row& row, const FigureColumn& figure) {
  const auto error = error_of(row, figure);
  if (!error) return "<td>–</td>";
  return format("<td>{}{}<br><small>{} of {}</small>{}</td>", *error < 0 ? "" : "+",
                milliseconds(*error), milliseconds(*figure_of((*row.json)["said"], figure)),
                milliseconds(*figure_of((*row.json)["truth"], figure)), error_bar(*error));
}

std::string table_row(const Row& row) {
  const Json& json = *row.json;
  std::string out = format("<tr><th scope=\"row\">{}<br><small>ITL: {}</small></th>",
                           markup_text(row.peer), markup_text(json["itl_of"].as_string()));
  if (!json["said"].is_object()) {
    return out + format("<td class=\"failed\" colspan=\"6\">failed: {}</td></tr>\n",
                        markup_text(json["failure"].as_string()));
  }
  for (const FigureColumn& figure : kFigures) out += figure_cell(row, figure);
  std::string others;
  if (json["others_cores"].is_number()) {
    others =
        format("<br><small{}>others {:.2f} cores{}</small>",
               json["disturbed"].as_bool() ? " class=\"disturbed\"" : "",
               json["others_cores"].as_double(), json["disturbed"].as_bool() ? ": disturbed" : "");
  }
  return out + format("<td>{} of {}</td><td>{:.1f} s<br><small>CPU {:.2f} s</small>{}</td></tr>\n",
                      json["said"]["completed"].as_int(), json["requests"].as_int(),
                      json["wall_s"].as_double(), json["cpu_s"].as_double(), others);
}

std::string peer_table(const std::vector<Row>& rows, std::int64_t streams) {
  std::string out = format(
      "<h2>{} at once</h2>\n<div class=\"scroll card\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{} at once\"><table class=\"errors\">\n<thead><tr><th scope=\"col\">"
      "load generator</th>",
      streams == 1 ? "1 stream" : format("{} streams", streams),
      streams == 1 ? "1 stream" : format("{} streams", streams));
  for (const FigureColumn& figure : kFigures)
    out += format("<th scope=\"col\">{}</th>", figure.name);
  out += "<th scope=\"col\">counted</th><th scope=\"col\">wall</th></tr></thead>\n<tbody>\n";
  for (const Row& row : rows) {
    if (row.streams == streams) out += table_row(row);
  }
  return out + "</tbody></table></div>\n";
}

// The nearest and the farthest of TTFT P50 at the most streams, and who failed.
std::string conformance_verdict(const std::vector<Row>& rows) {
  const std::int64_t most = std::ranges::max_element(rows, {}, &Row::streams)->streams;
  const Row* near = nullptr;
  const Row* far = nullptr;
  std::size_t failed = 0;
  const auto size = [](const Row& row) { return std::abs(*error_of(row, kFigures[0])); };
  for (const Row& row : rows) {
    failed += (*row.json)["said"].is_object() ? 0U : 1U;
    if (row.streams != most || !error_of(row, kFigures[0])) continue;
    if (near == nullptr || size(row) < size(*near)) near = &row;
    if (far == nullptr || size(row) > size(*far)) far = &row;
  }
  std::string out = format("At {} {} ", most, most == 1 ? "stream" : "streams");
  if (near == nullptr) {
    out += "no load generator gave a median TTFT";
  } else if (near == far) {
    out +=
        format("the median TTFT of {} is {} from the truth", near->peer, milliseconds(size(*near)));
  } else {
    out +=
        format("the median TTFT of {} is nearest to the truth, by {}, that of {} farthest, by {}",
               near->peer, milliseconds(size(*near)), far->peer, milliseconds(size(*far)));
  }
  if (failed > 0) out += format("; {} of {} jobs failed", failed, rows.size());
  return out;
}

}  // namespace

Result<std::string> conformance_html(const Json& result) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows, rows_of(result));
  std::vector<std::int64_t> levels;
  for (const Row& row : rows) {
    if (std::ranges::find(levels, row.streams) == levels.end()) levels.push_back(row.streams);
  }
  std::string out = page_head("Load generators beside the truth", kConformanceStyle);
  out += format(
      "<header>\n<p class=\"kind\"><b>ASSAY</b> conformance</p>\n<h1>Load generators beside the "
      "truth</h1>\n<p class=\"meta\">The built-in endpoint: TTFT {}, a token every {}, {} tokens a "
      "reply</p>\n<p class=\"verdict\">{}.</p>\n</header>\n<main>\n",
      markup_text(result["ttft"].as_string()), markup_text(result["itl"].as_string()),
      result["tokens"].as_int(), markup_text(conformance_verdict(rows)));
  for (const std::int64_t streams : levels) out += peer_table(rows, streams);
  out +=
      "<p class=\"note\">Large: what the load generator says minus the truth of its own job; below "
      "it both. The truth is when the endpoint handed each token to the kernel; TTFT begins when "
      "it "
      "had read the request. ITL is compared in each one's own definition. Bars are logarithmic "
      "from 1 µs to 1 s; one in the second colour is too early. Everything ran on one machine, "
      "one job after another: on a busy machine the errors are of that machine.</p>\n</main>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace assay::report
