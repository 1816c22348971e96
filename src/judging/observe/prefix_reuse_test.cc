#include "observe/prefix_reuse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace assay::observe {
namespace {

constexpr std::size_t kBytesOfBlock = 8;
constexpr std::uint32_t kTokensOfBlock = 2;

struct Prompt {
  std::string text{};
  ReuseQuery query{};
};

std::vector<ReuseQuery> queries_of(const std::vector<Prompt>& prompts) {
  std::vector<ReuseQuery> out;
  for (const Prompt& prompt : prompts) {
    out.push_back(prompt.query);
    out.back().blocks = block_names("m", prompt.text, kBytesOfBlock);
  }
  return out;
}

std::size_t common(const std::string& a, const std::string& b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// The longest beginning that `query` shares with one that was sent before it, in tokens.
std::uint64_t slow_offer(const std::vector<Prompt>& all, const Prompt& mine, bool same_endpoint,
                         bool in_time) {
  std::size_t best = 0;
  for (const Prompt& other : all) {
    if (other.query.sent >= mine.query.sent || !other.query.first_token.known()) continue;
    if (same_endpoint && other.query.endpoint != mine.query.endpoint) continue;
    if (in_time && other.query.first_token > mine.query.sent) continue;
    best = std::max(best, common(other.text, mine.text) / kBytesOfBlock);
  }
  if (mine.query.prompt_tokens == 0) return 0;
  const std::size_t most = (mine.query.prompt_tokens - 1) / kTokensOfBlock;
  return std::min(best, most) * std::uint64_t{kTokensOfBlock};
}

ReuseSums slow_sums(const std::vector<Prompt>& all, bool known, std::uint32_t endpoints) {
  ReuseSums out;
  if (endpoints > 1) out.routed = 0;
  for (const Prompt& prompt : all) {
    if (!prompt.query.counted) continue;
    ++out.queries;
    if (prompt.query.cached_tokens < 0) ++out.silent;
    if (prompt.query.cached_tokens < 0 && known) continue;
    const std::uint64_t offered = slow_offer(all, prompt, false, false);
    out.prompt_tokens += prompt.query.prompt_tokens;
    out.offered += offered;
    out.in_time += slow_offer(all, prompt, false, true);
    if (endpoints > 1) *out.routed += slow_offer(all, prompt, true, false);
    const auto cached = static_cast<std::uint64_t>(std::max(0, prompt.query.cached_tokens));
    out.delivered += cached;
    out.beyond += cached > offered ? cached - offered : 0;
  }
  return out;
}

std::vector<Prompt> random_prompts(Rng& rng, std::uint32_t endpoints) {
  std::vector<Prompt> out(1 + rng.below(40));
  for (Prompt& prompt : out) {
    const std::size_t length = rng.below(60);
    for (std::size_t i = 0; i < length; ++i) {
      const bool turns = i % kBytesOfBlock == 0 && rng.below(4) == 0;
      prompt.text += turns ? 'b' : 'a';
    }
    ReuseQuery& query = prompt.query;
    query.sent = Instant{static_cast<std::int64_t>(1 + rng.below(30))};
    if (rng.below(8) > 0) {
      query.first_token = query.sent + Duration{static_cast<std::int64_t>(1 + rng.below(12))};
    }
    query.endpoint = static_cast<std::uint16_t>(rng.below(endpoints));
    query.counted = rng.below(5) > 0;
    query.prompt_tokens = static_cast<std::uint32_t>(length / 4);
    query.cached_tokens = static_cast<std::int32_t>(rng.below(8)) - 1;
  }
  return out;
}

TEST(PrefixReuse, agrees_with_a_search_of_every_pair_of_prompts) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Rng rng(seed);
    const auto endpoints = static_cast<std::uint32_t>(1 + rng.below(3));
    const std::vector<Prompt> prompts = random_prompts(rng, endpoints);
    const PrefixReuse fast = account_reuse(queries_of(prompts), kTokensOfBlock, endpoints);
    EXPECT_EQ(fast.sums, slow_sums(prompts, fast.delivery_known, endpoints)) << "seed " << seed;
    EXPECT_GE(fast.sums.offered, fast.sums.in_time);
    EXPECT_GE(fast.sums.offered, fast.sums.routed.value_or(0));
  }
}

TEST(PrefixReuse, queries_sent_at_one_instant_offer_each_other_nothing) {
  const std::string text(64, 'x');
  const auto at = [&](std::int64_t ns) {
    return Prompt{
        text,
        {.sent = Instant{ns}, .first_token = Instant{50}, .counted = true, .prompt_tokens = 16}};
  };
  const auto sums = [](const std::vector<Prompt>& prompts) {
    return account_reuse(queries_of(prompts), kTokensOfBlock, 1).sums;
  };
  EXPECT_EQ(sums({at(5), at(5)}).offered, 0U);
  // The last token is computed always, so one block of the eight is never reused.
  EXPECT_EQ(sums({at(5), at(6)}).offered, 14U);
  EXPECT_EQ(sums({at(5), at(6)}).in_time, 0U);
  EXPECT_EQ(sums({at(5), at(50)}).in_time, 14U);
}

TEST(PrefixReuse, another_model_shares_nothing) {
  const std::string text(64, 'x');
  EXPECT_NE(block_names("a", text, 8), block_names("b", text, 8));
  EXPECT_EQ(block_names("a", text, 8).size(), 8U);
  EXPECT_TRUE(block_names("a", "short", 8).empty());
}

TEST(PrefixReuse, its_file_is_read_as_it_was_written) {
  Rng rng(3);
  PrefixReuse made = account_reuse(queries_of(random_prompts(rng, 2)), kTokensOfBlock, 2);
  made.symbols = "token ids";
  const auto read = prefix_reuse_from(to_json(made));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sums, made.sums);
  EXPECT_EQ(to_json(*read).dump(), to_json(made).dump());
  EXPECT_FALSE(prefix_reuse_from(Json::array()));
  EXPECT_FALSE(prefix_reuse_from(Json().set("block_tokens", 16)));
}

}  // namespace
}  // namespace assay::observe
