// read_tree: reads a folder on disk into a Submission. Never fails: broken input becomes a state of
// a document or a trouble of the tree. Limits on files, folders and bytes bound the memory; event
// logs are not read here. Links that lead out of the tree are not followed.
#pragma once

#include <filesystem>

#include "rules/submission.h"

namespace assay::rules {

// The edition decides which fields are derived.
Submission read_tree(const std::filesystem::path& path, rulebook::Edition edition);

// Reads registries in the files' form (seedset.yaml, approved_drafters.yaml), to replace the
// edition's.
Result<std::vector<rulebook::SeedSet>> read_seed_sets(const std::filesystem::path& file);
Result<std::vector<rulebook::Drafter>> read_drafters(const std::filesystem::path& file);

}  // namespace assay::rules
