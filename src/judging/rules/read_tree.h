// read_tree: a folder on disk -> Submission. Never fails: what is broken becomes a state of a
// document or a trouble of the tree. Memory is bounded by limits on files, folders and bytes;
// event logs are not read here. Links that lead out of the tree are not followed.
#pragma once

#include <filesystem>

#include "rules/submission.h"

namespace assay::rules {

// The edition decides what is derived, so it comes first.
Submission read_tree(const std::filesystem::path& path, rulebook::Edition edition);

// The registries in the files' form (seedset.yaml, approved_drafters.yaml) instead of the
// edition's.
Result<std::vector<rulebook::SeedSet>> read_seed_sets(const std::filesystem::path& file);
Result<std::vector<rulebook::Drafter>> read_drafters(const std::filesystem::path& file);

}  // namespace assay::rules
