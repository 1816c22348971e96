#include <utility>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/score_course.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "score/scorer.h"

namespace assay::cli {
namespace {

Result<int> list_scorers() {
  for (const std::string_view name : score::scorer_names()) {
    print(format("{:<26}{}\n", name, score::scorer_about(name)));
  }
  return exit_code(ExitCode::done);
}

void add_log_flags(Flags& flags, campaign::ScoreOptions& options) {
  flags.group("An accuracy log of MLPerf LoadGen");
  flags.add("--workload=NAME", &options.workload,
            "RUN_OR_FILE is mlperf_log_accuracy.json of this workload, or its suite's results");
  flags.add("--dataset=FILE", &options.dataset,
            "its rows with the true answers, in the dataset's order");
  flags.add("--tokenizer=DIR", &options.tokenizer, "of the model, where the log has token ids");
  flags.group("");
}

}  // namespace

Result<int> cmd_score(Args args) {
  campaign::ScoreOptions options;
  bool list = false;
  bool ignore_case = false;
  std::string annotations;
  std::string task;
  Flags flags("score", "how well replies answer their samples, by the field's formulas");
  flags.add("RUN_OR_FILE", &options.path,
            "a run's folder, or JSON lines: a sample's columns and \"reply\" a line");
  flags.add("--scorer=NAME", &options.file.scorer,
            "by name; of a run: instead of what its config says");
  flags.add("--task=NAME", &task,
            "by a task file: a ready one by name (assay tasks), or FILE.yaml");
  flags.add("--list", &list, "the scorers that there are");
  flags.add("--extractor=ID", &options.file.score.extractor, "how the answer is found in a reply");
  flags.add("--ground-truth=COLUMN", &options.file.score.ground_truth,
            "the column of the true answer");
  flags.add("--subset=COLUMN", &options.file.score.subset_column,
            "also score by this column's values");
  flags.add("--phase=NAME", &options.phase, "of a run: the accuracy dataset, or performance");
  flags.add("--reply=COLUMN", &options.file.reply_column, "of a file: the column of the reply");
  flags.add("--extras=JSON", &options.extras, "the scorer's own options, an object");
  flags.add("--annotations=FILE", &annotations, "COCO's annotations, for coco_map");
  flags.add("--ignore-case", &ignore_case, "for wer");
  flags.add("--allow-code", &options.file.score.allow_code,
            "run the code that the model wrote, in a sandbox");
  flags.add("--require-accuracy", &options.require_accuracy,
            "exit 1 unless the whole dataset's scores are what the workload demands");
  flags.add("--verdicts=FILE", &options.verdicts,
            "write a line of JSON for each reply: what was extracted, by which rule, its score");
  add_log_flags(flags, options);
  flags.add("--json", &options.json, "print the verdict as JSON");
  flags.example("assay score runs/20261120_144822");
  flags.example("assay score runs/20261120_144822 --scorer rouge --ground-truth highlights");
  flags.example("assay score mlperf_log_accuracy.json --workload resnet50 --dataset val_map.txt");
  flags.example("assay score replies.jsonl --scorer gpqa --ground-truth answer");
  flags.example("assay score replies.jsonl --task gsm8k");
  PARSE_OR_RETURN(flags, args);
  if (list) return list_scorers();
  return campaign::score_asked(std::move(options), ignore_case, annotations, task, console());
}

}  // namespace assay::cli
