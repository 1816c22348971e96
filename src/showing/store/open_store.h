// open_store: a Store by where it is.
//
//   "" or "default"                 the default: $XDG_DATA_HOME or ~/.local/share, assay/store.db
//   /path/to/store.db               SQLite, made when it is not there
//   :memory:                        SQLite, gone with the process; for tests and `assay serve PATH`
//   postgresql://user@host/db       PostgreSQL; the password by ~/.pgpass or PGPASSWORD
//
// The schema is made and moved forward (store/migrations) by whoever opens first; a store that a
// newer Assay has moved further is refused. Messages never say a password.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace assay::store {

Result<std::unique_ptr<Store>> open_store(const std::string& where);

// Where "" leads.
std::string default_store();
// `where` for messages: without a password.
std::string shown_store(std::string_view where);

}  // namespace assay::store
