// The scores of a run as rows of words, for HTML and markdown: each figure with its interval, what
// became of the replies, and what a workload demands. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace assay::report {

struct ScoreRow {
  std::string dataset{};
  std::string figure{};    // "score", "strict_match", of a part its name
  std::string score{};     // in the scorer's own unit; parts are in percent
  std::string interval{};  // "0.3 to 0.9032 (95 %, wilson)"; "" where there is none
  std::string samples{};   // the interval's; may be empty
  std::string replies{};   // "10 of 12 scored, 2 missing"; on a dataset's first row
  bool part = false;       // of a subset, below the row of the whole
};

struct DemandRow {
  std::string metric{};
  std::string value{};
  std::string demand{};  // "at least 38.39"
  std::string verdict{};
};

struct ScoreTable {
  std::vector<ScoreRow> scores{};
  std::vector<std::string> notes{};  // each names its dataset
  std::string demanded_by{};         // the workload and its edition
  std::vector<DemandRow> demands{};
};

// `accuracy`: accuracy_results.json, or null.
ScoreTable score_table(const Json& accuracy);

}  // namespace assay::report
