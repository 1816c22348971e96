#include <dlfcn.h>
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

// PostgreSQL's client library, opened when the first PostgreSQL store is: most users have none, and
// libpq brings 21 libraries of its own (Kerberos, LDAP, …) that each start of the program would
// load. Its header alone is compiled in: the functions that we call have the header's own types.
struct Libpq {
  decltype(&::PQclear) clear = nullptr;
  decltype(&::PQcmdTuples) cmd_tuples = nullptr;
  decltype(&::PQconnectdbParams) connect = nullptr;
  decltype(&::PQerrorMessage) error_message = nullptr;
  decltype(&::PQexec) exec = nullptr;
  decltype(&::PQexecParams) exec_params = nullptr;
  decltype(&::PQfinish) finish = nullptr;
  decltype(&::PQgetisnull) is_null = nullptr;
  decltype(&::PQgetlength) length = nullptr;
  decltype(&::PQgetvalue) value = nullptr;
  decltype(&::PQntuples) tuples = nullptr;
  decltype(&::PQreset) reset = nullptr;
  decltype(&::PQresultErrorField) error_field = nullptr;
  decltype(&::PQresultStatus) result_status = nullptr;
  decltype(&::PQsetNoticeProcessor) set_notice_processor = nullptr;
  decltype(&::PQstatus) status = nullptr;

  // Fails, with what to install, where the library is not there or lacks a function. It stays open.
  static Result<Libpq> open(const char* library);
};

Error not_there() {
  const char* const why = ::dlerror();
  return {Code::unsupported,
          format("a store in PostgreSQL needs its client library (Debian: libpq5): {}",
                 why == nullptr ? "not found" : why)};
}

template <typename Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, name));
  return out != nullptr;
}

Result<Libpq> Libpq::open(const char* library) {
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return not_there();
  Libpq out;
  const bool whole =
      find(handle, "PQclear", out.clear) && find(handle, "PQcmdTuples", out.cmd_tuples) &&
      find(handle, "PQconnectdbParams", out.connect) &&
      find(handle, "PQerrorMessage", out.error_message) && find(handle, "PQexec", out.exec) &&
      find(handle, "PQexecParams", out.exec_params) && find(handle, "PQfinish", out.finish) &&
      find(handle, "PQgetisnull", out.is_null) && find(handle, "PQgetlength", out.length) &&
      find(handle, "PQgetvalue", out.value) && find(handle, "PQntuples", out.tuples) &&
      find(handle, "PQreset", out.reset) && find(handle, "PQresultErrorField", out.error_field) &&
      find(handle, "PQresultStatus", out.result_status) &&
      find(handle, "PQsetNoticeProcessor", out.set_notice_processor) &&
      find(handle, "PQstatus", out.status);
  if (!whole) return not_there();
  return out;
}

struct Answer {
  Answer(const Libpq& libpq, PGresult* result) : handle(result), pq(libpq) {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() { pq.clear(handle); }
  PGresult* handle;
  const Libpq& pq;
};

class PostgresRow final : public SqlRow {
 public:
  PostgresRow(const Answer& answer, int row) : pq_(answer.pq), result_(answer.handle), row_(row) {}
  bool is_null(int column) const override { return pq_.is_null(result_, row_, column) != 0; }
  std::string_view text(int column) const override {
    return {pq_.value(result_, row_, column),
            static_cast<std::size_t>(pq_.length(result_, row_, column))};
  }

 private:
  const Libpq& pq_;
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
  PostgresSql(Libpq libpq, PGconn* connection, std::string name)
      : pq_(libpq), connection_(connection), name_(std::move(name)) {}
  ~PostgresSql() override { pq_.finish(connection_); }
  PostgresSql(const PostgresSql&) = delete;
  PostgresSql& operator=(const PostgresSql&) = delete;

  Dialect dialect() const override { return Dialect::postgresql; }

  Result<std::uint64_t> run(std::string_view text, std::span<const SqlValue> values,
                            const std::function<void(const SqlRow&)>& each) override {
    revive();
    const Parameters parameters(values);
    const Answer answer(
        pq_, pq_.exec_params(connection_, std::string(text).c_str(), parameters.count(), nullptr,
                             parameters.data(), nullptr, nullptr, 0));
    const ExecStatusType status = pq_.result_status(answer.handle);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return failure(answer.handle);
    if (each) {
      const int rows = pq_.tuples(answer.handle);
      for (int i = 0; i < rows; ++i) each(PostgresRow(answer, i));
    }
    return parse_uint(pq_.cmd_tuples(answer.handle)).value_or(0);
  }

  Result<void> script(std::string_view statements) override {
    revive();
    const Answer answer(pq_, pq_.exec(connection_, std::string(statements).c_str()));
    const ExecStatusType status = pq_.result_status(answer.handle);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return failure(answer.handle);
    return {};
  }

  Result<void> begin() override { return script("BEGIN"); }
  Result<void> commit() override { return script("COMMIT"); }
  void rollback() override { const Answer answer(pq_, pq_.exec(connection_, "ROLLBACK")); }

 private:
  // Reconnects if the server was restarted since the last statement. Not inside a transaction: its
  // work is lost, and the statement must fail.
  void revive() {
    if (pq_.status(connection_) == CONNECTION_BAD) pq_.reset(connection_);
  }

  Error failure(const PGresult* result) const {
    const char* field = pq_.error_field(result, PG_DIAG_SQLSTATE);
    const std::string state = field == nullptr ? "" : field;
    const std::string message =
        format("store '{}': {}", name_, trim(pq_.error_message(connection_)));
    if (state.starts_with("23")) return {Code::refused, message};
    // Deadlock, serialization failure or lock timeout: the caller retries.
    if (state == "40001" || state == "40P01" || state == "55P03") return {Code::timed_out, message};
    return {Code::io, message};
  }

  const Libpq pq_;
  PGconn* connection_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Sql>> open_postgres(const std::string& url, const char* library) {
  const std::string name = shown_store(url);
  const std::array<const char*, 5> keys = {"dbname", "application_name", "client_encoding",
                                           "connect_timeout", nullptr};
  const std::array<const char*, 5> values = {url.c_str(), "assay", "UTF8", "10", nullptr};
  const Result<Libpq> opened = Libpq::open(library);
  if (!opened) return opened.error().within(format("store '{}'", name));
  const Libpq& pq = *opened;
  PGconn* connection = pq.connect(keys.data(), values.data(), 1);
  auto sql = std::make_unique<PostgresSql>(pq, connection, name);
  if (pq.status(connection) != CONNECTION_OK) {
    // The second line is advice, not an error.
    std::string why(trim(pq.error_message(connection)));
    for (std::size_t at = 0; (at = why.find('\n', at)) != std::string::npos; ++at) {
      why.insert(at + 1, why.compare(at + 1, 1, "\t") == 0 ? " " : "  ");
    }
    return Error{Code::refused, format("store '{}': {}", name, why)};
  }
  pq.set_notice_processor(
      connection, [](void*, const char*) {}, nullptr);
  return std::unique_ptr<Sql>(std::move(sql));
}

}  // namespace assay::store
