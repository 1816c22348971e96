// DLRMv3's synthetic stream of recommendations, as its published generator makes it, byte for byte:
// users who are active in some steps of time, with a history of rated items in each, and candidates
// to rank. And the requests that a test asks from such a folder.
//
// The folder: FILE.csv, a line a user with four lists for each block (candidates, their ratings,
// history, its ratings), blocks in the order: base, training steps, evaluation, tested steps;
// offset.csv, a row a file with each user's first byte; requests_per_ts.csv, a row a step with its
// users, requests_per_ts_offset.csv, and users_cumsum_per_ts.csv, a row a step with the number of
// its users up to each file; ts_FILE_STEP.csv. A folder may hold its first files alone, as the
// published sample does.
//
// A request is a user in a tested step: the history before it and the candidates of it, as int64
// tensors under the reference's names, with step and number (`ts_idx`, `query_idx`) beside them.
// The label of a candidate is a rating of 3.5 or more. Errors name file and line. One thread.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "dataset/dataset.h"

namespace assay::dataset {

// The published figures.
struct DlrmRecipe {
  std::uint64_t users = 5'000'000;
  std::uint64_t items = 1'000'000'000;
  std::uint64_t files = 100;
  std::uint64_t first_files = 0;  // write these alone; 0: all
  std::uint32_t steps = 100;
  std::uint32_t trained_steps = 90;
  std::uint32_t categories = 128;
  std::uint32_t categories_of_user = 4;
  std::uint32_t samples_of_item = 50;  // on average
  std::uint64_t candidates = 2048;
  std::uint32_t eval_candidates = 32;
  double active = 0.7;  // the chance that a user is active in a step
  std::uint32_t seed = 1001;
};

// Writes the folder, which is made; an existing file of it is refused. Fails where the figures give
// no data.
Result<void> write_dlrm_data(const DlrmRecipe& recipe, const std::filesystem::path& folder);

// `spec.path`: "FOLDER", or "FOLDER#0.01" for that share of each step's users in the whole data
// set, as the reference's --dataset-percentage. Dataset::groups are the tested steps.
Result<Dataset> load_dlrm_data(const Spec& spec);

// One user's line. `test_step`: of the tested ones, from 0. Public for its fuzzer.
struct DlrmShape {
  std::uint32_t steps = 100;
  std::uint32_t trained_steps = 90;
  std::uint64_t items_of_category = 7'812'500;
};
Result<Sample> dlrm_request(std::string_view line, const DlrmShape& shape, std::uint32_t test_step,
                            std::uint64_t user, std::uint64_t query);

}  // namespace assay::dataset
