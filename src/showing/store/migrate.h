// Migrations: the schema in numbered steps, each applied once and in order, under a lock, in one
// transaction. A file of src/showing/store/migrations is NNNN_what.sql, or NNNN_what_sqlite.sql and
// NNNN_what_postgresql.sql where the databases have no common words. A step that was released is
// never changed; a new one is added.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/sql.h"

namespace assay::store {

struct EmbeddedFile {
  std::string_view name{};
  std::string_view bytes{};
};
std::vector<EmbeddedFile> embedded_migrations();

// Brings the database to the newest step. Refuses one that is further than we know.
Result<void> migrate(Sql& sql);

}  // namespace assay::store
