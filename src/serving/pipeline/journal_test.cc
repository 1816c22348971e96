#include "pipeline/journal.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"

namespace assay::pipeline {
namespace {

std::string journal_of(int lines) {
  std::string text;
  std::string last;
  for (int i = 0; i < lines; ++i) {
    const std::string line = journal_line(last, Json().set("t", "done").set("n", i));
    last = line.substr(0, 16);
    text += line;
  }
  return text;
}

TEST(PipelineJournal, cut_anywhere_it_has_the_whole_lines_before_the_cut) {
  const std::string text = journal_of(5);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const auto read = read_journal(std::string_view(text).substr(0, cut));
    ASSERT_TRUE(read) << cut << ": " << read.error().message;
    const auto whole = std::count(text.begin(), text.begin() + static_cast<long>(cut), '\n');
    ASSERT_EQ(read->records.size(), static_cast<std::size_t>(whole)) << cut;
    for (std::size_t i = 0; i < read->records.size(); ++i) {
      EXPECT_EQ(read->records[i]["n"].as_uint(), i);
    }
  }
}

TEST(PipelineJournal, a_changed_byte_is_never_read_as_a_record) {
  const std::string text = journal_of(4);
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const unsigned flip : {0x01u, 0x20u, 0x80u}) {
      std::string changed = text;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ flip);
      const auto read = read_journal(changed);
      // Only the last line's end can go without an error: then the line was not written to its end.
      if (read) {
        EXPECT_EQ(at, text.size() - 1);
        EXPECT_EQ(read->records.size(), 3u);
      } else {
        EXPECT_EQ(read.error().code, Code::corrupt);
      }
    }
  }
}

TEST(PipelineJournal, a_line_lost_doubled_or_moved_is_an_error) {
  const std::string text = journal_of(4);
  const std::size_t size = text.find('\n') + 1;
  const auto line = [&](std::size_t i) { return text.substr(i * size, size); };
  EXPECT_FALSE(read_journal(line(0) + line(2) + line(3)));
  EXPECT_FALSE(read_journal(line(0) + line(0) + line(1)));
  EXPECT_FALSE(read_journal(line(1) + line(0)));
  EXPECT_TRUE(read_journal(line(0) + line(1)));
}

TEST(PipelineJournal, what_is_appended_after_a_torn_line_goes_on_from_the_last_whole_one) {
  const TempFolder folder;
  const auto path = folder.path() / "journal";
  const std::string text = journal_of(3);
  ASSERT_TRUE(write_file_atomic(path, text.substr(0, text.size() - 5)));
  {
    auto journal = Journal::open(path);
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_EQ(journal->records().size(), 2u);
    ASSERT_TRUE(journal->append(Json().set("t", "done").set("n", 2)));
    ASSERT_TRUE(journal->sync());
    EXPECT_EQ(journal->count(), 3u);
    const auto second = Journal::open(path);
    ASSERT_FALSE(second) << "one writer at a time";
    EXPECT_EQ(second.error().code, Code::refused);
  }
  EXPECT_EQ(*read_file(path), text);
}

}  // namespace
}  // namespace assay::pipeline
