#include <algorithm>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/curve/curve_load.h"
#include "campaign/curve/curve_view.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "decide/system.h"
#include "report/terminal_style.h"

namespace assay::cli {
namespace {

struct DecideOptions {
  std::vector<std::string> systems{};
  std::string slo{};
  std::string prices{};
  bool json = false;
  decide::CostInputs inputs{};
};

void add_decide_flags(Flags& flags, DecideOptions& options) {
  flags
      .add("SYSTEM", &options.systems,
           "a curve's folder and, after commas, what a run cannot know: name=TEXT, "
           "accelerators=N, accelerator=NAME, kw=X, price=DOLLARS (an hour of the system), "
           "capex=DOLLARS, simulated=yes")
      .required();
  flags
      .add("--slo", &options.slo,
           "what each user is promised: ttft_p90<=2s,tpot_p90<=50ms,tps_per_user>=30")
      .value("LIMITS")
      .required();
  flags.add("--json", &options.json, "print the answer as JSON");
  decide::CostInputs& in = options.inputs;
  const std::string_view cost = "Cost (what is not given is left out)";
  flags.add("--users", &in.users, "users at once at the peak").value("N").group(cost);
  flags
      .add("--prices", &options.prices,
           "your price table: a YAML list of {accelerator, usd_per_hour, as_of, source}")
      .value("FILE")
      .group(cost);
  flags.add("--derate", &in.derate, "share of the measured that production reaches: 0.7")
      .value("SHARE")
      .group(cost);
  flags.add("--headroom", &in.headroom, "share that is kept in reserve: 0.2")
      .value("SHARE")
      .group(cost);
  flags.add("--spare", &in.spare, "systems beside those that serve").value("N").group(cost);
  flags.add("--utilisation", &in.utilisation, "share of the tokens that is sold over the day")
      .value("SHARE")
      .group(cost);
  flags.add("--years", &in.years, "over which a purchase is paid and the total is summed")
      .value("N")
      .group(cost);
  flags.add("--growth", &in.growth, "of users in a year: 0.5 is half as many more")
      .value("SHARE")
      .group(cost);
  flags.add("--interest", &in.interest, "of a purchase, a year: 0.08").value("SHARE").group(cost);
  flags.add("--usd-per-kwh", &in.usd_per_kwh, "of energy").value("DOLLARS").group(cost);
  flags.add("--pue", &in.pue, "power of the building for each of the system's: 1.3")
      .value("RATIO")
      .group(cost);
  flags.add("--space-per-month", &in.space_per_month, "of one system").value("DOLLARS").group(cost);
  flags.add("--software-per-year", &in.software_per_year, "of one system")
      .value("DOLLARS")
      .group(cost);
  flags.add("--staff-per-year", &in.staff_per_year, "of the whole fleet")
      .value("DOLLARS")
      .group(cost);
}

}  // namespace

Result<int> cmd_decide(Args args) {
  DecideOptions options;
  Flags flags("decide",
              "which measured system serves a promise to how many users, and at what cost");
  add_decide_flags(flags, options);
  flags.example("assay decide curves/a curves/b --slo 'ttft_p90<=2s,tps_per_user>=30'");
  flags.example(
      "assay decide curves/a,accelerators=8,accelerator=h100-sxm,kw=10.2 --slo 'ttft_p90<=2s' "
      "--prices prices.yaml --users 500 --headroom 0.2");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  decide::Question question{.inputs = options.inputs};
  ASSIGN_OR_RETURN(question.limits, decide::parse_limits(options.slo));
  TRY(decide::check_curve_limits(question.limits));
  if (!options.prices.empty()) {
    ASSIGN_OR_RETURN(const std::string text, read_file(options.prices));
    auto rows = decide::parse_prices(text);
    if (!rows) return rows.error().within(options.prices);
    question.prices = *std::move(rows);
  }
  std::vector<decide::SystemAnswer> found;
  for (const std::string& text : options.systems) {
    ASSIGN_OR_RETURN(const decide::System system, decide::parse_system(text));
    if (!campaign::CurveView::is_curve(system.folder)) {
      return invalid(
          format("'{}' holds no curve (curve.json), and no runs of the reference client\n  assay "
                 "curve --endpoint URL --model NAME measures one",
                 system.folder));
    }
    ASSIGN_OR_RETURN(const auto view, campaign::CurveView::open(system.folder));
    ASSIGN_OR_RETURN(const metrics::Curve curve, campaign::load_curve(view.curve()));
    ASSIGN_OR_RETURN(auto one, decide::answer(system, curve, question));
    found.push_back(std::move(one));
  }
  const decide::Answers answers = decide::rank_all(std::move(found));
  print(options.json ? decide::answers_json(answers, question).dump(2) + "\n"
                     : decide::answers_text(answers, report::terminal_style(1).columns));
  const bool any = std::ranges::any_of(
      answers.systems, [](const auto& one) { return one.served.level.has_value(); });
  return exit_code(any ? ExitCode::done : ExitCode::findings);
}

}  // namespace assay::cli
