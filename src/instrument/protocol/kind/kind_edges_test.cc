// Kinds at their edges: what a row leaves out or gives twice, and the least and the most of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/format.h"
#include "domain/tool_call.h"
#include "protocol/codec.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

Sample edge_row(std::string_view body, std::string prompt = "p") {
  Sample out;
  out.prompt = std::move(prompt);
  out.body = *Json::parse(body);
  return out;
}

// The body, or why there is none.
std::string edge_body(Api api, const Sample& sample, std::string_view extra = "{}") {
  Generation generation;
  generation.stream = false;
  generation.max_new_tokens = 0;
  generation.extra_body = *Json::parse(extra);
  const auto body = make_body(api, generation, sample, false);
  return body ? body->bytes : "refused: " + body.error().message;
}

// A whole reply: its text, its calls, its error, its units and its counts.
std::string edge_reply(Api api, std::string_view body, bool whole = true) {
  std::string padded(body);
  padded.append(kDecodePadding, '"');
  ReplyDecoder decoder;
  StreamState state;
  state.api = api;
  DecodedEvent event;
  const std::string_view text(padded.data(), body.size());
  if (whole) {
    decoder.decode_reply(api, text, event);
  } else {
    decoder.decode_slowly(text, state, event);
  }
  if (event.malformed) return "malformed";
  std::string out = event.has_choice ? "choice" : "none";
  for (std::size_t i = 0; i < event.fragment_count; ++i) {
    std::string words(event.fragments[i].text);
    for (char& c : words) c = c == kToolCallBegins || c == kToolCallField ? '|' : c;
    out += format(" '{}'", words);
  }
  if (event.units > 0) out += format(" units {}", event.units);
  if (event.has_usage) {
    out += format(" {}+{}", event.usage.prompt_tokens, event.usage.completion_tokens);
  }
  if (!event.error.empty()) out += format(" error {}", event.error);
  return out;
}

TEST(KindEdges, a_rows_own_fields_are_sent_where_the_kind_has_them) {
  EXPECT_THAT(edge_body(Api::openai, edge_row(R"({"chat_template_kwargs":{"x":1}})")),
              HasSubstr(R"("chat_template_kwargs":{"x":1})"));
  Sample with_tools = edge_row(R"({"other":7,"chat_template_kwargs":{"x":1}})");
  with_tools.tools = Json::array();
  EXPECT_THAT(edge_body(Api::openai, with_tools),
              HasSubstr(R"("chat_template_kwargs":{"x":1},"tools":[],"other":7})"));
  // In the order of the reference's fields, not behind them.
  EXPECT_THAT(edge_body(Api::openai_completions, edge_row(R"({"user":"u","n":2,"stop":"s"})")),
              HasSubstr(R"("n":2,"stop":"s","user":"u")"));
}

TEST(KindEdges, a_ranking_needs_one_document_at_least) {
  for (const Api api : {Api::rerank, Api::score}) {
    EXPECT_THAT(edge_body(api, edge_row(R"({"documents":[]})")), HasSubstr("no documents"));
    EXPECT_THAT(edge_body(api, edge_row(R"({"documents":{"a":1}})")), HasSubstr("no documents"));
    EXPECT_THAT(edge_body(api, edge_row(R"({"documents":"one"})")), HasSubstr("no documents"));
    EXPECT_THAT(edge_body(api, edge_row(R"({"documents":["one"]})")), HasSubstr(R"(["one"])"));
  }
}

TEST(KindEdges, token_ids_of_one_input_are_one_unit) {
  EXPECT_EQ(kind_of(Api::openai_embeddings).units(*Json::parse(R"({"input":[7]})")), 1U);
  EXPECT_EQ(kind_of(Api::openai_embeddings).units(*Json::parse(R"({"input":[7,8,9]})")), 1U);
  EXPECT_EQ(kind_of(Api::openai_embeddings).units(*Json::parse(R"({"input":["a",8]})")), 2U);
  EXPECT_EQ(kind_of(Api::openai_embeddings).units(*Json::parse(R"({"input":["a"]})")), 1U);
}

TEST(KindEdges, of_results_that_come_twice_the_last_count) {
  EXPECT_EQ(edge_reply(Api::openai_embeddings, R"({"data":[1,2],"results":[1]})"),
            "choice units 1");
  EXPECT_EQ(edge_reply(Api::openai_embeddings, R"({"data":[1,2],"data":null})"), "none");
}

TEST(KindEdges, speech_takes_its_words_and_rates_and_no_others) {
  const auto asked = [](std::string_view extra) {
    return edge_body(Api::openai_speech, edge_row("{}"), extra);
  };
  for (const char* const good :
       {R"({"sample_rate":1})", R"({"sample_rate":1000000})", R"({"response_format":"wav"})"}) {
    EXPECT_THAT(asked(good), testing::StartsWith("{\"")) << good;
  }
  for (const char* const wrong :
       {R"({"sample_rate":0})", R"({"sample_rate":1000001})", R"({"sample_rate":1.5})",
        R"({"sample_rate":8000.0})", R"({"sample_rate":"1"})"}) {
    EXPECT_THAT(asked(wrong),
                HasSubstr("sample_rate: must be a whole number from 1 to 1000000, is "))
        << wrong;
  }
  EXPECT_EQ(asked(R"({"stream_format":""})"),
            "refused: stream_format: must be one of audio, sse, is \"\"");
  EXPECT_EQ(asked(R"({"stream_format":5})"),
            "refused: stream_format: must be one of audio, sse, is 5");
  EXPECT_EQ(asked(R"({"response_format":""})"),
            "refused: response_format: must be one of mp3, opus, aac, flac, wav, pcm, is \"\"");
}

TEST(KindEdges, the_language_of_a_sound_stands_before_a_rows_other_fields) {
  Sample sample = edge_row(R"({"user":"u","language":"de"})", "");
  sample.attachments.push_back({.name = "file", .type = "", .file = "a.wav", .bytes = "x"});
  const std::string form = edge_body(Api::openai_transcriptions, sample);
  ASSERT_NE(form.find("\"language\""), std::string::npos) << form;
  EXPECT_LT(form.find("\"language\""), form.find("\"user\""));
}

TEST(KindEdges, a_transcript_has_its_counts_and_its_error) {
  EXPECT_EQ(edge_reply(Api::openai_transcriptions,
                       R"({"text":"a","usage":{"input_tokens":3,"output_tokens":4},"x":{}})"),
            "choice 'a' 3+4");
  EXPECT_EQ(edge_reply(Api::openai_transcriptions, R"({"error":{"message":"no"},"x":"y"})"),
            "none error no");
  // A typed event has no more of an earlier reading than its own members.
  EXPECT_EQ(edge_reply(Api::openai_transcriptions,
                       R"({"type":"transcript.text.delta","delta":"a","error":"no"})", false),
            "choice 'a' error no");
}

TEST(KindEdges, raw_control_bytes_find_room_in_every_kind) {
  const std::string raw(300, '\x01');
  std::string shown;
  for (int i = 0; i < 300; ++i) shown += "\xEF\xBF\xBD";
  EXPECT_EQ(edge_reply(Api::ollama_generate, R"({"response":")" + raw + "\"}"),
            "choice '" + shown + "'");
  EXPECT_EQ(edge_reply(Api::openai_transcriptions, R"({"text":")" + raw + "\"}"),
            "choice '" + shown + "'");
}

TEST(KindEdges, a_message_without_counts_has_none) {
  EXPECT_EQ(edge_reply(Api::anthropic_messages, R"({"content":[{"type":"text","text":"a"}]})"),
            "choice 'a'");
  EXPECT_EQ(edge_reply(Api::anthropic_messages,
                       R"({"content":[],"usage":{"input_tokens":1,"output_tokens":2}})"),
            "choice 1+2");
  EXPECT_EQ(edge_reply(Api::anthropic_messages, R"({"type":"message_delta"})", false), "choice");
}

TEST(KindEdges, a_result_of_a_tool_that_comes_first_is_a_message_of_the_user) {
  Sample sample;
  sample.messages = *Json::parse(R"([{"role":"tool","tool_call_id":"c","content":"3"}])");
  EXPECT_THAT(edge_body(Api::anthropic_messages, sample),
              HasSubstr(R"("messages":[{"role":"user","content":[{"type":"tool_result",)"
                        R"("tool_use_id":"c","content":"3"}]}])"));
}

TEST(KindEdges, a_responses_items_have_their_places_and_its_words_their_order) {
  EXPECT_EQ(edge_reply(Api::openai_responses,
                       R"({"output":[{"type":"reasoning","content":[5],"summary":[{"text":"s"}]},)"
                       R"({"type":"message","content":[{"text":"a"}]}]})"),
            "choice 'a'")
      << "raw reasoning that says nothing is not replaced";
  EXPECT_EQ(edge_reply(Api::openai_responses, "{}"), "none");
  EXPECT_EQ(edge_reply(Api::openai_responses, R"({"output":[{"type":"message","content":[)"
                                              R"({"text":}]}]})"),
            "malformed");
}

TEST(KindEdges, a_turns_call_has_its_place_its_id_and_its_name) {
  EXPECT_EQ(edge_reply(Api::realtime,
                       R"({"type":"response.output_item.added","output_index":4,"item":{"x":"y",)"
                       R"("call_id":"c","name":"f","type":"function_call","z":"w"}})",
                       false),
            "choice '|4|c|f|'");
}

TEST(KindEdges, a_turn_without_a_model_names_none_and_its_script_is_its_own) {
  Generation generation{.stream = true};
  RequestBody out;
  out.bytes = "left over";
  const Json body = kind_of(Api::realtime).body(generation, edge_row("{}", "hi"), '\0');
  EXPECT_EQ(body.find("model"), nullptr);
  ASSERT_TRUE(kind_of(Api::realtime).encode(body, edge_row("{}", "hi"), out));
  EXPECT_THAT(out.bytes, testing::StartsWith(R"({"type":"session.update")"));
  EXPECT_EQ(out.goes_on_at, 0U);
}

TEST(KindEdges, what_the_assistant_said_first_is_not_said_again) {
  Generation generation{.model = "m", .stream = true};
  generation.extra_body = *Json::parse(R"({"session":"conversation"})");
  Sample sample;
  sample.messages =
      *Json::parse(R"([{"role":"assistant","content":"A"},{"role":"user","content":"U"}])");
  const auto body = make_body(Api::realtime, generation, sample, false);
  ASSERT_TRUE(body) << body.error().message;
  const std::string lacks = body->bytes.substr(body->goes_on_at);
  EXPECT_THAT(lacks, HasSubstr("\"U\""));
  EXPECT_THAT(lacks, testing::Not(HasSubstr("\"A\"")));
}

TEST(KindEdges, a_job_is_an_object_and_a_video_has_bytes) {
  for (const char* const none : {"", "{", "[]", "7", R"(["id"])", R"({"id":""})"}) {
    EXPECT_EQ(read_job(none).id, "") << none;
  }
  EXPECT_EQ(edge_reply(Api::openai_videos, ""), "malformed");
  EXPECT_EQ(edge_reply(Api::openai_videos, "x"), "choice units 1");
  for (const char* const no_video : {" ", "\n", "<html></html>", "\n <p>"}) {
    EXPECT_EQ(edge_reply(Api::openai_videos, no_video), "malformed") << no_video;
  }
}

TEST(KindEdges, a_call_without_a_place_has_the_one_before_the_first) {
  EXPECT_EQ(edge_reply(Api::anthropic_messages,
                       R"({"type":"content_block_start","content_block":{"type":"tool_use",)"
                       R"("id":"i","name":"f"}})",
                       false),
            "choice '|-1|i|f|'");
  EXPECT_EQ(edge_reply(Api::realtime,
                       R"({"type":"response.output_item.added","item":{"call_id":"c","name":"f",)"
                       R"("type":"function_call"}})",
                       false),
            "choice '|-1|c|f|'");
}

}  // namespace
}  // namespace assay::protocol
