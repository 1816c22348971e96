// The reference client's predefined datasets by name ("aime25", "aime25::gptoss"): what they are
// and where their owners publish them, for those that have to be fetched first. Pure, but for
// find_predefined.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::dataset {

struct Predefined {
  std::string_view id{};
  std::string_view source{};
  std::string_view columns{};  // what a file of it must have, for parser and scorers
  std::string_view presets{};  // "gptoss, …"; empty: none
};

// By "id" or "id::preset"; nullopt where the name is none of them.
std::optional<Predefined> predefined(std::string_view name);

// "gptoss"; "none".
std::string_view presets_of(std::string_view id);

// A file of it below a folder of datasets ($ASSAY_DATASETS, datasets, or the reference client's
// dataset_cache): ID.parquet, ID.jsonl, ID.json, ID.csv. Empty: none is there.
std::string find_predefined(std::string_view name);

}  // namespace assay::dataset
