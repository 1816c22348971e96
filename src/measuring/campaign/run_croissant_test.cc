#include "campaign/run_croissant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing_temp_folder.h"

namespace assay::campaign {
namespace {

TEST(RunCroissant, a_folder_is_described_without_the_description_and_without_a_bundles_own_words) {
  const TempFolder folder;
  for (const char* name : {"report.txt", "MANIFEST.json", "MANIFEST.sha256", "MANIFEST.sig",
                           "croissant.json", "below/MANIFEST.json"}) {
    ASSERT_TRUE(write_file_atomic(folder.path() / name, "x"));
  }
  const auto described = describe_folder(folder.path(), "", {});
  ASSERT_TRUE(described) << described.error().message;
  std::vector<std::string> files;
  for (const Json& one : (*described)["distribution"].items()) {
    files.emplace_back(one["contentUrl"].as_string());
  }
  EXPECT_THAT(files, testing::UnorderedElementsAre("below/MANIFEST.json", "report.txt"));
}

}  // namespace
}  // namespace assay::campaign
