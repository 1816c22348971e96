// A recorded run as one side of a comparison: its Point and a row for each query. One thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "campaign/run_folder.h"
#include "compare/compare.h"

namespace assay::campaign {

struct ComparedSide {
  explicit ComparedSide(const RunInfo& info) : rows(info) {}
  LoadedRun run{};
  compare::QueryRows rows;
  // Refers into this object.
  compare::ComparedRun compared(const std::string& name) const;
};

// `tokenizer`: a folder, to count the recorded replies again; "" keeps the run's counts.
Result<std::unique_ptr<ComparedSide>> load_compared(const std::string& folder,
                                                    const std::string& tokenizer);

}  // namespace assay::campaign
