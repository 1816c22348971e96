// Sql: one connection to an SQL database, with what SqlStore needs. Statements are written once for
// both databases: parameters are $1, $2, …, upserts are ON CONFLICT, types are TEXT, BIGINT and
// DOUBLE PRECISION. Values never become part of a statement's text.
//
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace assay::store {

using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

// One row of a result, valid during the callback that gets it. Columns count from 0.
class SqlRow {
 public:
  virtual ~SqlRow() = default;
  virtual bool is_null(int column) const = 0;
  virtual std::string_view text(int column) const = 0;

  std::string string(int column) const { return std::string(text(column)); }
  std::int64_t integer(int column) const;
  std::optional<double> real(int column) const;  // nullopt: null
};

enum class Dialect : std::uint8_t { sqlite, postgresql };

class Sql {
 public:
  virtual ~Sql() = default;
  virtual Dialect dialect() const = 0;

  // Runs one statement, passes its rows to `each` and returns the number of rows changed.
  virtual Result<std::uint64_t> run(std::string_view statement, std::span<const SqlValue> values,
                                    const std::function<void(const SqlRow&)>& each) = 0;
  // Runs several statements without parameters.
  virtual Result<void> script(std::string_view statements) = 0;

  // Takes the write lock, waiting for other writers; end with commit() or rollback().
  virtual Result<void> begin() = 0;
  virtual Result<void> commit() = 0;
  virtual void rollback() = 0;

  Result<std::uint64_t> run(std::string_view statement,
                            std::initializer_list<SqlValue> values = {}) {
    return run(statement, {values.begin(), values.size()}, nullptr);
  }
  Result<std::uint64_t> find(std::string_view statement, std::span<const SqlValue> values,
                             const std::function<void(const SqlRow&)>& each) {
    return run(statement, values, each);
  }
};

Result<std::unique_ptr<Sql>> open_sqlite(const std::string& path);
// `library`: PostgreSQL's own client, opened by the first call.
Result<std::unique_ptr<Sql>> open_postgres(const std::string& url,
                                           const char* library = "libpq.so.5");

}  // namespace assay::store
