#include "campaign/interleaved_course.h"

#include <algorithm>

#include "base/exit_code.h"
#include "base/format.h"
#include "base/json.h"
#include "base/time.h"
#include "campaign/interrupt.h"
#include "campaign/recorded_run.h"
#include "campaign/run_talk.h"
#include "plan/interleave.h"

namespace assay::campaign {
namespace {

// The default time, for both endpoints together, if neither a number nor a time is given.
constexpr Duration kTimeUnsaid = 60_s;

Result<void> check_interleaved(const InterleavedOptions& typed) {
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
void say_if_early(const plan::Interleaved& plan, const RecordedRun& side, Duration time,
                  const Talk& talk) {
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
  talk.say(format("all blocks were asked in {:.1f} of {:g} s: larger ones (--block) fill the time",
                  took.seconds(), time.seconds()));
}

}  // namespace

Result<int> measure_interleaved(RunSettings& settings, InterleavedOptions typed,
                                std::span<const std::string> args, const Talk& talk) {
  TRY(check_interleaved(typed));
  TRY(typed.compare.understand());
  typed.compare.options.allow_client_limited = typed.client.allow_client_limited;
  settings.time_unsaid = kTimeUnsaid;
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
  if (!typed.quiet) say_notes(talk, {&loaded.notes, &plan.bundle.notes});
  RunRequest request{.config = &loaded.config, .folder = folder};
  request.command = command_of("compare", args);
  run::Control control;
  std::array<RecordedRun, 2> sides{};
  {
    const InterruptGuard guard(control);
    const LiveView watch =
        typed.quiet ? LiveView() : LiveView([&talk](const Json& facts, auto snapshot) {
          return paint_live(facts, std::move(snapshot), talk);
        });
    ASSIGN_OR_RETURN(sides, record_interleaved(request, plan, typed.client, watch, control));
  }
  if (!typed.quiet) say_if_early(plan, sides[0], time, talk);
  for (const RecordedRun& side : sides) {
    // The comparison refuses a client-limited run itself, with its reasons.
    const Ending ending = ending_of(side, {.allow_client_limited = true});
    if (!ending.clean()) {
      talk.say(format("nothing to compare: {}\n  assay report {}", ending.causes().front().why,
                      side.run.folder.string()));
      return ending.code();
    }
  }
  return compare_folders(a, b, typed.compare, "", talk);
}

}  // namespace assay::campaign
