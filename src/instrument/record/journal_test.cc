#include "record/journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/files.h"
#include "base/testing_temp_folder.h"

namespace assay::record {
namespace {

void write_plain(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST(Journal, IsWhatWasAppended) {
  const TempFolder folder;
  const auto path = folder.path() / "sub/journal.jsonl";
  {
    auto journal = Journal::open(path);
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(journal->append(Json().set("a", 1)));
    ASSERT_TRUE(journal->append(Json().set("b", "\"}\n,\"sum\":\"")));
  }
  auto again = Journal::open(path);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->entries().size(), 2U);
  EXPECT_EQ(again->entries()[0]["a"].as_int(), 1);
  EXPECT_EQ(again->entries()[1]["b"].as_string(), "\"}\n,\"sum\":\"");
}

TEST(Journal, CutAnywhereItKeepsItsWholeLinesAndGoesOn) {
  const TempFolder folder;
  const auto path = folder.path() / "journal.jsonl";
  for (int i = 0; i < 3; ++i) {
    auto journal = Journal::open(path);
    ASSERT_TRUE(journal && journal->append(Json().set("n", i)));
  }
  const std::string whole = *read_file(path);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    write_plain(path, whole.substr(0, cut));
    const auto lines = static_cast<std::size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut), '\n'));
    {
      auto journal = Journal::open(path);
      ASSERT_TRUE(journal) << cut;
      ASSERT_EQ(journal->entries().size(), lines) << cut;
      ASSERT_TRUE(journal->append(Json().set("n", 9)));
    }
    const auto read = read_journal(path);
    ASSERT_TRUE(read) << cut;
    ASSERT_EQ(read->size(), lines + 1) << cut;
    EXPECT_EQ(read->back()["n"].as_int(), 9);
  }
}

TEST(Journal, AChangedLineIsNamed) {
  const TempFolder folder;
  const auto path = folder.path() / "journal.jsonl";
  {
    auto journal = Journal::open(path);
    ASSERT_TRUE(journal && journal->append(Json().set("n", 1)));
    ASSERT_TRUE(journal->append(Json().set("n", 2)));
  }
  std::string text = *read_file(path);
  text[5] = '7';
  write_plain(path, text);
  const auto journal = Journal::open(path);
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find(":1:"), std::string::npos);
}

TEST(Journal, OneWriterAtATime) {
  const TempFolder folder;
  const auto path = folder.path() / "journal.jsonl";
  const auto first = Journal::open(path);
  ASSERT_TRUE(first);
  const auto second = Journal::open(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::refused);
}

}  // namespace
}  // namespace assay::record
