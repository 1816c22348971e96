#include "campaign/class_series.h"

#include <algorithm>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "campaign/derating.h"
#include "campaign/interrupt.h"
#include "campaign/run_talk.h"
#include "dataset/mix.h"
#include "metrics/failed_share.h"
#include "metrics/interference.h"
#include "plan/class_arrivals.h"
#include "report/derating.h"

namespace assay::campaign {
namespace {

// The config in which only these classes come; the others keep their rows.
plan::Config with_only(plan::Config config, const std::vector<std::size_t>& present,
                       const std::vector<dataset::SyntheticClass>& known) {
  for (plan::DatasetConfig& data : config.datasets) {
    if (!data.synthetic || data.synthetic->classes.size() != known.size()) continue;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (std::ranges::find(present, i) != present.end()) continue;
      data.synthetic->classes[i] +=
          format(",share={},{}=0", known[i].share, known[i].concurrency ? "concurrency" : "rate");
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

std::string series_folder(const std::vector<std::size_t>& present,
                          const std::vector<std::string>& names, bool each) {
  if (each) return names[present.front()];
  if (present.size() == names.size()) return "all";
  std::string out = present.size() == 1 ? "alone" : "beside";
  for (const std::size_t one : present) out += "-" + names[one];
  return out;
}

// The runs of one series, each a folder; the first asks the test query.
class ClassRuns {
 public:
  // `datasets`: those of all runs; nullptr: each has its own.
  ClassRuns(const InterferenceOptions& options, std::vector<std::string> command,
            const std::vector<Dataset>* datasets, const Talk& talk)
      : options_(options), command_(std::move(command)), datasets_(datasets), talk_(talk) {}

  // nullopt where the series ends with this run; code() says how. `overloads`: failed queries are a
  // result.
  Result<std::optional<metrics::ClassReport>> measure(const plan::Config& config,
                                                      const std::filesystem::path& folder,
                                                      bool overloads = false) {
    std::vector<Dataset> own;
    if (datasets_ == nullptr) {
      ASSIGN_OR_RETURN(own, plan::load_datasets(config));
    }
    ASSIGN_OR_RETURN(plan::PlanBundle bundle,
                     plan::make_plan(config, datasets_ == nullptr ? own : *datasets_));
    RunRequest request{.config = &config, .bundle = &bundle, .preflight = &preflight_};
    request.folder = folder;
    request.command = command_;
    const std::string name = folder.filename();
    if (!options_.quiet && !overloads) talk_.say(format("run {}", name));
    const InterruptGuard guard(control_);
    ASSIGN_OR_RETURN(const RecordedRun recorded,
                     record_run(request, options_.client, LiveView(), control_));
    ending_ = ending_of(recorded, options_.client);
    if (!recorded.run.point.complete() || !recorded.run.classes) {
      talk_.say(format("the run {} is not whole: {}", name, recorded.run.point.end.reason));
      return std::nullopt;
    }
    const bool failed = overloads && recorded.run.point.counts.completed > 0 &&
                        ending_.causes().size() == 1 && ending_.has(ExitCode::too_many_failed);
    if (failed) ending_ = Ending();
    if (!ending_.clean()) {
      talk_.say(
          format("the run {} is not judged: {}", name, metrics::failed_words(recorded.run.point)));
      return std::nullopt;
    }
    return recorded.run.classes;
  }

  int code() const { return ending_.code(); }
  bool clean() const { return ending_.clean(); }

 private:
  const InterferenceOptions& options_;
  std::vector<std::string> command_;
  const std::vector<Dataset>* datasets_;
  const Talk& talk_;
  Preflight preflight_{};
  run::Control control_{};
  Ending ending_{};
};

}  // namespace

Result<int> measure_interference(const RunSettings& settings, const InterferenceOptions& options,
                                 std::vector<std::string> command, const Talk& talk) {
  ASSIGN_OR_RETURN(const plan::LoadedConfig loaded, settings.load());
  const auto* const classes =
      options.each ? classes_of(loaded.config) : plan::classes_with_loads(loaded.config);
  if (classes == nullptr || classes->size() < 2) {
    if (options.each) {
      return invalid(
          "--each-class: needs two classes or more: --class small,image=256x256 "
          "--class large,image=1024x1024");
    }
    return invalid(
        "--interference: needs two classes or more, each with a load: --class chat,rate=20 "
        "--class batch,concurrency=2");
  }
  std::vector<dataset::SyntheticClass> known;
  std::vector<std::string> names;
  for (const std::string& text : *classes) {
    ASSIGN_OR_RETURN(known.emplace_back(), dataset::parse_class(text));
    names.push_back(known.back().name);
  }
  ASSIGN_OR_RETURN(const auto datasets, plan::load_datasets(loaded.config));
  ASSIGN_OR_RETURN(const auto folder, choose_folder(loaded.config.report_dir));
  if (!options.quiet) say_notes(talk, {&loaded.notes});

  std::vector<metrics::InterferenceRun> runs;
  ClassRuns runs_of(options, std::move(command), options.each ? nullptr : &datasets, talk);
  for (const auto& present : metrics::interference_sets(known.size())) {
    if (options.each && present.size() > 1) break;
    const std::string name = series_folder(present, names, options.each);
    plan::Config config = options.each ? with_one(loaded.config, present.front(), known.size())
                                       : with_only(loaded.config, present, known);
    ASSIGN_OR_RETURN(const auto report, runs_of.measure(config, folder / name));
    if (!report) return runs_of.code();
    runs.push_back({present, *report});
  }
  const Json result =
      options.each ? metrics::each_class_json(runs) : metrics::interference_json(runs, names);
  TRY(write_file_atomic(folder / (options.each ? "each_class.json" : "interference.json"),
                        result.dump(2) + "\n"));
  talk.print(options.json   ? result.dump(2) + "\n"
             : options.each ? metrics::each_class_text(runs)
                            : metrics::interference_text(runs, names));
  return runs_of.code();
}

Result<int> measure_derating(const RunSettings& settings, const InterferenceOptions& options,
                             std::vector<std::string> command, const Talk& talk) {
  if (!(options.target > 0 && options.target < 1)) {
    return invalid("--derate-target: a share between 0 and 1, as 0.9");
  }
  ASSIGN_OR_RETURN(const plan::LoadedConfig loaded, settings.load());
  const auto data = std::ranges::find_if(loaded.config.datasets, [](const auto& one) {
    return one.synthetic && !one.synthetic->classes.empty();
  });
  if (data == loaded.config.datasets.end()) {
    return invalid("--derate: needs classes: --class chat,rate=20,isl=300,osl=100,slo=ttft<=500ms");
  }
  TRY(derating_steps(*data->synthetic));
  ASSIGN_OR_RETURN(const auto folder, choose_folder(loaded.config.report_dir));
  if (!options.quiet) say_notes(talk, {&loaded.notes});
  const auto which = data - loaded.config.datasets.begin();
  ClassRuns runs(options, std::move(command), nullptr, talk);
  const auto measure = [&](const std::vector<std::string>& classes, DeratingStep step, double load,
                           const std::string& name) -> Result<metrics::ClassReport> {
    plan::Config config = loaded.config;
    config.datasets[static_cast<std::size_t>(which)].synthetic->classes = classes;
    if (step <= DeratingStep::limits) {
      config.settings.load_pattern.type = plan::Pattern::concurrency;
      config.settings.load_pattern.target_concurrency = static_cast<std::uint32_t>(load);
    }
    ASSIGN_OR_RETURN(auto report, runs.measure(config, folder / name, true));
    if (!report) return Error{Code::refused, format("the run {} ended the series", name)};
    return *std::move(report);
  };
  const auto told = [&options, &talk](const std::string& line) {
    if (!options.quiet) talk.say(line);
  };
  const auto result = measure_derating(*data->synthetic, options.target, measure, told);
  if (!result && !runs.clean()) return runs.code();
  if (!result) return result.error();
  TRY(write_file_atomic(folder / report::kDeratingName, result->dump(2) + "\n"));
  ASSIGN_OR_RETURN(const std::string text, report::derating_text(*result));
  talk.print(options.json ? result->dump(2) + "\n" : text);
  return runs.code();
}

}  // namespace assay::campaign
