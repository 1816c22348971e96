// SqlStore: the Store for both databases. It always locks related rows in the same order (system,
// curve, points, datasheets, revision), so that writers never deadlock. One thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "store/sql.h"
#include "store/store.h"

namespace assay::store {

class SqlStore final : public Store {
 public:
  explicit SqlStore(std::unique_ptr<Sql> sql) : sql_(std::move(sql)) {}

  Result<std::int64_t> revision() override;
  Result<PutResult> put(const CurveRecord& curve) override;
  Result<CurvePage> find_curves(const CurveQuery& query) override;
  Result<std::vector<NamedCount>> models() override;
  Result<std::vector<NamedCount>> datasets(std::string_view model) override;
  Result<std::vector<std::string>> systems(std::string_view model) override;
  Result<std::optional<std::string>> system(std::string_view id) override;
  Result<std::optional<FoundRun>> run(std::string_view id) override;
  Result<bool> put_datasheet(const DatasheetRecord& sheet) override;
  Result<std::vector<FoundDatasheet>> datasheets(std::string_view id) override;
  Result<std::vector<DatasheetRun>> datasheet_runs(std::string_view id, std::size_t limit) override;
  Result<void> append(const rulebook::HistoryEntry& entry) override;
  Result<std::vector<rulebook::HistoryEntry>> history(std::string_view submission) override;
  Result<std::vector<std::string>> history_hashes() override;
  Result<void> put_token(const TokenRecord& token) override;
  Result<std::optional<TokenRecord>> token(std::string_view hash) override;
  Result<std::vector<TokenRecord>> tokens() override;

 private:
  // Runs `work` in one transaction, again when the database asks for a retry.
  Result<void> in_transaction(const std::function<Result<void>()>& work);
  Result<void> put_inside(const CurveRecord& curve, PutResult& result);
  Result<void> put_point(const CurveRecord& curve, const PointRecord& point, PutResult& result);
  Result<bool> put_sheet_inside(const DatasheetRecord& sheet);
  Result<bool> put_sheets_of(const CurveRecord& curve);
  Result<void> count_points(const std::string& curve);
  Result<void> grow_revision();
  Result<std::vector<NamedCount>> counted(std::string_view column, std::string_view model);
  Result<std::vector<TokenRecord>> find_tokens(std::string_view where,
                                               std::span<const SqlValue> values);

  std::unique_ptr<Sql> sql_;
};

}  // namespace assay::store
