// A Croissant file as people read it: what the data is, who made it, under which licence, what it
// may be used for, where it comes from, its files and fields, and what a check finds. One JSON
// document, which the explorer keeps and shows (schema Datasheet in docs/formats/api.yaml).
//
// The answers to "may it be used so?" are computed for every combination that a page can ask
// (purposes, yes and no, and each region that a policy names), so that a page without a server has
// them too. Diseases need an ontology, which only `assay dataset --check` can be given. Pure; any
// thread.
#pragma once

#include "base/json.h"

namespace assay::dataset {

// More files, fields, steps or regions than these are counted, and not listed.
inline constexpr std::size_t kDatasheetRowsMax = 500;
inline constexpr std::size_t kDatasheetRegionsMax = 48;

// Stands for every country that no policy names.
inline constexpr std::string_view kElsewhere = "ZZ";

// An object whose type is Dataset in a Croissant context.
bool is_croissant(const Json& document);
Json datasheet_of(const Json& croissant);

}  // namespace assay::dataset
