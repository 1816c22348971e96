#include "score/truth_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/scratch_folder.h"

namespace assay::score {
namespace {

TEST(TruthRows, keep_the_files_order_and_names_in_each_form) {
  const auto scratch = ScratchFolder::make("truth");
  ASSERT_TRUE(scratch);
  const auto rows_of = [&](const char* name, std::string_view text) {
    EXPECT_TRUE(write_file_atomic(scratch->path() / name, text));
    const auto rows = read_truth_rows(scratch->path() / name);
    EXPECT_TRUE(rows) << name;
    Json out = Json::array();
    for (const Json& row : rows ? *rows : std::vector<Json>()) out.push_back(row);
    return out.dump();
  };
  EXPECT_EQ(rows_of("a.jsonl", "{\"q\":1}\n\n{\"q\":2}\n"), "[{\"q\":1},{\"q\":2}]");
  EXPECT_EQ(rows_of("a.json", " [{\"q\":1},{\"q\":2}]"), "[{\"q\":1},{\"q\":2}]");
  EXPECT_EQ(rows_of("b.json", "{\"data\":\n[]}"), "[{\"data\":[]}]");
  EXPECT_EQ(rows_of("val_map.txt", "a b.jpg 7\nc.jpg 0\n"),
            "[{\"file\":\"a b.jpg\",\"label\":7},{\"file\":\"c.jpg\",\"label\":0}]");
}

TEST(TruthRows, an_error_names_the_file_and_the_line) {
  const auto scratch = ScratchFolder::make("truth");
  ASSERT_TRUE(scratch);
  const auto file = scratch->path() / "a.jsonl";
  ASSERT_TRUE(write_file_atomic(file, "{\"q\":1}\n[2]\n"));
  const auto rows = read_truth_rows(file);
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, testing::HasSubstr(file.string() + ":2: must be an object"));
}

}  // namespace
}  // namespace assay::score
