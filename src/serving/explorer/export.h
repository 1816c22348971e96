// Export: the explorer as static files: the page, and every document of the API as data/NAME.json
// and, because a page opened from disk may not fetch, as data/NAME.js. For any web host, and for a
// double click. docs/formats/api.yaml names the documents.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "explorer/documents.h"
#include "rules/calendar.h"
#include "store/store.h"

namespace assay::explorer {

struct ExportOptions {
  store::CurveQuery curves{};  // which curves; limit and points are ours
  bool events = true;          // the waterfalls too, of runs whose log is at hand
  rules::Holidays holidays{};
};

struct ExportCounts {
  std::size_t documents = 0;
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

// Makes `folder`, which must be empty or not exist, or hold an earlier export: then that is
// replaced, in one step, and what else lies in the folder stays.
Result<ExportCounts> export_page(store::Store& store, const std::filesystem::path& folder,
                                 const ExportOptions& options);

}  // namespace assay::explorer
