// Under which names the decoder finds a reply's words and counts, and what it does with others.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/format.h"
#include "protocol/codec.h"
#include "protocol/testing_reply_words.h"

namespace assay::protocol {
namespace {

// The event; with `behind`, the choice behind that many others.
std::string read_as(std::string_view json, int behind = 0) {
  ReplyDecoder decoder;
  StreamState state;
  DecodedEvent event;
  const std::string bytes = with_padding(json);
  decoder.decode({bytes.data(), json.size()}, state, event);
  for (; behind > 0; --behind) decoder.next_choice(&state, event);
  return told_of(event);
}

TEST(ReplyNames, reasoning_is_read_under_each_of_its_names) {
  EXPECT_EQ(read_as(delta_of(R"("reasoning_text":"r")")), "reasoning reasoning:'r' choice");
  EXPECT_EQ(read_as(delta_of(R"("reasoning_text":"c","reasoning":"b","reasoning_content":"a")")),
            "reasoning reasoning:'a' choice");
  EXPECT_EQ(read_as(delta_of(R"("reasoning_text":"c","reasoning":"b")")),
            "reasoning reasoning:'b' choice");
  // Parts, of which an encrypted one has no words.
  const std::string_view details =
      R"("reasoning_details":[{"type":"reasoning.text","text":"a\n"},{"data":"no"},{"text":"b"},7])";
  EXPECT_EQ(read_as(delta_of(details)), "reasoning reasoning:'a\nb' choice");
  EXPECT_EQ(read_as(delta_of(R"("reasoning_details":[{"summary":"s"}],"content":"t")")),
            "reasoning reasoning:'s' text:'t' choice");
  EXPECT_EQ(read_as(delta_of(std::string(details) + R"(,"reasoning":"r")")),
            "reasoning reasoning:'r' choice");
  EXPECT_EQ(read_as(delta_of(R"("reasoning_details":[{"data":"no"}])")), "role choice");
  EXPECT_EQ(read_as(delta_of(R"("reasoning_details":"no")")), "unread choice");
}

// What comes under another name may be the reply's words: such an event is no empty one.
TEST(ReplyNames, words_under_an_unknown_name_are_told_from_none) {
  EXPECT_EQ(read_as(delta_of(R"("thoughts":"x")")), "unread choice");
  EXPECT_EQ(read_as(delta_of(R"("role":"assistant","content":"","thoughts":"x")")),
            "unread choice");
  EXPECT_EQ(read_as(delta_of(R"("thoughts":"","content":"")")), "role choice");
  EXPECT_EQ(read_as(delta_of(R"("thoughts":null,"more":{"text":"x"},"most":["x"],"n":7)")),
            "role choice");
  for (const char* silent : {"role", "name", "id", "type", "tool_call_id", "signature"}) {
    EXPECT_EQ(read_as(delta_of(format(R"("{}":"x")", silent))), "role choice") << silent;
  }
  // Beside words that are known nothing is missing.
  EXPECT_EQ(read_as(delta_of(R"("thoughts":"x","content":"t")")), "text text:'t' choice");
  EXPECT_EQ(read_as(R"({"choices":[{"delta":{"thoughts":"x"},"finish_reason":"stop"}]})"),
            "finish choice finish:stop");
  EXPECT_EQ(read_as(R"({"thoughts":"x"})"), "other");
  EXPECT_EQ(read_as(R"({"choices":[{"delta":{"thoughts":"x"}},{"delta":{}}]})", 1),
            "role choice 1 choice");
}

TEST(ReplyNames, a_gateways_usage_counts_too) {
  EXPECT_EQ(read_as(R"({"x_groq":{"id":"r","usage":{"prompt_tokens":1,"completion_tokens":2}}})"),
            "usage usage:1,2,-1,-1");
  EXPECT_EQ(read_as(R"({"x_groq":{"id":"r"}})"), "other");
  EXPECT_EQ(read_as(R"({"x_groq":7})"), "other");
}

}  // namespace
}  // namespace assay::protocol
