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

}  // namespace

Json suite_json(const SuiteAsked& asked, const LayoutsTried& tried) {
  Json out;
  out.set("kind", "simulated")
      .set("workload", asked.workload)
      .set("edition", asked.edition)
      .set("scenario", asked.scenario);
  if (!asked.limits.empty()) out.set("limits", asked.limits);
  if (!asked.lengths.empty()) out.set("lengths", asked.lengths);
  if (!asked.basis.empty()) out.set("lengths_basis", asked.basis);
  return out.set("layouts", layouts_json(tried));
}

std::string suite_text(const SuiteAsked& asked, const LayoutsTried& tried) {
  std::string out = format("simulated  {}, {}, limits of {}{}\n", asked.workload, asked.scenario,
                           asked.edition,
                           asked.limits.empty() ? ": none" : ": " + asked.limits);
  if (!asked.lengths.empty()) {
    out += format("           {}{}\n", asked.lengths,
                  asked.basis.empty() ? "" : "; " + asked.basis);
  }
  out += format("           {} layouts fit; those that lead by an estimate were simulated\n\n",
                tried.fit);
  out += "     tok/s     /GPU  queries/s   TTFT P99   TPOT P99  latency P99  trust      layout\n";
  for (const TriedLayout& one : tried.best) out += row(asked, one);
  return out + "\nA model's figures, and no result of that suite.\n";
}

}  // namespace assay::report
