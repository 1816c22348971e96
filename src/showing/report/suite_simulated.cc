#include "report/suite_simulated.h"

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::report {
namespace {

std::string ms(double value) { return human_duration(Duration::from_seconds(value * 1e-3)); }

std::string row(const SuiteAsked& asked, const TriedLayout& one) {
  const sim::SimPoint& p = one.point;
  if (p.queries == 0) return "  misses the limits at every rate  " + one.layout + "\n";
  std::string out;
  if (asked.tokens) {
    out = pad_left(three_digits(p.system_tps), 10) + pad_left(three_digits(p.tps_per_gpu), 9);
  } else {
    out = pad_left("-", 10) + pad_left("-", 9);
  }
  out += pad_left(three_digits(p.qps), 11);
  out += asked.tokens ? pad_left(ms(p.ttft_ms.p99), 11) + pad_left(ms(p.tpot_ms.p99), 11)
                      : pad_left("-", 11) + pad_left("-", 11);
  return out + pad_left(ms(p.latency_ms.p99), 13) +
         format("  {:<9}  {}\n", to_string(p.trust.level), one.layout);
}

Json head_json(const SuiteAsked& asked) {
  Json out;
  out.set("kind", "simulated")
      .set("workload", asked.workload)
      .set("edition", asked.edition)
      .set("scenario", asked.scenario);
  if (!asked.limits.empty()) out.set("limits", asked.limits);
  if (!asked.software.empty()) out.set("software", asked.software);
  if (asked.drawn_from > 0) out.set("drawn_from", asked.drawn_from);
  if (!asked.lengths.empty()) out.set("lengths", asked.lengths);
  if (!asked.basis.empty()) out.set("lengths_basis", asked.basis);
  return out;
}

std::string head_text(const SuiteAsked& asked) {
  std::string out = format("simulated  {}, {}, limits of {}: {}\n", asked.workload, asked.scenario,
                           asked.edition, asked.limits.empty() ? "none" : asked.limits);
  if (!asked.lengths.empty()) {
    out +=
        format("           {}{}\n", asked.lengths, asked.basis.empty() ? "" : "; " + asked.basis);
  }
  if (!asked.software.empty()) {
    out += format("           software {} (--list software; assumed from that round's figures)\n",
                  asked.software);
  }
  if (asked.drawn_from > 0) {
    out += format("           each token is drawn from all {} of the vocabulary\n",
                  with_thousands(asked.drawn_from));
  }
  return out;
}

constexpr std::string_view kNoResult = "\nA model's figures, and no result of that suite.\n";

// Over the step before and over the first; 0 where either serves nothing.
double gain(const std::vector<LeverStep>& steps, std::size_t from, std::size_t to) {
  const double before = steps[from].best.point.tps_per_gpu;
  return before > 0 ? steps[to].best.point.tps_per_gpu / before : 0;
}

}  // namespace

Json suite_json(const SuiteAsked& asked, const LayoutsTried& tried) {
  return head_json(asked).set("layouts", layouts_json(tried));
}

std::string suite_text(const SuiteAsked& asked, const LayoutsTried& tried) {
  std::string out = head_text(asked);
  out += format("           {} {}; those that lead by an estimate were simulated\n\n",
                counted(tried.fit, "layout"), tried.fit == 1 ? "fits" : "fit");
  out += "     tok/s     /GPU  queries/s   TTFT P99   TPOT P99  latency P99  trust      layout\n";
  for (const TriedLayout& one : tried.best) out += row(asked, one);
  return out + std::string(kNoResult);
}

Json levers_json(const SuiteAsked& asked, const std::vector<LeverStep>& steps) {
  Json list = Json::array();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Json step;
    step.set("lever", steps[i].lever)
        .set("layout", steps[i].best.layout)
        .set("tps_per_gpu", steps[i].best.point.tps_per_gpu);
    if (i > 0) step.set("gain", gain(steps, i - 1, i));
    list.push_back(std::move(step));
  }
  return head_json(asked)
      .set("gain", gain(steps, 0, steps.size() - 1))
      .set("levers", std::move(list));
}

std::string levers_text(const SuiteAsked& asked, const std::vector<LeverStep>& steps) {
  std::string out = head_text(asked) + "\n  tok/s/GPU    gain  lever, in this order\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out += pad_left(three_digits(steps[i].best.point.tps_per_gpu), 11) +
           pad_left(i == 0 ? "" : format("{:.2f}x", gain(steps, i - 1, i)), 8) +
           format("  {:<30} {}\n", steps[i].lever, steps[i].best.layout);
  }
  return out + format("  in all {:>10.2f}x\n", gain(steps, 0, steps.size() - 1)) +
         std::string(kNoResult);
}

}  // namespace assay::report
