// What the decoder reads from a reply whose keys repeat, change their type or stand in odd places,
// and the memory it needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "protocol/codec.h"
#include "protocol/reply_fields.h"
#include "protocol/testing_reply_words.h"

namespace assay::protocol {
namespace {

// One stream's decoder, with one event that is reused, as in an exchange.
class Stream {
 public:
  explicit Stream(MemoryBudget* budget = nullptr) : decoder_(budget), state_(budget) {}
  std::string read(std::string_view json) {
    bytes_ = with_padding(json);
    decoder_.decode({bytes_.data(), json.size()}, state_, event_);
    return told_of(event_);
  }
  std::string next_choice() {
    decoder_.next_choice(&state_, event_);
    return told_of(event_);
  }
  std::uint32_t hits() const { return state_.template_hits; }
  StreamState& state() { return state_; }

 private:
  ReplyDecoder decoder_;
  StreamState state_;
  DecodedEvent event_{};
  std::string bytes_{};
};

std::string one(std::string_view json) { return Stream().read(json); }
std::string slow(std::string_view json) {
  ReplyDecoder decoder;
  StreamState state;
  DecodedEvent event;
  const std::string bytes = with_padding(json);
  decoder.decode_slowly({bytes.data(), json.size()}, state, event);
  return told_of(event);
}

// As in common JSON readers: the last of repeated keys, and nothing of the earlier ones.
TEST(ReplyRules, of_repeated_keys_the_last_counts_whole) {
  for (const char* member :
       {R"("content":"a")", R"("refusal":"a")", R"("reasoning_content":"a")", R"("reasoning":"a")",
        R"("content":[{"text":"a"}])", R"("tool_calls":[{"index":0,"id":"a"}])",
        R"("function_call":{"name":"a"})"}) {
    EXPECT_NE(one(delta_of(member)), "role choice") << member;
    EXPECT_EQ(one(format(R"({{"choices":[{{"delta":{{{}}},"delta":{{}}}}]}})", member)),
              "role choice");
    EXPECT_EQ(one(format(R"({{"choices":[{{"delta":{{{}}},"message":null}}]}})", member)),
              "role choice");
    EXPECT_EQ(one(format(R"({{"choices":[{{"delta":{{{}}}}}],"choices":[{{}}]}})", member)),
              "role choice");
  }
  for (const char* member : {R"("text":"a")", R"("finish_reason":"stop")", R"("index":3)",
                             R"("finish_reason":{"type":"abort","message":"m"})"}) {
    EXPECT_NE(one(format(R"({{"choices":[{{{}}}]}})", member)), "role choice") << member;
    EXPECT_EQ(one(format(R"({{"choices":[{{{}}}],"choices":[{{}}]}})", member)), "role choice");
  }
  EXPECT_EQ(one(R"({"choices":[{},{}],"choices":[{}]})"), "role choice");
  EXPECT_EQ(one(R"({"choices":[{}],"choices":[]})"), "other");
  EXPECT_EQ(one(R"({"choices":[{}],"choices":null})"), "other");
  EXPECT_EQ(one(delta_of(R"("content":[{"text":"a"}],"content":"b")")), "text text:'b' choice");
  EXPECT_EQ(one(delta_of(R"("content":"b","content":[{"text":"a"}])")), "text text:'a' choice");
  EXPECT_EQ(one(delta_of(R"("content":"b","content":7)")), "role choice");
  EXPECT_EQ(one(delta_of(R"("content":[{"text":"a"}],"content":7)")), "role choice");
  EXPECT_EQ(one(delta_of(R"("tool_calls":[{"id":"a"}],"tool_calls":{})")), "role choice");
  EXPECT_EQ(one(delta_of(R"("function_call":{"name":"a"},"function_call":[])")), "role choice");
  EXPECT_EQ(
      one(R"({"usage":{"prompt_tokens":1,"completion_tokens":2},"usage":{"prompt_tokens":3}})"),
      "usage usage:3,-1,-1,-1");
  EXPECT_EQ(one(R"({"usage":{"prompt_tokens":1},"usage":null})"), "other");
  EXPECT_EQ(one(R"({"error":"a","error":null})"), "other");
  EXPECT_EQ(one(R"({"object":"error","object":"chunk","message":"m"})"), "other");
  EXPECT_EQ(one(R"({"object":"error","object":7,"message":"m"})"), "other");
  EXPECT_EQ(one(R"({"object":"error","message":"m","message":"n"})"), "error error:'n'");
  EXPECT_EQ(one(R"({"text":"a","text":null})"), "other");
  EXPECT_EQ(one(R"({"output_ids":[1,2],"output_ids":7})"), "other");
  static constexpr const char* kTwice =
      R"({{"choices":[{{"finish_reason":{},"finish_reason":{}}}]}})";
  EXPECT_EQ(
      one(format(kTwice, R"({"type":"abort","message":"m"})", R"({"type":"abort"})")),
      "error choice finish:other error:'the server ended the reply with finish_reason abort'");
  EXPECT_EQ(one(format(kTwice, R"("stop")", "{}")), "role choice");
  EXPECT_EQ(one(format(kTwice, R"("stop")", "7")), "role choice");
}

TEST(ReplyRules, each_field_is_taken_where_it_stands) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"choices":[{"message":{"content":"a"}}]})", "text text:'a' choice"},
      {R"({"choices":[{"index":2,"delta":{"content":"a"}}]})", "text choice 2 text:'a' choice"},
      {R"({"choices":[{"index":-5,"delta":{}}]})", "role choice"},
      {R"({"choices":[{"index":65535,"delta":{}}]})", "role choice 65535 choice"},
      {R"({"choices":[{"index":65536,"delta":{}}]})", "role choice 65535 choice"},
      {R"({"choices":[{"finish_reason":"stop","index":1},{"index":2} , 7 ]})",
       "finish choice 1 choice finish:stop more:{\"index\":2} , 7"},
      {R"({"choices":[7,{"index":2}]})", "other more:{\"index\":2}"},
      {R"({"usage":{"reasoning_tokens":4}})", "usage usage:-1,-1,4,-1"},
      {R"({"usage":{"completion_tokens_details":{"reasoning_tokens":4,"cached_tokens":5}}})",
       "usage usage:-1,-1,4,5"},
      {R"({"usage":{"prompt_tokens_details":7,"completion_tokens_details":[]}})",
       "usage usage:-1,-1,-1,-1"},
      {R"({"usage":[1]})", "other"},
      {R"({"meta_info":{"prompt_tokens":1,"completion_tokens":2,"reasoning_tokens":3,"cached_tokens":4}})",
       "usage usage:1,2,3,4"},
      {R"({"meta_info":{"prompt_tokens":null,"finish_reason":"length"}})", "finish finish:length"},
      {R"({"meta_info":{"prompt_tokens":1,"completion_tokens":null}})", "usage usage:1,-1,-1,-1"},
      {R"({"meta_info":7})", "other"},
      {R"({"error":false})", "other"},
      {R"({"error":true})", "error error:'true'"},
      {R"({"error":{"message":7}})", "error error:'{\"message\":7}'"},
      {R"({"error":{"message":"","code":5}})", "error error:'{\"message\":\"\",\"code\":5}'"},
      {R"({"error":{"a":{"message":"no"},"message":"y\n"}})", "error error:'y\n'"},
      {R"({"error":["a"]})", "error error:'[\"a\"]'"},
      {R"({"object":"error"})", "error error:'an object named error, without a message'"},
      {R"({"message":"m"})", "other"},
      {R"({"text":""})", "role choice"},
      {R"({"text":"a","choices":[{}]})", "role choice"},
      {R"({"output_ids":[5]})", "text text:'5' choice"},
      {R"({"output_ids":[]})", "role choice"},
      {R"({"text":"a","output_ids":[5]})", "text text:'a' choice"},
      {R"({"other":{"choices":[{"delta":{"content":"no"}}]}})", "other"},
      {R"({"choices":[{"finish_reason":{"type":"stop","message":"m"}}]})",
       "finish choice finish:stop"},
  };
  for (const auto& [json, told] : cases) EXPECT_EQ(one(json), told) << json;
}

TEST(ReplyRules, a_key_may_be_written_with_escapes_throughout) {
  const auto escaped = [](std::string_view name) {
    std::string out;
    for (const char c : name) out += format("\\u{:04x}", static_cast<unsigned>(c));
    return out;
  };
  EXPECT_EQ(one(format(R"({{"{}":[{{"{}":{{"{}":"a"}}}}]}})", escaped("choices"), escaped("delta"),
                       escaped("content"))),
            "text text:'a' choice");
  const auto is = [&](std::string_view raw, std::string_view name) {
    const std::string bytes = with_padding(raw);
    return is_escaped_key({bytes.data(), raw.size(), true}, name);
  };
  EXPECT_TRUE(is("\\u0061b", "ab"));
  EXPECT_FALSE(is("\\u0061b", "a"));
  EXPECT_FALSE(is("\\u0061b", "abc"));
  EXPECT_FALSE(is("\\u0061\x01", "a\x01"));
  EXPECT_FALSE(is(escaped(std::string(500, 'a')), "content"));
}

TEST(ReplyRules, content_in_parts_is_joined_by_kind) {
  EXPECT_EQ(
      one(delta_of(R"("content":[{"type":"text","text":"a"},{"thinking":"h"},{"text":"b\n"},)"
                   R"({"thinking":[{"text":"i"},7,{"text":[{"text":"no"}]}]},{"text":7},"x"])")),
      "reasoning reasoning:'hi' text:'ab\n' choice");
  // A separate reasoning field takes precedence over that of the parts.
  EXPECT_EQ(one(delta_of(R"("reasoning":"r","content":[{"thinking":"h"},{"text":"a"}])")),
            "reasoning reasoning:'r' text:'a' choice");
  EXPECT_EQ(one(delta_of(R"("reasoning_content":"","reasoning":"r")")),
            "reasoning reasoning:'r' choice");
  EXPECT_EQ(one(delta_of(R"("content":"","refusal":"no")")), "text text:'no' choice");
  EXPECT_EQ(one(R"({"choices":[{"text":"c","delta":{"content":"","refusal":"no"}}]})"),
            "text text:'c' choice");
}

TEST(ReplyRules, a_tool_call_is_written_down_as_its_deltas_tell) {
  const auto call = [](std::string_view members) {
    return delta_of(format(R"("tool_calls":[{}])", members));
  };
  EXPECT_EQ(one(call(R"({"index":2,"id":"i","function":{"name":"n","arguments":"{}"}})")),
            "tool_call tool_call:'^2|i|n|{}' choice");
  EXPECT_EQ(one(call(R"({"index":1,"function":{"arguments":"x"}})")),
            "tool_call tool_call:'^1|||x' choice");
  EXPECT_EQ(one(call(R"({"index":1,"function":{"name":"n"}})")),
            "tool_call tool_call:'^1||n|' choice");
  EXPECT_EQ(one(call(R"({"function":{"arguments":"x"}},{"function":{"arguments":"y"}})")),
            "tool_call tool_call:'^0|||x^1|||y' choice");
  EXPECT_EQ(one(call(R"({"index":0,"function":{}})")), "role choice");
  EXPECT_EQ(one(call(R"({"function":{"arguments":"a","arguments":{"b":1}}})")),
            "tool_call tool_call:'^0|||{\"b\":1}' choice");
  EXPECT_EQ(one(call(R"({"function":{"arguments":{"b":1},"arguments":"a"}})")),
            "tool_call tool_call:'^0|||a' choice");
  EXPECT_EQ(one(call(R"({"function":{"name":"n","arguments":{"b":1},"arguments":7}})")),
            "tool_call tool_call:'^0||n|' choice");
  EXPECT_EQ(one(call(R"({"function":{"name":"n","arguments":"b","arguments":null}})")),
            "tool_call tool_call:'^0||n|' choice");
  EXPECT_EQ(one(call(R"({"custom":{"name":"n","input":[1]}})")),
            "tool_call tool_call:'^0||n|[1]' choice");
  EXPECT_EQ(one(call(R"({"id":7,"function":{"name":7,"arguments":"x"}})")),
            "tool_call tool_call:'^0|||x' choice");
  EXPECT_EQ(one(delta_of(R"("function_call":{"name":"n","arguments":"x"})")),
            "tool_call tool_call:'^0||n|x' choice");
  EXPECT_EQ(one(delta_of(R"("tool_calls":[{"id":"i"}],"function_call":{"name":"n"})")),
            "tool_call tool_call:'^0|i||' choice");
  Stream stream;
  EXPECT_EQ(stream.read(call(R"({"index":0,"id":"i","function":{"arguments":"a"}})")),
            "tool_call tool_call:'^0|i||a' choice");
  EXPECT_EQ(stream.read(call(R"({"index":0,"function":{"arguments":"b"}})")),
            "tool_call tool_call:'b' choice");
  EXPECT_EQ(stream.read(call(R"({"index":0,"function":{"arguments":"c"}})")),
            "tool_call tool_call:'c' choice");
  EXPECT_EQ(stream.hits(), 1U);
  // Two calls in one delta: a template cannot know the call of each piece.
  const std::string both =
      call(R"({"index":0,"function":{"arguments":"d"}},{"index":0,"function":{"arguments":"e"}})");
  EXPECT_EQ(stream.read(both), "tool_call tool_call:'de' choice");
  EXPECT_EQ(stream.read(both), "tool_call tool_call:'de' choice");
  EXPECT_EQ(stream.hits(), 1U);
  const std::string empty_first =
      call(R"({"index":0,"function":{}},{"index":0,"function":{"arguments":"e"}})");
  EXPECT_EQ(stream.read(empty_first), "tool_call tool_call:'e' choice");
  EXPECT_EQ(stream.read(empty_first), "tool_call tool_call:'e' choice");
  EXPECT_EQ(stream.hits(), 1U);
}

TEST(ReplyRules, a_template_is_learned_of_one_plain_fragment_alone) {
  const auto hits_of_twice = [](const std::string& json) {
    Stream stream;
    EXPECT_EQ(stream.read(json), slow(json));
    EXPECT_EQ(stream.read(json), slow(json)) << json;
    return stream.hits();
  };
  EXPECT_EQ(hits_of_twice(delta_of(R"("content":"a")")), 1U);
  EXPECT_EQ(hits_of_twice(delta_of(R"("reasoning":"a")")), 1U);
  EXPECT_EQ(hits_of_twice(R"({"choices":[{"index":9,"delta":{"content":"a"}}]})"), 1U);
  for (const std::string json :
       {R"({"choices":[{"delta":{"content":"a","reasoning":"b"}}]})",
        R"({"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]})",
        R"({"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":1}})",
        R"({"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]})",
        R"({"choices":[{"delta":{"content":"a"}}],"error":"e"})",
        R"({"choices":[{"delta":{"content":[{"text":"a"}]}}]})",
        R"({"choices":[{"delta":{"content":""}}]})", R"({"choices":[]})", "[DONE]", "{"}) {
    EXPECT_EQ(hits_of_twice(json), 0U) << json;
  }
}

TEST(ReplyRules, an_event_leaves_the_template_as_it_is_or_makes_its_own) {
  const std::string text = delta_of(R"("content":"a")");
  const auto hits_after = [&](const std::string& between) {
    Stream stream;
    stream.read(text);
    stream.read(between);
    stream.read(text);
    return stream.hits();
  };
  // Without a fragment an event teaches nothing about later ones.
  for (const char* none : {"{}", R"({"choices":[{"delta":{}}]})", R"({"error":"e"})", "{",
                           R"({"usage":{"prompt_tokens":1}})", "[DONE]"}) {
    EXPECT_EQ(hits_after(none), 1U) << none;
  }
  EXPECT_EQ(hits_after(delta_of(R"("reasoning":"a")")), 0U);
  EXPECT_EQ(hits_after(delta_of(R"("reasoning":"a","content":"b")")), 0U);
  EXPECT_EQ(hits_after(delta_of(R"("tool_calls":[{"id":"x"}])")), 0U);
  // Up to 16 KiB around its fragment.
  const auto large = [](std::size_t around) {
    const std::string json = R"({"choices":[{"delta":{"content":"a"}}],"pad":""})";
    return std::string(json).insert(json.size() - 2, std::string(around + 1 - json.size(), 'p'));
  };
  for (const std::size_t more : {0U, 1U}) {
    Stream stream;
    stream.read(large(16 * 1024 + more));
    stream.read(large(16 * 1024 + more));
    EXPECT_EQ(stream.hits(), more == 0 ? 1U : 0U);
    EXPECT_EQ(hits_after(large(16 * 1024 + more)), 0U);
  }
  Stream stream;
  stream.read(text);
  stream.state().reset();
  stream.read(text);
  EXPECT_EQ(stream.hits(), 0U);
}

// The event object is reused: no value of the previous event may remain.
TEST(ReplyRules, what_a_template_decodes_has_nothing_of_the_event_before) {
  const std::string text = R"({"choices":[{"index":3,"delta":{"content":"a"}}]})";
  for (const char* before : {"{", R"({"error":"e"})", R"({"usage":{"prompt_tokens":1}})",
                             R"({"choices":[{"index":1,"finish_reason":"stop","delta":{}}]})",
                             R"({"choices":[{},{}]})", R"({"choices":[]})", "[DONE]"}) {
    Stream stream;
    stream.read(text);
    stream.read(before);
    EXPECT_EQ(stream.read(text), "text choice 3 text:'a' choice") << before;
    EXPECT_EQ(stream.hits(), 1U);
  }
}

TEST(ReplyRules, the_choices_of_an_event_come_one_by_one) {
  Stream stream;
  stream.read(R"({"choices":[{"delta":{"content":"a"}} , {"delta":{"content":"b"}},)"
              R"( {"index":7,"finish_reason":"stop"},{"delta":{"reasoning":"\n"}}, 8],)"
              R"("usage":{"prompt_tokens":1}})");
  EXPECT_EQ(stream.next_choice(),
            "text choice 1 text:'b' choice more:{\"index\":7,\"finish_reason\":\"stop\"},"
            "{\"delta\":{\"reasoning\":\"\\n\"}}, 8");
  EXPECT_EQ(stream.next_choice(),
            "finish choice 7 choice finish:stop more:{\"delta\":{\"reasoning\":\"\\n\"}}, 8");
  EXPECT_EQ(stream.next_choice(), "reasoning choice 8 reasoning:'\n' choice more:8");
  EXPECT_EQ(stream.next_choice(), "other choice 9");
  stream.read(R"({"choices":[{"index":3,"delta":{}},{"index":0,"delta":{"content":"a"}}]})");
  EXPECT_EQ(stream.next_choice(), "text text:'a' choice");
}

TEST(ReplyRules, a_call_that_a_later_choice_began_goes_on_in_the_next_event) {
  const std::string begins = R"({"index":1,"delta":{"tool_calls":[{"index":2,"id":"i"}]}})";
  const std::string event = format(R"({{"choices":[{{"delta":{{}}}},{}]}})", begins);
  Stream stream;
  stream.read(event);
  EXPECT_EQ(stream.next_choice(), "tool_call choice 1 tool_call:'^2|i||' choice");
  EXPECT_EQ(stream.read(delta_of(R"("tool_calls":[{"index":2,"function":{"arguments":"x"}}])")),
            "tool_call tool_call:'x' choice");
  ReplyDecoder decoder;
  DecodedEvent whole;
  const std::string bytes = with_padding(event);
  decoder.decode_reply(Api::openai, {bytes.data(), event.size()}, whole);
  decoder.next_choice(nullptr, whole);
  EXPECT_EQ(told_of(whole), "tool_call choice 1 tool_call:'^2|i||' choice");
}

TEST(ReplyRules, cumulative_text_may_be_revised_up_to_its_half) {
  const auto text = [](std::string_view words) { return format(R"({{"text":"{}"}})", words); };
  Stream revised;
  revised.read(text("abcd"));
  EXPECT_EQ(revised.read(text("abXYZ")), "text text:'XYZ' choice");  // half of it stays
  EXPECT_EQ(revised.read(text("abXYZ!")), "text text:'!' choice");
  Stream pieces;
  pieces.read(text("abcde"));
  EXPECT_EQ(pieces.read(text("abX")), "text text:'abX' choice");  // less than half does
  EXPECT_EQ(pieces.read(text("abX")), "text text:'abX' choice");
  EXPECT_EQ(pieces.read(text("")), "role choice");
  Stream ids;
  ids.read(R"({"output_ids":[1,2]})");
  EXPECT_EQ(ids.read(R"({"output_ids":[7]})"), "text text:',7' choice");
  EXPECT_EQ(ids.read(R"({"output_ids":[]})"), "role choice");
}

TEST(ReplyRules, a_whole_reply_is_no_part_of_a_stream) {
  ReplyDecoder decoder;
  DecodedEvent event;
  for (int i = 0; i < 2; ++i) {
    const std::string bytes = with_padding(R"({"text":"abc"})");
    decoder.decode_reply(Api::openai, {bytes.data(), bytes.size() - kDecodePadding}, event);
    EXPECT_EQ(told_of(event), "text text:'abc' choice");
  }
}

// Blanks where the template would have its fragment: what it was is not remembered.
TEST(ReplyRules, a_template_that_is_forgotten_is_so_whole) {
  Stream stream;
  stream.read(delta_of(R"("content":"a")"));
  stream.read(R"({"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]})");
  EXPECT_EQ(stream.read("{   " + delta_of(R"("content":"")").substr(1)), "role choice");
  EXPECT_EQ(stream.hits(), 0U);
}

TEST(ReplyRules, what_is_decoded_slowly_teaches_nothing) {
  ReplyDecoder decoder;
  StreamState state;
  DecodedEvent event;
  const std::string json = delta_of(R"("content":"a")");
  const std::string bytes = with_padding(json);
  decoder.decode_slowly({bytes.data(), json.size()}, state, event);
  decoder.decode({bytes.data(), json.size()}, state, event);
  EXPECT_EQ(state.template_hits, 0U);
  decoder.decode({bytes.data(), json.size()}, state, event);
  EXPECT_EQ(state.template_hits, 1U);
}

TEST(ReplyRules, an_end_ends_its_own_event_and_no_whole_reply) {
  ReplyDecoder decoder;
  StreamState state;
  state.api = Api::openai_responses;
  DecodedEvent event;
  const auto read = [&](const std::string& json) {
    const std::string bytes = with_padding(json);
    decoder.decode({bytes.data(), json.size()}, state, event);
    return event.ends;
  };
  const std::string delta = R"({"type":"response.output_text.delta","delta":"a"})";
  EXPECT_FALSE(read(delta));
  EXPECT_TRUE(read(R"({"type":"response.completed"})"));
  EXPECT_FALSE(read(delta));
  EXPECT_EQ(state.template_hits, 1U);
  const std::string whole = R"({"response":"a","done":true})";
  const std::string bytes = with_padding(whole);
  decoder.decode_reply(Api::ollama_generate, {bytes.data(), whole.size()}, event);
  EXPECT_EQ(event.finish, FinishReason::stop);
  EXPECT_FALSE(event.ends);
}

// What the template decodes needs room for what its escapes become.
TEST(ReplyRules, a_fragment_that_finds_no_room_is_told_as_such_by_the_template_too) {
  MemoryBudget budget(60'000);
  Stream stream(&budget);
  EXPECT_EQ(stream.read(delta_of(R"("content":"a")")), "text text:'a' choice");
  EXPECT_EQ(stream.read(delta_of(format(R"("content":"{}\n")", std::string(61'000, 'x')))),
            "no room");
  EXPECT_EQ(stream.read(delta_of(R"("content":"b")")), "text text:'b' choice");
}

TEST(ReplyRules, a_calls_index_may_stand_in_its_function) {
  EXPECT_EQ(
      one(delta_of(R"("tool_calls":[{"index":2,"function":{"x":1,"name":"f","arguments":"{}"}}])")),
      "tool_call tool_call:'^2||f|{}' choice");
  EXPECT_EQ(one(delta_of(R"("tool_calls":[{"function":{"index":3,"name":"f","arguments":"{}"}}])")),
            "tool_call tool_call:'^3||f|{}' choice");
}

TEST(DecodeRoom, grows_by_what_the_budget_allows_and_gives_back_what_was_out_of_the_ordinary) {
  constexpr std::size_t kFirst = 16 * 1024;
  constexpr std::size_t kMiB = 1024 * 1024;
  MemoryBudget budget(5 * kMiB);
  {
    DecodeRoom room(&budget);
    EXPECT_EQ(room.size(), kFirst);
    EXPECT_TRUE(room.fit(kFirst));
    EXPECT_EQ(room.size(), kFirst);
    EXPECT_EQ(budget.in_use(), 0U);  // the first room is always there
    EXPECT_TRUE(room.fit(kFirst + 1));
    EXPECT_EQ(room.size(), kFirst + 1);
    EXPECT_EQ(budget.in_use(), kFirst + 1);
    EXPECT_TRUE(room.fit(kMiB));
    EXPECT_TRUE(room.fit(1));
    EXPECT_EQ(budget.in_use(), kMiB);  // kept up to a mebibyte
    EXPECT_TRUE(room.fit(4 * kMiB));
    EXPECT_TRUE(room.fit(kMiB));  // a quarter of it is still needed
    EXPECT_EQ(budget.in_use(), 4 * kMiB);
    EXPECT_TRUE(room.fit(kMiB - 1));
    EXPECT_EQ(budget.in_use(), kMiB - 1);
    EXPECT_TRUE(room.fit(2 * kMiB));
    EXPECT_TRUE(room.fit(kFirst));
    EXPECT_EQ(room.size(), kFirst);
    EXPECT_EQ(budget.in_use(), 0U);
    EXPECT_FALSE(room.fit(5 * kMiB + 1));
    EXPECT_EQ(room.size(), kFirst);
    EXPECT_EQ(budget.in_use(), 0U);
    EXPECT_TRUE(room.fit(5 * kMiB));
    EXPECT_EQ(budget.in_use(), 5 * kMiB);
    std::fill_n(room.data(), room.size(), 'x');
  }
  EXPECT_EQ(budget.in_use(), 0U);
  DecodeRoom unlimited(nullptr);
  EXPECT_TRUE(unlimited.fit(3 * kMiB));
  EXPECT_EQ(unlimited.size(), 3 * kMiB);
}

// Twice its bytes, because each piece and each part of content may be stored once.
TEST(ReplyRules, an_event_costs_twice_its_bytes_and_a_little) {
  const std::string json = delta_of(format(R"("content":"{}")", std::string(20'000, 'x')));
  const std::uint64_t cost = 2 * json.size() + 256;
  MemoryBudget enough(cost);
  EXPECT_THAT(Stream(&enough).read(json), testing::StartsWith("text "));
  EXPECT_EQ(enough.peak(), cost);
  MemoryBudget short_of(cost - 1);
  EXPECT_EQ(Stream(&short_of).read(json), "no room");
  // The same for an event decoded by a template, if it has escapes.
  MemoryBudget again(300'000);
  Stream stream(&again);
  stream.read(delta_of(R"("content":"a")"));
  EXPECT_EQ(stream.read(delta_of(format(R"("content":"{}\n")", std::string(20'000, 'x')))).size(),
            20'000U + 20);
  EXPECT_EQ(stream.hits(), 1U);
  EXPECT_EQ(again.in_use(), 20'002U);
}

TEST(ReplyRules, cumulative_text_that_finds_no_room_is_told_as_such) {
  MemoryBudget budget(100'000);
  Stream stream(&budget);
  const std::string json = format(R"({{"text":"{}"}})", std::string(40'000, 'x'));
  EXPECT_EQ(stream.read(json), "no room");
  EXPECT_EQ(Stream().read(json).size(), 40'000U + 19);
}

TEST(ErrorTextRules, words_are_looked_for_in_this_order) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"error":{"message":"a"},"message":"b","detail":"c"})", "a"},
      {R"({"error":"a","message":"b","detail":"c"})", "a"},
      {R"({"error":{"code":1},"message":"b","detail":"c"})", "b"},
      {R"({"detail":"c"})", "c"},
      {R"({"detail":[{"msg":"m"}]})", "m"},
      {R"({"detail":[{"msg":"m","loc":["a",1,"b"]},{"msg":"n"}]})", "a.1.b: m"},
      {R"({"detail":[{"loc":["a"]}]})", R"({"detail":[{"loc":["a"]}]})"},
      {" \t\r\n a \n\n b \r\n", "a b"},
      {"a", "a"},
  };
  for (const auto& [body, line] : cases) EXPECT_EQ(error_text(body), line) << body;
}

TEST(ErrorTextRules, a_line_has_300_bytes_of_what_stands_in_the_first_600) {
  EXPECT_EQ(error_text(std::string(300, 'x')), std::string(300, 'x'));
  EXPECT_EQ(error_text(std::string(301, 'x')), std::string(300, 'x') + "…");
  EXPECT_EQ(error_text(std::string(599, ' ') + "x"), "x");
  EXPECT_EQ(error_text(std::string(600, ' ') + "x"), "");
  // A character is not cut.
  EXPECT_EQ(error_text(std::string(298, 'x') + "€€"), std::string(298, 'x') + "…");
  EXPECT_EQ(error_text(std::string(297, 'x') + "€€"), std::string(297, 'x') + "€…");
}

TEST(ErrorTextRules, an_event_that_is_named_an_error_has_words) {
  const auto named = [](std::string_view data, DecodedEvent event) {
    std::string words;
    take_as_error(data, words, event);
    EXPECT_EQ(event.category, Category::error);
    return std::string(event.error);
  };
  EXPECT_EQ(named("x", {.category = Category::error, .error = "own"}), "own");
  EXPECT_EQ(named(R"({"message":"m"})", {.category = Category::text, .malformed = true}), "m");
  EXPECT_EQ(named(" ", {}), "an event named error, without words");
  DecodedEvent event{.fragment_count = 1, .malformed = true, .has_choice = true};
  std::string words;
  take_as_error("x", words, event);
  EXPECT_EQ(told_of(event), "error error:'x'");
}

TEST(ErrorTextRules, a_connection_that_failed_has_a_door) {
  EXPECT_THAT(std::string(connect_door("x certificate: y")), testing::HasSubstr("--ca-file"));
  EXPECT_THAT(std::string(connect_door("wrong version number")), testing::HasSubstr("http://"));
  EXPECT_THAT(std::string(connect_door("packet length too long")), testing::HasSubstr("http://"));
  EXPECT_THAT(std::string(connect_door("Connection refused")), testing::HasSubstr("running"));
  EXPECT_EQ(connect_door("No route"), "");
}

TEST(DecodeWholeRules, says_what_is_wrong_and_puts_each_kind_of_words_into_its_own) {
  EXPECT_EQ(decode_whole("").error().message, "the reply is empty");
  EXPECT_EQ(decode_whole("<").error().message, "the reply is not JSON: <");
  EXPECT_EQ(decode_whole("{}").error().message, "the reply has no choices: {}");
  const auto reply = decode_whole(
      R"({"choices":[{"message":{"content":"t","reasoning":"r","tool_calls":[{"id":"c"}]}}]})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "t");
  EXPECT_EQ(reply->reasoning, "r");
  EXPECT_EQ(tool_calls_from(reply->tool_calls), (std::vector<ToolCall>{{0, "c", "", ""}}));
  EXPECT_EQ(reply->error, "");
}

}  // namespace
}  // namespace assay::protocol
