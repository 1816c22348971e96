#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "store/migrate.h"
#include "store/open_store.h"
#include "store/testing_postgres.h"

namespace assay::store {
namespace {

CurveRecord curve(const std::string& id, int points) {
  CurveRecord out{.id = id,
                  .system = {"sys-" + id, "System " + id, R"({"id":"sys"})"},
                  .model = "llama",
                  .dataset = "chat",
                  .organisation = "Example",
                  .accelerator = "H200",
                  .document = format(R"({{"id":"{}"}})", id)};
  for (int i = 0; i < points; ++i) {
    out.points.push_back({.id = format("{}-{}", id, i),
                          .concurrency = 100.0 - i,
                          .system_tps = 10.0 * (i + 1),
                          .document = format(R"({{"n":{}}})", i),
                          .run = "{}"});
  }
  return out;
}

// Each test on both databases.
class StoreTest : public testing::TestWithParam<const char*> {
 protected:
  StoreTest() {
    where_ = std::string(GetParam()) == "sqlite" ? (folder_.path() / "sub/store.db").string()
                                                 : TestPostgres::shared().fresh_url();
    store_ = open();
  }
  std::unique_ptr<Store> open() {
    auto opened = open_store(where_);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  Store& store() { return *store_; }

  TempFolder folder_{};
  std::string where_{};
  std::unique_ptr<Store> store_{};
};
INSTANTIATE_TEST_SUITE_P(Databases, StoreTest, testing::Values("sqlite", "postgresql"));

TEST_P(StoreTest, what_is_put_is_found_by_concurrency) {
  const auto put = store().put(curve("a", 3));
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_TRUE(put->curve_new);
  EXPECT_EQ(put->points_new, 3u);
  const auto page = store().find_curves({.model = "llama"});
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->curves.size(), 1u);
  EXPECT_EQ(page->total, 1);
  EXPECT_FALSE(page->more);
  EXPECT_EQ(page->curves[0].points_total, 3);
  EXPECT_EQ(page->curves[0].peak_tps, 30.0);
  EXPECT_THAT(page->curves[0].points,
              testing::ElementsAre(R"({"n":2})", R"({"n":1})", R"({"n":0})"));
  const auto run = store().run("a-1");
  ASSERT_TRUE(run && *run);
  EXPECT_EQ((*run)->curve, "a");
  EXPECT_EQ((*run)->point, R"({"n":1})");
  EXPECT_FALSE(store().run("none")->has_value());
}

TEST_P(StoreTest, a_datasheet_knows_the_runs_that_used_it) {
  CurveRecord used = curve("a", 3);
  const DatasheetRecord sheet{.id = "d1", .name = "prompts", .document = R"({"v":1})"};
  used.points[0].datasheets = {sheet};
  used.points[2].datasheets = {sheet, {.id = "d0", .name = "answers", .document = "{}"}};
  ASSERT_TRUE(store().put(used));
  const auto again = store().put(used);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->changed);
  const auto all = store().datasheets("");
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].id, "d0");
  EXPECT_EQ((*all)[0].runs, 1);
  EXPECT_EQ((*all)[1].document, R"({"v":1})");
  EXPECT_EQ((*all)[1].runs, 2);
  const auto runs = store().datasheet_runs("d1", 10);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[0].point, "a-2");  // the lower concurrency
  EXPECT_EQ((*runs)[0].curve_document, R"({"id":"a"})");
  EXPECT_EQ(store().datasheet_runs("d1", 1)->size(), 1u);
  EXPECT_TRUE(store().datasheets("none")->empty());
}

TEST_P(StoreTest, a_datasheet_alone_is_put_once_and_replaced) {
  const auto before = store().revision();
  EXPECT_TRUE(store().put_datasheet({.id = "d", .name = "n", .document = "{}"}).value());
  EXPECT_FALSE(store().put_datasheet({.id = "d", .name = "n", .document = "{}"}).value());
  EXPECT_TRUE(store().put_datasheet({.id = "d", .name = "n", .document = "[]"}).value());
  EXPECT_EQ(store().datasheets("d")->at(0).document, "[]");
  EXPECT_EQ(*store().revision(), *before + 2);
}

TEST_P(StoreTest, the_same_put_twice_changes_nothing) {
  ASSERT_TRUE(store().put(curve("a", 3)));
  const auto before = store().revision();
  const auto again = store().put(curve("a", 3));
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(again->points_new + again->points_changed, 0u);
  EXPECT_EQ(*store().revision(), *before);
}

TEST_P(StoreTest, a_point_that_changed_is_changed_and_a_new_one_is_added) {
  ASSERT_TRUE(store().put(curve("a", 2)));
  CurveRecord more = curve("a", 3);
  more.points[0].document = R"({"n":"changed"})";
  more.points[0].accuracy = "passed";
  const auto put = store().put(more);
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_EQ(put->points_new, 1u);
  EXPECT_EQ(put->points_changed, 1u);
  EXPECT_FALSE(put->curve_new);
  const auto page = store().find_curves({.accuracy = "passed"});
  ASSERT_EQ(page->curves.size(), 1u);
  EXPECT_EQ(page->curves[0].points_total, 3);
}

TEST_P(StoreTest, a_curve_whose_last_point_is_refused_leaves_nothing) {
  CurveRecord bad = curve("a", 3);
  bad.points[2].accuracy = "perhaps";
  const auto put = store().put(bad);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::refused);
  EXPECT_EQ(store().find_curves({})->total, 0);
  EXPECT_TRUE(store().systems("")->empty());
}

TEST_P(StoreTest, pages_hold_every_curve_once) {
  for (int i = 0; i < 23; ++i) ASSERT_TRUE(store().put(curve(format("c{:02}", i), i % 3)));
  std::vector<std::string> seen;
  CurveQuery query{.limit = 5};
  for (;;) {
    const auto page = store().find_curves(query);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->total, 23);
    for (const FoundCurve& found : page->curves) {
      seen.push_back(found.id);
      EXPECT_EQ(static_cast<std::int64_t>(found.points.size()), found.points_total) << found.id;
    }
    if (!page->more) break;
    query.after = page->curves.back().id;
  }
  EXPECT_EQ(seen.size(), 23u);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST_P(StoreTest, words_of_sql_are_words) {
  const std::string nasty = R"('; DROP TABLE curves; -- " \ % _ <script>alert(1)</script>)";
  CurveRecord record = curve("nasty", 1);
  record.id = nasty;
  record.model = record.dataset = record.organisation = record.accelerator = nasty;
  record.software = record.division = record.availability = record.submission = nasty;
  record.system = {nasty, nasty, nasty};
  record.document = record.points[0].document = record.points[0].run = nasty;
  record.points[0].id = record.points[0].source = nasty;
  ASSERT_TRUE(store().put(record));
  ASSERT_TRUE(store().put(curve("plain", 1)));
  const CurveQuery all[] = {{.id = nasty},        {.model = nasty},        {.dataset = nasty},
                            {.system = nasty},    {.accelerator = nasty},  {.software = nasty},
                            {.division = nasty},  {.availability = nasty}, {.organisation = nasty},
                            {.submission = nasty}};
  for (const CurveQuery& query : all) {
    const auto page = store().find_curves(query);
    ASSERT_TRUE(page) << page.error().message;
    ASSERT_EQ(page->curves.size(), 1u);
    EXPECT_EQ(page->curves[0].document, nasty);
    EXPECT_EQ(page->curves[0].points[0], nasty);
  }
  EXPECT_EQ((*store().run(nasty))->source, nasty);
  EXPECT_EQ(*store().system(nasty), nasty);
  EXPECT_TRUE(store().find_curves({.kind = nasty})->curves.empty());
  EXPECT_TRUE(store().find_curves({.accuracy = nasty})->curves.empty());
  EXPECT_EQ(store().find_curves({.words = "% _"})->total, 1);
  EXPECT_EQ(store().find_curves({.words = "PLAIN h200"})->total, 1);
  EXPECT_EQ(store().find_curves({})->total, 2);
}

TEST_P(StoreTest, models_and_datasets_are_counted) {
  ASSERT_TRUE(store().put(curve("a", 3)));
  CurveRecord other = curve("b", 5);
  other.model = "gpt";
  ASSERT_TRUE(store().put(other));
  const auto models = store().models();
  ASSERT_EQ(models->size(), 2u);
  EXPECT_EQ((*models)[0].name, "gpt");
  EXPECT_EQ((*models)[0].points, 5);
  EXPECT_EQ((*models)[1].curves, 1);
  EXPECT_EQ(store().datasets("llama")->size(), 1u);
  EXPECT_EQ(store().systems("gpt")->size(), 1u);
}

rulebook::HistoryEntry entry(std::int64_t sequence, const std::string& hash) {
  return {.submission = "s",
          .sequence = sequence,
          .at = "t",
          .actor = "a",
          .role = "chair",
          .kind = "comment",
          .body = "{}",
          .previous = "p",
          .hash = hash};
}

TEST_P(StoreTest, a_place_in_the_history_is_taken_once) {
  ASSERT_TRUE(store().append(entry(1, "h1")));
  const auto again = store().append(entry(1, "h2"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::refused);
  ASSERT_TRUE(store().append(entry(2, "h3")));
  EXPECT_EQ(store().history("s")->size(), 2u);
  EXPECT_EQ(store().history("")->size(), 2u);
  EXPECT_TRUE(store().history("x")->empty());
}

TEST_P(StoreTest, the_history_can_be_neither_changed_nor_deleted) {
  ASSERT_TRUE(store().append(entry(1, "h1")));
  auto sql = std::string(GetParam()) == "sqlite" ? open_sqlite(where_) : open_postgres(where_);
  ASSERT_TRUE(sql);
  for (const char* statement : {"DELETE FROM history", "UPDATE history SET body = 'x'"}) {
    const auto done = (*sql)->run(statement);
    ASSERT_FALSE(done) << statement;
    EXPECT_THAT(done.error().message, testing::HasSubstr("append-only"));
  }
  EXPECT_EQ(store().history("s")->size(), 1u);
}

TEST_P(StoreTest, hashes_come_in_the_order_in_which_entries_were_appended) {
  const auto of = [](const char* submission, std::int64_t sequence, const char* hash) {
    rulebook::HistoryEntry out = entry(sequence, hash);
    out.submission = submission;
    return out;
  };
  ASSERT_TRUE(store().append(of("z", 1, "h1")));
  ASSERT_TRUE(store().append(of("a", 1, "h2")));
  ASSERT_FALSE(store().append(of("a", 1, "h3")));
  ASSERT_TRUE(store().append(of("z", 2, "h4")));
  EXPECT_THAT(*store().history_hashes(), testing::ElementsAre("h1", "h2", "h4"));
  // Deletes as a person with database access could: a deleted entry leaves its place empty.
  const bool sqlite = std::string(GetParam()) == "sqlite";
  auto sql = sqlite ? open_sqlite(where_) : open_postgres(where_);
  const char* const kUnlock =
      sqlite ? "DROP TRIGGER history_undeleted; DROP TRIGGER history_order_undeleted"
             : "DROP TRIGGER history_stays ON history; "
               "DROP TRIGGER history_order_stays ON history_order";
  EXPECT_FALSE((*sql)->run("DELETE FROM history_order"));
  ASSERT_TRUE((*sql)->script(kUnlock));
  ASSERT_TRUE((*sql)->run("DELETE FROM history WHERE submission = 'a'"));
  EXPECT_THAT(*store().history_hashes(), testing::ElementsAre("h1", "", "h4"));
  ASSERT_TRUE((*sql)->run("DELETE FROM history_order WHERE submission = 'a'"));
  EXPECT_THAT(*store().history_hashes(), testing::ElementsAre("h1", "", "h4"));
  ASSERT_TRUE((*sql)->run("DELETE FROM history_order WHERE sequence = 2"));
  EXPECT_THAT(*store().history_hashes(), testing::ElementsAre("h1", ""));
}

// A store of the previous version: its entries get their places.
TEST_P(StoreTest, entries_of_before_the_order_was_kept_are_in_it) {
  for (int i = 1; i <= 12; ++i) {
    rulebook::HistoryEntry one = entry(i, format("h{}", i));
    one.at = format("2026-08-{:02}T09:00:00Z", i);
    ASSERT_TRUE(store().append(one));
  }
  const auto before = *store().history_hashes();
  auto sql = std::string(GetParam()) == "sqlite" ? open_sqlite(where_) : open_postgres(where_);
  ASSERT_TRUE((*sql)->script(
      "DROP TABLE history_order; DROP TABLE datasheet_points; DROP TABLE datasheets; "
      "DELETE FROM assay_migrations WHERE number >= 4"));
  EXPECT_EQ(*open()->history_hashes(), before);
}

TEST_P(StoreTest, a_token_is_found_by_its_hash_and_can_be_revoked) {
  TokenRecord token{.hash = "h", .role = "chair", .organisation = "o", .name = "n"};
  ASSERT_TRUE(store().put_token(token));
  token.revoked = true;
  ASSERT_TRUE(store().put_token(token));
  const auto found = store().token("h");
  ASSERT_TRUE(found && *found);
  EXPECT_TRUE((*found)->revoked);
  EXPECT_FALSE(store().token("other")->has_value());
  EXPECT_EQ(store().tokens()->size(), 1u);
}

TEST_P(StoreTest, a_store_of_a_newer_assay_is_refused) {
  {
    auto sql = std::string(GetParam()) == "sqlite" ? open_sqlite(where_) : open_postgres(where_);
    ASSERT_TRUE((*sql)->run("INSERT INTO assay_migrations VALUES (9999, 'x', 'y')"));
  }
  const auto opened = open_store(where_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::unsupported);
}

TEST(Store, a_machine_without_postgresqls_library_is_told_what_to_install) {
  const auto absent = open_postgres("postgresql://h/db", "libpq-that-is-not-there.so.5");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::unsupported);
  EXPECT_NE(absent.error().message.find("libpq5"), std::string::npos) << absent.error().message;
  EXPECT_NE(absent.error().message.find("postgresql://h/db"), std::string::npos);
  // A library without its functions is no better.
  const auto other = open_postgres("postgresql://h/db", "libm.so.6");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("PQclear"), std::string::npos) << other.error().message;
}

TEST(OpenStore, passwords_are_not_shown) {
  EXPECT_EQ(shown_store("postgresql://me:secret@h/db?password=secret"),
            "postgresql://me:<redacted>@h/db");
  EXPECT_EQ(shown_store("/a/b.db"), "/a/b.db");
  const auto opened = open_store("postgresql://me:sesame@127.0.0.1:1/db?connect_timeout=2");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, testing::Not(testing::HasSubstr("sesame")));
}

TEST(OpenStore, other_addresses_are_refused) {
  const auto opened = open_store("mysql://h/db");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::invalid);
}

TEST(OpenStore, a_file_that_is_no_store_is_named) {
  const TempFolder folder;
  const std::string path = (folder.path() / "x.db").string();
  ASSERT_EQ(std::system(format("head -c 9000 /dev/zero | tr '\\0' x > {}", path).c_str()), 0);
  const auto opened = open_store(path);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, testing::HasSubstr("x.db"));
}

}  // namespace
}  // namespace assay::store
