// What each kind's events and whole replies mean, one by one. The streams of real servers are in
// fixtures_test.cc; here is what those servers seldom say.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/format.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

// What is known of them.
std::string counts_words(const Usage& usage) {
  std::string out;
  for (const auto& [name, count] : {std::pair{"prompt", usage.prompt_tokens},
                                    {"completion", usage.completion_tokens},
                                    {"reasoning", usage.reasoning_tokens},
                                    {"cached", usage.cached_tokens}}) {
    if (count != -1) out += format(" {}={}", name, count);
  }
  return out;
}

// With bars for the bytes that part a tool call (domain/tool_call.h).
std::string barred(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = '|';
  }
  return text;
}

std::string event_words(const DecodedEvent& event) {
  if (event.malformed) return "malformed";
  std::string out(to_string(event.category));
  if (!event.has_choice) out += " no-choice";
  for (std::size_t i = 0; i < event.fragment_count; ++i) {
    out += format(" {}={}", to_string(event.fragments[i].category), event.fragments[i].text);
  }
  if (event.finish != FinishReason::none) out += format(" finish={}", to_string(event.finish));
  if (event.ends) out += " ends";
  if (event.has_usage) out += counts_words(event.usage);
  if (event.category == Category::error) out += format(" error={}", event.error);
  return barred(out);
}

// One event of a stream of its own.
std::string kind_event(Api api, std::string data) {
  ReplyDecoder decoder;
  StreamState state;
  state.api = api;
  DecodedEvent event;
  const std::size_t size = data.size();
  data.append(kDecodePadding, '\0');
  decoder.decode_slowly({data.data(), size}, state, event);
  return event_words(event);
}

std::string kind_reply(Api api, std::string_view body) {
  const auto reply = decode_whole(body, api);
  if (!reply) return "no reply";
  if (!reply->error.empty()) return "error=" + reply->error;
  return barred(format("text={} reasoning={} calls={} finish={}{}", reply->text, reply->reasoning,
                       reply->tool_calls, to_string(reply->finish), counts_words(reply->usage)));
}

struct Row {
  const char* said;
  const char* meant;
};

TEST(ResponsesReplies, each_event_is_what_its_type_says) {
  for (const Row& row : {
           Row{R"({"type":"response.created","response":{"usage":{"input_tokens":1}}})", "role"},
           Row{R"({"type":"response.output_text.delta","delta":"a"})", "text text=a"},
           Row{R"({"type":"response.refusal.delta","delta":"no"})", "text text=no"},
           Row{R"({"type":"response.reasoning_text.delta","delta":"r"})", "reasoning reasoning=r"},
           Row{R"({"type":"response.reasoning_summary_text.delta","delta":"r"})",
               "reasoning reasoning=r"},
           Row{R"({"type":"response.function_call_arguments.delta","output_index":1,"delta":"{"})",
               "tool_call tool_call=|1|||{"},
           Row{R"({"type":"response.custom_tool_call_input.delta","output_index":1,"delta":"x"})",
               "tool_call tool_call=|1|||x"},
           Row{R"({"type":"response.mcp_call_arguments.delta","output_index":1,"delta":"x"})",
               "tool_call tool_call=|1|||x"},
           Row{R"({"type":"response.function_call_arguments.delta","delta":""})", "role"},
           Row{R"({"type":"response.output_item.added","output_index":1,"item":{"type":"functi)"
               R"(on_call","call_id":"c","name":"f","arguments":"{}"}})",
               "tool_call tool_call=|1|c|f|"},
           Row{R"({"type":"response.output_item.added","item":{"type":"custom_tool_call","name)"
               R"(":"f"}})",
               "tool_call tool_call=|-1||f|"},
           Row{R"({"type":"response.output_item.added","item":{"type":"mcp_call","name":"f"}})",
               "tool_call tool_call=|-1||f|"},
           Row{R"({"type":"response.output_item.added","item":{"type":"message"}})", "role"},
           Row{R"({"type":"response.output_text.done","text":"all"})", "role"},
           Row{R"({"type":"other.delta","delta":"a"})", "other no-choice"},
           Row{R"({"delta":"a"})", "other no-choice"},
           Row{R"({"type":"error","message":"too long"})", "error no-choice error=too long"},
           Row{R"({"type":"error","error":{"message":"inner"},"message":"outer"})",
               "error no-choice error=inner"},
           Row{R"([1])", "malformed"},
           Row{R"({"type":"response.created"} x)", "malformed"},
       }) {
    EXPECT_EQ(kind_event(Api::openai_responses, row.said), row.meant) << row.said;
  }
}

TEST(ResponsesReplies, the_last_event_ends_the_stream_with_its_reason_and_counts) {
  for (const Row& row : {
           Row{R"({"type":"response.completed","response":{"status":"completed","output":[],"u)"
               R"(sage":{"input_tokens":5,"output_tokens":7,"input_tokens_details":{"cached_to)"
               R"(kens":2},"output_tokens_details":{"reasoning_tokens":3}}}})",
               R"(finish finish=stop ends prompt=5 completion=7 reasoning=3 cached=2)"},
           Row{R"({"type":"response.completed","response":{"output":[{"type":"message"},{"type)"
               R"(":"function_call","name":"f"}]}})",
               "finish finish=tool_calls ends"},
           Row{R"({"type":"response.completed"})", "finish finish=stop ends"},
           Row{R"({"type":"response.incomplete","response":{"incomplete_details":{"reason":"ma)"
               R"(x_output_tokens"}}})",
               "finish finish=length ends"},
           Row{R"({"type":"response.incomplete","response":{"incomplete_details":{"reason":"co)"
               R"(ntent_filter"}}})",
               "finish finish=content_filter ends"},
           Row{R"({"type":"response.incomplete","response":{"incomplete_details":null}})",
               "finish finish=other ends"},
           Row{R"({"type":"response.failed","response":{"status":"failed","error":{"code":"x",)"
               R"("message":"broke"}}})",
               "error ends error=broke"},
           Row{R"({"type":"response.failed","response":{"error":null}})",
               "error ends error=failed"},
           Row{R"({"type":"response.cancelled","response":{"error":false}})",
               "error ends error=cancelled"},
           Row{R"({"type":"response.completed","response":{"usage":null}})",
               "finish finish=stop ends"},
           Row{R"({"type":"response.completed","response":{"usage":{"input_tokens":"5","output)"
               R"(_tokens":-1}}})",
               R"(finish finish=stop ends prompt=-2 completion=-2)"},
       }) {
    EXPECT_EQ(kind_event(Api::openai_responses, row.said), row.meant) << row.said;
  }
}

TEST(ResponsesReplies, a_whole_reply_is_read_by_kind_of_output) {
  for (const Row& row : {
           Row{R"({"status":"completed","output":[{"type":"reasoning","content":[{"type":"reas)"
               R"(oning_text","text":"raw"}],"summary":[{"text":"sum"}]},{"type":"message","co)"
               R"(ntent":[{"type":"output_text","text":"a"},{"refusal":"b"},{"other":"c"},5]},)"
               R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"}],"usage":)"
               R"({"input_tokens":1,"output_tokens":2}})",
               R"(text=ab reasoning=raw calls=|2|c|f|{} finish=tool_calls prompt=1 completion=2)"},
           Row{R"({"output":[{"type":"reasoning","content":[],"summary":[{"text":"sum"}]},{"ty)"
               R"(pe":"message","content":[{"text":"a"}]}]})",
               R"(text=a reasoning=sum calls= finish=stop)"},
           Row{R"({"output":[{"type":"custom_tool_call","call_id":"c","name":"f","input":"x"},)"
               R"({"type":"mcp_call","name":"g","arguments":"y"}]})",
               R"(text= reasoning= calls=|0|c|f|x|1||g|y finish=tool_calls)"},
           Row{R"({"status":"in_progress","output":[]})", "no reply"},
           Row{R"({"status":"queued","output":[]})", "no reply"},
           Row{R"({"status":"failed","output":[],"error":{"message":"broke"}})", "error=broke"},
           Row{R"({"status":"failed","output":[]})", "error=failed"},
           Row{R"({"status":"cancelled","output":[]})", "error=cancelled"},
           Row{R"({"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},")"
               R"(output":[{"type":"message","content":[{"text":"a"}]}]})",
               R"(text=a reasoning= calls= finish=length)"},
           Row{R"({"status":"incomplete","incomplete_details":{"reason":"content_filter"},"out)"
               R"(put":[]})",
               R"(text= reasoning= calls= finish=content_filter)"},
           Row{R"({"error":{"message":"no"}})", "error=no"},
           Row{R"({"status":"completed"})", "no reply"},
       }) {
    EXPECT_EQ(kind_reply(Api::openai_responses, row.said), row.meant) << row.said;
  }
}

TEST(MessagesReplies, each_event_is_what_its_type_says) {
  for (const Row& row : {
           Row{R"({"type":"message_start","message":{"usage":{"input_tokens":5,"cache_creation)"
               R"(_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}})",
               "role prompt=10 cached=2"},
           Row{R"({"type":"message_start","message":{"usage":null}})", "role"},
           Row{R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text)"
               R"(":""}})",
               "role"},
           Row{R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text)"
               R"(":"a"}})",
               "text text=a"},
           Row{R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use",")"
               R"(id":"i","name":"f","input":{}}})",
               "tool_call tool_call=|1|i|f|"},
           Row{R"({"type":"content_block_start","index":1,"content_block":{"type":"server_tool)"
               R"(_use","id":"i","name":"f"}})",
               "tool_call tool_call=|1|i|f|"},
           Row{R"({"type":"content_block_start","index":1,"content_block":{"type":"thinking",")"
               R"(thinking":"t"}})",
               "reasoning reasoning=t"},
           Row{R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":)"
               R"("a"}})",
               "text text=a"},
           Row{R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","th)"
               R"(inking":"t"}})",
               "reasoning reasoning=t"},
           Row{R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta",")"
               R"(partial_json":"{\"a"}})",
               R"(tool_call tool_call=|1|||{"a)"},
           Row{R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta",")"
               R"(partial_json":""}})",
               "role"},
           Row{R"({"type":"content_block_start","index":1,"content_block":{"type":"other","id":)"
               R"("i","name":"f"}})",
               "role"},
           Row{R"({"type":"content_block_delta","index":1,"delta":{"type":"tool_use","id":"i",")"
               R"(name":"f"}})",
               "role"},
           Row{R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","s)"
               R"(ignature":"s"}})",
               "role"},
           Row{R"({"type":"content_block_stop","index":0})", "role"},
           Row{R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_)"
               R"(tokens":7}})",
               R"(finish finish=stop completion=7)"},
           Row{R"({"type":"message_delta","delta":{"stop_reason":"stop_sequence"}})",
               "finish finish=stop"},
           Row{R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"}})",
               "finish finish=length"},
           Row{R"({"type":"message_delta","delta":{"stop_reason":"model_context_window_exceede)"
               R"(d"}})",
               "finish finish=length"},
           Row{R"({"type":"message_delta","delta":{"stop_reason":"tool_use"}})",
               "finish finish=tool_calls"},
           Row{R"({"type":"message_delta","delta":{"stop_reason":"refusal"}})",
               "finish finish=content_filter"},
           Row{R"({"type":"message_delta","delta":{"stop_reason":"pause_turn"}})",
               "finish finish=other"},
           Row{R"({"type":"message_delta","delta":{"stop_reason":null}})", "role"},
           Row{R"({"type":"message_stop"})", "marker ends"},
           Row{R"({"type":"ping"})", "other no-choice"},
           Row{R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
               "error no-choice error=Overloaded"},
       }) {
    EXPECT_EQ(kind_event(Api::anthropic_messages, row.said), row.meant) << row.said;
  }
}

TEST(MessagesReplies, the_prompts_tokens_are_the_sum_of_what_is_told) {
  const auto counted = [](std::string_view usage) {
    return kind_event(Api::anthropic_messages,
                      format(R"({{"type":"message_delta","usage":{{{}}}}})", usage));
  };
  EXPECT_EQ(counted(R"("input_tokens":5)"), "role prompt=5");
  EXPECT_EQ(counted(R"("cache_read_input_tokens":5)"), "role cached=5");
  EXPECT_EQ(
      counted(R"("input_tokens":0,"cache_creation_input_tokens":1,"cache_read_input_tokens":1)"),
      "role prompt=2 cached=1");
  EXPECT_EQ(
      counted(R"("input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0)"),
      "role prompt=0 cached=0");
  EXPECT_EQ(counted(R"("input_tokens":5,"cache_creation_input_tokens":"x")"), "role prompt=-2");
  EXPECT_EQ(counted(R"("input_tokens":2147483646,"cache_read_input_tokens":1)"),
            "role prompt=2147483647 cached=1");
  EXPECT_EQ(counted(R"("input_tokens":2147483647,"cache_read_input_tokens":1)"),
            "role prompt=-2 cached=1");
}

TEST(MessagesReplies, a_whole_reply_is_read_by_kind_of_block) {
  for (const Row& row : {
           Row{R"({"content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"},{")"
               R"(type":"text","text":"b"},{"type":"tool_use","id":"i","name":"f","input":{"x")"
               R"(:1}},5],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2)"
               R"(}})",
               R"(text=ab reasoning=t calls=|3|i|f|{"x":1} finish=tool_calls prompt=1 completi)"
               R"(on=2)"},
           Row{R"({"content":[{"type":"server_tool_use","id":"i","name":"f","input":{}}],"stop)"
               R"(_reason":"end_turn"})",
               R"(text= reasoning= calls=|0|i|f|{} finish=stop)"},
           Row{R"({"content":[],"stop_reason":"max_tokens"})",
               R"(text= reasoning= calls= finish=length)"},
           Row{R"({"stop_reason":"end_turn"})", "no reply"},
           Row{R"({"type":"error","error":{"message":"no"}})", "error=no"},
           Row{R"({"content":[{"type":"text","text":"a"}],"error":null})",
               R"(text=a reasoning= calls= finish=none)"},
           Row{R"({"content":[{"type":"text","text":"a"}],"error":""})",
               R"(text=a reasoning= calls= finish=none)"},
       }) {
    EXPECT_EQ(kind_reply(Api::anthropic_messages, row.said), row.meant) << row.said;
  }
}

TEST(OllamaReplies, a_line_is_text_thought_or_the_end) {
  for (const Row& row : {
           Row{R"({"message":{"role":"assistant","content":"a"},"done":false})", "text text=a"},
           Row{R"({"message":{"thinking":"t","content":""},"done":false})",
               "reasoning reasoning=t"},
           Row{R"({"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{)"
               R"("x":1}}}]}})",
               R"(tool_call tool_call=|0||f|{"x":1})"},
           Row{R"({"response":"a","thinking":"t"})", "reasoning reasoning=t text=a"},
           Row{R"({"response":5})", "other no-choice"},
           Row{R"({"message":"a"})", "other no-choice"},
           Row{R"({"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":7})",
               R"(finish finish=stop ends prompt=5 completion=7)"},
           Row{R"({"done":true,"done_reason":"length","eval_count":7})",
               R"(finish finish=length ends completion=7)"},
           Row{R"({"done":true,"done_reason":"load"})", "finish finish=other ends"},
           Row{R"({"done":true,"prompt_eval_count":null})", "finish finish=stop ends"},
           Row{R"({"done":false,"done_reason":"stop"})", "other no-choice"},
           Row{R"({"done":"true"})", "other no-choice"},
           Row{R"({"error":"no such model"})", "error no-choice error=no such model"},
           Row{R"({"created_at":"x"})", "other no-choice"},
       }) {
    EXPECT_EQ(kind_event(Api::ollama_chat, row.said), row.meant) << row.said;
  }
}

TEST(VideoReplies, a_video_has_an_id_and_one_of_path_and_bytes) {
  for (const Row& row : {
           Row{R"({"video_id":"v","video_path":"/a.mp4"})",
               R"(text=/a.mp4 reasoning= calls= finish=none)"},
           Row{R"({"video_id":"v","video_bytes":"AAAA"})",
               R"(text= reasoning= calls= finish=none)"},
           Row{R"({"video_id":"v","video_path":"/a.mp4","video_bytes":"AAAA"})", "no reply"},
           Row{R"({"video_id":"v"})", "no reply"},
           Row{R"({"video_path":"/a.mp4"})", "no reply"},
           Row{R"({"video_id":"v","video_path":"/a.mp4","extra":1})", "no reply"},
           Row{R"({"video_id":"v","video_path":"/a.mp4","error":null})",
               R"(text=/a.mp4 reasoning= calls= finish=none)"},
           Row{R"({"video_id":7,"video_path":"/a.mp4"})", "no reply"},
           Row{R"({"error":"busy"})", "error=busy"},
       }) {
    EXPECT_EQ(kind_reply(Api::videogen, row.said), row.meant) << row.said;
  }
  EXPECT_NE(kind_reply(Api::videogen, std::string_view("\0\0\0\x18"
                                                       "ftyp",
                                                       8)),
            "no reply");
  EXPECT_EQ(kind_reply(Api::videogen, std::string_view("\0\0\0\x18"
                                                       "ftyx",
                                                       8)),
            "no reply");
  EXPECT_EQ(kind_reply(Api::videogen, std::string_view("\0\0\0\x18"
                                                       "fty",
                                                       7)),
            "no reply");
}

// A member whose value is missing makes the whole object malformed, wherever it stands.
TEST(KindReplies, a_member_without_a_value_is_malformed_at_any_depth) {
  struct Kinds {
    Api api;
    bool whole;
    std::vector<const char*> members;
  };
  for (const Kinds& kind : std::vector<Kinds>{
           {Api::openai_responses,
            false,
            {"type", "delta", "output_index", "item", "response", "message", "error", "else"}},
           {Api::openai_responses,
            true,
            {"status", "output", "error", "usage", "incomplete_details", "else"}},
           {Api::anthropic_messages,
            false,
            {"type", "index", "delta", "content_block", "message", "usage", "error", "else"}},
           {Api::anthropic_messages, true, {"content", "stop_reason", "error", "usage", "else"}},
           {Api::ollama_chat,
            false,
            {"message", "response", "done", "done_reason", "prompt_eval_count", "eval_count",
             "error", "thinking", "tool_calls", "else"}},
           {Api::videogen, true, {"video_id", "video_path", "video_bytes", "error", "else"}},
           {Api::openai_videos, true, {"status", "error", "else"}},
           {Api::openai_embeddings,
            true,
            {"data", "results", "rankings", "usage", "error", "else"}},
       }) {
    for (const char* const member : kind.members) {
      for (const std::string_view rest : {":}", ":,\"x\":1}", ":1"}) {
        const std::string body = format("{{\"{}\"{}", member, rest);
        EXPECT_EQ(kind.whole ? kind_reply(kind.api, body) : kind_event(kind.api, body),
                  kind.whole ? "no reply" : "malformed")
            << body;
      }
    }
  }
  for (const char* const body :
       {R"({"type":"message_delta","delta":{"stop_reason":}})", R"({"delta":{"partial_json":}})",
        R"({"delta":{"text":}})", R"({"delta":{"thinking":}})", R"({"delta":{"id":}})",
        R"({"delta":{"name":}})", R"({"delta":{"input":}})", R"({"delta":{"type":}})",
        R"({"delta":{"else":}})", R"({"message":{"usage":}})", R"({"message":{"else":}})",
        R"({"usage":{"input_tokens":}})", R"({"usage":{"output_tokens":}})",
        R"({"usage":{"cache_read_input_tokens":}})", R"({"usage":{"else":}})"}) {
    EXPECT_EQ(kind_event(Api::anthropic_messages, body), "malformed") << body;
  }
  for (const char* const body : {R"({"message":{"content":}})", R"({"message":{"thinking":}})",
                                 R"({"message":{"tool_calls":}})", R"({"message":{"else":}})"}) {
    EXPECT_EQ(kind_event(Api::ollama_chat, body), "malformed") << body;
  }
}

TEST(KindReplies, a_chats_member_without_a_value_is_malformed_at_any_depth) {
  for (const char* const body : {R"({"choices":})",
                                 R"({"usage":})",
                                 R"({"error":})",
                                 R"({"object":})",
                                 R"({"message":})",
                                 R"({"text":})",
                                 R"({"output_ids":})",
                                 R"({"meta_info":})",
                                 R"({"meta_info":{"prompt_tokens":}})",
                                 R"({"meta_info":{"completion_tokens":}})",
                                 R"({"meta_info":{"reasoning_tokens":}})",
                                 R"({"meta_info":{"cached_tokens":}})",
                                 R"({"meta_info":{"finish_reason":}})",
                                 R"({"else":})",
                                 R"({"choices":[})",
                                 R"({"choices":[{"delta":}]})",
                                 R"({"choices":[{"text":}]})",
                                 R"({"choices":[{"finish_reason":}]})",
                                 R"({"choices":[{"index":}]})",
                                 R"({"choices":[{"else":}]})",
                                 R"({"choices":[{"delta":{"content":}}]})",
                                 R"({"choices":[{"delta":{"reasoning_content":}}]})",
                                 R"({"choices":[{"delta":{"reasoning":}}]})",
                                 R"({"choices":[{"delta":{"tool_calls":}}]})",
                                 R"({"choices":[{"delta":{"function_call":}}]})",
                                 R"({"choices":[{"delta":{"refusal":}}]})",
                                 R"({"choices":[{"delta":{"else":}}]})",
                                 R"({"choices":[{"finish_reason":{"type":}}]})",
                                 R"({"choices":[{"finish_reason":{"message":}}]})",
                                 R"({"choices":[{"finish_reason":{"else":}}]})",
                                 R"({"choices":[{},{]})",
                                 R"({"usage":{"prompt_tokens":}})",
                                 R"({"usage":{"completion_tokens":}})",
                                 R"({"usage":{"reasoning_tokens":}})",
                                 R"({"usage":{"prompt_tokens_details":}})",
                                 R"({"usage":{"prompt_tokens_details":{"cached_tokens":}}})",
                                 R"({"usage":{"else":}})"}) {
    EXPECT_EQ(kind_event(Api::openai, body), "malformed") << body;
  }
}

// A member that comes twice counts as it came last, with nothing left of the one before.
TEST(KindReplies, of_a_chats_members_the_last_of_a_name_counts) {
  for (const Row& row : {
           Row{R"({"choices":[{"delta":{"content":"a","reasoning":"r"},"finish_reason":"stop"}],)"
               R"("choices":[{"delta":{}}]})",
               "role"},
           Row{R"({"choices":[{"delta":{"content":"a"}}],"choices":null})", "other no-choice"},
           Row{R"({"choices":[{"delta":{"content":"a"},"delta":{"reasoning":"r"}}]})",
               "reasoning reasoning=r"},
           Row{R"({"choices":[{"delta":{"content":"a","content":null}}]})", "role"},
           Row{R"({"choices":[{"delta":{},"finish_reason":"stop","finish_reason":null}]})", "role"},
           Row{R"({"choices":[],"usage":{"prompt_tokens":1},"usage":{"completion_tokens":2}})",
               "usage no-choice completion=2"},
       }) {
    EXPECT_EQ(kind_event(Api::openai, row.said), row.meant) << row.said;
  }
}

TEST(VideoReplies, a_video_is_one_unit_and_anything_else_none) {
  const auto units = [](std::string_view body) {
    std::string padded(body);
    padded.append(kDecodePadding, '\0');
    ReplyDecoder decoder;
    DecodedEvent event;
    decoder.decode_reply(Api::videogen, {padded.data(), body.size()}, event);
    return format("{} {}", event.has_choice, event.units);
  };
  EXPECT_EQ(units(std::string_view("\0\0\0\x18"
                                   "ftyp",
                                   8)),
            "true 1");
  EXPECT_EQ(units(R"({"video_id":"v","video_path":"/a.mp4"})"), "true 1");
  EXPECT_EQ(units(R"({"video_id":"v"})"), "false 0");
}

}  // namespace
}  // namespace assay::protocol
