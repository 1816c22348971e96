#include "campaign/safety/safety_course.h"

#include <string>
#include <tuple>
#include <vector>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "campaign/interrupt.h"
#include "campaign/run_talk.h"
#include "campaign/safety/safety_gate.h"
#include "campaign/safety/safety_levels.h"
#include "campaign/safety/safety_run.h"

namespace assay::campaign {
namespace {

Result<SafetyWish> resumed_wish(const SafetyRunOptions& options) {
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  return open_safety(options.resume, key);
}

Result<SafetyWish> new_wish(const SafetyRunOptions& options) {
  SafetyWish wish{.retries = options.retries};
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  const auto text = read_file(options.prompts);
  if (text && safety::is_sealed(*text)) {
    if (!key) {
      return invalid(
          format("--prompts: '{}' is sealed\n  --seal-key FILE opens it", options.prompts));
    }
    const auto used = use_sealed(*text, *key, options.draw, options.draw_seed, wish);
    if (!used) return used.error().within(options.prompts);
  } else if (key || options.draw > 0) {
    return invalid("--seal-key, --draw: the prompts are not sealed");
  } else {
    ASSIGN_OR_RETURN(wish.prompts, safety::load_prompts(options.prompts));
  }
  if (!options.attacks.empty()) {
    ASSIGN_OR_RETURN(auto attacks, safety::find_attacks(options.attacks));
    TRY(use_attacks(std::move(attacks), wish));
  }
  ASSIGN_OR_RETURN(wish.standard, safety::find_standard(options.standard));
  ASSIGN_OR_RETURN(wish.judges, safety::find_judges(options.judges));
  if (!options.pack.empty()) {
    ASSIGN_OR_RETURN(wish.pack, safety::find_pack(options.pack));
  }
  ASSIGN_OR_RETURN(wish.folder, choose_folder(options.report_dir));
  TRY(begin_safety(wish));
  return wish;
}

Result<void> check_safety_together(const SafetyRunOptions& options) {
  if (!options.resume.empty()) {
    for (const char* const flag :
         {"--prompts", "--standard", "--judges", "--retries", "--levels", "--curve", "--report-dir",
          "--draw", "--draw-seed", "--attacks", "--pack"}) {
      if (options.given.contains(flag))
        return invalid(format("{}: a resumed run has it already", flag));
    }
  }
  for (const char* const flag : {"--levels", "--report-dir"}) {
    if (options.curve.empty() || !options.given.contains(flag)) continue;
    return invalid(format("{}: comes from the curve of --curve; leave it out", flag));
  }
  return {};
}

// A pack's parts, where no flag names another.
Result<void> take_pack(SafetyRunOptions& options) {
  if (options.pack.empty()) return {};
  ASSIGN_OR_RETURN(const safety::Pack pack, safety::find_pack(options.pack));
  for (const auto& [flag, value, part] : {std::tuple{"--prompts", &options.prompts, &pack.prompts},
                                          {"--standard", &options.standard, &pack.standard},
                                          {"--judges", &options.judges, &pack.judges},
                                          {"--attacks", &options.attacks, &pack.attacks}}) {
    if (!options.given.contains(flag)) *value = *part;
  }
  return {};
}

// The curve whose points' concurrencies are the levels; nullopt without --curve.
Result<std::optional<CurveFolder>> open_safety_curve(SafetyRunOptions& options) {
  std::optional<CurveFolder> none;
  if (options.curve.empty()) return none;
  if (!CurveFolder::is_curve(options.curve)) {
    return invalid(format("--curve: '{}' holds no curve (curve.json)", options.curve));
  }
  ASSIGN_OR_RETURN(auto curve, CurveFolder::read(options.curve));
  if (curve_concurrencies(curve).empty()) {
    return invalid(format("--curve: '{}' has no measured point at a concurrency", options.curve));
  }
  const auto safety = safety_folder_of(options.curve);
  if (holds_safety(options.curve)) {
    return invalid(format("--curve: '{}' has its safety runs\n  --resume {} goes on with them",
                          options.curve, safety.string()));
  }
  options.report_dir = safety.string();
  return std::optional(std::move(curve));
}

// The levels to run; empty: one run at the load of the flags.
Result<std::vector<std::uint32_t>> safety_levels_of(const SafetyRunOptions& options,
                                                    const CurveFolder* curve) {
  if (curve != nullptr) return curve_concurrencies(*curve);
  if (!options.levels.empty()) return parse_levels(options.levels);
  std::vector<std::uint32_t> none;
  if (options.resume.empty()) return none;
  ASSIGN_OR_RETURN(auto begun, open_levels(options.resume));
  return begun ? *std::move(begun) : none;
}

// What --safety-min says of a run that is whole.
Result<void> judge_least(const SafetyWish& wish, bool finished, SafetyGate& gate, Ending& ending,
                         Json& result) {
  if (!(gate.asked() || wish.pack) || !finished) return {};
  TRY(gate.judge(wish.folder));
  gate.finish(false, ending, &result);
  return {};
}

Result<int> print_safety_levels(const SafetyWish& wish, const SafetyLevels& done,
                                const SafetyRunOptions& options, SafetyGate& gate,
                                const Talk& talk) {
  Ending ending = done.ending;
  Json result = done.to_json();
  TRY(judge_least(wish, done.finished, gate, ending, result));
  if (options.inputs.json) {
    talk.print(result.set("folder", wish.folder.string())
                   .set("finished", done.finished)
                   .set("exit", ending.json())
                   .dump(2) +
               "\n");
  } else {
    talk.print(done.text() + gate.text() + format("files    {}\n", wish.folder.string()));
  }
  if (!done.finished) {
    talk.say(format("next     assay safety run --resume {} … with the same endpoint",
                    wish.folder.string()));
  }
  say_exhausted(ending, talk);
  return ending.code();
}

Result<int> print_safety_end(const SafetyWish& wish, const SafetyEnd& end,
                             const SafetyRunOptions& options, SafetyGate& gate, const Talk& talk) {
  Ending ending = end.ending;
  Json result = end.finished ? end.report.to_json() : Json::object();
  if (end.finished && end.pairs) result.set("jailbreak", end.pairs->to_json());
  TRY(judge_least(wish, end.finished, gate, ending, result));
  if (options.inputs.json) {
    talk.print(result.set("folder", wish.folder.string())
                   .set("finished", end.finished)
                   .set("exit", ending.json())
                   .dump(2) +
               "\n");
  } else if (end.finished) {
    talk.print((end.pairs ? end.pairs->text() + "\n" : "") + end.report.text() + gate.text() +
               format("files    {}\n", wish.folder.string()));
  }
  if (!end.finished) {
    for (const ExitCause& cause : ending.causes()) talk.say(format("stopped: {}", cause.why));
    talk.say(format("next     assay safety run --resume {} … with the same endpoint",
                    wish.folder.string()));
  }
  say_exhausted(ending, talk);
  return ending.code();
}

}  // namespace

Result<int> measure_safety(RunSettings& settings, SafetyRunOptions& options, SafetyGate& gate,
                           std::span<const std::string> args, const Talk& talk) {
  TRY(options.client.check());
  TRY(gate.understand());
  TRY(check_safety_together(options));
  TRY(take_pack(options));
  ASSIGN_OR_RETURN(const auto curve, open_safety_curve(options));
  if (curve && !options.given.contains("--endpoint")) {
    settings.set_flag("--endpoint", curve->settings().endpoint);
  }
  if (curve && !options.given.contains("--model"))
    settings.set_flag("--model", curve->settings().model);
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> levels,
                   safety_levels_of(options, curve ? &*curve : nullptr));
  ASSIGN_OR_RETURN(const SafetyWish wish,
                   options.resume.empty() ? new_wish(options) : resumed_wish(options));
  settings.set_flag("--dataset", safety_prompts_file(wish.folder).string());
  ASSIGN_OR_RETURN(const plan::LoadedConfig loaded, settings.load());
  if (!options.quiet) say_notes(talk, {&loaded.notes});
  SafetyAsked asked{.config = loaded.config, .command = command_of("safety run", args)};
  if (!options.quiet) asked.say = [&talk](const std::string& line) { talk.say(line); };
  run::Control control;
  const InterruptGuard guard(control);
  if (!levels.empty()) {
    ASSIGN_OR_RETURN(const SafetyLevels done,
                     run_safety_levels(wish, levels, asked, options.client, control));
    return print_safety_levels(wish, done, options, gate, talk);
  }
  ASSIGN_OR_RETURN(const SafetyEnd end, run_safety(wish, asked, options.client, control));
  return print_safety_end(wish, end, options, gate, talk);
}

}  // namespace assay::campaign
