#include <sqlite3.h>

#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "store/sql.h"

namespace assay::store {
namespace {

// How long a writer waits for the others; an import of a large tree holds the lock for
// milliseconds.
constexpr int kBusyMs = 60'000;
constexpr int kOpenTries = 200;

class Statement {
 public:
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(handle); }
  sqlite3_stmt* handle = nullptr;
};

class SqliteRow final : public SqlRow {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  bool is_null(int column) const override {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  std::string_view text(int column) const override {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    if (bytes == nullptr) return {};
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }

 private:
  sqlite3_stmt* statement_;
};

class SqliteSql final : public Sql {
 public:
  SqliteSql(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  ~SqliteSql() override { sqlite3_close_v2(db_); }
  SqliteSql(const SqliteSql&) = delete;
  SqliteSql& operator=(const SqliteSql&) = delete;

  Dialect dialect() const override { return Dialect::sqlite; }

  Result<std::uint64_t> run(std::string_view text, std::span<const SqlValue> values,
                            const std::function<void(const SqlRow&)>& each) override {
    Statement statement;
    if (sqlite3_prepare_v2(db_, text.data(), static_cast<int>(text.size()), &statement.handle,
                           nullptr) != SQLITE_OK) {
      return failure();
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int at = sqlite3_bind_parameter_index(statement.handle, format("${}", i + 1).c_str());
      if (at > 0 && bind(statement.handle, at, values[i]) != SQLITE_OK) return failure();
    }
    const int before = sqlite3_total_changes(db_);
    const SqliteRow row(statement.handle);
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement.handle)) == SQLITE_ROW) {
      if (each) each(row);
    }
    if (code != SQLITE_DONE) return failure();
    return static_cast<std::uint64_t>(sqlite3_total_changes(db_) - before);
  }

  Result<void> script(std::string_view statements) override {
    if (sqlite3_exec(db_, std::string(statements).c_str(), nullptr, nullptr, nullptr) !=
        SQLITE_OK) {
      return failure();
    }
    return {};
  }

  Result<void> begin() override { return script("BEGIN IMMEDIATE"); }
  Result<void> commit() override { return script("COMMIT"); }
  void rollback() override { sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr); }

  int code() const { return sqlite3_errcode(db_) & 0xff; }

 private:
  static int bind(sqlite3_stmt* statement, int at, const SqlValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      return sqlite3_bind_int64(statement, at, *whole);
    }
    if (const auto* real = std::get_if<double>(&value)) {
      return sqlite3_bind_double(statement, at, *real);
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
      // The values outlive the statement, so nothing is copied (SQLITE_STATIC).
      return sqlite3_bind_text64(statement, at, text->data(), text->size(), nullptr, SQLITE_UTF8);
    }
    return sqlite3_bind_null(statement, at);
  }

  Error failure() const {
    const int code = sqlite3_errcode(db_) & 0xff;
    const std::string message = format("store '{}': {}", path_, sqlite3_errmsg(db_));
    if (code == SQLITE_CONSTRAINT) return {Code::refused, message};
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) return {Code::timed_out, message};
    if (code == SQLITE_FULL || code == SQLITE_NOMEM) return {Code::exhausted, message};
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return {Code::corrupt, message};
    return {Code::io, message};
  }

  sqlite3* db_;
  std::string path_;
};

// A crashed process may have left a write-ahead log that the first opener must recover. SQLite then
// returns "busy" to the others at once, whatever the timeout, and they must retry.
Result<void> prepare(SqliteSql& sql) {
  OsClock clock;
  for (int i = 0; i < kOpenTries; ++i) {
    const auto done = sql.script(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -65536;");
    if (done) return {};
    if (done.error().code != Code::timed_out) return done.error();
    clock.sleep_until(clock.now() + 50_ms);
  }
  return Error{Code::timed_out, "somebody else holds the store's file; end that program"};
}

}  // namespace

Result<std::unique_ptr<Sql>> open_sqlite(const std::string& path) {
  const bool in_memory = path == ":memory:";
  if (!in_memory) {
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) TRY(make_folders(folder));
  }
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  auto sql = std::make_unique<SqliteSql>(db, path);
  if (code != SQLITE_OK) {
    return Error{Code::io, format("store '{}': {}", path,
                                  db == nullptr ? "out of memory" : sqlite3_errmsg(db))};
  }
  sqlite3_busy_timeout(db, kBusyMs);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  TRY(prepare(*sql));
  return std::unique_ptr<Sql>(std::move(sql));
}

}  // namespace assay::store
