// The files below a folder with their sizes and digests, in the order of their names: the content
// list of a run's manifest and of a bundle. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::record {

struct ListedFile {
  std::string name{};  // relative to the folder, with '/'
  std::uint64_t bytes = 0;
  std::string sha256{};
};

// Lists every regular file below `folder`; refuses links and other types by name.
Result<std::vector<ListedFile>> files_below(const std::filesystem::path& folder);

// [{"path", "bytes", "sha256"}, …]
Json to_json(const std::vector<ListedFile>& files);

}  // namespace assay::record
