// A point's power.json, the informal file of the reference client's power block: its figures follow
// from one another, and its tokens are the run's. The rules take provisioned power; this file
// stands beside them and is held to itself alone.
#include <cmath>

#include "rules/rule.h"

namespace assay::rules {
namespace {

constexpr double kPowerSlack = 0.01;  // the rules' own tolerance for figures

bool is_near(double a, double b, double slack) {
  return std::abs(a - b) <= slack * std::max(std::abs(a), std::abs(b));
}

void check_plausible_power(const Scope& at, Out& out) {
  const Document& power = at.point->power;
  if (power.absent()) return out.not_applicable();
  if (!power.good()) {
    return out.warning(power.place(), power.trouble(), "the power.json of the run folder as it is");
  }
  if (power.at("/status").as_string() != "ok") return;  // it says itself that it has no figure
  const auto number = [&power](std::string_view pointer) {
    const Json& value = power.at(pointer);
    return value.is_number() ? value.as_double() : std::nan("");
  };
  const double joules = number("/totals/energy_j");
  const double watts = number("/totals/mean_power_w");
  const double seconds = number("/window/duration_s");
  for (const char* const needed :
       {"/totals/energy_j", "/totals/mean_power_w", "/window/duration_s"}) {
    if (number(needed) >= 0) continue;
    return out.warning(power.place(needed), said(power.at(needed)), "a number, 0 or more");
  }
  const double border = number("/window/end_epoch_s") - number("/window/start_epoch_s");
  constexpr double kStampSlack = 2e-3;  // seconds since 1970 with a few decimals
  if (!(std::abs(border - seconds) <= kStampSlack + kPowerSlack * seconds)) {
    out.warning(power.place("/window/duration_s"), format("{:.6g} s", seconds),
                format("{:.6g} s: end_epoch_s less start_epoch_s", border));
  }
  // That client's trapezoids leave out up to an interval at each end.
  const double interval = number("/provenance/interval_s");
  const double ends = interval >= 0 && seconds > 0 ? 2 * interval / seconds : 0;
  if (!is_near(joules, watts * seconds, kPowerSlack + ends)) {
    out.warning(power.place("/totals/energy_j"), format("energy_j is {:.6g}", joules),
                format("{:.6g}: mean_power_w times duration_s", watts * seconds));
  }
  const double tokens = number("/totals/output_tokens");
  const double each = number("/totals/energy_per_output_token_j");
  if (tokens > 0 && each >= 0 && !is_near(each * tokens, joules, kPowerSlack)) {
    out.warning(power.place("/totals/energy_per_output_token_j"), format("{:.6g}", each),
                format("{:.6g}: energy_j over output_tokens", joules / tokens));
  }
  const Json& total = at.point->summary.at("/output_sequence_lengths/total");
  if (tokens > 0 && total.is_number() && !is_near(tokens, total.as_double(), kPowerSlack)) {
    out.warning(power.place("/totals/output_tokens"), format("{:.0f} tokens", tokens),
                format("{:.0f}: the run's own", total.as_double()));
  }
}

}  // namespace

Rule plausible_power() {
  return {.id = "plausible-power",
          .severity = Severity::warning,
          .clause = "Assay's own: joules are watts times seconds",
          .demand = "a power.json's figures follow from one another, and its tokens are the run's",
          .fix = "copy power.json from the run of this point as it is",
          .check = check_plausible_power};
}

}  // namespace assay::rules
