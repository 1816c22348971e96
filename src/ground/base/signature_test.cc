#include "base/signature.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Signature, is_of_its_text_and_its_key_and_of_no_other) {
  const auto mine = make_key_pair();
  const auto other = make_key_pair();
  ASSERT_TRUE(mine && other);
  const auto signature = sign_ed25519("hello", mine->private_pem);
  ASSERT_TRUE(signature);
  EXPECT_TRUE(*verify_ed25519("hello", *signature, mine->public_pem));
  EXPECT_FALSE(*verify_ed25519("hellO", *signature, mine->public_pem));
  EXPECT_FALSE(*verify_ed25519("hello", *signature, other->public_pem));
  std::string changed = *signature;
  changed[5] = changed[5] == '0' ? '1' : '0';
  EXPECT_FALSE(*verify_ed25519("hello", changed, mine->public_pem));
  EXPECT_EQ(*public_key_of(mine->private_pem), mine->public_pem);
  EXPECT_NE(*key_fingerprint(mine->public_pem), *key_fingerprint(other->public_pem));
}

TEST(Signature, what_is_no_key_is_refused) {
  EXPECT_FALSE(sign_ed25519("x", "not a key"));
  EXPECT_FALSE(verify_ed25519("x", std::string(128, '0'), "not a key"));
  const auto mine = make_key_pair();
  EXPECT_FALSE(verify_ed25519("x", "abc", mine->public_pem));
  EXPECT_FALSE(verify_ed25519("x", std::string(128, 'X'), mine->public_pem));
}

}  // namespace
}  // namespace assay
