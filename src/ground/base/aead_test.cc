#include "base/aead.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

SealKey key(char digit) {
  return seal_key_from("assay-seal-key-1 " + std::string(64, digit) + "\n").value();
}

TEST(Aead, a_box_gives_its_text_back_and_no_two_are_alike) {
  for (const std::string text : {"", "a", "what is the word?", "\xff\x00 bytes"}) {
    const std::string box = seal_box(key('a'), text, "row 1");
    EXPECT_EQ(open_box(key('a'), box, "row 1").value(), text);
    EXPECT_NE(box, seal_box(key('a'), text, "row 1"));
    EXPECT_TRUE(text.size() < 8 || box.find(text) == std::string::npos);
  }
}

TEST(Aead, one_flipped_bit_anywhere_another_key_or_another_purpose_fails) {
  const std::string box = seal_box(key('a'), "what is the word?", "row 1");
  for (std::size_t i = 0; i < box.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = box;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      EXPECT_FALSE(open_box(key('a'), other, "row 1")) << i;
    }
  }
  EXPECT_FALSE(open_box(key('b'), box, "row 1"));
  EXPECT_FALSE(open_box(key('a'), box, "row 2"));
  EXPECT_FALSE(open_box(key('a'), box.substr(0, 20), "row 1"));
}

// Test case 14 of the GCM specification (McGrew and Viega): 16 zero bytes under a zero key.
TEST(Aead, it_is_the_published_cipher) {
  const auto hex = [](std::string_view digits) {
    std::string out;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      out += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    }
    return out;
  };
  const std::string box = std::string(12, '\0') + hex("cea7403d4d606b6e074ec5d3baf39d18") +
                          hex("d0d1c8a799996bf0265b98b5d48ab919");
  EXPECT_EQ(open_box(key('0'), box, "").value(), std::string(16, '\0'));
}

TEST(Aead, a_key_file_has_one_form) {
  const SealKey made = seal_key_from(new_seal_key_text()).value();
  EXPECT_EQ(made.bytes.size(), 32U);
  EXPECT_EQ(made.id().size(), 16U);
  EXPECT_NE(made.bytes, seal_key_from(new_seal_key_text())->bytes);
  EXPECT_FALSE(seal_key_from("-----BEGIN PRIVATE KEY-----"));
  EXPECT_FALSE(seal_key_from("assay-seal-key-1 " + std::string(63, 'a')));
  EXPECT_FALSE(seal_key_from("assay-seal-key-1 " + std::string(64, 'x')));
}

}  // namespace
}  // namespace assay
