#include "metrics/axis_fold.h"

#include <gtest/gtest.h>

#include <array>

#include "base/format.h"
#include "base/rng.h"

namespace assay::metrics {
namespace {

// What one query did.
struct Told {
  std::uint32_t row = 0;
  Duration ttft{};
  std::int32_t prompt_tokens = 0;
  std::int32_t tokens = 0;
  std::string text{};
  bool failed = false;
};

AxisReport fold(const RowAxes& axes, const std::vector<Told>& queries) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  AxisFold fold(info, axes);
  fold.on_phase({.phase = 0, .step = PhaseStep::started, .at = {}});
  std::uint32_t index = 0;
  for (const Told& one : queries) {
    Event event;
    event.query.index = index++;
    event.query.sample = one.row;
    event.streamed = true;
    event.due = event.sent = {};
    event.first_byte = event.first_event = event.first_token = event.sent + one.ttft;
    event.last_token = event.done = event.first_token + 10_ms;
    event.fragments = 2;
    event.output_bytes = static_cast<std::uint32_t>(one.text.size());
    event.first_fragment_bytes = 1;
    event.usage = {.prompt_tokens = one.prompt_tokens, .completion_tokens = one.tokens};
    if (one.failed) event.outcome = Outcome::reset;
    fold.on_sent(event.query, event.due, event.sent);
    StreamEvent first;
    first.category = Category::text;
    first.arrival = first.read = event.first_token;
    first.bytes = static_cast<std::uint32_t>(one.text.size());
    fold.on_stream_event(event.query, first, one.text);
    fold.on_done(event, "");
  }
  return fold.finish();
}

TEST(AxisFold, a_language_that_needs_more_tokens_says_so) {
  const RowAxes axes{.axes = {{.name = "locale", .values = {"en", "zh"}, .rows = {0, 1}}},
                     .characters = {20, 10}};
  const AxisReport report =
      fold(axes, {{.row = 0, .ttft = 5_ms, .prompt_tokens = 5, .tokens = 3, .text = "twelve chars"},
                  {.row = 1, .ttft = 9_ms, .prompt_tokens = 20, .tokens = 4, .text = "你好"}});
  ASSERT_EQ(report.size(), 2U);
  EXPECT_EQ(report[0].prompts.per_character(), 0.25);
  EXPECT_EQ(report[0].replies.per_character(), 0.25);
  EXPECT_EQ(report[1].prompts.per_character(), 2.0);
  EXPECT_EQ(report[1].replies.per_character(), 2.0);  // two characters, not six bytes
  EXPECT_EQ(report[1].ttft.max, 9e6);
  for (const AxisFigures& one : report) {
    EXPECT_FALSE(one.ttft.estimated || one.tpot.estimated || one.latency.estimated);
  }
  EXPECT_EQ(to_json(report)[1]["prompts"]["tokens_per_character"].as_double(), 2);
  const auto lines = axis_lines(report);
  EXPECT_EQ(lines[1].first, "locale");
  EXPECT_TRUE(lines[1].second.ends_with(
      "; 2.00 tokens a character of the prompt; 2.00 tokens a character of the reply"))
      << lines[1].second;
}

TEST(AxisFold, what_is_not_known_is_in_no_sum) {
  const RowAxes axes{.axes = {{.name = "locale", .values = {"en"}, .rows = {0}}},
                     .characters = {4}};
  const AxisReport report =
      fold(axes, {{.row = 0, .ttft = 1_ms, .tokens = 3},
                  {.row = 0, .ttft = 1_ms, .prompt_tokens = 8, .text = "x", .failed = true},
                  {.row = 0, .ttft = 2_ms, .tokens = -1, .text = "xy"},
                  {.row = 7, .ttft = 1_ms, .prompt_tokens = 8}});  // no such row
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(report[0].ended, 3U);
  EXPECT_EQ(report[0].succeeded, 2U);
  EXPECT_EQ(report[0].ttft.count, 2U);
  for (const TokenCost& cost : {report[0].prompts, report[0].replies}) {
    EXPECT_EQ(cost.tokens, 0);
    EXPECT_EQ(cost.characters, 0);
  }
  EXPECT_FALSE(report[0].prompts.per_character());
  EXPECT_FALSE(report[0].replies.per_character());
  EXPECT_TRUE(to_json(report)[0]["replies"]["tokens_per_character"].is_null());
}

// Two axes over one run: each has every query once, and its sums are those of a plain loop.
TEST(AxisFold, a_text_of_one_token_and_of_one_character_counts) {
  const RowAxes axes{.axes = {{.name = "locale", .values = {"zh"}, .rows = {0}}},
                     .characters = {1}};
  const AxisReport report = fold(axes, {{.row = 0, .prompt_tokens = 1, .tokens = 1, .text = "你"}});
  EXPECT_EQ(report[0].prompts.per_character(), 1.0);
  EXPECT_EQ(report[0].replies.per_character(), 1.0);
}

TEST(AxisFold, each_axis_divides_the_whole_run) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    Rng rng(seed);
    RowAxes axes{.axes = {{.name = "locale", .values = {"a", "b", "c"}},
                          {.name = "modality", .values = {"text", "text+picture"}}}};
    for (int row = 0; row < 40; ++row) {
      axes.axes[0].rows.push_back(static_cast<std::uint8_t>(rng.below(3)));
      axes.axes[1].rows.push_back(static_cast<std::uint8_t>(rng.below(2)));
      axes.characters.push_back(static_cast<std::uint32_t>(rng.below(50)));
    }
    std::vector<Told> queries;
    std::array<TokenCost, 3> slow{};
    std::array<std::uint64_t, 3> ended{};
    for (int i = 0; i < 200; ++i) {
      Told one{.row = static_cast<std::uint32_t>(rng.below(40)),
               .ttft = 1_ms,
               .prompt_tokens = static_cast<std::int32_t>(rng.below(30)),
               .failed = rng.below(9) == 0};
      const std::size_t at = axes.axes[0].rows[one.row];
      ++ended[at];
      if (!one.failed && one.prompt_tokens > 0 && axes.characters[one.row] > 0) {
        slow[at].tokens += one.prompt_tokens;
        slow[at].characters += axes.characters[one.row];
      }
      queries.push_back(one);
    }
    const AxisReport report = fold(axes, queries);
    ASSERT_EQ(report.size(), 5U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(report[i].ended, ended[i]);
      EXPECT_EQ(report[i].prompts.tokens, slow[i].tokens);
      EXPECT_EQ(report[i].prompts.characters, slow[i].characters);
    }
    EXPECT_EQ(report[3].ended + report[4].ended, 200U);
  }
}

TEST(AxisFold, its_json_and_its_lines_have_every_figure) {
  const RowAxes axes{.axes = {{.name = "locale", .values = {"en", "de"}, .rows = {0, 0, 1}}},
                     .characters = {20, 0, 9}};
  const AxisReport report =
      fold(axes, {{.row = 0, .ttft = 5_ms, .prompt_tokens = 5, .tokens = 3, .text = "twelve chars"},
                  {.row = 1, .ttft = 5_ms, .prompt_tokens = 5, .tokens = 3, .text = "word"},
                  {.row = 1, .ttft = 5_ms, .prompt_tokens = 1, .tokens = 3, .failed = true}});
  const Json json = to_json(report);
  ASSERT_EQ(json.size(), 2U);
  const std::string series =
      R"({"count":2,"mean":5000000.0,"p50":5000000.0,"p90":5000000.0,"p99":5000000.0,)"
      R"("max":5000000.0})";
  EXPECT_EQ(json[0].dump(),
            R"({"axis":"locale","value":"en","ended":3,"succeeded":2,"failed":1,)"
            R"("prompts":{"tokens":5,"characters":20,"tokens_per_character":0.25},)"
            R"("replies":{"tokens":6,"characters":16,"tokens_per_character":0.375},"ttft":)" +
                series +
                R"(,"tpot":{"count":2,"mean":5000000.0,"p50":5000000.0,"p90":5000000.0,)"
                R"("p99":5000000.0,"max":5000000.0},"latency":{"count":2,"mean":15000000.0,)"
                R"("p50":15000000.0,"p90":15000000.0,"p99":15000000.0,"max":15000000.0}})");
  EXPECT_EQ(json[1]["ended"].as_int(-1), 0);
  EXPECT_EQ(json[1]["ttft"].dump(), R"({"count":0})");
  const auto lines = axis_lines(report);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].second,
            "en: 3 queries, 1 failed; TTFT P50 5.00 ms, P99 5.00 ms; TPOT P50 5.00 ms, P99 5.00 "
            "ms; latency P50 15.0 ms, P99 15.0 ms; 0.250 tokens a character of the prompt; 0.375 "
            "tokens a character of the reply");
  EXPECT_EQ(lines[1].second, "de: 0 queries");
}

TEST(AxisFold, a_reply_has_nothing_of_the_one_before) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  const RowAxes axes{.axes = {{.name = "locale", .values = {"en"}, .rows = {0}}},
                     .characters = {10}};
  AxisFold fold(info, axes);
  for (std::uint32_t index = 0; index < 2; ++index) {
    Event event;
    event.query.index = index;
    event.sent = event.due = {};
    event.done = event.sent + 9_ms;
    StreamEvent told{};
    told.category = Category::text;
    told.bytes = 4;
    told.arrival = told.read = event.sent + 5_ms;
    fold.on_stream_event(event.query, told, "text");
    if (index == 0) {  // the second one is not streamed, and says nothing of its tokens
      event.streamed = true;
      event.fragments = 2;
      event.first_token = event.last_token = told.arrival;
      event.usage = {.prompt_tokens = 5, .completion_tokens = 3};
    }
    fold.on_done(event, "");
  }
  const AxisFigures one = fold.finish().at(0);
  EXPECT_EQ(one.succeeded, 2U);
  EXPECT_EQ(one.ttft.count, 1U);
  EXPECT_EQ(one.tpot.count, 1U);
  EXPECT_EQ(one.latency.count, 2U);
  EXPECT_EQ(one.replies.tokens, 3);
  EXPECT_EQ(one.replies.characters, 4);
}

TEST(AxisFold, a_tokenizers_count_of_the_prompt_goes_before_the_servers) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  const RowAxes axes{.axes = {{.name = "locale", .values = {"en"}, .rows = {0}}},
                     .characters = {10}};
  TokenCounts counts;
  counts.set({.index = 0}, {.input = 4, .output = 2, .after_first = 1});
  counts.set({.index = 1}, {.input = 0, .output = 2, .after_first = 1});
  counts.set({.index = 3}, {.input = 1, .output = 2, .after_first = 1});
  AxisFold fold(info, axes);
  fold.use_counts(&counts);
  for (std::uint32_t index = 0; index < 4; ++index) {
    Event event;
    event.query.index = index;
    event.sent = event.due = {};
    event.done = event.sent + 1_ms;
    event.usage.prompt_tokens = 7;
    fold.on_done(event, "");
  }
  const AxisReport report = fold.finish();
  EXPECT_EQ(report[0].prompts.tokens, 4 + 7 + 7 + 1);
  EXPECT_EQ(report[0].prompts.characters, 40);
}

}  // namespace
}  // namespace assay::metrics
