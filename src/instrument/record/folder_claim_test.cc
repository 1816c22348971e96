#include "record/folder_claim.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <utility>

#include "base/testing_temp_folder.h"

namespace assay::record {
namespace {

TEST(FolderClaim, one_has_a_folder_at_a_time_and_nothing_is_left_behind) {
  const TempFolder home;
  const std::filesystem::path folder = home.path() / "a" / "run";
  {
    const auto first = FolderClaim::take(folder);
    ASSERT_TRUE(first) << first.error().message;
    const auto second = FolderClaim::take(folder);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("another run"), std::string::npos);
    EXPECT_TRUE(FolderClaim::take(home.path() / "b"));
  }
  errno = EWOULDBLOCK;  // of an earlier call: it says nothing about this one
  EXPECT_TRUE(FolderClaim::take(folder));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(FolderClaim, moves_with_its_folder) {
  const TempFolder home;
  auto a = FolderClaim::take(home.path() / "a");
  {
    auto b = FolderClaim::take(home.path() / "b");
    ASSERT_TRUE(a && b);
    *a = std::move(*b);  // b has the claim on a now, and ends here
  }
  EXPECT_TRUE(FolderClaim::take(home.path() / "a"));
  EXPECT_FALSE(FolderClaim::take(home.path() / "b"));
}

TEST(FolderClaim, what_is_no_folder_is_told) {
  EXPECT_FALSE(FolderClaim::take("/proc/nowhere/run"));
}

}  // namespace
}  // namespace assay::record
