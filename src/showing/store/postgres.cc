#include <libpq-fe.h>

#include <array>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "store/open_store.h"
#include "store/sql.h"

namespace assay::store {
namespace {

struct Answer {
  explicit Answer(PGresult* result) : handle(result) {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() { PQclear(handle); }
  PGresult* handle;
};

class PostgresRow final : public SqlRow {
 public:
  PostgresRow(const PGresult* result, int row) : result_(result), row_(row) {}
  bool is_null(int column) const override { return PQgetisnull(result_, row_, column) != 0; }
  std::string_view text(int column) const override {
    return {PQgetvalue(result_, row_, column),
            static_cast<std::size_t>(PQgetlength(result_, row_, column))};
  }

 private:
  const PGresult* result_;
  int row_;
};

// Values in PostgreSQL's form, kept during the call. PostgreSQL allows no byte 0 in a text.
class Parameters {
 public:
  explicit Parameters(std::span<const SqlValue> values) : texts_(values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (const auto* whole = std::get_if<std::int64_t>(&values[i])) {
        texts_[i] = format("{}", *whole);
      } else if (const auto* real = std::get_if<double>(&values[i])) {
        texts_[i] = json_number(*real);
      } else if (const auto* text = std::get_if<std::string>(&values[i])) {
        texts_[i] = *text;
        for (char& c : texts_[i]) {
          if (c == '\0') c = ' ';
        }
      }
      pointers_.push_back(std::holds_alternative<std::monostate>(values[i]) ? nullptr
                                                                            : texts_[i].c_str());
    }
  }
  int count() const { return static_cast<int>(pointers_.size()); }
  const char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_{};
};

class PostgresSql final : public Sql {
 public:
  PostgresSql(PGconn* connection, std::string name)
      : connection_(connection), name_(std::move(name)) {}
  ~PostgresSql() override { PQfinish(connection_); }
  PostgresSql(const PostgresSql&) = delete;
  PostgresSql& operator=(const PostgresSql&) = delete;

  Dialect dialect() const override { return Dialect::postgresql; }

  Result<std::uint64_t> run(std::string_view text, std::span<const SqlValue> values,
                            const std::function<void(const SqlRow&)>& each) override {
    revive();
    const Parameters parameters(values);
    const Answer answer(PQexecParams(connection_, std::string(text).c_str(), parameters.count(),
                                     nullptr, parameters.data(), nullptr, nullptr, 0));
    const ExecStatusType status = PQresultStatus(answer.handle);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return failure(answer.handle);
    if (each) {
      const int rows = PQntuples(answer.handle);
      for (int i = 0; i < rows; ++i) each(PostgresRow(answer.handle, i));
    }
    return parse_uint(PQcmdTuples(answer.handle)).value_or(0);
  }

  Result<void> script(std::string_view statements) override {
    revive();
    const Answer answer(PQexec(connection_, std::string(statements).c_str()));
    const ExecStatusType status = PQresultStatus(answer.handle);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return failure(answer.handle);
    return {};
  }

  Result<void> begin() override { return script("BEGIN"); }
  Result<void> commit() override { return script("COMMIT"); }
  void rollback() override { const Answer answer(PQexec(connection_, "ROLLBACK")); }

 private:
  // Reconnects if the server was restarted since the last statement. Not inside a transaction: its
  // work is lost, and the statement must fail.
  void revive() {
    if (PQstatus(connection_) == CONNECTION_BAD) PQreset(connection_);
  }

  Error failure(const PGresult* result) const {
    const char* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string state = field == nullptr ? "" : field;
    const std::string message = format("store '{}': {}", name_, trim(PQerrorMessage(connection_)));
    if (state.starts_with("23")) return {Code::refused, message};
    // Deadlock, serialization failure or lock timeout: the caller retries.
    if (state == "40001" || state == "40P01" || state == "55P03") return {Code::timed_out, message};
    return {Code::io, message};
  }

  PGconn* connection_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Sql>> open_postgres(const std::string& url) {
  const std::string name = shown_store(url);
  const std::array<const char*, 5> keys = {"dbname", "application_name", "client_encoding",
                                           "connect_timeout", nullptr};
  const std::array<const char*, 5> values = {url.c_str(), "assay", "UTF8", "10", nullptr};
  PGconn* connection = PQconnectdbParams(keys.data(), values.data(), 1);
  auto sql = std::make_unique<PostgresSql>(connection, name);
  if (PQstatus(connection) != CONNECTION_OK) {
    // The second line is advice, not an error.
    std::string why(trim(PQerrorMessage(connection)));
    for (std::size_t at = 0; (at = why.find('\n', at)) != std::string::npos; ++at) {
      why.insert(at + 1, why.compare(at + 1, 1, "\t") == 0 ? " " : "  ");
    }
    return Error{Code::refused, format("store '{}': {}", name, why)};
  }
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  return std::unique_ptr<Sql>(std::move(sql));
}

}  // namespace assay::store
