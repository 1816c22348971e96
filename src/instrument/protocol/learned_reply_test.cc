// The learned shape of whole replies: what it passes over, and that a decoder which has read many
// replies reads each as a decoder does that has read none.
#include "protocol/learned_reply.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/rng.h"
#include "protocol/reply_twin.h"

namespace assay::protocol {
namespace {

std::string with_room_behind(std::string_view data) {
  return std::string(data) + std::string(kDecodePadding, '"');
}

// The same decoder for all replies, and for each one a decoder that knows nothing.
class OldAndNew {
 public:
  TwinEvent read(std::string_view data, Api api = Api::openai) {
    const std::string bytes = with_room_behind(data);
    DecodedEvent old_one;
    DecodedEvent new_one;
    old_.decode_reply(api, {bytes.data(), data.size()}, old_one);
    ReplyDecoder fresh;
    fresh.decode_reply(api, {bytes.data(), data.size()}, new_one);
    EXPECT_EQ(own(old_one), own(new_one)) << data;
    EXPECT_EQ(old_one.malformed, new_one.malformed) << data;
    EXPECT_EQ(old_one.choice, new_one.choice) << data;
    EXPECT_EQ(old_one.more_choices, new_one.more_choices) << data;
    EXPECT_EQ(old_one.ends, new_one.ends) << data;
    EXPECT_EQ(old_one.units, new_one.units) << data;
    return own(old_one);
  }

 private:
  ReplyDecoder old_{};
};

// A reply and the place of its text, as the grammar finds it.
struct Taught {
  std::string bytes{};
  std::size_t size = 0;
  RawString text{};
  DecodedEvent event{};

  Taught(std::string_view data, std::string_view words)
      : bytes(with_room_behind(data)), size(data.size()) {
    const std::size_t at = data.find(words);
    text = {bytes.data() + at, words.size()};
    ReplyDecoder().decode_reply(Api::openai, {bytes.data(), size}, event);
  }
};

// What a shape that learned `first` says of `second`: its text and its counts.
class Shape {
 public:
  Shape(std::string_view first, std::string_view words) { learn(first, words); }

  void learn(std::string_view data, std::string_view words, Spoken api = Api::openai) {
    const Taught taught(data, words);
    learned_.learn(api, {taught.bytes.data(), taught.size}, taught.text, taught.event);
  }
  std::optional<std::string> read(std::string_view data, Spoken api = Api::openai) {
    const std::string bytes = with_room_behind(data);
    DecodedEvent event;
    std::string_view text;
    if (!learned_.read(api, {bytes.data(), data.size()}, event, text)) return std::nullopt;
    return format("{} {} {}", text, event.usage.prompt_tokens, event.usage.completion_tokens);
  }

 private:
  LearnedReply learned_{};
};

std::string chat_reply(std::string_view id, std::string_view created, std::string_view text,
                       std::string_view prompt, std::string_view completion,
                       std::string_view total) {
  return format(
      R"({{"id":{},"object":"chat.completion","created":{},"model":"m","choices":[{{"index":0,)"
      R"("message":{{"role":"assistant","content":{}}},"finish_reason":"stop"}}],)"
      R"("usage":{{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{}}}}})",
      id, created, text, prompt, completion, total);
}

std::string first_chat() { return chat_reply(R"("a")", "17", R"("words")", "9", "4", "13"); }

TEST(LearnedReply, another_text_id_time_and_other_counts_are_the_same_shape) {
  Shape shape(first_chat(), "words");
  EXPECT_EQ(shape.read(first_chat()), "words 9 4");
  EXPECT_EQ(
      shape.read(chat_reply(R"("longer-id")", "1795190523", R"("x")", "123456789", "0", "77")),
      "x 123456789 0");
  EXPECT_EQ(shape.read(chat_reply(R"("")", "0", R"("a \"b\" \\")", "0", "999999999", "0")),
            R"(a \"b\" \\ 0 999999999)");
  EXPECT_EQ(shape.read(chat_reply(R"("a")", "99999999999999999999999", R"("x")", "1", "2", "3")),
            "x 1 2");
}

TEST(LearnedReply, a_count_of_nine_digits_is_the_longest_that_is_left_out) {
  for (const std::string most : {"123456789", "1234567890"}) {
    const std::string first = chat_reply(R"("a")", "17", R"("words")", most, "4", "13");
    Shape shape(first, "words");
    EXPECT_EQ(shape.read(first), format("words {} 4", most));
    EXPECT_EQ(shape.read(first_chat()).has_value(), most.size() == 9) << most;
  }
}

TEST(LearnedReply, anything_else_that_differs_is_another_shape) {
  Shape shape(first_chat(), "words");
  const std::string same = first_chat();
  for (std::size_t cut = 0; cut < same.size(); ++cut) {
    EXPECT_EQ(shape.read(same.substr(0, cut)), std::nullopt) << cut;
  }
  EXPECT_EQ(shape.read(same + " "), std::nullopt);
  EXPECT_EQ(shape.read(same + "}"), std::nullopt);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {R"("stop")", R"("length")"},
           {R"("index":0)", R"("index":1)"},
           {R"("words")", R"("")"},
           {R"("words")", "null"},
           {R"("words")", "\"a\nb\""},
           {R"("id":"a")", R"("id":"a\u0062")"},
           {R"("id":"a")", R"("id":7)"},
           {R"("id":"a")", R"("id":null)"},
           {R"("created":17)", R"("created":"17")"},
           {R"("created":17)", R"("created":017)"},
           {R"("created":17)", R"("created":17.5)"},
           {R"("created":17)", R"("created":-17)"},
           {R"("prompt_tokens":9)", R"("prompt_tokens":-9)"},
           {R"("prompt_tokens":9)", R"("prompt_tokens":09)"},
           {R"("prompt_tokens":9)", R"("prompt_tokens":9e1)"},
           {R"("prompt_tokens":9)", R"("prompt_tokens":null)"},
           {R"("completion_tokens":4)", R"("completion_tokens":4.0)"},
           {R"("completion_tokens":4)", R"("completion_tokens":1234567890)"},
           {R"("completion_tokens":4)", R"("completion_tokens":)"},
           {R"("total_tokens":13)", R"("total_tokens":13,"cost":1)"}}) {
    std::string other = same;
    other.replace(other.find(from), from.size(), to);
    EXPECT_EQ(shape.read(other), std::nullopt) << other;
    OldAndNew both;
    for (const bool changed : {false, false, true, false, true, true}) {
      both.read(changed ? other : same);
    }
  }
}

TEST(LearnedReply, a_shape_belongs_to_one_kind_of_API) {
  Shape shape(first_chat(), "words");
  EXPECT_EQ(shape.read(first_chat(), Api::openai_completions), std::nullopt);
  shape.learn(first_chat(), "words", Api::openai_completions);
  EXPECT_EQ(shape.read(first_chat(), Api::openai), "words 9 4");
  shape.learn(first_chat(), "words", Api::openai_completions);
  EXPECT_EQ(shape.read(first_chat(), Api::openai_completions), "words 9 4");
  EXPECT_EQ(shape.read(first_chat(), Api::openai), std::nullopt);
  // One that has learned nothing takes nothing.
  LearnedReply none;
  DecodedEvent event;
  std::string_view text;
  EXPECT_FALSE(none.read(Api::openai, "", event, text));
}

TEST(LearnedReply, what_the_grammar_may_have_read_elsewhere_is_part_of_the_shape) {
  // Two counts of one name: the grammar reads one of them.
  const std::string twice =
      R"({"x":{"completion_tokens":4},"choices":[{"message":{"content":"words"}}],)"
      R"("usage":{"completion_tokens":4}})";
  Shape shape(twice, "words");
  EXPECT_EQ(shape.read(twice), "words -1 4");
  std::string other = twice;
  other.replace(other.find(":4"), 2, ":5");
  EXPECT_EQ(shape.read(other), std::nullopt);
  // One that is not where the grammar looks.
  const std::string elsewhere =
      R"({"x":{"completion_tokens":4},"choices":[{"message":{"content":"words"}}]})";
  Shape stranger(elsewhere, "words");
  EXPECT_EQ(stranger.read(elsewhere), "words -1 -1");
  other = elsewhere;
  other.replace(other.find(":4"), 2, ":5");
  EXPECT_EQ(stranger.read(other), std::nullopt);
  // A count of nothing in another form.
  const std::string zero =
      R"({"choices":[{"message":{"content":"words"}}],"usage":{"prompt_tokens":0.0}})";
  EXPECT_EQ(Shape(zero, "words").read(zero), "words 0 -1");
  // A count as a string, and one of more digits than are surely in range.
  for (const char* value : {R"("4")", "1234567890", "4.0"}) {
    const std::string odd = format(
        R"({{"choices":[{{"message":{{"content":"words"}}}}],"usage":{{"prompt_tokens":{}}}}})",
        value);
    Shape of_odd(odd, "words");
    EXPECT_NE(of_odd.read(odd), std::nullopt);
    other = odd;
    other.replace(other.find('4'), 1, "5");
    EXPECT_EQ(of_odd.read(other), std::nullopt) << other;
  }
}

TEST(LearnedReply, nothing_is_learned_with_escapes_outside_the_text_or_of_a_large_reply) {
  const std::string before = R"({"n":"\u0061","choices":[{"message":{"content":"words"}}]})";
  const std::string behind = R"({"choices":[{"message":{"content":"words"}}],"n":"\u0061"})";
  const std::string inside = R"({"choices":[{"message":{"content":"\u0061"}}],"n":"a"})";
  EXPECT_EQ(Shape(before, "words").read(before), std::nullopt);
  EXPECT_EQ(Shape(behind, "words").read(behind), std::nullopt);
  EXPECT_EQ(Shape(inside, R"(\u0061)").read(inside), R"(\u0061 -1 -1)");
  // The size without the text counts.
  for (const std::size_t bytes : {std::size_t{16} << 10, (std::size_t{16} << 10) + 1}) {
    std::string large = R"({"choices":[{"message":{"content":""}}],"n":""})";
    large.insert(large.size() - 2, bytes - large.size(), 'n');
    const std::string words(40'000, 'w');
    large.insert(large.find(R"("content":")") + 11, words);
    EXPECT_EQ(Shape(large, words).read(large).has_value(), bytes == std::size_t{16} << 10);
  }
}

TEST(LearnedReply, shapes_that_do_not_last_are_learned_more_and_more_seldom) {
  const auto of = [](int i) {
    return format(R"({{"k{}":1,"choices":[{{"message":{{"content":"words"}}}}]}})", i);
  };
  Shape shape(of(0), "words");
  std::vector<int> learned;
  for (int i = 1; i < 300; ++i) {
    shape.learn(of(i), "words");
    Shape copy = shape;  // asked in its place: a shape that is used is one that lasts
    if (copy.read(of(i))) learned.push_back(i);
  }
  EXPECT_EQ(learned, (std::vector<int>{2, 6, 14, 30, 62, 126, 191, 256}));
  // One that lasts is followed by the next at once.
  EXPECT_TRUE(shape.read(of(256)));
  shape.learn(of(999), "words");
  EXPECT_TRUE(shape.read(of(999)));
  shape.learn(of(1000), "words");
  EXPECT_TRUE(shape.read(of(1000)));
  // The second behind it that does not fit waits again, for the first was not used.
  shape.learn(of(1001), "words");
  shape.learn(of(1002), "words");
  EXPECT_FALSE(shape.read(of(1002)));
  EXPECT_TRUE(shape.read(of(1001)));
}

// Replies of random members in a random order, whose values change, and some of which are damaged.
class RandomReply {
 public:
  explicit RandomReply(std::uint64_t seed) : rng_(seed) { turn(); }

  std::uint64_t below(std::uint64_t n) { return rng_.below(n); }
  std::string next() {
    if (below(12) == 0) turn();
    std::string out = shape_;
    for (std::size_t at = 0; (at = out.find('@', at)) != std::string::npos;) {
      const std::string value = of(out[at + 1]);
      out.replace(at, 2, value);
      at += value.size();
    }
    if (below(6) == 0) {
      const std::size_t at = below(out.size());
      static constexpr std::string_view kBytes = "\"\\{}[],:0e.-n7 a";
      switch (below(3)) {
        case 0:
          out.erase(at, 1);
          break;
        case 1:
          out[at] = kBytes[below(kBytes.size())];
          break;
        default:
          out.insert(at, 1, kBytes[below(kBytes.size())]);
      }
    }
    return out;
  }

 private:
  std::string pick(const std::vector<std::string>& of) { return of[below(of.size())]; }

  std::string shuffled(std::vector<std::string> members) {
    std::string out;
    while (!members.empty()) {
      const std::size_t at = below(members.size());
      if (below(5) > 0) out += (out.empty() ? "" : ",") + members[at];
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return "{" + out + "}";
  }

  void turn() {
    const std::string message =
        shuffled({R"("content":@t)", R"("content":@t)", R"("reasoning":@t)", R"("id":@i)",
                  pick({R"("tool_calls":[])", R"("tool_calls":[{"id":@i}])", R"("refusal":null)",
                        R"("function_call":{"name":@i})"})});
    const std::string choice = shuffled({R"("message":)" + message, R"("message":)" + message,
                                         R"("finish_reason":@f)", R"("index":@n)", R"("text":@t)"});
    const std::string usage =
        shuffled({R"("prompt_tokens":@n)", R"("completion_tokens":@n)", R"("total_tokens":@n)",
                  R"("completion_tokens":@n)", R"("reasoning_tokens":@n)",
                  R"("prompt_tokens_details":{"cached_tokens":@n})"});
    shape_ = shuffled(
        {R"("id":@i)", R"("created":@n)", R"("choices":[)" + choice + "]",
         R"("choices":[)" + choice + "]", R"("usage":)" + usage, R"("usage":)" + usage,
         pick({R"("id":@n)", R"("error":@e)", R"("\u0069d":@i)", R"("text":@t)",
               R"("meta_info":{"prompt_tokens":@n})", R"("x":{"completion_tokens":@n})"})});
  }

  std::string of(char what) {
    switch (what) {
      case 't':
        return pick({R"("a")", R"("b")", R"("")", R"("longer words")", R"("\n\u20ac")", "null",
                     R"("\"id\":\"x\"")"});
      case 'i':
        return pick({R"("a")", R"("bc")", R"("bc")", R"("d")", R"("d\\")", R"("")"});
      case 'f':
        return below(8) == 0 ? R"("length")" : R"("stop")";
      case 'e':
        return below(8) == 0 ? R"({"message":"m"})" : "null";
      default:
        return below(16) == 0 ? pick({"1.0", "null", "01", "2147483648", "-3", R"("4")"})
                              : std::to_string(below(1000));
    }
  }

  Rng rng_;
  std::string shape_{};
};

TEST(LearnedReply, an_old_decoder_reads_random_replies_as_a_new_one_does) {
  std::size_t texts = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomReply replies(seed);
    OldAndNew both;
    for (int i = 0; i < 80; ++i) texts += both.read(replies.next()).fragments.size();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(texts, 4000U);  // otherwise this test proves nothing about the shape
}

TEST(LearnedReply, replies_of_a_server_are_read_with_their_own_words_and_counts) {
  OldAndNew both;
  for (int i = 0; i < 200; ++i) {
    const std::string words = i % 7 == 0 ? R"(\n\"\u20ac)" : format("w{}", i);
    const TwinEvent reply = both.read(
        chat_reply(format("\"id-{}\"", i), std::to_string(1'795'190'000 + i),
                   format("\"{}\"", words), std::to_string(i), std::to_string(2 * i), "7"));
    ASSERT_EQ(reply.fragments.at(0).second, i % 7 == 0 ? "\n\"€" : words);
    ASSERT_EQ(reply.usage.prompt_tokens, i);
    ASSERT_EQ(reply.usage.completion_tokens, 2 * i);
    ASSERT_EQ(reply.finish, FinishReason::stop);
  }
}

}  // namespace
}  // namespace assay::protocol
