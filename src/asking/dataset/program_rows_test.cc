// Rows of a program: whole or refused with the reason.
#include "dataset/program_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "dataset/dataset.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;

Result<Dataset> rows_of(std::string_view shell, std::string_view format = "") {
  return load_dataset(
      {.name = "made", .path = assay::format("program:{}", shell), .format = std::string(format)});
}

std::string why_not(std::string_view shell, std::string_view format = "") {
  const auto data = rows_of(shell, format);
  EXPECT_FALSE(data) << shell;
  return data ? "" : data.error().message;
}

TEST(ProgramRows, are_read_as_a_file_of_them_is) {
  const auto data =
      rows_of(R"(for i in 1 2 3; do echo "{\"prompt\": \"row $i\"}"; done; echo '{"end": true}')");
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 3U);
  EXPECT_EQ(data->samples[2].prompt, "row 3");
  EXPECT_THAT(data->path, testing::StartsWith("program:for i"));
  EXPECT_EQ(data->sha256.size(), 64U);
  const auto again = rows_of(R"(printf '{"prompt":"row 1"}\n{"end":true}')");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->samples.size(), 1U);
}

TEST(ProgramRows, that_are_not_whole_are_refused_with_the_programs_own_words) {
  EXPECT_THAT(why_not(R"(echo '{"prompt": "x"}')"), HasSubstr("rows may be missing"));
  EXPECT_THAT(why_not("true"), HasSubstr("rows may be missing"));
  EXPECT_THAT(why_not(R"(echo '{"end": true}'; exit 3)"), HasSubstr("ended with exit code 3"));
  EXPECT_THAT(why_not(R"(echo '{"prompt": "x"}'; echo '{"error": "no table"}'; exit 1)"),
              HasSubstr("no table (ended with exit code 1)"));
  EXPECT_THAT(why_not("kill -9 $$"), HasSubstr("signal 9"));
  EXPECT_THAT(why_not(R"(echo oops; echo '{"end": true}')"), HasSubstr("oops"));
  EXPECT_THAT(why_not(R"(echo '{"end": true}')", "csv"), HasSubstr("a program writes jsonl"));
  EXPECT_THAT(why_not(""), HasSubstr("names no program"));
}

}  // namespace
}  // namespace assay::dataset
