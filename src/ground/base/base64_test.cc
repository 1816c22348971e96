#include "base/base64.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Base64, the_vectors_of_rfc_4648) {
  constexpr std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                              {"f", "Zg=="},
                                                              {"fo", "Zm8="},
                                                              {"foo", "Zm9v"},
                                                              {"foob", "Zm9vYg=="},
                                                              {"fooba", "Zm9vYmE="},
                                                              {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : kVectors) {
    EXPECT_EQ(encode_base64(plain), coded);
    EXPECT_EQ(decode_base64(coded).value_or("broken"), plain);
  }
}

TEST(Base64, every_byte_comes_back_with_and_without_padding) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
    std::string coded = encode_base64(bytes);
    EXPECT_EQ(coded.size() % 4, 0U);
    EXPECT_EQ(decode_base64(coded).value_or("broken"), bytes);
    while (coded.back() == '=') coded.pop_back();
    EXPECT_EQ(decode_base64(coded).value_or("broken"), bytes);
  }
}

TEST(Base64, what_is_none_of_the_64_is_named) {
  for (const char* text : {"Zg-=", "Z m8", "Z=g=", "Zm9v\n"}) {
    EXPECT_FALSE(decode_base64(text)) << text;
  }
}

}  // namespace
}  // namespace assay
