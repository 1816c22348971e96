#include "rules/review_head.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/format.h"
#include "base/hash.h"

namespace assay::rules {
namespace {

std::vector<std::string> ten_hashes() {
  std::vector<std::string> out;
  for (int i = 0; i < 10; ++i) out.push_back(sha256_hex(format("{}", i)));
  return out;
}

TEST(ReviewHead, is_the_hash_of_the_head_before_and_the_entry) {
  const auto hashes = ten_hashes();
  EXPECT_EQ(head_of({}), ReviewHead{});
  ReviewHead by_hand;
  for (const std::string& hash : hashes) {
    by_hand = {by_hand.count + 1, sha256_hex(by_hand.hash + hash)};
  }
  EXPECT_EQ(head_of(hashes), by_hand);
}

TEST(ReviewHead, every_head_of_the_past_is_one_that_the_history_goes_on_from) {
  const auto hashes = ten_hashes();
  for (std::size_t n = 0; n <= hashes.size(); ++n) {
    ReviewHead head = head_of(std::span(hashes).first(n));
    const auto since = static_cast<std::int64_t>(hashes.size() - n);
    EXPECT_EQ(entries_since(hashes, head), since);
    head.count = -1;
    EXPECT_EQ(entries_since(hashes, head), since) << "by the hash alone";
  }
}

TEST(ReviewHead, whatever_was_cut_changed_or_put_in_is_found) {
  const auto hashes = ten_hashes();
  const ReviewHead head = head_of(hashes);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    auto without = hashes;
    without.erase(without.begin() + at);
    EXPECT_FALSE(entries_since(without, head)) << i;
    without.push_back(sha256_hex("more"));
    EXPECT_FALSE(entries_since(without, head)) << "older, and grown again " << i;
    auto changed = hashes;
    changed[i][0] = changed[i][0] == '0' ? '1' : '0';
    EXPECT_FALSE(entries_since(changed, head)) << i;
    auto more = hashes;
    more.insert(more.begin() + at, sha256_hex("more"));
    EXPECT_FALSE(entries_since(more, head)) << i;
    ReviewHead unknown = head;
    unknown.count = -1;
    EXPECT_FALSE(entries_since(more, unknown)) << i;
  }
}

TEST(ReviewHead, a_file_says_it_and_nothing_else_is_read) {
  const ReviewHead head = head_of(ten_hashes());
  const std::string text = to_json(head).dump();
  EXPECT_EQ(*parse_head(text + "\n"), head);
  EXPECT_EQ(*parse_head("{\"review_head\":" + text + ",\"id\":\"r1\",\"count\":7}"), head);
  for (const auto& [from, to] : {std::pair{"assay-review-head", "other"},
                                 {"\"version\":1", "\"version\":2"},
                                 {"\"count\":10", "\"count\":-1"},
                                 {"\"count\":10", "\"count\":1.5"},
                                 {"\"hash\":\"", "\"hash\":\"0"}}) {
    std::string bad = text;
    ASSERT_NE(bad.find(from), std::string::npos);
    bad.replace(bad.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(parse_head(bad)) << bad;
  }
  for (const char* bad : {"", "[]", "7", "{}", "null"}) EXPECT_FALSE(parse_head(bad)) << bad;
}

}  // namespace
}  // namespace assay::rules
