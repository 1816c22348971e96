// Export: the explorer as static files: the page, and every document of the API as data/NAME.json
// and as data/NAME.js, because a page opened from disk may not fetch. For any web host, or to open
// by a double click. docs/formats/api.yaml names the documents.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "explorer/documents.h"
#include "rules/calendar.h"
#include "store/store.h"

namespace assay::explorer {

struct ExportOptions {
  store::CurveQuery curves{};  // which curves; limit and points are set here
  bool events = true;          // the waterfalls too, of runs with a log
  rules::Holidays holidays{};
};

struct ExportCounts {
  std::size_t documents = 0;
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

// Creates `folder`, which must be empty or absent, or hold an earlier export. That export is
// replaced in one step, and other files in the folder stay.
Result<ExportCounts> export_page(store::Store& store, const std::filesystem::path& folder,
                                 const ExportOptions& options);

}  // namespace assay::explorer
