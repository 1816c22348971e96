// Scores an accuracy log of MLPerf LoadGen, as the workload's own script does: replies that the log
// does not have are in no figure, and a note says how many.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "score/accuracy_log.h"
#include "score/scorer.h"

namespace assay::score {

struct LogScoring {
  const LoggedWorkload* workload = nullptr;  // never null
  // The dataset's rows in its order; for spans SQuAD's file as one. Null: none is read.
  const std::vector<Json>* truths = nullptr;
  const text::Tokenizer* tokenizer = nullptr;  // for token ids and spans; else null
  ScorerOptions score{};            // an empty ground_truth: the workload's; extractor is not used
  std::string* verdicts = nullptr;  // gets a line of JSON for each judged reply
};

// `text`: the log. Returns what score_file returns, and "workload", "payload", "entries" and
// "duplicates" (entries that were not judged because their sample had one before).
Result<Json> score_log(std::string_view text, const LogScoring& how);

}  // namespace assay::score
