#include "base/wav.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Wav, a_head_is_44_bytes_and_says_what_follows) {
  using namespace std::string_literals;
  EXPECT_EQ(
      wav_head(24'000, 6),
      "RIFF\x2a\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\xc0\x5d\0\0\x80\xbb\0\0\2\0\x10\0data\6\0\0\0"s);
}

TEST(Wav, a_length_that_is_not_known_stands_for_the_files_too) {
  const std::string head = wav_head(16'000, 0xffff'ffff);
  EXPECT_EQ(head.substr(4, 4), "\xff\xff\xff\xff");
  EXPECT_EQ(head.substr(40), "\xff\xff\xff\xff");
}

}  // namespace
}  // namespace assay
