// A program that was started without a standard input: the first file that it opens has
// descriptor 0, and is a file as any other.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/testing_temp_folder.h"
#include "record/event_log.h"
#include "record/folder_claim.h"
#include "record/journal.h"

namespace assay::record {
namespace {

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

class DescriptorZero : public testing::Test {
 protected:
  void SetUp() override { ::close(0); }
  void TearDown() override {
    EXPECT_FALSE(is_open(0)) << "it was left open";
    if (before_ < 0) return;
    ::dup2(before_, 0);
    ::close(before_);
  }
  std::filesystem::path path(std::string_view name) const { return folder_.path() / name; }

 private:
  TempFolder folder_{};
  int before_ = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
};

TEST_F(DescriptorZero, a_folder_can_be_claimed_with_it) {
  const auto claim = FolderClaim::take(path("run"));
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_TRUE(is_open(0));
  EXPECT_FALSE(FolderClaim::take(path("run")));
}

TEST_F(DescriptorZero, a_journal_can_be_written_with_it) {
  auto journal = Journal::open(path("journal.jsonl"));
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_TRUE(is_open(0));
  EXPECT_TRUE(journal->append(Json().set("a", 1)));
}

TEST_F(DescriptorZero, an_event_log_can_be_written_with_it) {
  RunInfo info{};
  info.run_id = "run-8";
  auto log = EventLogWriter::create(path("events-0.alog"), info);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_TRUE(is_open(0));
  EXPECT_TRUE((*log)->close({RunState::complete, ""}));
}

}  // namespace
}  // namespace assay::record
