// The Croissant files of a run's data, as a fact of the run (RunInfo::facts, kCroissantFact): what
// the data was described as when it was used, whatever becomes of the file. Any thread; files are
// only read.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "domain/plan.h"

namespace assay::dataset {

inline constexpr std::string_view kCroissantFact = "croissant";
// A larger document leaves only its digest.
inline constexpr std::size_t kCroissantFactMax = std::size_t{256} << 10;

// The document with an empty list in the place of rows that stand inside it, and its record sets as
// a list.
Json without_rows(const Json& document);

// [{"dataset", "file", "record_set", "sha256", "document"}, …]: `document` is
// without_rows().
Json croissant_facts(const std::vector<PlannedDataset>& datasets);

}  // namespace assay::dataset
