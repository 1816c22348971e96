#include "store/open_store.h"

#include <cstdlib>

#include "base/format.h"
#include "base/reach.h"
#include "base/text.h"
#include "store/migrate.h"
#include "store/sql_store.h"

namespace assay::store {
namespace {

bool is_postgres(std::string_view where) {
  return where.starts_with("postgresql://") || where.starts_with("postgres://");
}

}  // namespace

std::int64_t SqlRow::integer(int column) const { return parse_int(text(column)).value_or(0); }

std::optional<double> SqlRow::real(int column) const {
  if (is_null(column)) return std::nullopt;
  const auto value = parse_double(text(column));
  return value ? std::optional<double>(*value) : std::nullopt;
}

std::string default_store() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data == '/') return format("{}/assay/store.db", data);
  const char* home = std::getenv("HOME");
  return format("{}/.local/share/assay/store.db", home == nullptr ? "." : home);
}

std::string shown_store(std::string_view where) {
  if (!is_postgres(where)) return std::string(where);
  const std::size_t start = where.find("://") + 3;
  const std::size_t at = where.rfind('@', where.find_first_of("/?", start));
  const std::size_t colon = where.find(':', start);
  std::string shown(where.substr(0, where.find('?')));
  if (at != std::string_view::npos && colon < at) shown.replace(colon, at - colon, ":<redacted>");
  return shown;
}

Result<std::unique_ptr<Store>> open_store(const std::string& where) {
  const std::string place = where.empty() || where == "default" ? default_store() : where;
  if (!is_postgres(place) && place.find("://") != std::string::npos) {
    return invalid(
        format("--store: '{}' is neither a file nor a postgresql:// address", shown_store(place)));
  }
  if (is_postgres(place) && loopback_only()) {
    return Error{Code::refused,
                 format("store '{}': {} is set, and where a PostgreSQL server is cannot be known\n"
                        "  name a file",
                        shown_store(place), kLoopbackOnly)};
  }
  std::unique_ptr<Sql> sql;
  if (is_postgres(place)) {
    ASSIGN_OR_RETURN(sql, open_postgres(place));
  } else {
    ASSIGN_OR_RETURN(sql, open_sqlite(place));
  }
  if (const auto done = migrate(*sql); !done) {
    return done.error().within(format("store '{}'", shown_store(place)));
  }
  return std::unique_ptr<Store>(std::make_unique<SqlStore>(std::move(sql)));
}

}  // namespace assay::store
