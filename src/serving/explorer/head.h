// The head of a store's review history (rules/review_head.h) in a file outside the database. Who
// appends an entry looks first whether the history goes on from the file's head, so that one that
// was cut is found before its head is written over; and writes the new head afterwards.
//
// Any process may append at any time: whoever writes the file looks again until what he wrote is
// what the store has. Of the thread that has the Store.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "rules/review_head.h"
#include "store/store.h"

namespace assay::explorer {

// Beside the store: STORE.head. "" for a store that is no file: its head is kept where --head says.
std::string default_head_file(const std::string& store);

// The text of the head as the store has it now.
Result<std::string> head_document(store::Store& store);

Result<rules::ReviewHead> read_head_file(const std::filesystem::path& file);

// Code::corrupt where the history does not go on from the file's head. A file that is not there
// proves nothing, and "" is none.
Result<void> check_head_file(store::Store& store, const std::filesystem::path& file);
Result<void> write_head_file(store::Store& store, const std::filesystem::path& file);

}  // namespace assay::explorer
