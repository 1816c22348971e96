// The rows of files that pyarrow wrote are compared in tests/peers/arrow_test.py; here is what any
// damage does.
#include "dataset/arrow.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace assay::dataset {
namespace {

// Three rows of a text, a list of small integers and a text in a dictionary.
std::string small() {
  return read_file(std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/fuzz/arrow_fuzz/small").value();
}

// The rows as lines of JSON, then the error if there is one.
std::string rows(std::string bytes, int most = 100) {
  const auto source = open_arrow(InputFile::of(std::move(bytes)), "x");
  if (!source) return "error: " + source.error().message;
  std::string out;
  for (int i = 0; i < most; ++i) {
    auto row = (*source)->next();
    if (!row) return out + "error: " + row.error().message;
    if (!*row) break;
    out += (*row)->dump() + "\n";
  }
  return out;
}

constexpr std::string_view kRows =
    "{\"prompt\":\"say 1\",\"ids\":[1,-2],\"word\":\"red\"}\n"
    "{\"prompt\":null,\"ids\":[],\"word\":\"blue\"}\n"
    "{\"prompt\":\"ä\",\"ids\":null,\"word\":\"red\"}\n";

TEST(Arrow, a_stream_and_a_file_of_it_have_the_same_rows) {
  EXPECT_EQ(rows(small()), kRows);
  EXPECT_EQ(rows(std::string("ARROW1\0\0", 8) + small()), kRows);
}

TEST(Arrow, a_file_that_is_cut_off_gives_its_rows_or_an_error) {
  const std::string bytes = small();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string got = rows(bytes.substr(0, size));
    const bool whole = got == kRows;  // the mark of the end is all that is missing
    const bool none = got.empty() && size < bytes.size();
    EXPECT_TRUE(whole || none || got.find("error: ") != std::string::npos) << size << ": " << got;
    EXPECT_TRUE(!whole || size >= bytes.size() - 8) << size;
  }
  EXPECT_NE(rows("PAR1").find("not an Arrow stream"), std::string::npos);
  EXPECT_NE(rows("{\"prompt\": \"text\"}").find("not an Arrow stream"), std::string::npos);
}

// No damage of one byte may read outside of the batch (the sanitizers look), or never end.
TEST(Arrow, any_damaged_byte_is_an_error_or_other_rows) {
  const std::string bytes = small();
  std::size_t errors = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char mask : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      if (rows(std::move(damaged)).find("error: ") != std::string::npos) ++errors;
    }
  }
  EXPECT_GT(errors, bytes.size() / 2);
}

}  // namespace
}  // namespace assay::dataset
