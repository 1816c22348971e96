// The frame of the file; that readers of Arrow take it is tested beside them (tests/peers).
#include "interchange/write/arrow_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::interchange {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

template <typename T>
T number_at(const std::string& file, std::size_t at) {
  T out{};
  std::memcpy(&out, file.data() + at, sizeof out);
  return out;
}

TEST(ArrowFile, messages_are_aligned_and_the_footer_says_where_they_are) {
  Columns table;
  auto number = table.numbers<std::int64_t>("n");
  auto word = table.words("w", {"ok", "failed"});
  for (int i = 0; i < 9; ++i) {
    number.add(i * 3);
    i == 4 ? word.add_absent() : word.add(1);
  }
  const std::string file = write_arrow(table);
  EXPECT_THAT(file, StartsWith(std::string("ARROW1\0\0\xFF\xFF\xFF\xFF", 12)));
  EXPECT_THAT(file, EndsWith("ARROW1"));
  const auto footer = number_at<std::int32_t>(file, file.size() - 10);
  const std::size_t end = file.size() - 10 - static_cast<std::size_t>(footer);
  std::size_t at = 8;
  int messages = 0;
  while (number_at<std::int32_t>(file, at + 4) > 0) {
    ASSERT_EQ(number_at<std::uint32_t>(file, at), 0xFFFFFFFFU);
    ASSERT_EQ(at % 8, 0U);
    ASSERT_EQ(number_at<std::int32_t>(file, at + 4) % 8, 0);
    ++messages;
    const std::size_t next = file.find("\xFF\xFF\xFF\xFF", at + 8);
    ASSERT_LT(next, end);
    at = next;
  }
  EXPECT_EQ(messages, 3);  // schema, dictionary, batch
  EXPECT_EQ(at + 8, end);
  // The second word's number under each row, the absent one's as well a word's.
  const std::string numbers("\1\0\1\0\1\0\1\0\0\0\1\0\1\0\1\0\1\0", 18);
  EXPECT_THAT(file, HasSubstr(numbers));
  EXPECT_THAT(file, HasSubstr("okfailed"));
}

TEST(ArrowFile, a_table_without_rows_has_its_schema) {
  Columns table;
  table.numbers<double>("x");
  table.texts("t");
  EXPECT_THAT(write_arrow(table), EndsWith("ARROW1"));
}

}  // namespace
}  // namespace assay::interchange
