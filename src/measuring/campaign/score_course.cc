#include "campaign/score_course.h"

#include <algorithm>
#include <memory>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "campaign/accuracy.h"
#include "campaign/run_config.h"
#include "campaign/run_folder.h"
#include "interchange/accuracy_text.h"
#include "interchange/read/run_view.h"
#include "plan/unasked_fields.h"
#include "plan/workload.h"
#include "record/event_log.h"
#include "score/picture/media_results.h"
#include "score/quality_gate.h"
#include "score/score_file.h"
#include "score/score_log.h"
#include "score/scorer.h"
#include "score/truth_rows.h"
#include "task/tasks.h"
#include "text/tokenizer.h"

namespace assay::campaign {
namespace {

// Applies the scoring flags, which override the config.
Result<void> overrule_scoring(plan::Config& config, const ScoreOptions& options) {
  const std::string& scorer = options.file.scorer;
  if (scorer.empty()) return {};
  if (score::scorer_about(scorer).empty()) TRY(score::make_scorer(scorer, {}));
  const bool accuracy = std::any_of(
      config.datasets.begin(), config.datasets.end(),
      [](const plan::DatasetConfig& data) { return data.type == plan::DatasetType::accuracy; });
  const std::string wanted = !options.phase.empty() ? options.phase : accuracy ? "" : "performance";
  bool found = false;
  for (plan::DatasetConfig& data : config.datasets) {
    const bool measured = data.type == plan::DatasetType::performance;
    const bool chosen =
        wanted.empty() ? !measured : wanted == (measured ? "performance" : data.name);
    if (!chosen) {
      if (measured) data.accuracy_config.reset();
      continue;
    }
    found = true;
    plan::AccuracyConfig how = data.accuracy_config.value_or(plan::AccuracyConfig{});
    how.eval_method = scorer;
    how.extractor = options.file.score.extractor;
    if (!options.file.score.ground_truth.empty())
      how.ground_truth = options.file.score.ground_truth;
    for (const auto& [key, value] : options.file.score.extra.members()) how.extras.set(key, value);
    if (!options.file.score.subset_column.empty()) {
      how.extras.set("subset_column", options.file.score.subset_column);
    }
    data.accuracy_config = std::move(how);
  }
  if (!found) return invalid(format("--phase: the run has no phase '{}' to score", wanted));
  return {};
}

Result<int> score_folder(const ScoreOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const interchange::RunView view, interchange::RunView::open(options.path));
  const std::filesystem::path folder = view.folder();
  TRY(record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(plan::Config config, recorded_config(folder));
  TRY(overrule_scoring(config, options));
  ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(config));
  ASSIGN_OR_RETURN(plan::PlanBundle bundle, plan::make_plan(config, std::move(datasets)));
  if (!wants_scores(config, bundle)) {
    return invalid(format("{}: its config names no scorer\n  --scorer NAME", options.path));
  }
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  plan::adapt(plan::adaptation_of(info.facts["preflight"]), bundle);
  if (!view.is_reference() && plan_digest(bundle) != info.plan_digest) {
    talk.say(
        "note: the config and datasets no longer make the plan that was run: has a file changed?");
  }
  ASSIGN_OR_RETURN(const Json results,
                   score_run(folder, config, bundle, options.file.score.allow_code, IfNone::refuse,
                             options.file.verdicts));
  // The reference client's folder is left as it is.
  if (!view.is_reference()) TRY(publish_again(folder));
  talk.print(options.json ? results.dump(2) + "\n" : interchange::accuracy_text(results));
  const std::string trouble = accuracy_trouble(results);
  if (!trouble.empty()) talk.say(trouble);
  const bool good = trouble.empty() && !(options.require_accuracy && accuracy_is_short(results));
  return exit_code(good ? ExitCode::done : ExitCode::findings);
}

int print_scores(const Json& verdict, const ScoreOptions& options, const Talk& talk) {
  if (options.json) {
    talk.print(verdict.dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  const Json& score = verdict["score"];
  for (const auto& [name, value] : score.members()) {
    talk.print(format("{:<20}{}\n", name,
                      value.is_string() ? std::string(value.as_string()) : value.dump()));
  }
  if (!score.is_object()) {
    talk.print(format("{}\n", score.is_null() ? "no rows to score" : score.dump()));
  }
  talk.print(interchange::uncertainty_text(verdict["uncertainty"]));
  if (verdict["note"].is_string()) talk.say(format("note: {}", verdict["note"].as_string()));
  return exit_code(ExitCode::done);
}

Result<int> score_rows(const ScoreOptions& options, const Talk& talk) {
  if (options.file.scorer.empty())
    return invalid(
        "--scorer or --task: is missing\n  assay score --list and assay tasks name them");
  ASSIGN_OR_RETURN(const Json verdict, score::score_file(options.path, options.file));
  return print_scores(verdict, options, talk);
}

// The scorer of a workload whose suite's program writes a results file; "" for other workloads.
std::string media_scorer(const plan::Workload& workload) {
  for (const Json& one : workload.data["scorers"].items()) {
    if (score::reads_media_results(one.as_string())) return std::string(one.as_string());
  }
  return {};
}

// What a suite's program wrote, and whether the workload's demands are met.
Result<int> score_media_file(const plan::Workload& workload, ScoreOptions options,
                             const Talk& talk) {
  options.file.scorer = media_scorer(workload);
  ASSIGN_OR_RETURN(Json verdict, score::score_file(options.path, options.file));
  const std::string name = std::filesystem::path(options.path).filename().string();
  const Json entry = Json(verdict).set("dataset_name", name).set("complete", true);
  const Json results = Json().set("accuracy_scores", Json::array().push_back(entry));
  const Json gate = score::quality_gate(results, plan::scenario_facts(workload, ""));
  const int code = print_scores(verdict.set("quality", gate), options, talk);
  if (!options.json) talk.print(interchange::quality_text(gate));
  return options.require_accuracy && !score::gate_is_passed(gate) ? exit_code(ExitCode::findings)
                                                                  : code;
}

// A LoadGen accuracy log.
Result<int> score_accuracy_log(const ScoreOptions& options, const Talk& talk) {
  const score::LoggedWorkload* workload = score::find_logged_workload(options.workload);
  if (workload == nullptr) {
    const auto known_elsewhere = plan::Workloads::builtin().find(options.workload);
    // By a target's name in the checker: bert-99.9.
    if (known_elsewhere) workload = score::find_logged_workload(known_elsewhere->name);
    if (workload == nullptr && known_elsewhere && !media_scorer(*known_elsewhere).empty()) {
      return score_media_file(*known_elsewhere, options, talk);
    }
  }
  if (workload == nullptr) {
    std::string known;
    for (const score::LoggedWorkload& one : score::kLoggedWorkloads) {
      known += (known.empty() ? "" : ", ") + std::string(one.workload);
    }
    return invalid(format("--workload: no accuracy log of '{}' is read\n  there are {}",
                          options.workload, known));
  }
  if (!options.file.scorer.empty()) {
    return invalid("--scorer and --task: do not go with --workload, which has its own");
  }
  score::LogScoring how{
      .workload = workload, .score = options.file.score, .verdicts = options.file.verdicts};
  std::vector<Json> truths;
  if (workload->needs_truths && options.dataset.empty()) {
    return invalid(format("--dataset: is missing: the dataset of {} with its true answers",
                          workload->workload));
  }
  if (!options.dataset.empty() && !workload->ground_truth.empty()) {
    ASSIGN_OR_RETURN(truths, score::read_truth_rows(options.dataset));
    how.truths = &truths;
    // Files that the rows name stand beside them.
    if (how.score.extra["folder"].is_null()) {
      how.score.extra.set("folder", std::filesystem::path(options.dataset).parent_path().string());
    }
  }
  std::unique_ptr<const text::Tokenizer> tokenizer;
  const bool spans = workload->payload == score::PayloadKind::spans;
  if (spans || workload->payload == score::PayloadKind::tokens) {
    if (options.tokenizer.empty()) {
      return invalid(format("--tokenizer: is missing: {}'s log has {}", workload->workload,
                            spans ? "logits of the model's tokens (its vocab.txt)" : "token ids"));
    }
    ASSIGN_OR_RETURN(tokenizer, text::load_tokenizer(options.tokenizer));
    how.tokenizer = tokenizer.get();
  }
  ASSIGN_OR_RETURN(const std::string log, read_file(options.path));
  const auto verdict = score::score_log(log, how);
  if (!verdict) return verdict.error().within(options.path);
  return print_scores(*verdict, options, talk);
}

Result<void> choose_task(const std::string& name, score::FileScoring& how) {
  if (name.empty()) return {};
  if (!how.scorer.empty()) return invalid("--task and --scorer: choose one of them");
  ASSIGN_OR_RETURN(const task::Task task, task::find_task(name));
  how.scorer = "task";
  how.score.extra.set("task", task.data);
  return {};
}

// A run's folder or a file, and its verdicts if they are asked for.
Result<int> score_it(ScoreOptions options, const Talk& talk) {
  const bool folder = std::filesystem::is_directory(options.path);
  if (folder && !options.workload.empty()) {
    return invalid("--workload: applies to an accuracy log; a run knows its workload");
  }
  std::string verdicts;
  if (!options.verdicts.empty()) options.file.verdicts = &verdicts;
  auto code = folder                     ? score_folder(options, talk)
              : options.workload.empty() ? score_rows(options, talk)
                                         : score_accuracy_log(options, talk);
  if (code && !options.verdicts.empty()) {
    const auto written = write_file_atomic(options.verdicts, verdicts);
    if (!written) return written.error().within("--verdicts");
  }
  return code;
}

// Gathers the scorer's own options from the flags.
Result<void> take_extras(ScoreOptions& options, bool ignore_case, const std::string& annotations) {
  Json& extra = options.file.score.extra;
  if (!options.extras.empty()) {
    auto given = Json::parse(options.extras);
    if (!given) return given.error().within("--extras");
    if (!given->is_object()) return invalid("--extras: must be an object");
    extra = *std::move(given);
  }
  if (ignore_case) extra.set("ignore_case", true);
  if (!annotations.empty()) extra.set("annotations", annotations);
  return {};
}

}  // namespace

Result<int> score_asked(ScoreOptions options, bool ignore_case, const std::string& annotations,
                        const std::string& task, const Talk& talk) {
  if (options.path.empty()) {
    return invalid("RUN_OR_FILE: is missing: a run's folder, or replies as JSON lines");
  }
  std::error_code ignored;
  if (!std::filesystem::exists(options.path, ignored)) {
    return Error{Code::not_found, format("'{}': no such file or folder", options.path)};
  }

  TRY(take_extras(options, ignore_case, annotations));
  TRY(choose_task(task, options.file));
  return score_it(std::move(options), talk);
}

}  // namespace assay::campaign
