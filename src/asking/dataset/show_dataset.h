// A dataset shown: its samples, its rows, the faults of a Croissant file and whether a stated use
// is allowed; and the data set of a benchmark made. `assay dataset` is the command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "dataset/dataset.h"
#include "dataset/dlrm_data.h"
#include "dataset/use_words.h"

namespace assay::dataset {

struct ShownDataset {
  std::string spec{};
  std::string api = "openai";
  std::uint64_t first = 3;
  bool rows = false;
  bool all = false;
  bool check = false;
  bool provenance = false;
  std::string croissant{};
  std::vector<std::string> meta{};
  std::string profile = "mlcroissant";
  UseWords use{};
  std::string write{};
  DlrmRecipe recipe{};
  bool json = false;
};

// Each returns the exit code.
Result<int> show_dataset(const Spec& spec, const ShownDataset& options, const Talk& talk);
// All faults of a Croissant file; findings if there are any, or if the stated use is not allowed.
Result<int> check_croissant(const ShownDataset& options, const Talk& talk);
// Makes the data set of a benchmark whose data a published program makes.
Result<int> write_made_data(const ShownDataset& options, const Talk& talk);

}  // namespace assay::dataset
