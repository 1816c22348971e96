// SqlStore's datasheets: what is known of datasets, and which runs used each.
#include <algorithm>
#include <utility>

#include "base/format.h"
#include "store/sql_store.h"

namespace assay::store {

Result<bool> SqlStore::put_sheet_inside(const DatasheetRecord& sheet) {
  ASSIGN_OR_RETURN(const auto changed,
                   sql_->run("INSERT INTO datasheets (id, name, document) VALUES ($1, $2, $3) "
                             "ON CONFLICT (id) DO UPDATE SET name = excluded.name, "
                             "document = excluded.document "
                             "WHERE datasheets.document <> excluded.document "
                             "OR datasheets.name <> excluded.name",
                             {sheet.id, sheet.name, sheet.document}));
  return changed > 0;
}

Result<bool> SqlStore::put_sheets_of(const CurveRecord& curve) {
  std::vector<std::pair<const DatasheetRecord*, const std::string*>> used;
  for (const PointRecord& point : curve.points) {
    for (const DatasheetRecord& sheet : point.datasheets) used.emplace_back(&sheet, &point.id);
  }
  // Always in one order, as points are.
  std::ranges::sort(used, {}, [](const auto& one) {
    return std::pair<std::string_view, std::string_view>(one.first->id, *one.second);
  });
  bool changed = false;
  for (const auto& [sheet, point] : used) {
    ASSIGN_OR_RETURN(const bool moved, put_sheet_inside(*sheet));
    ASSIGN_OR_RETURN(const auto linked,
                     sql_->run("INSERT INTO datasheet_points (datasheet, point) VALUES ($1, $2) "
                               "ON CONFLICT (datasheet, point) DO NOTHING",
                               {sheet->id, *point}));
    changed = changed || moved || linked > 0;
  }
  return changed;
}

Result<bool> SqlStore::put_datasheet(const DatasheetRecord& sheet) {
  bool changed = false;
  TRY(in_transaction([&]() -> Result<void> {
    ASSIGN_OR_RETURN(changed, put_sheet_inside(sheet));
    return changed ? grow_revision() : Result<void>{};
  }));
  return changed;
}

Result<std::vector<FoundDatasheet>> SqlStore::datasheets(std::string_view id) {
  std::vector<FoundDatasheet> out;
  std::vector<SqlValue> values;
  if (!id.empty()) values.emplace_back(std::string(id));
  TRY(sql_->run(format("SELECT d.id, d.name, d.document, (SELECT count(*) FROM datasheet_points p "
                       "WHERE p.datasheet = d.id) FROM datasheets d{} ORDER BY d.name, d.id",
                       id.empty() ? "" : " WHERE d.id = $1"),
                values, [&out](const SqlRow& row) {
                  out.push_back({row.string(0), row.string(1), row.string(2), row.integer(3)});
                }));
  return out;
}

Result<std::vector<DatasheetRun>> SqlStore::datasheet_runs(std::string_view id, std::size_t limit) {
  std::vector<DatasheetRun> out;
  TRY(sql_->run(format("SELECT p.id, p.document, c.document FROM datasheet_points d "
                       "JOIN points p ON p.id = d.point JOIN curves c ON c.id = p.curve "
                       "WHERE d.datasheet = $1 ORDER BY c.id, p.concurrency, p.id LIMIT {}",
                       limit),
                std::vector<SqlValue>{std::string(id)}, [&out](const SqlRow& row) {
                  out.push_back({row.string(0), row.string(1), row.string(2)});
                }));
  return out;
}

}  // namespace assay::store
