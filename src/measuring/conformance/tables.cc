#include <cmath>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "conformance/conformance.h"

namespace assay::conformance {
namespace {

// "+1.23 ms", "+12 µs": with three digits.
std::string signed_ms(double ms) {
  const double size = std::abs(ms);
  const char sign = ms < 0 ? '-' : '+';
  if (size < 1) return format("{}{:.0f} us", sign, size * 1000);
  return format("{}{:.{}f} ms", sign, size, size < 10 ? 2 : size < 100 ? 1 : 0);
}

struct Cells {
  std::string peer{};
  std::string streams{};
  std::string ttft_p50{};
  std::string ttft_p99{};
  std::string itl_p50{};
  std::string itl_p99{};
  std::string counted{};
  std::string wall{};
  std::string cpu{};
  std::string taken{};
  std::string failure{};
};

Cells cells_of(const Row& row) {
  const std::string version = row.who.version.empty() ? "" : " " + row.who.version;
  Cells out{.peer = std::string(row.who.peer->title) + version,
            .streams = format("{}", row.streams),
            .wall = format("{:.1f} s", row.run.wall_s),
            .cpu = format("{:.2f} s", row.run.cpu_s),
            .taken = row.taken_cores < 0 ? "–" : format("{:.2f}", row.taken_cores),
            .failure = row.failure};
  if (!row.figures) return out;
  out.ttft_p50 = signed_ms(row.figures->ttft.p50_ms - row.truth.ttft.p50_ms);
  out.ttft_p99 = signed_ms(row.figures->ttft.p99_ms - row.truth.ttft.p99_ms);
  if (row.figures->itl) {
    out.itl_p50 = signed_ms(row.figures->itl->p50_ms - row.true_gaps().p50_ms);
    out.itl_p99 = signed_ms(row.figures->itl->p99_ms - row.true_gaps().p99_ms);
  }
  out.counted = format("{} of {}", row.figures->completed, row.requests);
  return out;
}

struct Column {
  std::string_view head{};
  std::string Cells::*cell = nullptr;
};
constexpr Column kColumns[] = {{"peer", &Cells::peer},         {"streams", &Cells::streams},
                               {"TTFT P50", &Cells::ttft_p50}, {"TTFT P99", &Cells::ttft_p99},
                               {"ITL P50", &Cells::itl_p50},   {"ITL P99", &Cells::itl_p99},
                               {"counted", &Cells::counted},   {"wall", &Cells::wall},
                               {"CPU", &Cells::cpu},           {"others", &Cells::taken}};

// A line for each disturbed row.
std::string disturbed_lines(const std::vector<Row>& rows, std::string_view before) {
  std::string out;
  for (const Row& row : rows) {
    if (!row.disturbed()) continue;
    out += format("{}{} at {} streams: other programs took {:.2f} of {}{}\n", before,
                  row.who.peer->title, row.streams, row.taken_cores, counted(row.cores, "core"),
                  row.tries > 1 ? format(", the least of {} tries", row.tries) : "");
  }
  return out;
}

Json spread_json(const Spread& spread) {
  return Json().set("p50_ms", spread.p50_ms).set("p99_ms", spread.p99_ms);
}

}  // namespace

Json rows_json(const Settings& settings, const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json one;
    one.set("peer", row.who.peer->id)
        .set("title", row.who.peer->title)
        .set("version", row.who.version)
        .set("program", row.who.program.string())
        .set("streams", row.streams)
        .set("requests", row.requests)
        .set("itl_of", to_string(row.who.peer->gaps))
        .set("wall_s", row.run.wall_s)
        .set("cpu_s", row.run.cpu_s)
        .set("others_cores", row.taken_cores < 0 ? Json() : Json(row.taken_cores))
        .set("disturbed", row.disturbed())
        .set("tries", row.tries);
    one.set("truth", Json()
                         .set("ttft", spread_json(row.truth.ttft))
                         .set("itl", spread_json(row.true_gaps()))
                         .set("replies", row.truth.replies));
    if (row.figures) {
      Json said = Json()
                      .set("ttft", spread_json(row.figures->ttft))
                      .set("completed", row.figures->completed);
      if (row.figures->itl) said.set("itl", spread_json(*row.figures->itl));
      one.set("said", std::move(said));
    } else {
      one.set("failure", row.failure);
    }
    list.push_back(std::move(one));
  }
  return Json()
      .set("ttft", settings.ttft)
      .set("itl", settings.itl)
      .set("tokens", settings.tokens)
      .set("rows", std::move(list));
}

std::string rows_text(const Settings& settings, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Column& column : kColumns) {
    std::size_t width = column.head.size();
    for (const Row& row : rows) width = std::max(width, display_width(cells_of(row).*column.cell));
    widths.push_back(width);
  }
  std::string out = format(
      "Error of each figure: what the peer says minus the truth of its own job.\n"
      "The endpoint: TTFT {}, a token every {}, {} tokens a reply.\n\n",
      settings.ttft, settings.itl, settings.tokens);
  const auto line = [&](auto&& text_of) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string cell(text_of(kColumns[i]));
      text += (i == 0 ? "  " + pad_right(cell, widths[i]) : "  " + pad_left(cell, widths[i]));
    }
    out += text + "\n";
  };
  line([](const Column& column) { return column.head; });
  for (const Row& row : rows) {
    const Cells cells = cells_of(row);
    line([&](const Column& column) { return cells.*column.cell; });
    if (!cells.failure.empty()) out += "    failed: " + fit(cells.failure, 90) + "\n";
  }
  const std::string disturbed = disturbed_lines(rows, "  ");
  if (!disturbed.empty()) {
    out += "\nDisturbed; measure these again on an idle machine, or with --repeat:\n" + disturbed;
  }
  return out;
}

std::string rows_markdown(const Settings& settings, const std::vector<Row>& rows) {
  std::string out = format("TTFT {}, a token every {}, {} tokens a reply.\n\n|", settings.ttft,
                           settings.itl, settings.tokens);
  for (const Column& column : kColumns) out += format(" {} |", column.head);
  out += "\n|";
  for (std::size_t i = 0; i < std::size(kColumns); ++i) out += i == 0 ? "---|" : "---:|";
  out += "\n";
  for (const Row& row : rows) {
    const Cells cells = cells_of(row);
    out += "|";
    for (const Column& column : kColumns) out += format(" {} |", cells.*column.cell);
    out += "\n";
  }
  const std::string disturbed = disturbed_lines(rows, "- ");
  return out + (disturbed.empty() ? "" : "\nDisturbed:\n\n" + disturbed);
}

}  // namespace assay::conformance
