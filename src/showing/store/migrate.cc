#include "store/migrate.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::store {
namespace {

// An arbitrary number, the same in every Assay: the holder of this lock may change the schema.
constexpr std::string_view kLock = "SELECT pg_advisory_xact_lock(4702111234474983745)";
constexpr std::string_view kTable =
    "CREATE TABLE IF NOT EXISTS assay_migrations ("
    "number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL)";

struct Step {
  std::int64_t number = 0;
  EmbeddedFile file{};
};

std::vector<Step> steps_for(Dialect dialect) {
  const std::string_view other = dialect == Dialect::sqlite ? "_postgresql.sql" : "_sqlite.sql";
  std::vector<Step> steps;
  for (const EmbeddedFile& file : embedded_migrations()) {
    if (file.name.ends_with(other)) continue;
    const auto number = parse_int(file.name.substr(0, 4));
    CHECK(number.has_value());
    steps.push_back({*number, file});
  }
  std::ranges::sort(steps, {}, &Step::number);
  return steps;
}

Result<std::int64_t> applied(Sql& sql) {
  std::int64_t last = 0;
  TRY(sql.run("SELECT coalesce(max(number), 0) FROM assay_migrations", {},
              [&last](const SqlRow& row) { last = row.integer(0); }));
  return last;
}

Result<void> apply_missing(Sql& sql) {
  if (sql.dialect() == Dialect::postgresql) TRY(sql.script(kLock));
  TRY(sql.script(kTable));
  ASSIGN_OR_RETURN(const std::int64_t last, applied(sql));
  for (const Step& step : steps_for(sql.dialect())) {
    if (step.number <= last) continue;
    if (const auto done = sql.script(step.file.bytes); !done) {
      return done.error().within(step.file.name);
    }
    TRY(sql.run("INSERT INTO assay_migrations (number, name, applied) VALUES ($1, $2, $3)",
                {step.number, std::string(step.file.name), rfc3339(wall_now())}));
  }
  return {};
}

}  // namespace

Result<void> migrate(Sql& sql) {
  const std::int64_t newest = steps_for(sql.dialect()).back().number;
  // The common case takes no lock.
  if (const auto last = applied(sql); last && *last == newest) return {};
  TRY(sql.begin());
  auto done = apply_missing(sql);
  if (!done) {
    sql.rollback();
    return done.error();
  }
  TRY(sql.commit());
  ASSIGN_OR_RETURN(const std::int64_t last, applied(sql));
  if (last > newest) {
    return Error{Code::unsupported,
                 format("the store's schema is at step {}, and this Assay knows {} steps\n"
                        "  use the Assay that wrote it, or a newer one",
                        last, newest)};
  }
  return {};
}

}  // namespace assay::store
