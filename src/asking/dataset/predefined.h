// The reference client's predefined datasets by name ("aime25", "aime25::gptoss"): what they are,
// and where their owners publish those that must be fetched first. Pure, except for
// find_predefined.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::dataset {

struct Predefined {
  std::string_view id{};
  std::string_view source{};
  std::string_view columns{};  // columns that parser and scorers need in a file
  std::string_view presets{};  // "gptoss, …"; empty: none
};

// Finds one by "id" or "id::preset"; nullopt for any other name.
std::optional<Predefined> predefined(std::string_view name);

// Lists the presets: "gptoss"; "none".
std::string_view presets_of(std::string_view id);

// Returns a file of the dataset below a folder of datasets ($ASSAY_DATASETS, datasets, or the
// reference client's dataset_cache): ID.parquet, ID.jsonl, ID.json, ID.csv. Empty: no such file.
std::string find_predefined(std::string_view name);

}  // namespace assay::dataset
