// open_store opens a Store by its location.
//
//   "" or "default"                 the default: $XDG_DATA_HOME or ~/.local/share, assay/store.db
//   /path/to/store.db               SQLite, made when it is not there
//   :memory:                        SQLite, gone with the process; for tests and `assay serve PATH`
//   postgresql://user@host/db       PostgreSQL; the password by ~/.pgpass or PGPASSWORD
//
// The first process to open a store creates the schema or brings it up to date (store/migrations).
// A store that a newer Assay has migrated further is refused. Messages never contain a password.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace assay::store {

Result<std::unique_ptr<Store>> open_store(const std::string& where);

// The location that "" stands for.
std::string default_store();
// `where` without its password, for messages.
std::string shown_store(std::string_view where);

}  // namespace assay::store
