#include "cli/results/compare_interleaved.h"

#include <algorithm>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/time.h"
#include "campaign/recorded_run.h"
#include "cli/client_flags.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/results/compare_flags.h"
#include "cli/run_flags.h"
#include "cli/run_talk.h"
#include "plan/interleave.h"

namespace assay::cli {
namespace {

// The default time, for both endpoints together, if neither a number nor a time is given.
constexpr Duration kTimeUnsaid = 60_s;

struct Typed {
  bool interleave = false;
  bool quiet = false;
  std::uint64_t order_seed = 1;
  std::optional<std::uint64_t> block{};
  campaign::ClientOptions client{};
  CompareFlags compare{};
};

void add_flags(Flags& flags, Typed& typed) {
  const std::string_view turns = "Turns";
  flags.add("--interleave", &typed.interleave, "this command").hidden();
  flags.add("--block", &typed.block, "queries in a block (4 x the concurrency, 20 at least)")
      .value("N")
      .group(turns);
  flags.add("--order-seed", &typed.order_seed, "draws which endpoint begins each pair of blocks")
      .value("N")
      .group(turns);
  add_client_flags(flags, typed.client);
  typed.compare.add_to(flags);
  flags.add("--quiet", &typed.quiet, "no talk while it runs");
  flags.example(
      "assay compare --interleave --endpoint http://a --endpoint http://b --model m "
      "--concurrency 16 --duration 10m --junit compare.xml");
  flags.example(
      "--duration is of both together, in whole pairs of blocks; 60 s where none is given");
}

Result<void> check(const Typed& typed) {
  TRY(typed.client.check());
  if (typed.client.threads != 1) {
    return invalid("--threads: blocks take turns on one measuring thread; give 1");
  }
  if (typed.client.require_accuracy) {
    return invalid("--require-accuracy: accuracy is not compared in blocks; leave it out");
  }
  if (typed.block == 0U) return invalid("--block: 0 queries are none; at least 1");
  return {};
}

// A closed loop may finish all planned blocks before its time is over.
void say_if_early(const plan::Interleaved& plan, const campaign::RecordedRun& side, Duration time) {
  const std::vector<run::PhaseResult>& begun = side.measured.shards.front().phases;
  const PhasePlan& last = plan.bundle.plan.phases.back();
  if (time == Duration{} || last.open_loop || begun.size() < plan.endpoint_of_phase.size()) return;
  Instant from = begun.back().started;
  for (const run::PhaseResult& phase : begun) {
    if (!is_counted(plan.bundle.plan.phases[phase.phase].kind)) continue;
    from = std::min(from, phase.started);
  }
  const Duration took = begun.back().ended - from;
  if (took >= time) return;
  say(format("all blocks were asked in {:.1f} of {:g} s: larger ones (--block) fill the time",
             took.seconds(), time.seconds()));
}

}  // namespace

Result<int> compare_interleaved(Args args) {
  Typed typed;
  Flags flags("compare --interleave",
              "is B worse than A? both measured in one run, in turns, and compared in pairs");
  add_flags(flags, typed);
  RunFlags settings(flags, {"--metrics", "--lengths", "--errors", "--block"});
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  TRY(check(typed));
  TRY(typed.compare.understand());
  typed.compare.options.allow_client_limited = typed.client.allow_client_limited;
  settings.set_time_unsaid(kTimeUnsaid);
  ASSIGN_OR_RETURN(const plan::LoadedConfig loaded, settings.load());
  const Duration time = plan::interleaved_time(loaded.config);
  ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(loaded.config));
  ASSIGN_OR_RETURN(plan::PlanBundle bundle, plan::make_plan(loaded.config, std::move(datasets)));
  ASSIGN_OR_RETURN(
      plan::Interleaved plan,
      plan::interleave(std::move(bundle),
                       {.block = typed.block.value_or(0), .seed = typed.order_seed, .time = time}));
  if (loaded.config.audit) return invalid("audit: of one endpoint; delete the block");
  ASSIGN_OR_RETURN(const auto folder, choose_folder(loaded.config.report_dir));
  const std::string a = (folder / "a").string();
  const std::string b = (folder / "b").string();
  for (const std::string& side : {a, b}) TRY(choose_folder(side));
  if (!typed.quiet) say_notes({&loaded.notes, &plan.bundle.notes});
  campaign::RunRequest request{.config = &loaded.config, .folder = folder};
  request.command = {"assay", "compare"};
  request.command.insert(request.command.end(), args.begin(), args.end());
  run::Control control;
  std::array<campaign::RecordedRun, 2> sides{};
  {
    const InterruptGuard guard(control);
    const campaign::Watch watch = typed.quiet ? campaign::Watch() : campaign::Watch(paint_live);
    ASSIGN_OR_RETURN(sides,
                     campaign::record_interleaved(request, plan, typed.client, watch, control));
  }
  if (!typed.quiet) say_if_early(plan, sides[0], time);
  for (const campaign::RecordedRun& side : sides) {
    // The comparison refuses a client-limited run itself, with its reasons.
    const Ending ending = campaign::ending_of(side, {.allow_client_limited = true});
    if (!ending.clean()) {
      say(format("nothing to compare: {}\n  assay report {}", ending.causes().front().why,
                 side.run.folder.string()));
      return ending.code();
    }
  }
  return compare_folders(a, b, typed.compare);
}

}  // namespace assay::cli
