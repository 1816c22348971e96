#include "record/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/testing_temp_folder.h"
#include "record/testing_sync.h"

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

TEST(Journal, AnEntryThatIsTakenInPartsIsWhole) {
  const TempFolder folder;
  const auto path = folder.path() / "journal.jsonl";
  auto journal = Journal::open(path);
  ASSERT_TRUE(journal) << journal.error().message;
  for (const std::size_t most : {1U, 7U, 30U}) {
    const ShortWrites in_parts(most);
    ASSERT_TRUE(journal->append(Json().set("most", most)));
  }
  const auto read = read_journal(path);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ((*read)[2]["most"].as_int(), 30);
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

TEST(Journal, ABadLineIsForgivenAtTheEndAndNowhereElse) {
  const TempFolder folder;
  const auto path = folder.path() / "journal.jsonl";
  {
    auto journal = Journal::open(path);
    ASSERT_TRUE(journal && journal->append(Json().set("n", 1)));
    ASSERT_TRUE(journal->append(Json().set("n", 2)));
  }
  const std::string whole = *read_file(path);
  const std::string one = whole.substr(0, whole.size() / 2);
  // The journal wrote none of these lines.
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("{\"n\":3}"), std::string("\"}"),
        std::string(60, 'x') + "\"}", one.substr(0, one.size() - 2),
        one.substr(0, one.size() - 4) + "0\"}", "x" + one.substr(0, one.size() - 1),
        "[" + one.substr(1, one.size() - 2)}) {
    write_plain(path, one + bad + "\n");
    auto read = read_journal(path);
    ASSERT_TRUE(read) << bad;
    EXPECT_EQ(read->size(), 1U) << bad;
    write_plain(path, one + bad + "\n" + one);
    read = read_journal(path);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, Code::corrupt);
    EXPECT_NE(read.error().message.find("journal.jsonl:2: the line's checksum"), std::string::npos)
        << read.error().message;
  }
  // A correct checksum under another name.
  const std::string entry = "{\"n\":1";
  write_plain(path, entry + format(",\"sun\":\"{:016x}\"}}\n", xxh3(entry)) + one);
  EXPECT_FALSE(read_journal(path));
  // A line with a correct checksum that is no JSON.
  const std::string body = "[1";
  write_plain(path, body + format(",\"sum\":\"{:016x}\"}}\n", xxh3(body)));
  EXPECT_EQ(read_journal(path)->size(), 0U);
  write_plain(path, body + format(",\"sum\":\"{:016x}\"}}\n", xxh3(body)) + one);
  EXPECT_FALSE(read_journal(path));
}

TEST(Journal, WhatIsCutOffIsGoneFromTheFileBeforeTheNextEntry) {
  const TempFolder folder;
  const auto path = folder.path() / "journal.jsonl";
  {
    auto journal = Journal::open(path);
    ASSERT_TRUE(journal && journal->append(Json().set("n", 1)));
  }
  const std::string whole = *read_file(path);
  write_plain(path, whole + "{\"n\":");
  { ASSERT_TRUE(Journal::open(path)); }
  EXPECT_EQ(*read_file(path), whole);
}

TEST(Journal, MovesWithItsFileAndItsEntries) {
  const TempFolder folder;
  auto a = Journal::open(folder.path() / "a.jsonl");
  auto b = Journal::open(folder.path() / "b.jsonl");
  ASSERT_TRUE(a && b && a->append(Json().set("n", 1)));
  Journal moved(std::move(*a));
  ASSERT_TRUE(moved.append(Json().set("n", 2)));
  EXPECT_EQ(moved.entries().size(), 2U);
  *b = std::move(moved);
  ASSERT_TRUE(b->append(Json().set("n", 3)));
  EXPECT_EQ(b->entries().size(), 3U);
  EXPECT_EQ(read_journal(folder.path() / "a.jsonl")->size(), 3U);
  EXPECT_EQ(read_journal(folder.path() / "b.jsonl")->size(), 0U);
  EXPECT_FALSE(Journal::open(folder.path() / "a.jsonl")) << "it is still being written";
}

TEST(Journal, WhatCanNotBeOpenedOrReadIsNamed) {
  const TempFolder folder;
  const auto in_the_way = Journal::open(folder.path());
  ASSERT_FALSE(in_the_way);
  EXPECT_EQ(in_the_way.error().code, Code::io);
  EXPECT_NE(in_the_way.error().message.find(": can't be opened: Is a directory"),
            std::string::npos);
  EXPECT_FALSE(read_journal(folder.path() / "none.jsonl"));
  write_plain(folder.path() / "file", "x");
  EXPECT_FALSE(Journal::open(folder.path() / "file" / "journal.jsonl"));
}

// A limit on file sizes represents the full disk.
TEST(Journal, AFullDiskIsToldAndWhatWasWrittenBeforeStays) {
  const TempFolder folder;
  const auto path = folder.path() / "journal.jsonl";
  auto journal = Journal::open(folder.path() / "other.jsonl");
  {
    auto made = Journal::open(path);
    ASSERT_TRUE(journal && made && made->append(Json().set("n", 1)));
    *journal = std::move(*made);
  }
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto limit = [&](rlim_t bytes) {
    const rlimit small{bytes, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  };
  limit(4096);
  errno = EINTR;  // of an earlier call: it says nothing about this one
  EXPECT_TRUE(journal->append(Json().set("n", 2)));
  limit(std::filesystem::file_size(path) + 1);  // one byte of the line has room
  errno = 0;
  const Result<void> full = journal->append(Json().set("n", 3));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::exhausted);
  EXPECT_NE(full.error().message.find("journal.jsonl: can't be written: File too large"),
            std::string::npos);
  EXPECT_EQ(journal->entries().size(), 2U);
  EXPECT_EQ(read_journal(path)->size(), 2U);
}

TEST(Journal, AnEntryThatIsNotSyncedIsNone) {
  const TempFolder folder;
  auto journal = Journal::open(folder.path() / "journal.jsonl");
  ASSERT_TRUE(journal);
  const FailingSync failing(EIO);
  const Result<void> lost = journal->append(Json().set("n", 1));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::io);
  EXPECT_NE(lost.error().message.find("journal.jsonl: can't be synced: Input/output error"),
            std::string::npos);
  EXPECT_TRUE(journal->entries().empty());
}

}  // namespace
}  // namespace assay::record
