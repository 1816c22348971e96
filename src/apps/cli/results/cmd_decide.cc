#include "base/flags.h"
#include "campaign/decide_course.h"
#include "cli/commands.h"
#include "cli/console.h"

namespace assay::cli {
namespace {

void add_decide_flags(Flags& flags, campaign::DecideOptions& options) {
  flags
      .add("SYSTEM", &options.systems,
           "a curve's folder and, after commas, what a run cannot know: name=TEXT, accelerators=N, "
           "accelerator=NAME, kw=X, price=DOLLARS (an hour of the system), capex=DOLLARS, "
           "simulated=yes")
      .required();
  flags
      .add("--slo=LIMITS", &options.slo,
           "what each user is promised: ttft_p90<=2s,tpot_p90<=50ms,tps_per_user>=30")
      .required();
  flags.add("--json", &options.json, "print the answer as JSON");
  decide::CostInputs& in = options.inputs;
  flags.group("Cost (what is not given is left out)");
  flags.add("--users=N", &in.users, "users at once at the peak");
  flags.add("--prices=FILE", &options.prices,
            "your price table: a YAML list of {accelerator, usd_per_hour, as_of, source}");
  flags.add("--derate=SHARE", &in.derate, "share of the measured that production reaches: 0.7");
  flags.add("--headroom=SHARE", &in.headroom, "share that is kept in reserve: 0.2");
  flags.add("--spare=N", &in.spare, "systems beside those that serve");
  flags.add("--utilisation=SHARE", &in.utilisation,
            "share of the tokens that is sold over the day");
  flags.add("--years=N", &in.years, "over which a purchase is paid and the total is summed");
  flags.add("--growth=SHARE", &in.growth, "of users in a year: 0.5 is half as many more");
  flags.add("--interest=SHARE", &in.interest, "of a purchase, a year: 0.08");
  flags.add("--usd-per-kwh=DOLLARS", &in.usd_per_kwh, "of energy");
  flags.add("--pue=RATIO", &in.pue, "power of the building for each of the system's: 1.3");
  flags.add("--space-per-month=DOLLARS", &in.space_per_month, "of one system");
  flags.add("--software-per-year=DOLLARS", &in.software_per_year, "of one system");
  flags.add("--staff-per-year=DOLLARS", &in.staff_per_year, "of the whole fleet");
  flags.group("");
}

}  // namespace

Result<int> cmd_decide(Args args) {
  campaign::DecideOptions options;
  Flags flags("decide",
              "which measured system serves a promise to how many users, and at what cost");
  add_decide_flags(flags, options);
  flags.example("assay decide curves/a curves/b --slo 'ttft_p90<=2s,tps_per_user>=30'");
  flags.example(
      "assay decide curves/a,accelerators=8,accelerator=h100-sxm,kw=10.2 --slo 'ttft_p90<=2s' "
      "--prices prices.yaml --users 500 --headroom 0.2");
  PARSE_OR_RETURN(flags, args);
  return campaign::show_decision(options, console());
}

}  // namespace assay::cli
