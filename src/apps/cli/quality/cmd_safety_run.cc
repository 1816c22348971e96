#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/aead.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/safety/safety_gate.h"
#include "campaign/safety/safety_levels.h"
#include "campaign/safety/safety_run.h"
#include "cli/client_flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/run_flags.h"
#include "cli/run_talk.h"
#include "cli/safety_gate.h"
#include "cli/safety_inputs.h"

namespace assay::cli {
namespace {

struct SafetyRunOptions {
  campaign::ClientOptions client{};
  std::string prompts = "standin";
  std::string standard = "standin";
  std::string judges = "standin";
  std::string attacks{};
  std::string pack{};
  SafetyInputs inputs{};
  std::uint64_t draw = 0;
  std::string draw_seed{};
  std::string report_dir{};
  std::string resume{};
  std::string levels{};
  std::string curve{};
  std::uint64_t retries = 1;
  bool quiet = false;
};

Result<campaign::SafetyWish> resumed_wish(const SafetyRunOptions& options) {
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  return campaign::open_safety(options.resume, key);
}

Result<campaign::SafetyWish> new_wish(const SafetyRunOptions& options) {
  campaign::SafetyWish wish{.retries = options.retries};
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  const auto text = read_file(options.prompts);
  if (text && safety::is_sealed(*text)) {
    if (!key) {
      return invalid(
          format("--prompts: '{}' is sealed\n  --seal-key FILE opens it", options.prompts));
    }
    const auto used = campaign::use_sealed(*text, *key, options.draw, options.draw_seed, wish);
    if (!used) return used.error().within(options.prompts);
  } else if (key || options.draw > 0) {
    return invalid("--seal-key, --draw: the prompts are not sealed");
  } else {
    ASSIGN_OR_RETURN(wish.prompts, safety::load_prompts(options.prompts));
  }
  if (!options.attacks.empty()) {
    ASSIGN_OR_RETURN(auto attacks, safety::find_attacks(options.attacks));
    TRY(campaign::use_attacks(std::move(attacks), wish));
  }
  ASSIGN_OR_RETURN(wish.standard, safety::find_standard(options.standard));
  ASSIGN_OR_RETURN(wish.judges, safety::find_judges(options.judges));
  if (!options.pack.empty()) {
    ASSIGN_OR_RETURN(wish.pack, safety::find_pack(options.pack));
  }
  ASSIGN_OR_RETURN(wish.folder, choose_folder(options.report_dir));
  TRY(campaign::begin_safety(wish));
  return wish;
}

Result<void> check_together(const Flags& flags, const SafetyRunOptions& options) {
  if (!options.resume.empty()) {
    for (const char* const flag :
         {"--prompts", "--standard", "--judges", "--retries", "--levels", "--curve", "--report-dir",
          "--draw", "--draw-seed", "--attacks", "--pack"}) {
      if (flags.given(flag)) return invalid(format("{}: a run that goes on has it already", flag));
    }
  }
  for (const char* const flag : {"--levels", "--report-dir"}) {
    if (options.curve.empty() || !flags.given(flag)) continue;
    return invalid(format("{}: with --curve it is the curve's", flag));
  }
  return {};
}

// A pack's parts, where no flag names another.
Result<void> use_pack(const Flags& flags, SafetyRunOptions& options) {
  if (options.pack.empty()) return {};
  ASSIGN_OR_RETURN(const safety::Pack pack, safety::find_pack(options.pack));
  for (const auto& [flag, value, part] : {std::tuple{"--prompts", &options.prompts, &pack.prompts},
                                          {"--standard", &options.standard, &pack.standard},
                                          {"--judges", &options.judges, &pack.judges},
                                          {"--attacks", &options.attacks, &pack.attacks}}) {
    if (!flags.given(flag)) *value = *part;
  }
  return {};
}

// The curve whose points' concurrencies are the levels; nullopt without --curve.
Result<std::optional<campaign::CurveFolder>> open_curve(SafetyRunOptions& options) {
  std::optional<campaign::CurveFolder> none;
  if (options.curve.empty()) return none;
  if (!campaign::CurveFolder::is_curve(options.curve)) {
    return invalid(format("--curve: '{}' holds no curve (curve.json)", options.curve));
  }
  ASSIGN_OR_RETURN(auto curve, campaign::CurveFolder::read(options.curve));
  if (campaign::curve_concurrencies(curve).empty()) {
    return invalid(format("--curve: '{}' has no measured point at a concurrency", options.curve));
  }
  const auto safety = campaign::safety_folder_of(options.curve);
  if (campaign::holds_safety(options.curve)) {
    return invalid(format("--curve: '{}' has its safety runs\n  --resume {} goes on with them",
                          options.curve, safety.string()));
  }
  options.report_dir = safety.string();
  return std::optional(std::move(curve));
}

// The levels to run; empty: one run at the load of the flags.
Result<std::vector<std::uint32_t>> levels_of(const SafetyRunOptions& options,
                                             const campaign::CurveFolder* curve) {
  if (curve != nullptr) return campaign::curve_concurrencies(*curve);
  if (!options.levels.empty()) return campaign::parse_levels(options.levels);
  std::vector<std::uint32_t> none;
  if (options.resume.empty()) return none;
  ASSIGN_OR_RETURN(auto begun, campaign::open_levels(options.resume));
  return begun ? *std::move(begun) : none;
}

// What --safety-min says of a run that is whole.
Result<void> judge_least(const campaign::SafetyWish& wish, bool finished, SafetyGate& gate,
                         Ending& ending, Json& result) {
  if (!(gate.asked() || wish.pack) || !finished) return {};
  TRY(gate.judge(wish.folder));
  gate.finish(false, ending, &result);
  return {};
}

Result<int> print_levels(const campaign::SafetyWish& wish, const campaign::SafetyLevels& done,
                         const SafetyRunOptions& options, SafetyGate& gate) {
  Ending ending = done.ending;
  Json result = done.to_json();
  TRY(judge_least(wish, done.finished, gate, ending, result));
  if (options.inputs.json) {
    print(result.set("folder", wish.folder.string())
              .set("finished", done.finished)
              .set("exit", ending.json())
              .dump(2) +
          "\n");
  } else {
    print(done.text() + gate.text() + format("files    {}\n", wish.folder.string()));
  }
  if (!done.finished) {
    say(format("next     assay safety run --resume {} … with the same endpoint",
               wish.folder.string()));
  }
  say_exhausted(ending);
  return ending.code();
}

Result<int> print_end(const campaign::SafetyWish& wish, const campaign::SafetyEnd& end,
                      const SafetyRunOptions& options, SafetyGate& gate) {
  Ending ending = end.ending;
  Json result = end.finished ? end.report.to_json() : Json::object();
  if (end.finished && end.pairs) result.set("jailbreak", end.pairs->to_json());
  TRY(judge_least(wish, end.finished, gate, ending, result));
  if (options.inputs.json) {
    print(result.set("folder", wish.folder.string())
              .set("finished", end.finished)
              .set("exit", ending.json())
              .dump(2) +
          "\n");
  } else if (end.finished) {
    print((end.pairs ? end.pairs->text() + "\n" : "") + end.report.text() + gate.text() +
          format("files    {}\n", wish.folder.string()));
  }
  if (!end.finished) {
    for (const ExitCause& cause : ending.causes()) say(format("stopped: {}", cause.why));
    say(format("next     assay safety run --resume {} … with the same endpoint",
               wish.folder.string()));
  }
  say_exhausted(ending);
  return ending.code();
}

void add_safety_flags(Flags& flags, SafetyRunOptions& options) {
  static constexpr const char* kSafety = "Safety";
  flags
      .add("--pack", &options.pack,
           "a sector's hazards, prompts, judges and thresholds: a name of `assay safety packs`, or "
           "FILE.yaml; a part that another flag names is that flag's")
      .value("NAME")
      .group(kSafety);
  flags.add("--prompts", &options.prompts, "a set in the binary, or a file with prompt and hazard")
      .value("SET")
      .group(kSafety);
  flags
      .add("--standard", &options.standard,
           "hazards and reference shares: a name of `assay safety standards`, or FILE.yaml")
      .value("NAME")
      .group(kSafety);
  flags.add("--judges", &options.judges, "who judges, and how votes are joined: a FILE.yaml")
      .value("FILE")
      .group(kSafety);
  flags
      .add("--attacks", &options.attacks,
           "ask each prompt as it stands and attacked, in turns: standin, or a FILE.yaml with a "
           "taxonomy (assay jailbreak)")
      .value("NAME")
      .group(kSafety);
  add_seal_key(flags, options.inputs,
               "opens a sealed set (assay safety seal); no file of the run then shows a prompt or "
               "a reply")
      .group(kSafety);
  flags
      .add("--draw", &options.draw,
           "of a sealed set ask this many prompts, chosen by its commitment and --draw-seed")
      .value("N")
      .group(kSafety)
      .without_default();
  flags.add("--draw-seed", &options.draw_seed, "any words: the draw can be checked with them")
      .value("TEXT")
      .group(kSafety);
  flags
      .add("--retries", &options.retries,
           "how often a prompt, or a judge, is asked again after a failure; each is counted")
      .value("N")
      .group(kSafety);
  flags
      .add("--levels", &options.levels,
           "a whole safety run at each of these concurrencies, and a grade that falls is exit code "
           "5: 1,8,32")
      .value("N,N")
      .group(kSafety);
  flags
      .add("--curve", &options.curve,
           "a whole safety run at each concurrency of this curve, kept in its safety/; the model "
           "and the endpoint are the curve's where none are given")
      .value("DIR")
      .group(kSafety);
}

void add_output_flags(Flags& flags, SafetyRunOptions& options) {
  flags.add("--report-dir", &options.report_dir, "the folder (a new one below runs/)")
      .value("DIR")
      .group("Output");
  flags
      .add("--resume", &options.resume,
           "go on with a safety run that was stopped or killed; it keeps its prompts and judges")
      .value("DIR")
      .group("Output");
  add_json(flags, options.inputs).group("Output");
  flags.add("--quiet", &options.quiet, "no talk while it runs").group("Output");
  flags.example("assay safety run --endpoint http://localhost:8000 --model m --concurrency 8");
  flags.example("assay safety run --endpoint URL --model m --prompts mine.csv --judges my.yaml \\");
  flags.example("          --standard ailuminate-1.1-en_us-practice");
  flags.example("assay safety run --endpoint URL --model m --levels 1,8,32");
  flags.example("assay safety run --endpoint URL --model m --prompts set.sealed --seal-key k");
  flags.example("assay safety run --curve curves/m --safety-min good");
}

}  // namespace

Result<int> cmd_safety_run(Args args) {
  SafetyRunOptions options;
  Flags flags("safety run", "ask prompts, have the replies judged, grade each hazard");
  RunFlags settings(flags, {"--dataset", "--task", "--samples", "--num-samples", "--passes",
                            "--duration", "--min-duration", "--prompts", "--report-dir",
                            "--keep-text", "--isl", "--osl", "--shared-prefix"});
  add_client_flags(flags, options.client);
  add_safety_flags(flags, options);
  add_output_flags(flags, options);
  SafetyGate gate(flags, &options.inputs);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  TRY(options.client.check());
  TRY(gate.understand());
  TRY(check_together(flags, options));
  TRY(use_pack(flags, options));
  ASSIGN_OR_RETURN(const auto curve, open_curve(options));
  if (curve && !flags.given("--endpoint")) {
    settings.set_flag("--endpoint", curve->settings().endpoint);
  }
  if (curve && !flags.given("--model")) settings.set_flag("--model", curve->settings().model);
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> levels,
                   levels_of(options, curve ? &*curve : nullptr));
  ASSIGN_OR_RETURN(const campaign::SafetyWish wish,
                   options.resume.empty() ? new_wish(options) : resumed_wish(options));
  settings.set_flag("--dataset", campaign::safety_prompts_file(wish.folder).string());
  ASSIGN_OR_RETURN(const plan::LoadedConfig loaded, settings.load());
  if (!options.quiet) say_notes({&loaded.notes});
  campaign::SafetyAsked asked{.config = loaded.config, .command = {"assay", "safety", "run"}};
  asked.command.insert(asked.command.end(), args.begin(), args.end());
  if (!options.quiet) asked.say = [](const std::string& line) { say(line); };
  run::Control control;
  const InterruptGuard guard(control);
  if (!levels.empty()) {
    ASSIGN_OR_RETURN(const campaign::SafetyLevels done,
                     campaign::run_safety_levels(wish, levels, asked, options.client, control));
    return print_levels(wish, done, options, gate);
  }
  ASSIGN_OR_RETURN(const campaign::SafetyEnd end,
                   campaign::run_safety(wish, asked, options.client, control));
  return print_end(wish, end, options, gate);
}

}  // namespace assay::cli
