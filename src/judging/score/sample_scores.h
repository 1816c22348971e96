// Sample scores: what each sample added to each figure of a run's scores. A run folder keeps them
// as accuracy/sample_scores.jsonl (docs/formats/run_folder.md), so that two runs can be compared in
// pairs without their datasets and without judging again. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "score/uncertainty.h"

namespace assay::score {

// A figure of one dataset's score, and how it was judged.
struct SampleScores {
  std::string dataset{};
  std::string dataset_sha256{};  // of the file; "" for synthetic
  std::string scorer{};
  std::string extractor{};
  std::string ground_truth{};
  std::string figure{};
  Tally tally{};
};

// A line with the figure's facts, then a line [sample, amount, of] for each sample.
std::string sample_scores_text(const std::vector<SampleScores>& figures);
// Refuses a text that ends early, names a figure twice, or has values that are no numbers. An error
// names the line.
Result<std::vector<SampleScores>> read_sample_scores(std::string_view text);

}  // namespace assay::score
