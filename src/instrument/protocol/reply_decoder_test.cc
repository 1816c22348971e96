#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/rng.h"
#include "domain/tool_call.h"
#include "protocol/codec.h"
#include "protocol/reply_twin.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;
using Fragments = std::vector<std::pair<Category, std::string>>;

// A decoder that gets one event at a time, with padding that would change the result if it were
// read as text.
class Reader {
 public:
  TwinEvent read(std::string_view data) {
    DecodedEvent event;
    const std::string bytes = padded(data);
    decoder_.decode({bytes.data(), data.size()}, state_, event);
    malformed_ = event.malformed;
    return own(event);
  }
  TwinEvent read_slowly(std::string_view data) {
    DecodedEvent event;
    const std::string bytes = padded(data);
    decoder_.decode_slowly({bytes.data(), data.size()}, state_, event);
    malformed_ = event.malformed;
    return own(event);
  }
  bool malformed() const { return malformed_; }
  std::uint32_t hits() const { return state_.template_hits; }

 private:
  static std::string padded(std::string_view text) {
    return std::string(text) + std::string(kDecodePadding, '"');
  }
  ReplyDecoder decoder_{};
  StreamState state_{};
  bool malformed_ = false;
};

TwinEvent read(std::string_view data) { return Reader().read(data); }

std::string chat(std::string_view delta, std::string_view rest = R"(,"finish_reason":null)") {
  return format(R"({{"id":"c","choices":[{{"index":0,"delta":{{{}}}{}}}]}})", delta, rest);
}

TEST(Decode, names_what_each_chat_delta_brings) {
  const std::tuple<std::string, Category, Fragments> cases[] = {
      {R"("role":"assistant","content":"")", Category::role, {}},
      {R"("role":"assistant","content":null)", Category::role, {}},
      {"", Category::role, {}},
      {R"("content":"Hi")", Category::text, {{Category::text, "Hi"}}},
      {R"("role":"assistant","content":" \"x\"\n\u20ac")",
       Category::text,
       {{Category::text, " \"x\"\n€"}}},
      {R"("reasoning_content":"hm","content":null)",
       Category::reasoning,
       {{Category::reasoning, "hm"}}},
      {R"("reasoning":"hm")", Category::reasoning, {{Category::reasoning, "hm"}}},
      {R"("reasoning":"hm","reasoning_content":"hm")",
       Category::reasoning,
       {{Category::reasoning, "hm"}}},
      {R"("content":"yes","reasoning_content":"so")",
       Category::reasoning,
       {{Category::reasoning, "so"}, {Category::text, "yes"}}},
      {R"("refusal":"no","content":null)", Category::text, {{Category::text, "no"}}},
      {R"("con\u0074ent":"Hi")", Category::text, {{Category::text, "Hi"}}},
      {R"("content":"a","content":"b")", Category::text, {{Category::text, "b"}}},
      {R"("content":"a","content":null)", Category::role, {}},
      {R"("content":7)", Category::role, {}},
      {R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text",)"
       R"("text":"m"}]},{"type":"text","text":"A"},{"type":"text","text":"\n"},7])",
       Category::reasoning,
       {{Category::reasoning, "hm"}, {Category::text, "A\n"}}},
  };
  for (const auto& [delta, category, fragments] : cases) {
    const TwinEvent event = read(chat(delta));
    EXPECT_EQ(event.category, category) << delta;
    EXPECT_EQ(event.fragments, fragments) << delta;
    EXPECT_TRUE(event.has_choice) << delta;
  }
}

TEST(Decode, reads_completions_finish_reasons_and_usage) {
  TwinEvent event = read(R"({"choices":[{"index":0,"text":"Hi","finish_reason":null}]})");
  EXPECT_EQ(event.fragments, (Fragments{{Category::text, "Hi"}}));
  EXPECT_EQ(event.finish, FinishReason::none);

  event = read(chat(R"("content":"!")", R"(,"finish_reason":"length")"));
  EXPECT_EQ(event.category, Category::text);
  EXPECT_EQ(event.finish, FinishReason::length);
  event = read(chat("", R"(,"finish_reason":"stop")"));
  EXPECT_EQ(event.category, Category::finish);
  EXPECT_EQ(read(chat("", R"(,"finish_reason":"")")).category, Category::role);
  EXPECT_EQ(read(chat("", R"(,"finish_reason":"eos")")).finish, FinishReason::other);

  event =
      read(R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12,)"
           R"("prompt_tokens_details":{"cached_tokens":4},)"
           R"("completion_tokens_details":{"reasoning_tokens":3}}})");
  EXPECT_EQ(event.category, Category::usage);
  EXPECT_FALSE(event.has_choice);
  EXPECT_EQ(event.usage, (Usage{5, 7, 3, 4}));
  event = read(R"({"choices":[],"usage":{"prompt_tokens":5,"prompt_tokens_details":null}})");
  EXPECT_EQ(event.usage, (Usage{5, -1, -1, -1}));
  EXPECT_FALSE(read(R"({"choices":[{"text":"a"}],"usage":null})").has_usage);
  // Counts with every fragment (vLLM's continuous_usage_stats).
  event = read(R"({"choices":[{"text":"a"}],"usage":{"prompt_tokens":1,"completion_tokens":2}})");
  EXPECT_EQ(event.category, Category::text);
  EXPECT_TRUE(event.has_usage);
}

TEST(Decode, the_marker_empty_choices_and_strangers_are_told_apart) {
  EXPECT_EQ(read("[DONE]").category, Category::marker);
  EXPECT_EQ(read(" [DONE]\r").category, Category::marker);
  EXPECT_EQ(read(R"({"choices":[]})").category, Category::other);
  EXPECT_EQ(read(R"({"choices":null,"object":"ping"})").category, Category::other);
  EXPECT_EQ(read("{}").category, Category::other);
  Reader reader;
  for (const char* text : {"", "DONE", "[DONE", "[]", "7", "{", R"({"choices":[{"delta":{)",
                           R"({"choices":[]} x)", "{\"a\":\"\\x\"}", "<html>"}) {
    const TwinEvent event = reader.read(text);
    EXPECT_TRUE(reader.malformed()) << text;
    EXPECT_EQ(event.category, Category::other) << text;
  }
  reader.read("{}");
  EXPECT_FALSE(reader.malformed());
}

TEST(Decode, an_error_inside_a_stream_is_an_error_with_its_words) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"error":{"message":"out of \"memory\"","type":"x","code":500}})", "out of \"memory\""},
      {R"({"error":"overloaded","error_type":"overloaded"})", "overloaded"},
      {R"({"error":{"code":7}})", R"({"code":7})"},
      {R"({"object":"error","message":"too long","type":"BadRequestError"})", "too long"},
      {R"({"choices":[{"delta":{},"finish_reason":"error"}]})",
       "the server ended the reply with finish_reason error"},
      {R"({"text":"","meta_info":{"finish_reason":{"type":"abort","message":"no room"}}})",
       "the server ended the reply with finish_reason abort: no room"},
  };
  for (const auto& [text, words] : cases) {
    const TwinEvent event = read(text);
    EXPECT_EQ(event.category, Category::error) << text;
    EXPECT_EQ(event.error, words) << text;
  }
  EXPECT_EQ(read(R"({"error":null,"choices":[{"delta":{"content":"a"}}]})").category,
            Category::text);
  EXPECT_EQ(read(R"({"error":"","choices":[]})").category, Category::other);
}

TEST(Decode, tool_calls_are_kept_apart_and_joined_again) {
  Reader reader;
  std::string text;
  const char* deltas[] = {
      (R"("role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function",)"
       R"("function":{"name":"find","arguments":""}}])"),
      R"("tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}])",
      R"("tool_calls":[{"index":0,"function":{"arguments":":1}"}}])",
      R"("tool_calls":[{"index":1,"id":"call_2","function":{"name":"get","arguments":"{"}}])",
      R"("tool_calls":[{"index":0,"function":{"arguments":" "}}])",
      R"("tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":1,"function":{}}])",
      R"("tool_calls":[{"index":0,"function":{"arguments":"\n"}}])",
  };
  for (const char* delta : deltas) {
    const TwinEvent event = reader.read(chat(delta));
    ASSERT_EQ(event.fragments.size(), 1U) << delta;
    EXPECT_EQ(event.category, Category::tool_call);
    text += event.fragments[0].second;
  }
  EXPECT_EQ(tool_calls_from(text), (std::vector<ToolCall>{{0, "call_1", "find", "{\"a\":1} \n"},
                                                          {1, "call_2", "get", "{}"}}));
  EXPECT_EQ(reader.hits(), 1U);
}

TEST(Decode, other_spellings_of_a_tool_call) {
  EXPECT_EQ(read(chat(R"("tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":[1]}}}])"))
                .fragments[0]
                .second,
            "\x1E"
            "0\x1F"
            "a\x1F"
            "f\x1F{\"x\":[1]}");
  EXPECT_EQ(read(chat(R"("function_call":{"name":"f","arguments":"{}"})")).fragments[0].second,
            "\x1E"
            "0\x1F\x1F"
            "f\x1F{}");
  EXPECT_EQ(read(chat(R"("tool_calls":[{"id":"a","custom":{"name":"f","input":"x"}},)"
                      R"({"id":"b","function":{"name":"g","arguments":""}}])"))
                .fragments[0]
                .second,
            "\x1E"
            "0\x1F"
            "a\x1F"
            "f\x1Fx\x1E"
            "1\x1F"
            "b\x1Fg\x1F");
  EXPECT_EQ(read(chat(R"("tool_calls":[])")).category, Category::role);
  EXPECT_EQ(read(chat(R"("tool_calls":[null,{"function":null}])")).category, Category::role);
}

std::string sglang(std::string_view text, int tokens, std::string_view finish = "null") {
  return format(R"({{"text":"{}","output_ids":[1],"meta_info":{{"id":"x","finish_reason":{},)"
                R"("prompt_tokens":9,"completion_tokens":{},"cached_tokens":2}}}})",
                text, finish, tokens);
}

TEST(Sglang, cumulative_text_is_cut_into_fragments) {
  Reader reader;
  EXPECT_EQ(reader.read(sglang("", 1)).category, Category::role);
  EXPECT_EQ(reader.read(sglang("Hel", 2)).fragments, (Fragments{{Category::text, "Hel"}}));
  EXPECT_EQ(reader.read(sglang("Hel", 3)).category, Category::role);
  const TwinEvent event = reader.read(sglang("Hello\\n", 4));
  EXPECT_EQ(event.fragments, (Fragments{{Category::text, "lo\n"}}));
  EXPECT_EQ(event.usage, (Usage{9, 4, -1, 2}));
  // The last text may be trimmed of a stop word: nothing new.
  const TwinEvent last = reader.read(sglang("Hello", 5, R"({"type":"length","length":5})"));
  EXPECT_EQ(last.category, Category::finish);
  EXPECT_EQ(last.finish, FinishReason::length);
}

TEST(Sglang, a_server_that_sends_pieces_is_found_out) {
  Reader reader;
  std::string text;
  for (const char* piece : {"One", " two", " two", " three"}) {
    const TwinEvent event = reader.read(sglang(piece, 1));
    ASSERT_EQ(event.fragments.size(), 1U) << piece;
    text += event.fragments[0].second;
  }
  EXPECT_EQ(text, "One two two three");
}

TEST(Sglang, a_revised_end_replaces_nothing_before_it) {
  Reader reader;
  reader.read(sglang("A long enough beginning \xEF\xBF\xBD", 1));
  EXPECT_EQ(reader.read(sglang("A long enough beginning \xE2\x82\xAC!", 2)).fragments,
            (Fragments{{Category::text, "\xE2\x82\xAC!"}}));
}

TEST(Sglang, without_text_the_token_ids_stand_for_it) {
  const auto ids = [](const char* list) {
    return format(R"({{"output_ids":[{}],"meta_info":{{"completion_tokens":1}}}})", list);
  };
  Reader cumulative;
  EXPECT_EQ(cumulative.read(ids("")).category, Category::role);
  EXPECT_EQ(cumulative.read(ids("5,6")).fragments, (Fragments{{Category::text, "5,6"}}));
  EXPECT_EQ(cumulative.read(ids("5,6,7")).fragments, (Fragments{{Category::text, ",7"}}));
  Reader pieces;
  pieces.read(ids("5"));
  EXPECT_EQ(pieces.read(ids("6")).fragments, (Fragments{{Category::text, ",6"}}));
}

TEST(Decode, half_characters_go_through_and_half_surrogates_do_not) {
  Reader reader;
  EXPECT_EQ(reader.read(chat("\"content\":\"a\xE2\x82\"")).fragments[0].second, "a\xE2\x82");
  EXPECT_EQ(reader.read(chat("\"content\":\"\xAC\"")).fragments[0].second, "\xAC");
  EXPECT_EQ(reader.hits(), 1U);
  EXPECT_EQ(reader.read(chat(R"("content":"\ud83d")")).fragments[0].second, "\xEF\xBF\xBD");
  EXPECT_EQ(reader.read(chat(R"("content":"\ude00")")).fragments[0].second, "\xEF\xBF\xBD");
}

TEST(Decode, raw_control_bytes_in_strings_are_text_and_elsewhere_no_json) {
  const auto event = [](std::string_view word) { return chat(format("\"content\":\"{}\"", word)); };
  Reader reader;
  EXPECT_EQ(reader.read(event(std::string_view("a\0b", 3))).fragments[0].second,
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_FALSE(reader.malformed());
  // After a template too; and a long text of control bytes only has enough room.
  EXPECT_EQ(reader.read(event("plain")).fragments[0].second, "plain");
  const std::string all(100'000, '\x1f');
  EXPECT_EQ(reader.read(event(all)).fragments[0].second.size(), 300'000U);
  EXPECT_EQ(reader.read(event("plain")).fragments[0].second, "plain");
  const auto whole = decode_whole(R"({"choices":[{"message":{"content":"x)" + all + R"("}}]})");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->text.size(), 300'001U);
  reader.read("{\x01\"choices\":[]}");
  EXPECT_TRUE(reader.malformed());
}

TEST(Template, decodes_all_but_the_first_event_of_a_steady_stream) {
  Reader reader;
  for (int i = 0; i < 100; ++i) {
    const std::string word = i % 7 == 0 ? R"(\n\"\u20ac)" : format(" w{}", i);
    const TwinEvent event = reader.read(chat(format(R"("content":"{}")", word)));
    ASSERT_EQ(event.fragments.size(), 1U);
    EXPECT_EQ(event.fragments[0].second, i % 7 == 0 ? "\n\"€" : word);
  }
  EXPECT_EQ(reader.hits(), 99U);
}

TEST(Template, is_not_fooled_by_what_looks_alike) {
  const std::string first = chat(R"("content":"a")");
  const std::size_t hole = first.find("\"a\"") + 1;
  const auto with = [&](std::string_view body) {
    return std::string(first).replace(hole, 1, body);
  };
  for (const char* body :
       {"", "\\", "\\u12", "\"", "b\",\"refusal\":\"c", "b\",\"content\":\"c",
        "b\"},\"x\":{\"y\":\"", "\n", "a\\\"", "\"\"", "x\",\"content\":null,\"y\":\""}) {
    Reader fast;
    Reader slow;
    fast.read(first);
    EXPECT_EQ(fast.read(with(body)), slow.read_slowly(with(body))) << body;
    EXPECT_EQ(fast.malformed(), slow.malformed()) << body;
    // The template still works.
    EXPECT_EQ(fast.read(first), slow.read_slowly(first)) << body;
  }
}

TEST(Template, an_event_shorter_than_prefix_and_suffix_together_is_not_cut_twice) {
  // Prefix and suffix of the first overlap in the second.
  const std::string first = R"({"choices":[{"text":"a"}],"x":{"text":"a"}})";
  const std::string second = R"({"choices":[{"text":""}],"x":{"text":"a"}})";
  Reader fast;
  fast.read(first);
  EXPECT_EQ(fast.read(second).category, Category::role);
}

// ---- random streams: fast against slow against a twin that shares no code ---------------------

class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : rng_(seed) {
    style_ = static_cast<int>(rng_.below(4));
    field_ = static_cast<int>(rng_.below(4));
    id_ = static_cast<int>(rng_.below(1000));
  }

  std::string next() {
    if (rng_.below(40) == 0) field_ = static_cast<int>(rng_.below(4));
    if (rng_.below(60) == 0) ++id_;
    switch (rng_.below(30)) {
      case 0:
        return wrapped("{}", R"("stop")");
      case 1:
        return R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}})";
      case 2:
        return R"({"error":{"message":"x\ny"}})";
      case 3:
        return wrapped(format(R"({{"content":{},"reasoning":{}}})", word(), word()), "null");
      case 7:
        return wrapped(format(R"({{"reasoning_text":{},"thoughts":{}}})", word(), word()), "null");
      case 8:
        return wrapped(
            format(R"({{"reasoning_details":[{{"text":{}}},{{"summary":{}}}]}})", word(), word()),
            "null");
      case 4:
        return wrapped(format(R"({{"tool_calls":[{{"index":{},"id":"c{}","function":{{"name":"f",)"
                              R"("arguments":{}}}}}]}})",
                              rng_.below(3), rng_.below(9), word()),
                       "null");
      case 5:
        return wrapped(format(R"({{"content":{},"content":{}}})", word(), word()), "null");
      case 6:
        return wrapped(format(R"({{"content":{}}})", word()), R"("length")");
      default:
        return wrapped(delta(), "null");
    }
  }

  std::string damaged(std::string text) {
    const std::uint64_t edits = 1 + rng_.below(3);
    for (std::uint64_t i = 0; i < edits; ++i) {
      text[rng_.below(text.size())] = "{}[]\",:\\0127.etnulf \n\t\x01z"[rng_.below(24)];
    }
    if (rng_.below(3) == 0) text.resize(rng_.below(text.size() + 1));
    return text;
  }
  std::uint64_t below(std::uint64_t bound) { return rng_.below(bound); }

 private:
  std::string word() {
    static const std::string kPieces[] = {"a",
                                          " the",
                                          "\\n",
                                          "\\\"",
                                          "\\\\",
                                          "€",
                                          "😀",
                                          "\\u00e9",
                                          "\\ud83d\\ude00",
                                          "{",
                                          "}",
                                          ",",
                                          "\\u0022:\\u007b",
                                          "content"};
    std::string out = "\"";
    const std::uint64_t pieces = rng_.below(rng_.below(8) == 0 ? 40 : 4);
    for (std::uint64_t i = 0; i < pieces; ++i) out += kPieces[rng_.below(std::size(kPieces))];
    return out + "\"";
  }

  std::string delta() {
    switch (field_) {
      case 0:
        return format(R"({{"content":{}}})", word());
      case 1:
        return format(R"({{"role":"assistant","reasoning_content":{},"content":null}})", word());
      case 2:
        return format(R"({{"tool_calls":[{{"index":{},"function":{{"arguments":{}}}}}]}})",
                      rng_.below(6) == 0 ? 1 : 0, word());
      default:
        return format(R"({{"content":"","reasoning":{}}})", word());
    }
  }

  std::string wrapped(const std::string& inside, std::string_view finish) {
    switch (style_) {
      case 0:
        return format(R"({{"choices":[{{"delta":{},"finish_reason":{}}}]}})", inside, finish);
      case 1:
        return format(
            R"({{"id":"chatcmpl-{}","object":"chat.completion.chunk","created":17,"model":"m\/x",)"
            R"("choices":[{{"index":0,"delta":{},"logprobs":null,"finish_reason":{}}}]}})",
            id_, inside, finish);
      case 2:
        return format(
            R"({{"choices": [{{"finish_reason": {}, "delta": {}, "index": 0}}, {{"delta": 7}}], )"
            R"("id": {}, "usage": null, "x": [1, {{"delta": {{"content": "no"}}}}]}} )",
            finish, inside, id_);
      default:
        return format(
            "\n{{ \"usage\" : null , \"choices\":[ {{\"delta\":{} ,\"finish_reason\" :{}}} ]}}",
            inside, finish);
    }
  }

  Rng rng_;
  int style_ = 0;
  int field_ = 0;
  int id_ = 0;
};

TEST(Template, agrees_with_the_slow_path_and_with_a_twin_on_random_streams) {
  std::uint64_t hits = 0;
  std::uint64_t events = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    RandomStream stream(seed);
    Reader fast;
    Reader slow;
    ReplyTwin twin;
    for (int i = 0; i < 100; ++i) {
      const std::string data = stream.next();
      const TwinEvent expected = slow.read_slowly(data);
      ASSERT_EQ(fast.read(data), expected) << "seed " << seed << " event " << i << "\n" << data;
      const auto json = Json::parse(data);
      ASSERT_TRUE(json) << data;
      ASSERT_EQ(twin.read(*json), expected) << "seed " << seed << " event " << i << "\n" << data;
      ++events;
    }
    hits += fast.hits();
  }
  EXPECT_GT(hits, events / 10);  // otherwise this test proves nothing about the template
}

TEST(Template, agrees_with_the_slow_path_on_damaged_streams) {
  std::uint64_t sound = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    RandomStream stream(seed);
    Reader fast;
    Reader slow;
    for (int i = 0; i < 100; ++i) {
      std::string data = stream.next();
      if (stream.below(3) == 0) data = stream.damaged(std::move(data));
      ASSERT_EQ(fast.read(data), slow.read_slowly(data))
          << "seed " << seed << " event " << i << "\n"
          << data;
      ASSERT_EQ(fast.malformed(), slow.malformed()) << data;
      sound += fast.malformed() ? 0U : 1U;
    }
  }
  EXPECT_GT(sound, 20'000U);
  EXPECT_LT(sound, 39'000U);
}

// ---- whole replies ---------------------------------------------------------------------------

TEST(DecodeWhole, reads_chat_completions_and_sglang) {
  auto reply = decode_whole(
      R"({"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Hi",)"
      R"("reasoning_content":"so","reasoning":"so","tool_calls":[{"id":"c","type":"function",)"
      R"("function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],)"
      R"("usage":{"prompt_tokens":1,"completion_tokens":2}})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "Hi");
  EXPECT_EQ(reply->reasoning, "so");
  EXPECT_EQ(tool_calls_from(reply->tool_calls), (std::vector<ToolCall>{{0, "c", "f", "{}"}}));
  EXPECT_EQ(reply->finish, FinishReason::tool_calls);
  EXPECT_EQ(reply->usage, (Usage{1, 2, -1, -1}));

  // Neither id nor usage nor role is needed (the reference client insists).
  reply = decode_whole(R"({"choices":[{"text":"ok"}]})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "ok");
  reply = decode_whole(R"({"choices":[{"message":{"content":null},"finish_reason":"stop"}]})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "");
  reply = decode_whole(R"({"text":"Hi","meta_info":{"completion_tokens":1}})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "Hi");
  EXPECT_EQ(reply->usage.completion_tokens, 1);
  reply = decode_whole(R"({"error":{"message":"busy"}})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->error, "busy");
}

TEST(DecodeWhole, what_is_no_reply_is_corrupt) {
  for (const char* body : {"", "{", "<html>Bad gateway</html>", "[]", "{}", R"({"choices":[]})",
                           R"({"choices":[7]})", R"({"data":[]})"}) {
    const auto reply = decode_whole(body);
    ASSERT_FALSE(reply) << body;
    EXPECT_EQ(reply.error().code, Code::corrupt);
  }
  EXPECT_THAT(decode_whole("<html>Bad gateway</html>").error().message, HasSubstr("Bad gateway"));
}

TEST(ErrorText, is_one_safe_line_in_the_servers_words) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"error":{"message":"The model `x` does not exist.","type":"NotFoundError"}})",
       "The model `x` does not exist."},
      {R"({"error":"overloaded"})", "overloaded"},
      {R"({"object":"error","message":"too long"})", "too long"},
      {R"({"detail":"Not Found"})", "Not Found"},
      {R"({"detail":[{"loc":["body","messages",0],"msg":"Field required"}]})",
       "body.messages.0: Field required"},
      {"<html>\r\n  <h1>502   Bad\tGateway</h1>\n", "<html> <h1>502 Bad Gateway</h1>"},
      {"", ""},
      {"{}", "{}"},
  };
  for (const auto& [body, line] : cases) EXPECT_EQ(error_text(body), line) << body;
  EXPECT_THAT(error_text("\x1b[2Jx"), testing::Not(HasSubstr("\x1b")));
  const std::string euros = [] {
    std::string out = "a";
    for (int i = 0; i < 500; ++i) out += "€";
    return out;
  }();
  EXPECT_LE(error_text(euros).size(), 303U);
  EXPECT_THAT(error_text(euros), testing::EndsWith("€…"));
}

}  // namespace
}  // namespace assay::protocol
