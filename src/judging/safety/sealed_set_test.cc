#include "safety/sealed_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/text.h"

namespace assay::safety {
namespace {

SealKey key(char digit) {
  return seal_key_from("assay-seal-key-1 " + std::string(64, digit) + "\n").value();
}

std::vector<Prompt> prompts(std::size_t count) {
  std::vector<Prompt> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back({.uid = format("p{}", i),
                   .hazard = "cnr",
                   .locale = "en_us",
                   .prompt = Json(format("The word is CANARY-{}.", i))});
  }
  return out;
}

TEST(SealedSet, opens_with_its_key_alone_and_shows_no_prompt) {
  const std::string text = seal_prompts(prompts(5), "set", key('a'));
  EXPECT_TRUE(is_sealed(text));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("CANARY")));
  const SealedRows set = read_sealed(text).value();
  EXPECT_EQ(prompts_text(open_rows(set, key('a')).value()), prompts_text(prompts(5)));
  EXPECT_THAT(open_rows(set, key('b')).error().message, ::testing::HasSubstr("sealed with key"));
  // Two seals of the same prompts have nothing in common to compare.
  EXPECT_NE(read_sealed(seal_prompts(prompts(5), "set", key('a')))->root, set.root);
}

TEST(SealedSet, one_flipped_bit_anywhere_is_found_without_the_key) {
  const std::string text = seal_prompts(prompts(2), "set", key('a'));
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const int bit : {0, 5}) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      EXPECT_FALSE(read_sealed(other)) << i;
    }
  }
  EXPECT_FALSE(read_sealed(text.substr(0, text.size() - 1)));
  EXPECT_FALSE(read_sealed(text + "\n"));
}

TEST(SealedSet, rows_cannot_be_swapped_left_out_or_taken_from_another_set) {
  const std::string text = seal_prompts(prompts(4), "set", key('a'));
  std::vector<std::string_view> lines = split(text, '\n');
  const auto joined = [](const std::vector<std::string_view>& parts) {
    std::string out;
    for (const std::string_view part : parts) out += std::string(part) + '\n';
    return out.substr(0, out.size() - 1);
  };
  EXPECT_TRUE(read_sealed(joined(lines)));
  auto swapped = lines;
  std::swap(swapped[1], swapped[2]);
  EXPECT_FALSE(read_sealed(joined(swapped)));
  auto fewer = lines;
  fewer.erase(fewer.begin() + 2);
  EXPECT_FALSE(read_sealed(joined(fewer)));
  const std::string foreign = seal_prompts(prompts(4), "set", key('a'));
  auto mixed = lines;
  mixed[2] = split(foreign, '\n')[2];
  EXPECT_FALSE(read_sealed(joined(mixed)));
}

TEST(SealedSet, used_prompts_are_proven_without_showing_one) {
  for (const std::size_t count : {7U, 20U}) {
    const SealedRows set = read_sealed(seal_prompts(prompts(20), "set", key('a'))).value();
    const Json used = used_rows(set, count, "2026");
    const SealedRows rows = read_used(used).value();
    EXPECT_EQ(rows.rows.size(), count);
    EXPECT_EQ(rows.commitment, set.commitment);
    EXPECT_THAT(used.dump(), ::testing::Not(::testing::HasSubstr("CANARY")));
    const auto opened = open_rows(rows, key('a')).value();
    EXPECT_EQ(opened.front().prompt.as_string(),
              format("The word is CANARY-{}.", rows.rows.front().index));
    // Neither another choice nor another count passes.
    Json other = used;
    other.find("draw")->set("seed", "2027");
    EXPECT_EQ(read_used(other).has_value(), count == 20);
    const std::string text = used.dump();
    int held = 0;
    for (std::size_t i = 0; i < text.size(); i += 101) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(flipped[i] ^ 1);
      const auto json = Json::parse(flipped);
      if (!json || !read_used(*json)) continue;
      // What may change unseen is the seed of a draw that takes every row.
      ++held;
      EXPECT_EQ((*json)["set"].dump(), used["set"].dump());
      EXPECT_EQ((*json)["used"].dump(), used["used"].dump());
    }
    EXPECT_LE(held, count == 20 ? 2 : 0);
  }
}

TEST(SealedSet, a_draw_is_decided_by_commitment_and_seed) {
  const SealedRows set = read_sealed(seal_prompts(prompts(50), "set", key('a'))).value();
  EXPECT_EQ(draw_rows(set, 0, "x").size(), 50U);
  EXPECT_EQ(draw_rows(set, 10, "x"), draw_rows(set, 10, "x"));
  EXPECT_NE(draw_rows(set, 10, "x"), draw_rows(set, 10, "y"));
}

}  // namespace
}  // namespace assay::safety
