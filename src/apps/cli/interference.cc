#include "cli/interference.h"

#include <algorithm>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/run_talk.h"
#include "dataset/mix.h"
#include "metrics/failed_share.h"
#include "metrics/interference.h"
#include "plan/class_arrivals.h"

namespace assay::cli {
namespace {

// The config in which only these classes come; the others keep their rows.
plan::Config with_only(plan::Config config, const std::vector<std::size_t>& present,
                       const std::vector<dataset::SyntheticClass>& known) {
  for (plan::DatasetConfig& data : config.datasets) {
    if (!data.synthetic || data.synthetic->classes.size() != known.size()) continue;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (std::ranges::find(present, i) != present.end()) continue;
      data.synthetic->classes[i] += format(",share={},rate=0", known[i].share);
    }
  }
  return config;
}

// The config that has no other class.
plan::Config with_one(plan::Config config, std::size_t which, std::size_t classes) {
  for (plan::DatasetConfig& data : config.datasets) {
    if (!data.synthetic || data.synthetic->classes.size() != classes) continue;
    data.synthetic->classes = {data.synthetic->classes[which]};
  }
  return config;
}

const std::vector<std::string>* classes_of(const plan::Config& config) {
  for (const plan::DatasetConfig& data : config.datasets) {
    if (data.synthetic && !data.synthetic->classes.empty()) return &data.synthetic->classes;
  }
  return nullptr;
}

std::string folder_of(const std::vector<std::size_t>& present,
                      const std::vector<std::string>& names, bool each) {
  if (each) return names[present.front()];
  if (present.size() == names.size()) return "all";
  std::string out = present.size() == 1 ? "alone" : "beside";
  for (const std::size_t one : present) out += "-" + names[one];
  return out;
}

}  // namespace

Result<int> measure_interference(const RunFlags& settings, const InterferenceOptions& options,
                                 std::vector<std::string> command) {
  ASSIGN_OR_RETURN(const plan::LoadedConfig loaded, settings.load());
  const auto* const classes =
      options.each ? classes_of(loaded.config) : plan::classes_with_rates(loaded.config);
  if (classes == nullptr || classes->size() < 2) {
    if (options.each) {
      return invalid(
          "--each-class: needs two classes or more: --class small,image=256x256 "
          "--class large,image=1024x1024");
    }
    return invalid(
        "--interference: needs two classes or more, each with a rate: --class chat,rate=20 "
        "--class batch,rate=2");
  }
  std::vector<dataset::SyntheticClass> known;
  std::vector<std::string> names;
  for (const std::string& text : *classes) {
    ASSIGN_OR_RETURN(known.emplace_back(), dataset::parse_class(text));
    names.push_back(known.back().name);
  }
  ASSIGN_OR_RETURN(const auto datasets, plan::load_datasets(loaded.config));
  ASSIGN_OR_RETURN(const auto folder, choose_folder(loaded.config.report_dir));
  if (!options.quiet) say_notes({&loaded.notes});

  std::vector<metrics::InterferenceRun> runs;
  campaign::Preflight preflight;
  run::Control control;
  Ending ending;
  for (const auto& present : metrics::interference_sets(known.size())) {
    if (options.each && present.size() > 1) break;
    const std::string name = folder_of(present, names, options.each);
    plan::Config config = options.each ? with_one(loaded.config, present.front(), known.size())
                                       : with_only(loaded.config, present, known);
    std::vector<Dataset> own;
    if (options.each) {
      ASSIGN_OR_RETURN(own, plan::load_datasets(config));
    }
    ASSIGN_OR_RETURN(plan::PlanBundle bundle,
                     plan::make_plan(config, options.each ? own : datasets));
    campaign::RunRequest request{.config = &config, .bundle = &bundle, .preflight = &preflight};
    request.folder = folder / name;
    request.command = command;
    if (!options.quiet) say(format("run {}", name));
    const InterruptGuard guard(control);
    ASSIGN_OR_RETURN(const campaign::RecordedRun recorded,
                     campaign::record_run(request, options.client, campaign::Watch(), control));
    ending = campaign::ending_of(recorded, options.client);
    if (!recorded.run.point.complete() || !recorded.run.classes) {
      say(format("the run {} is not whole: {}", name, recorded.run.point.end.reason));
      return ending.code();
    }
    if (ending.code() != exit_code(ExitCode::done)) {
      say(format("the run {} is not judged: {}", name, metrics::failed_words(recorded.run.point)));
      return ending.code();
    }
    runs.push_back({present, *recorded.run.classes});
  }
  const Json result =
      options.each ? metrics::each_class_json(runs) : metrics::interference_json(runs, names);
  TRY(write_file_atomic(folder / (options.each ? "each_class.json" : "interference.json"),
                        result.dump(2) + "\n"));
  print(options.json   ? result.dump(2) + "\n"
        : options.each ? metrics::each_class_text(runs)
                       : metrics::interference_text(runs, names));
  return ending.code();
}

}  // namespace assay::cli
