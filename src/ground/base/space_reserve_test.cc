#include "base/space_reserve.h"

#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include "base/testing_temp_folder.h"

namespace assay {
namespace {

TEST(SpaceReserve, leaves_no_name_and_what_no_disk_has_is_refused) {
  const TempFolder folder;
  const auto held = SpaceReserve::hold(folder.path(), 1 << 20);
  ASSERT_TRUE(held.has_value()) << held.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  struct statvfs disk {};
  ASSERT_EQ(::statvfs(folder.path().c_str(), &disk), 0);
  const std::uint64_t free = std::uint64_t{disk.f_bfree} * disk.f_frsize;
  const auto more = SpaceReserve::hold(folder.path(), 2 * free + (1 << 20));
  if (!more) {
    EXPECT_EQ(more.error().code, Code::exhausted) << more.error().message;
  }
}

}  // namespace
}  // namespace assay
