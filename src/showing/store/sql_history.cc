// SqlStore's other half: the review board's history and tokens.
#include "base/format.h"
#include "store/sql_store.h"

namespace assay::store {

Result<void> SqlStore::append(const rulebook::HistoryEntry& entry) {
  return in_transaction([&]() -> Result<void> {
    // Comes first because it admits one writer at a time, which fixes this entry's place in the
    // order.
    TRY(grow_revision());
    TRY(
        sql_->run("INSERT INTO history (submission, sequence, at, actor, role, kind, body, "
                  "previous, hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                  {entry.submission, entry.sequence, entry.at, entry.actor, entry.role, entry.kind,
                   entry.body, entry.previous, entry.hash}));
    TRY(
        sql_->run("INSERT INTO history_order (number, submission, sequence) "
                  "SELECT coalesce(max(number), 0) + 1, CAST($1 AS TEXT), CAST($2 AS BIGINT) "
                  "FROM history_order",
                  {entry.submission, entry.sequence}));
    return {};
  });
}

Result<std::vector<std::string>> SqlStore::history_hashes() {
  std::vector<std::string> out;
  std::int64_t last = 0;
  TRY(
      sql_->run("SELECT o.number, coalesce(h.hash, '') FROM history_order o LEFT JOIN history h "
                "ON h.submission = o.submission AND h.sequence = o.sequence ORDER BY o.number",
                {}, [&](const SqlRow& row) {
                  // One for each gap, whatever its width.
                  if (row.integer(0) != last + 1) out.emplace_back();
                  last = row.integer(0);
                  out.push_back(row.string(1));
                }));
  TRY(
      sql_->run("SELECT count(*) FROM history h WHERE NOT EXISTS (SELECT 1 FROM history_order o "
                "WHERE o.submission = h.submission AND o.sequence = h.sequence)",
                {}, [&out](const SqlRow& row) {
                  if (row.integer(0) > 0)
                    out.resize(out.size() + static_cast<std::size_t>(row.integer(0)));
                }));
  return out;
}

Result<std::vector<rulebook::HistoryEntry>> SqlStore::history(std::string_view submission) {
  std::vector<rulebook::HistoryEntry> out;
  std::vector<SqlValue> values;
  if (!submission.empty()) values.emplace_back(std::string(submission));
  TRY(sql_->run(format("SELECT submission, sequence, at, actor, role, kind, body, previous, hash "
                       "FROM history{} ORDER BY submission, sequence",
                       submission.empty() ? "" : " WHERE submission = $1"),
                values, [&out](const SqlRow& row) {
                  out.push_back({row.string(0), row.integer(1), row.string(2), row.string(3),
                                 row.string(4), row.string(5), row.string(6), row.string(7),
                                 row.string(8)});
                }));
  return out;
}

Result<void> SqlStore::put_token(const TokenRecord& token) {
  return in_transaction([&]() -> Result<void> {
    TRY(
        sql_->run("INSERT INTO tokens (hash, role, organisation, name, created, revoked) "
                  "VALUES ($1, $2, $3, $4, $5, $6) "
                  "ON CONFLICT (hash) DO UPDATE SET revoked = excluded.revoked",
                  {token.hash, token.role, token.organisation, token.name, token.created,
                   std::int64_t{token.revoked ? 1 : 0}}));
    return grow_revision();
  });
}

Result<std::vector<TokenRecord>> SqlStore::find_tokens(std::string_view where,
                                                       std::span<const SqlValue> values) {
  std::vector<TokenRecord> out;
  TRY(sql_->run(format("SELECT hash, role, organisation, name, created, revoked FROM tokens{} "
                       "ORDER BY created, hash",
                       where),
                values, [&out](const SqlRow& row) {
                  out.push_back({row.string(0), row.string(1), row.string(2), row.string(3),
                                 row.string(4), row.integer(5) != 0});
                }));
  return out;
}

Result<std::optional<TokenRecord>> SqlStore::token(std::string_view hash) {
  ASSIGN_OR_RETURN(auto found,
                   find_tokens(" WHERE hash = $1", std::vector<SqlValue>{std::string(hash)}));
  if (found.empty()) return std::optional<TokenRecord>{};
  return std::optional<TokenRecord>(std::move(found.front()));
}

Result<std::vector<TokenRecord>> SqlStore::tokens() { return find_tokens("", {}); }

}  // namespace assay::store
