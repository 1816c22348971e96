#include "plan/guide.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/files.h"

namespace assay::plan {
namespace {

// After a change of a setting run ASSAY_UPDATE=1 build/dev/plan_test --gtest_filter='Guide.*'
TEST(Guide, the_page_is_what_the_tables_say) {
  const std::filesystem::path page =
      std::filesystem::path(ASSAY_SOURCE_DIR) / "docs/guide/config.md";
  if (std::getenv("ASSAY_UPDATE") != nullptr) {
    ASSERT_TRUE(write_file_atomic(page, config_guide()));
  }
  const auto text = read_file(page);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_TRUE(*text == config_guide()) << page << " is out of date; see the comment above";
}

}  // namespace
}  // namespace assay::plan
