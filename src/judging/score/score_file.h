// Scores a file of replies instead of a run: for replies from another program, and for the tests
// against the field's own libraries.
#pragma once

#include <filesystem>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "score/scorer.h"

namespace assay::score {

struct FileScoring {
  std::string scorer{};  // a scorer's name, or rouge_lines: every row's own F-measures
  std::string reply_column = "reply";
  ScorerOptions score{};
  std::string* verdicts = nullptr;  // gets a line of JSON for each judged row
};

// Reads JSON lines of a sample's columns and its reply. Four scorers also take the field's own
// files: coco_map COCO's list of results (*.json), dlrm lines of {"predictions", "labels",
// "weights"}, sdxl and vbench what their suites' programs write (picture/media_results.h). Returns
// {"scorer", "score", "breakdown", "uncertainty", "note", "scored", "empty", "missing"}.
Result<Json> score_file(const std::filesystem::path& path, const FileScoring& how);

}  // namespace assay::score
