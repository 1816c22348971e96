// A folder of results as a dataset that describes itself: Croissant 1.1 with every file's size and
// sha256, and, where it is a run, from which data it was made by which command (PROV-O). `assay
// bundle` puts it into the bundle, `assay dataset FOLDER --croissant OUT` writes it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace assay::cli {

// In the folder itself; not among the files that it describes.
inline constexpr const char* kRunCroissant = "croissant.json";

// `below`: the folder's path from where the description will stand ("" for the folder itself).
Result<Json> describe_folder(const std::filesystem::path& folder, const std::string& below,
                             std::map<std::string, std::string> facts);

}  // namespace assay::cli
