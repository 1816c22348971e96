// RunView: a run's folder as the commands on runs read it. Our own folder is read where it stands.
// For one of the reference client, its events become an event log in a temporary folder, beside
// copies of its small files: so nothing is ever written into its folder, which is evidence. The
// temporary folder lasts as long as the view.
//
// An object belongs to one thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/scratch_folder.h"

namespace assay::interchange {

class RunView {
 public:
  // Any folder that is none of the reference client's is taken as it is, also one that is no run:
  // the command that reads it says so.
  static Result<RunView> open(const std::filesystem::path& given);

  // Where to read.
  std::string folder() const { return folder_.string(); }
  // What the user named.
  const std::filesystem::path& given() const { return given_; }
  bool is_reference() const { return scratch_.has_value(); }

 private:
  RunView(std::filesystem::path given, std::filesystem::path folder,
          std::optional<ScratchFolder> scratch)
      : given_(std::move(given)), folder_(std::move(folder)), scratch_(std::move(scratch)) {}

  std::filesystem::path given_;
  std::filesystem::path folder_;
  std::optional<ScratchFolder> scratch_;
};

}  // namespace assay::interchange
