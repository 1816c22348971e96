// CurveView: a curve as the commands on curves read it. A curve's folder of ours is read where it
// stands. A folder whose sub-folders are runs of the reference client is a curve too: each run is a
// point. It is made in a temporary folder, which lasts as long as the view, because nothing is
// written into that client's folders.
//
// An object belongs to one thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/scratch_folder.h"
#include "campaign/curve/curve_folder.h"

namespace assay::campaign {

// The sub-folders of `folder` that are runs of the reference client, by name. Empty for a folder of
// ours, and for a run of that client itself.
std::vector<std::string> reference_runs_in(const std::filesystem::path& folder);

// Makes a curve of runs of the reference client in `folder`, which is new or empty. Their levels
// are the points. Fails where two have the same level, or none a fixed concurrency.
Result<void> collect_curve(const std::vector<std::string>& runs,
                           const std::filesystem::path& folder, std::vector<std::string> command);

class CurveView {
 public:
  // True for a curve's folder of ours, and for a folder of runs of the reference client.
  static bool is_curve(const std::filesystem::path& given);
  static Result<CurveView> open(const std::filesystem::path& given);

  const CurveFolder& curve() const { return curve_; }

 private:
  CurveView(CurveFolder curve, std::optional<ScratchFolder> scratch)
      : curve_(std::move(curve)), scratch_(std::move(scratch)) {}

  CurveFolder curve_;
  std::optional<ScratchFolder> scratch_;
};

}  // namespace assay::campaign
