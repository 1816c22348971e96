// The head of a store's review history (rules/review_head.h) in a file outside the database. A
// process that appends an entry first checks that the history continues from the file's head, so
// that a truncated history is found before its head is overwritten; afterwards it writes the new
// head.
//
// Any process may append at any time, so a writer of the file checks again until the file matches
// the store. For the thread that has the Store.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "rules/review_head.h"
#include "store/store.h"

namespace assay::explorer {

// STORE.head, beside the store. "" for a store that is not a file: its head is where --head says.
std::string default_head_file(const std::string& store);

// The text of the store's current head.
Result<std::string> head_document(store::Store& store);

Result<rules::ReviewHead> read_head_file(const std::filesystem::path& file);

// Code::corrupt if the history does not continue from the file's head. A missing file proves
// nothing; "" means no file.
Result<void> check_head_file(store::Store& store, const std::filesystem::path& file);
Result<void> write_head_file(store::Store& store, const std::filesystem::path& file);

}  // namespace assay::explorer
