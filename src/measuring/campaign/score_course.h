// How well replies answer their samples: a run's folder, a file of replies, an accuracy log of
// LoadGen's, a suite's results. `assay score` is the command.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "score/score_file.h"

namespace assay::campaign {

struct ScoreOptions {
  std::string path{};
  std::string phase{};
  std::string extras{};
  std::string verdicts{};  // a file; empty: none
  score::FileScoring file{};
  std::string workload{};   // of an accuracy log
  std::string dataset{};    // its true answers; a file
  std::string tokenizer{};  // a folder or a file
  bool json = false;
  bool require_accuracy = false;
};

// `task`: a task file in place of a scorer; "": none. Returns the exit code.
Result<int> score_asked(ScoreOptions options, bool ignore_case, const std::string& annotations,
                        const std::string& task, const Talk& talk);

}  // namespace assay::campaign
