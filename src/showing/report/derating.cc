#include "report/derating.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"
#include "report/html_style.h"

namespace assay::report {
namespace {

constexpr double kRungBarWidth = 320;

constexpr std::string_view kLadderStyle = R"css(
.ladder svg{display:block;max-width:100%}
.ladder rect{fill:var(--s1)}
.ladder line{stroke:var(--ink);stroke-width:1.5}
.ladder td:first-of-type{text-align:left;white-space:normal}
)css";

struct Rung {
  std::string step{};
  std::string what{};
  std::string load{};
  std::string tps{};
  std::string cost{};
  std::string left{};
  double value = 0;
  double low = 0;
  double high = 0;
};

std::string_view what_of(std::string_view step) {
  if (step == "ideal") return "prompts of one length, a fixed number in flight";
  if (step == "limits") return "and every class keeps its limits";
  if (step == "arrivals") return "and queries come at random";
  if (step == "bursts") return "and each class by its own law";
  if (step == "mix") return "and each class with its own lengths";
  return "";
}

std::string percent_of(const Json& value) {
  return value.is_number() ? format("{:.0f} %", 100 * value.as_double()) : std::string("?");
}

// "−18 % (−21 to −14)" for a cost, "64 % (60 to 69)" for what is left.
std::string ratio_text(const Json& ratio, bool change) {
  if (!ratio["ratio"].is_number()) return "";
  const auto one = [change](const Json& value) {
    if (!value.is_number()) return std::string("?");
    return change ? format("{:+.0f}", 100 * (value.as_double() - 1))
                  : format("{:.0f}", 100 * value.as_double());
  };
  return format("{} % ({} to {})", one(ratio["ratio"]), one(ratio["low"]), one(ratio["high"]));
}

Result<std::vector<Rung>> rungs_of(const Json& result) {
  if (!result["derating"].is_integer() || result["derating"].as_int() != 1) {
    return invalid(format("{}: derating: not a version that is known; 1 is", kDeratingName));
  }
  std::vector<Rung> out;
  for (const Json& one : result["steps"].items()) {
    for (const char* const field : {"load", "tps", "low", "high"}) {
      if (!one[field].is_number()) {
        return invalid(format("{}: steps[{}].{}: a number", kDeratingName, out.size(), field));
      }
    }
    Rung rung{.step = std::string(one["step"].as_string())};
    rung.value = one["tps"].as_double();
    rung.low = one["low"].as_double();
    rung.high = one["high"].as_double();
    rung.what = what_of(rung.step);
    const double load = one["load"].as_double();
    const std::string number =
        load == std::floor(load) ? format("{:.0f}", load) : three_digits(load);
    rung.load = load > 0 ? format("{} {}", number, one["load_unit"].as_string())
                         : std::string("no load keeps them");
    rung.tps = format("{} ({} to {})", three_digits(rung.value), three_digits(rung.low),
                      three_digits(rung.high));
    rung.cost = ratio_text(one["cost"], true);
    rung.left = ratio_text(one["left"], false);
    out.push_back(std::move(rung));
  }
  if (out.empty()) return invalid(format("{}: steps: a list with a step", kDeratingName));
  return out;
}

std::string kept_words(const Json& result) {
  return format("limits are kept where {} of each class's queries keep them",
                percent_of(result["target"]));
}

std::string derating_verdict(const std::vector<Rung>& rungs) {
  if (rungs.size() < 2 || rungs.back().left.empty()) return "the ladder has one step";
  return format("{} of the ideal throughput is left", rungs.back().left);
}

std::string bar(const Rung& rung, double most) {
  const auto x = [most](double value) { return kRungBarWidth * value / most; };
  return format(
      "<svg width=\"{0:.0f}\" height=\"14\" viewBox=\"0 0 {0:.0f} 14\" aria-hidden=\"true\">"
      "<rect x=\"0\" y=\"2\" width=\"{1:.1f}\" height=\"10\"/><line x1=\"{2:.1f}\" x2=\"{3:.1f}\" "
      "y1=\"7\" y2=\"7\"/></svg>",
      kRungBarWidth, x(rung.value), x(rung.low), x(rung.high));
}

}  // namespace

Result<std::string> derating_text(const Json& result) {
  ASSIGN_OR_RETURN(const std::vector<Rung> rungs, rungs_of(result));
  std::string out = "from the ideal point to the real world, output tokens a second:\n";
  for (const Rung& rung : rungs) {
    out += format("  {}: {} at {}", rung.step, rung.tps, rung.load);
    if (!rung.cost.empty()) out += format("; costs {}; {} left", rung.cost, rung.left);
    out += format("  ({})\n", rung.what);
  }
  return out + format("{}; {}\n", derating_verdict(rungs), kept_words(result));
}

Result<std::string> derating_markdown(const Json& result) {
  ASSIGN_OR_RETURN(const std::vector<Rung> rungs, rungs_of(result));
  std::string out = "| Step | Load | Output tok/s | Costs | Left |\n|---|---|---|---|---|\n";
  for (const Rung& rung : rungs) {
    out += format("| {}: {} | {} | {} | {} | {} |\n", rung.step, rung.what, rung.load, rung.tps,
                  rung.cost, rung.left);
  }
  return out + format("\n{}; {}.\n", derating_verdict(rungs), kept_words(result));
}

Result<std::string> derating_html(const Json& result) {
  ASSIGN_OR_RETURN(const std::vector<Rung> rungs, rungs_of(result));
  double most = 1e-9;
  for (const Rung& rung : rungs) most = std::max(most, rung.high);
  std::string out = page_head("From the ideal point to the real world", kLadderStyle);
  out += format(
      "<header>\n<p class=\"kind\"><b>ASSAY</b> derating</p>\n<h1>From the ideal point to the real "
      "world</h1>\n<p class=\"verdict\">{}.</p>\n</header>\n<main>\n<div class=\"scroll card\" "
      "tabindex=\"0\" role=\"region\" aria-label=\"Steps\"><table class=\"ladder\">\n<thead><tr>",
      markup_text(derating_verdict(rungs)));
  for (const char* const name : {"step", "", "load", "output tok/s", "costs", "left"}) {
    out += format("<th scope=\"col\">{}</th>", name);
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const Rung& rung : rungs) {
    out += format(
        "<tr><th scope=\"row\">{}</th><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}"
        "</td></tr>\n",
        markup_text(rung.step), markup_text(rung.what), bar(rung, most), markup_text(rung.load),
        markup_text(rung.tps), markup_text(rung.cost), markup_text(rung.left));
  }
  return out + format(
                   "</tbody></table></div>\n<p class=\"note\">A bar is the step's throughput, its "
                   "line the range; {}.</p>\n</main>\n</body>\n</html>\n",
                   markup_text(kept_words(result)));
}

}  // namespace assay::report
