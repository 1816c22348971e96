#include "store/sql_store.h"

#include <algorithm>

#include "base/clock.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::store {
namespace {

constexpr int kTransactionTries = 20;

std::string lower_words(const CurveRecord& curve) {
  std::string words;
  for (const std::string* text :
       {&curve.system.name, &curve.organisation, &curve.model, &curve.dataset, &curve.accelerator,
        &curve.software, &curve.division, &curve.availability, &curve.submission}) {
    words += lower(*text) + ' ';
  }
  return words;
}

// A WHERE clause built together with its parameters.
class Where {
 public:
  void equal(std::string_view column, const std::string& value) {
    if (!value.empty()) add(format("{} = ${}", column, values_.size() + 1), value);
  }
  void contains(std::string_view column, std::string_view word) {
    std::string pattern = "%";
    for (const char c : lower(word)) {
      if (c == '%' || c == '_' || c == '!') pattern += '!';
      pattern += c;
    }
    add(format("{} LIKE ${} ESCAPE '!'", column, values_.size() + 1), pattern + "%");
  }
  void above(std::string_view column, const std::string& value) {
    if (!value.empty()) add(format("{} > ${}", column, values_.size() + 1), value);
  }
  void up_to(std::string_view column, const std::string& value) {
    add(format("{} <= ${}", column, values_.size() + 1), value);
  }
  std::string text() const { return text_.empty() ? "" : " WHERE " + text_; }
  const std::vector<SqlValue>& values() const { return values_; }

 private:
  void add(const std::string& condition, std::string value) {
    if (!text_.empty()) text_ += " AND ";
    text_ += condition;
    values_.emplace_back(std::move(value));
  }

  std::string text_{};
  std::vector<SqlValue> values_{};
};

Where filter(const CurveQuery& query) {
  Where where;
  where.equal("c.id", query.id);
  where.equal("c.model", query.model);
  where.equal("c.dataset", query.dataset);
  where.equal("c.system", query.system);
  where.equal("c.accelerator", query.accelerator);
  where.equal("c.software", query.software);
  where.equal("c.division", query.division);
  where.equal("c.availability", query.availability);
  where.equal("c.organisation", query.organisation);
  where.equal("c.kind", query.kind);
  where.equal("c.accuracy", query.accuracy);
  where.equal("c.submission", query.submission);
  for (const std::string_view word : split(query.words, ' ')) {
    if (!trim(word).empty()) where.contains("c.words", trim(word));
  }
  return where;
}

FoundCurve curve_from(const SqlRow& row) {
  return {.id = row.string(0),
          .document = row.string(1),
          .accuracy = row.string(2),
          .peak_tps = row.real(3),
          .findings = row.integer(4),
          .points_total = row.integer(5),
          .imported = row.string(6)};
}

}  // namespace

Result<void> SqlStore::in_transaction(const std::function<Result<void>()>& work) {
  for (int tries = 1;; ++tries) {
    TRY(sql_->begin());
    auto done = work();
    if (done) done = sql_->commit();
    if (done) return {};
    sql_->rollback();
    if (done.error().code != Code::timed_out || tries == kTransactionTries) return done.error();
  }
}

Result<std::int64_t> SqlStore::revision() {
  std::int64_t value = 0;
  TRY(sql_->run("SELECT value FROM assay_meta WHERE key = 'revision'", {},
                [&value](const SqlRow& row) { value = row.integer(0); }));
  return value;
}

Result<void> SqlStore::grow_revision() {
  TRY(sql_->run("UPDATE assay_meta SET value = value + 1 WHERE key = 'revision'"));
  return {};
}

Result<PutResult> SqlStore::put(const CurveRecord& curve) {
  PutResult result;
  TRY(in_transaction([&] {
    result = {};
    return put_inside(curve, result);
  }));
  return result;
}

Result<void> SqlStore::put_inside(const CurveRecord& curve, PutResult& result) {
  const SystemRecord& system = curve.system;
  ASSIGN_OR_RETURN(const auto systems,
                   sql_->run("INSERT INTO systems (id, name, document) VALUES ($1, $2, $3) "
                             "ON CONFLICT (id) DO UPDATE SET name = excluded.name, "
                             "document = excluded.document "
                             "WHERE systems.document <> excluded.document",
                             {system.id, system.name, system.document}));
  bool known = false;
  TRY(sql_->run("SELECT 1 FROM curves WHERE id = $1", std::vector<SqlValue>{curve.id},
                [&known](const SqlRow&) { known = true; }));
  ASSIGN_OR_RETURN(
      const auto curves,
      sql_->run(
          "INSERT INTO curves (id, system, model, dataset, organisation, accelerator, software, "
          "division, availability, kind, submission, words, document, imported) "
          "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) "
          "ON CONFLICT (id) DO UPDATE SET system = excluded.system, model = excluded.model, "
          "dataset = excluded.dataset, organisation = excluded.organisation, "
          "accelerator = excluded.accelerator, software = excluded.software, "
          "division = excluded.division, availability = excluded.availability, "
          "kind = excluded.kind, submission = excluded.submission, words = excluded.words, "
          "document = excluded.document WHERE curves.document <> excluded.document "
          "OR curves.words <> excluded.words",
          {curve.id, system.id, curve.model, curve.dataset, curve.organisation, curve.accelerator,
           curve.software, curve.division, curve.availability, curve.kind, curve.submission,
           lower_words(curve), curve.document, rfc3339(wall_now())}));
  result.curve_new = !known;
  // Always in one order, so that two writers of the same points never deadlock.
  std::vector<const PointRecord*> points;
  for (const PointRecord& point : curve.points) points.push_back(&point);
  std::ranges::sort(points, {}, [](const PointRecord* p) { return std::string_view(p->id); });
  for (const PointRecord* point : points) TRY(put_point(curve, *point, result));
  const bool points_moved = result.points_new + result.points_changed > 0;
  if (points_moved) TRY(count_points(curve.id));
  ASSIGN_OR_RETURN(const bool sheets, put_sheets_of(curve));
  result.changed = systems > 0 || curves > 0 || points_moved || sheets;
  return result.changed ? grow_revision() : Result<void>{};
}

Result<void> SqlStore::put_point(const CurveRecord& curve, const PointRecord& point,
                                 PutResult& result) {
  bool known = false;
  TRY(sql_->run("SELECT 1 FROM points WHERE id = $1", std::vector<SqlValue>{point.id},
                [&known](const SqlRow&) { known = true; }));
  ASSIGN_OR_RETURN(
      const auto points,
      sql_->run("INSERT INTO points (id, curve, concurrency, system_tps, accuracy, findings, "
                "document) VALUES ($1, $2, $3, $4, $5, $6, $7) "
                "ON CONFLICT (id) DO UPDATE SET curve = excluded.curve, "
                "concurrency = excluded.concurrency, system_tps = excluded.system_tps, "
                "accuracy = excluded.accuracy, findings = excluded.findings, "
                "document = excluded.document "
                "WHERE points.document <> excluded.document OR points.curve <> excluded.curve",
                {point.id, curve.id, point.concurrency,
                 point.system_tps ? SqlValue(*point.system_tps) : SqlValue(), point.accuracy,
                 point.findings, point.document}));
  ASSIGN_OR_RETURN(const auto runs,
                   sql_->run("INSERT INTO runs (id, source, document) VALUES ($1, $2, $3) "
                             "ON CONFLICT (id) DO UPDATE SET source = excluded.source, "
                             "document = excluded.document "
                             "WHERE runs.document <> excluded.document "
                             "OR runs.source <> excluded.source",
                             {point.id, point.source, point.run}));
  if (!known) {
    ++result.points_new;
  } else if (points + runs > 0) {
    ++result.points_changed;
  }
  return {};
}

Result<void> SqlStore::count_points(const std::string& curve) {
  TRY(sql_->run(
      "UPDATE curves SET "
      "points_total = (SELECT count(*) FROM points WHERE curve = $1), "
      "peak_tps = (SELECT max(system_tps) FROM points WHERE curve = $1), "
      "findings = (SELECT coalesce(sum(findings), 0) FROM points WHERE curve = $1), "
      "accuracy = CASE "
      "WHEN EXISTS (SELECT 1 FROM points WHERE curve = $1 AND accuracy = 'failed') THEN 'failed' "
      "WHEN EXISTS (SELECT 1 FROM points WHERE curve = $1 AND accuracy = 'passed') THEN 'passed' "
      "ELSE 'unknown' END WHERE id = $1",
      {curve}));
  return {};
}

Result<CurvePage> SqlStore::find_curves(const CurveQuery& query) {
  CurvePage page;
  Where where = filter(query);
  TRY(sql_->run("SELECT count(*) FROM curves c" + where.text(), where.values(),
                [&page](const SqlRow& row) { page.total = row.integer(0); }));
  where.above("c.id", query.after);
  TRY(sql_->run(format("SELECT c.id, c.document, c.accuracy, c.peak_tps, c.findings, "
                       "c.points_total, c.imported FROM curves c{} ORDER BY c.id LIMIT {}",
                       where.text(), query.limit + 1),
                where.values(),
                [&page](const SqlRow& row) { page.curves.push_back(curve_from(row)); }));
  page.more = page.curves.size() > query.limit;
  if (page.more) page.curves.pop_back();
  if (!query.points || page.curves.empty()) return page;

  where.up_to("c.id", page.curves.back().id);
  auto curve = page.curves.begin();
  TRY(sql_->run("SELECT p.curve, p.document FROM points p JOIN curves c ON c.id = p.curve" +
                    where.text() + " ORDER BY p.curve, p.concurrency, p.id",
                where.values(), [&](const SqlRow& row) {
                  const std::string_view id = row.text(0);
                  // Both lists are sorted by the curve's id. Skip a curve without points, and
                  // points of a curve that was added between the two queries.
                  while (curve != page.curves.end() && curve->id < id) ++curve;
                  if (curve != page.curves.end() && curve->id == id) {
                    curve->points.push_back(row.string(1));
                  }
                }));
  return page;
}

Result<std::vector<NamedCount>> SqlStore::counted(std::string_view column, std::string_view model) {
  Where where;
  where.equal("model", std::string(model));
  std::vector<NamedCount> out;
  TRY(sql_->run(format("SELECT {0}, count(DISTINCT system), count(*), sum(points_total) "
                       "FROM curves{1} GROUP BY {0} ORDER BY 4 DESC, 1",
                       column, where.text()),
                where.values(), [&out](const SqlRow& row) {
                  out.push_back({row.string(0), row.integer(1), row.integer(2), row.integer(3)});
                }));
  return out;
}

Result<std::vector<NamedCount>> SqlStore::models() { return counted("model", ""); }

Result<std::vector<NamedCount>> SqlStore::datasets(std::string_view model) {
  return counted("dataset", model);
}

Result<std::vector<std::string>> SqlStore::systems(std::string_view model) {
  Where where;
  where.equal("model", std::string(model));
  std::string text = "SELECT document FROM systems";
  if (!model.empty()) text += " WHERE id IN (SELECT system FROM curves" + where.text() + ")";
  std::vector<std::string> out;
  TRY(sql_->run(text + " ORDER BY name, id", where.values(),
                [&out](const SqlRow& row) { out.push_back(row.string(0)); }));
  return out;
}

Result<std::optional<std::string>> SqlStore::system(std::string_view id) {
  std::optional<std::string> out;
  TRY(sql_->run("SELECT document FROM systems WHERE id = $1",
                std::vector<SqlValue>{std::string(id)},
                [&out](const SqlRow& row) { out = row.string(0); }));
  return out;
}

Result<std::optional<FoundRun>> SqlStore::run(std::string_view id) {
  std::optional<FoundRun> out;
  TRY(sql_->run(
      "SELECT p.curve, c.system, p.document, r.document, r.source FROM points p "
      "JOIN runs r ON r.id = p.id JOIN curves c ON c.id = p.curve WHERE p.id = $1",
      std::vector<SqlValue>{std::string(id)}, [&out](const SqlRow& row) {
        out = FoundRun{row.string(0), row.string(1), row.string(2), row.string(3), row.string(4)};
      }));
  return out;
}

}  // namespace assay::store
