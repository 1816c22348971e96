// For tests: a folder that is removed when the test ends.
#pragma once

#include <filesystem>

#include "base/check.h"
#include "base/scratch_folder.h"

namespace assay {

class TempFolder {
 public:
  TempFolder() { CHECK(folder_); }
  const std::filesystem::path& path() const { return folder_->path(); }

 private:
  Result<ScratchFolder> folder_ = ScratchFolder::make("test");
};

}  // namespace assay
