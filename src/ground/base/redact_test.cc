#include "base/redact.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/rng.h"
#include "base/text.h"

namespace assay {
namespace {

const std::string kKey = "sk-Live/4\"t%Zx+77==";

TEST(Redactor, an_echoed_key_is_blotted_out_in_every_spelling) {
  const Redactor redactor({{kKey}});
  for (const std::string& echo : {
           std::string(kKey),
           std::string(R"(sk-Live/4\"t%Zx+77==)"),
           std::string(R"(sk-Live\/4\"t%Zx+77==)"),
           std::string("sk-Live%2F4%22t%25Zx%2B77%3D%3D"),
           std::string("sk-Live%2f4%22t%25Zx%2b77%3d%3d"),
       }) {
    EXPECT_EQ(redactor.text(format("bad key Bearer {}, sorry", echo)),
              "bad key Bearer <redacted>, sorry");
  }
}

TEST(Redactor, a_key_within_base64_is_found_at_each_of_the_three_places) {
  const Redactor redactor({{kKey}});
  // base64 of "u:" + key, "us:" + key and "use:" + key; only characters that come from the key
  // alone are replaced.
  EXPECT_EQ(redactor.text("Basic dTpzay1MaXZlLzQidCVaeCs3Nz09."), "Basic dTp<redacted>.");
  EXPECT_EQ(redactor.text("Basic dXM6c2stTGl2ZS80InQlWngrNzc9PQ==."), "Basic dXM6<redacted>Q==.");
  EXPECT_EQ(redactor.text("Basic dXNlOnNrLUxpdmUvNCJ0JVp4Kzc3PT0=."), "Basic dXNlOn<redacted>0=.");
}

TEST(Redactor, a_keys_beginning_counts_as_the_key_and_that_of_a_header_does_not) {
  const Redactor redactor({{.text = "sk-abcdefghijkl"}, {.text = "production", .key = false}});
  EXPECT_EQ(redactor.text("you sent sk-abcde…"), "you sent <redacted>…");
  EXPECT_EQ(redactor.text("you sent sk-abcd…"), "you sent sk-abcd…");
  EXPECT_EQ(redactor.text("productive production"), "productive <redacted>");
}

TEST(Redactor, without_a_secret_nothing_changes_and_a_short_one_is_no_secret) {
  EXPECT_TRUE(Redactor().empty());
  EXPECT_TRUE(Redactor({{"abc"}, {""}}).empty());
  EXPECT_EQ(Redactor({{"abc"}}).text("abc"), "abc");
  std::string scratch;
  Redactor::State state = 0;
  const std::string text = "abc";
  EXPECT_EQ(Redactor().piece(text, state, scratch).data(), text.data()) << "nothing was copied";
}

// The slow twin searches each secret at each place.
TEST(Redactor, finds_what_a_search_at_each_place_finds_however_the_text_is_cut) {
  for (std::uint64_t seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto letters = [&](std::uint64_t count) {
      std::string out;
      while (count-- > 0) out += static_cast<char>('a' + rng.below(2));
      return out;
    };
    std::vector<Secret> secrets;
    for (std::uint64_t n = 1 + rng.below(3); n-- > 0;) {
      secrets.push_back({letters(4 + rng.below(8)), false});
    }
    const std::string text = letters(60);
    std::string want = text;
    for (const Secret& secret : secrets) {
      for (std::size_t at = text.find(secret.text); at != std::string::npos;
           at = text.find(secret.text, at + 1)) {
        want.replace(at, secret.text.size(), secret.text.size(), '*');
      }
    }
    const Redactor redactor(secrets);
    Redactor::State state = 0;
    std::string scratch;
    EXPECT_EQ(redactor.piece(text, state, scratch), want);
    // In pieces: no byte that is not secret is replaced, and a secret's last byte always is.
    state = 0;
    std::string got;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min<std::size_t>(1 + rng.below(9), text.size() - at);
      got += redactor.piece(std::string_view(text).substr(at, size), state, scratch);
      at += size;
    }
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i] == want[i] || (want[i] == '*' && got[i] == text[i])) << i;
    }
    for (const Secret& secret : secrets) EXPECT_EQ(got.find(secret.text), std::string::npos);
  }
}

TEST(Redactor, of_a_key_that_comes_byte_by_byte_less_than_its_beginning_is_passed_on) {
  const std::string key = "sk-0123456789abcdefghij";
  const Redactor redactor({{key}});
  Redactor::State state = 0;
  std::string scratch;
  std::string got;
  for (const char c : "say " + key + " again") {
    got += redactor.piece(std::string(1, c), state, scratch);
  }
  EXPECT_EQ(got, "say sk-0123" + std::string(key.size() - 7, '*') + " again");
}

}  // namespace
}  // namespace assay
