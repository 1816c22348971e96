#include "base/blake2b.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// RFC 7693's example, and CPython's hashlib.blake2b(…, digest_size=2).
TEST(Blake2b, is_the_rfcs_and_cpythons) {
  EXPECT_EQ(blake2b_hex("abc", 64),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
  EXPECT_EQ(blake2b_hex("1", 2), "4461");
  EXPECT_EQ(blake2b_hex("2", 2), "ba75");
  EXPECT_EQ(blake2b_hex("conv-1", 2), "ce40");
  EXPECT_EQ(blake2b_hex("", 2), "b1fe");
  EXPECT_EQ(blake2b_hex(std::string(200, 'a'), 2), "66a7");
}

}  // namespace
}  // namespace assay
