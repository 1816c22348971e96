// For tests: a folder that stands for "/" of a machine, with the files that its kernel shows.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/files.h"
#include "base/testing_temp_folder.h"

namespace assay::host {

class MachineFiles {
 public:
  void says(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / file;
    ASSERT_TRUE(make_folders(path.parent_path()));
    std::filesystem::remove(path);  // truncating an old file waits for the disk
    std::ofstream(path, std::ios::binary) << text;
  }
  const std::filesystem::path& root() const { return folder_.path(); }

 private:
  TempFolder folder_{};
};

}  // namespace assay::host
