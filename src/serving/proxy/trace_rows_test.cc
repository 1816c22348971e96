#include "proxy/trace_rows.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "proxy/reply_figures.h"

namespace assay::proxy {
namespace {

constexpr std::string_view kCanary = "the-secret-canary-phrase";

std::string chat(const std::vector<std::pair<std::string, std::string>>& messages) {
  Json list = Json::array();
  for (const auto& [role, content] : messages) {
    list.push_back(Json().set("role", role).set("content", content));
  }
  return Json().set("model", "m").set("messages", std::move(list)).dump();
}

// A streamed reply: first output 20 ms after the request, then one each 10 ms, then usage.
Seen seen_of(std::string body, std::int64_t at_ms, int prompt_tokens, int tokens) {
  Seen seen;
  seen.arrived = Instant{} + 1_ms * at_ms;
  seen.post = true;
  seen.path = "/v1/chat/completions";
  seen.body = std::move(body);
  seen.status = 200;
  seen.event_stream = true;
  seen.whole = true;
  const auto add = [&seen](std::string_view text, Instant at) {
    seen.reply += text;
    seen.pieces.emplace_back(at, static_cast<std::uint32_t>(text.size()));
    seen.ended = at;
  };
  Instant at = seen.arrived + 20_ms;
  seen.first_byte = at;
  for (int i = 0; i < tokens; ++i) {
    add(format("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{} \"}}}}]}}\n\n", kCanary), at);
    at = at + 10_ms;
  }
  if (prompt_tokens > 0) {
    add(format(
            "data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":{},\"completion_tokens\":{}}}}}"
            "\n\ndata: [DONE]\n\n",
            prompt_tokens, tokens),
        at);
  }
  return seen;
}

std::string words(int count, std::string_view word) {
  std::string out;
  for (int i = 0; i < count; ++i) out += format("{}{} ", word, i);
  return out;
}

TraceRows rows_with(std::int64_t block) { return TraceRows({.block = block, .secret = "s"}); }

TEST(TraceRows, instants_lengths_and_gaps_are_kept_and_no_text_is) {
  TraceRows rows({.block = 16, .secret = "s", .start = Instant{} + 100_ms});
  const std::string body = chat({{"system", std::string(kCanary)}, {"user", words(200, kCanary)}});
  const Json row = rows.row(seen_of(body, 350, 900, 5));
  EXPECT_EQ(row["timestamp"].as_double(), 250);
  EXPECT_EQ(row["input_length"].as_int(), 900);
  EXPECT_EQ(row["output_length"].as_int(), 5);
  EXPECT_EQ(row["ttft_ms"].as_double(), 20);
  EXPECT_EQ(row["gap_ms_p50"].as_double(), 10);
  EXPECT_EQ(row["gap_ms_max"].as_double(), 10);
  EXPECT_EQ(row["latency_ms"].as_double(), 70);
  EXPECT_EQ(row["status"].as_int(), 200);
  EXPECT_EQ(row["hash_ids"].size(), 57U);  // 900 tokens, the last block in part
  EXPECT_EQ(row.dump().find("canary"), std::string::npos) << row.dump();
}

TEST(TraceRows, prompts_that_begin_alike_share_blocks_and_a_conversation_is_linked) {
  TraceRows rows = rows_with(16);
  const std::string system = words(100, "rule");
  const std::string asked = words(60, "ask");
  const auto body = [&](std::vector<std::pair<std::string, std::string>> more) {
    more.insert(more.begin(), {"system", system});
    return chat(more);
  };
  // About seven bytes a word: 4.0 bytes a token once the first prompt was counted.
  const std::string first = body({{"user", asked}});
  const auto size = static_cast<int>(prompt_text(first).size() / 4);
  const Json one = rows.row(seen_of(first, 0, size, 5));
  const Json other = rows.row(seen_of(body({{"user", words(60, "else")}}), 10, size, 5));
  const std::string next = body({{"user", asked}, {"assistant", "yes"}, {"user", asked}});
  const Json turn = rows.row(seen_of(next, 20, static_cast<int>(prompt_text(next).size() / 4), 5));
  std::size_t shared = 0;
  while (one["hash_ids"][shared] == other["hash_ids"][shared]) ++shared;
  const std::size_t common = prompt_text(body({{"user", ""}})).size() - 1;  // its last line end
  EXPECT_EQ(shared, common / 64);                                           // 16 tokens of 4 bytes
  std::size_t kept = 0;
  while (kept < one["hash_ids"].size() && one["hash_ids"][kept] == turn["hash_ids"][kept]) ++kept;
  EXPECT_GE(kept + 2, one["hash_ids"].size());
  EXPECT_EQ(turn["session"], one["session"]);
  EXPECT_EQ(turn["turn"].as_int(), 1);
  EXPECT_NE(other["session"], one["session"]);
  EXPECT_EQ(one["hash_ids"][0].as_int(-1), 0);  // the first name that was seen
}

TEST(TraceRows, names_hang_on_everything_before_them_and_numbers_on_order_alone) {
  const std::string tail = words(100, "same");
  std::vector<std::string> dumps;
  for (const std::string secret : {"one secret", "another"}) {
    TraceRows rows({.block = 16, .secret = secret});
    const Json a = rows.row(seen_of(chat({{"user", "a" + tail}}), 0, 200, 3));
    const Json b = rows.row(seen_of(chat({{"user", "b" + tail}}), 5, 200, 3));
    for (const Json& number : b["hash_ids"].items()) {
      for (const Json& earlier : a["hash_ids"].items()) EXPECT_FALSE(number == earlier);
    }
    dumps.push_back(a.dump() + b.dump());
  }
  EXPECT_EQ(dumps[0], dumps[1]);  // nothing of the secret, or of a digest, is in a row
}

TEST(TraceRows, what_was_not_counted_says_what_its_lengths_are_from) {
  TraceRows rows = rows_with(64);
  const Json row = rows.row(seen_of(chat({{"user", words(100, "word")}}), 0, 0, 7));
  EXPECT_EQ(row["input_from"].as_string(), "bytes");
  EXPECT_EQ(row["output_from"].as_string(), "events");
  EXPECT_EQ(row["output_length"].as_int(), 7);
  EXPECT_EQ(rows.counts().input_by_server, 0U);
}

TEST(TraceRows, a_failed_or_broken_reply_has_another_status_than_200) {
  TraceRows rows = rows_with(64);
  Seen broken = seen_of(chat({{"user", "x"}}), 0, 8, 3);
  broken.whole = false;
  EXPECT_EQ(rows.row(broken)["status"].as_int(), 0);
  Seen refused = seen_of(chat({{"user", "x"}}), 1, 0, 0);
  refused.status = 429;
  EXPECT_EQ(rows.row(refused)["status"].as_int(), 429);
}

TEST(TraceRows, what_asks_for_no_tokens_is_counted_and_has_no_row) {
  TraceRows rows = rows_with(64);
  Seen get;
  get.path = "/v1/models";
  EXPECT_TRUE(rows.row(get).is_null());
  EXPECT_TRUE(rows.row(seen_of("no JSON", 0, 1, 1)).is_null());
  EXPECT_TRUE(rows.row(seen_of(R"({"input": ["an embedding"]})", 0, 1, 1)).is_null());
  EXPECT_EQ(rows.counts().other, 3U);
}

TEST(TraceRows, beyond_the_limit_of_names_blocks_stay_without_one) {
  TraceRows rows({.block = 16, .secret = "s", .names_max = 3});
  const Json row = rows.row(seen_of(chat({{"user", words(200, "w")}}), 0, 100, 2));
  EXPECT_EQ(row["hash_ids"].size(), 3U);
  EXPECT_EQ(rows.counts().blocks, 3U);
  EXPECT_GT(rows.counts().blocks_unnamed, 0U);
}

struct ReplyCase {
  const char* reply;
  std::int64_t input;
  std::int64_t output;
  std::int64_t cached;
  const char* text;
};

TEST(ReplyFigures, every_kinds_usage_and_output_is_found) {
  const ReplyCase cases[] = {
      {R"({"choices":[{"text":"ab"}],"usage":{"prompt_tokens":3,"completion_tokens":2}})", 3, 2, -1,
       "ab"},
      {R"({"choices":[{"message":{"content":"ab",
          "tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}],
          "usage":{"prompt_tokens":9,"completion_tokens":4,
          "prompt_tokens_details":{"cached_tokens":8}}})",
       9, 4, 8, "abf{}"},
      {R"({"type":"message","content":[{"type":"text","text":"ab"}],
          "usage":{"input_tokens":5,"cache_read_input_tokens":20,"output_tokens":2}})",
       25, 2, 20, "ab"},
      {R"({"output":[{"type":"message","content":[{"type":"output_text","text":"ab"}]}],
          "usage":{"input_tokens":5,"output_tokens":2,
          "input_tokens_details":{"cached_tokens":1}}})",
       5, 2, 1, "ab"}};
  for (const ReplyCase& one : cases) {
    Seen seen;
    seen.reply = one.reply;
    const ReplyFigures figures = read_reply(seen);
    EXPECT_EQ(figures.input_tokens.value_or(-1), one.input) << one.reply;
    EXPECT_EQ(figures.output_tokens.value_or(-1), one.output) << one.reply;
    EXPECT_EQ(figures.cached_tokens.value_or(-1), one.cached) << one.reply;
    EXPECT_EQ(figures.text, one.text);
    EXPECT_EQ(figures.outputs.size(), 1U);
  }
}

TEST(ReplyFigures, an_event_in_two_pieces_is_of_the_instant_of_its_end) {
  Seen seen;
  seen.event_stream = true;
  const std::string event =
      "data: {\"type\":\"response.output_text.delta\",\"delta\":\"ab\"}\n\n"
      "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"c\"}}"
      "\n\n";
  seen.reply = event;
  seen.pieces = {{Instant{5}, 10}, {Instant{9}, static_cast<std::uint32_t>(event.size() - 10)}};
  const ReplyFigures figures = read_reply(seen);
  EXPECT_EQ(figures.text, "abc");
  ASSERT_EQ(figures.outputs.size(), 2U);
  EXPECT_EQ(figures.outputs[0], Instant{9});
}

}  // namespace
}  // namespace assay::proxy
