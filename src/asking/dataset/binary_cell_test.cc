#include "dataset/binary_cell.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace assay::dataset {
namespace {

using std::string_literals::operator""s;

TEST(BinaryCell, text_stays_text_and_the_rest_says_what_it_is) {
  const std::pair<std::string, std::string> cells[] = {
      {"\xff\xd8\xff\xe0"s, "data:image/jpeg;base64,/9j/4A=="},
      {"\x89PNG\r\n\x1a\n\0"s, "data:image/png;base64,iVBORw0KGgoA"},
      {"GIF89a\xff"s, "data:image/gif;base64,R0lGODlh/w=="},
      {"\xff\x00"s, "data:;base64,/wA="},
      {"RIFF\x80\0\0\0WEBPVP8 "s, "data:image/webp;base64,UklGRoAAAABXRUJQVlA4IA=="},
      {"caf\xc3\xa9", "caf\xc3\xa9"},
      {"", ""},
  };
  for (const auto& [bytes, cell] : cells) EXPECT_EQ(binary_cell(bytes), cell);
}

TEST(BinaryCell, a_container_is_what_stands_within) {
  EXPECT_EQ(media_type_of("RIFF\x24\0\0\0WAVEfmt "s), "audio/wav");
  EXPECT_EQ(media_type_of("RIFF\x24\0\0\0AVI "s), "");
  EXPECT_EQ(media_type_of("RIFF"), "");
  EXPECT_EQ(media_type_of("\0\0\0\x18"
                          "ftypmp42"s),
            "video/mp4");
  EXPECT_EQ(media_type_of(""), "");
}

TEST(BinaryCell, the_bytes_come_back) {
  for (const std::string& bytes : {"\xff\xd8\xff"s, "\xff"s, "\x1a\x45\xdf\xa3\xff"s}) {
    const std::string cell = binary_cell(bytes);
    const auto coded = base64_of_cell(cell);
    ASSERT_TRUE(coded) << cell;
    EXPECT_EQ(decode_base64(*coded).value_or("broken"), bytes);
  }
  EXPECT_FALSE(base64_of_cell("plain text"));
  EXPECT_FALSE(base64_of_cell("data:,plain"));
}

}  // namespace
}  // namespace assay::dataset
