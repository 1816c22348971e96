// The bytes; that other readers take such files is tested beside them (tests/peers).
#include "interchange/write/parquet_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "base/version.h"

namespace assay::interchange {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

TEST(ParquetFile, a_small_table_byte_by_byte) {
  Columns table;
  auto number = table.numbers<std::int16_t>("n");
  number.add(-2);
  number.add_absent();
  const std::string file = write_parquet(table);
  // Page header: type 0, 12 bytes twice, {2 values, PLAIN, RLE, RLE}; then levels 0b01 and -2.
  const std::string page =
      bytes({0x15, 0, 0x15, 20, 0x15, 20, 0x2C, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0}) +
      bytes({2, 0, 0, 0, 3, 1}) + bytes({0xFE, 0xFF, 0xFF, 0xFF});
  EXPECT_THAT(file, StartsWith("PAR1" + page));
  EXPECT_THAT(file, EndsWith("PAR1"));
  EXPECT_THAT(file, HasSubstr(format("Assay {}", version())));
  // The element of the schema: INT32, optional, "n", INT_16.
  EXPECT_THAT(file, HasSubstr(bytes({0x15, 2, 0x25, 2, 0x18, 1, 'n', 0x25, 32, 0})));
}

TEST(ParquetFile, words_stand_in_a_dictionary_and_come_in_runs) {
  Columns table;
  auto word = table.words("w", {"ok", "failed"});
  for (int i = 0; i < 5; ++i) word.add(0);
  word.add_absent();
  word.add(1);
  const std::string file = write_parquet(table);
  EXPECT_THAT(file,
              HasSubstr(bytes({2, 0, 0, 0, 'o', 'k', 6, 0, 0, 0, 'f', 'a', 'i', 'l', 'e', 'd'})));
  // Seven rows, the sixth absent; one bit a number, five times 0 and once 1.
  EXPECT_THAT(file, HasSubstr(bytes({2, 0, 0, 0, 3, 0x5F, 1, 10, 0, 2, 1})));
}

TEST(ParquetFile, pages_and_groups_divide_the_rows) {
  Columns table;
  auto text = table.texts("t");
  auto bit = table.bits("b");
  for (int i = 0; i < 130; ++i) {
    text.add(i % 2 == 0 ? "even" : "odd");
    bit.add(i % 3 == 0);
  }
  const std::string small = write_parquet(table, 8);
  // Rows 128 and 129 are a group of their own: a page of two rows, both there.
  EXPECT_THAT(small, HasSubstr(bytes({2, 0, 0, 0, 4, 1, 4, 0, 0, 0}) + "even" +
                               bytes({3, 0, 0, 0}) + "odd"));
  // In one page of 130 rows the level is one run.
  EXPECT_THAT(write_parquet(table),
              HasSubstr(bytes({3, 0, 0, 0, 0x84, 2, 1, 4, 0, 0, 0}) + "even"));
}

TEST(ParquetFile, a_table_without_rows_has_its_schema) {
  Columns table;
  table.numbers<double>("x");
  const std::string file = write_parquet(table);
  EXPECT_THAT(file, StartsWith("PAR1" + bytes({0x15, 2})));
  EXPECT_THAT(file, HasSubstr(bytes({0x15, 10, 0x25, 2, 0x18, 1, 'x', 0})));
}

}  // namespace
}  // namespace assay::interchange
