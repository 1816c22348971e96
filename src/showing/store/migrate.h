// Migrations: the schema in numbered steps. Each is applied once, in order, under a lock, in one
// transaction. A file of src/showing/store/migrations is NNNN_what.sql, or NNNN_what_sqlite.sql and
// NNNN_what_postgresql.sql where the two databases need different SQL. A released step never
// changes; add a new one.
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

// Brings the database to the newest step. Refuses a database with newer steps than ours.
Result<void> migrate(Sql& sql);

}  // namespace assay::store
