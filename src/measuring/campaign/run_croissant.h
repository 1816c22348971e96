// A folder of results as a dataset that describes itself: Croissant 1.1 with every file's size and
// sha256, and, where it is a run, from which data it was made by which command (PROV-O). `assay
// bundle` puts it into the bundle, `assay dataset FOLDER --croissant OUT` writes it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/talk.h"

namespace assay::campaign {

// In the folder itself; not among the files that it describes.
inline constexpr const char* kRunCroissant = "croissant.json";

// `below`: the folder's path from where the description will stand ("" for the folder itself).
Result<Json> describe_folder(const std::filesystem::path& folder, const std::string& below,
                             std::map<std::string, std::string> facts);

// Writes the Croissant metadata of a file of rows, or of a folder of results. `facts`:
// "license=CC0-1.0" and so on. Returns the exit code.
Result<int> write_croissant(const std::string& spec, const std::string& out,
                            const std::vector<std::string>& facts, const Talk& talk);

}  // namespace assay::campaign
