#include "endpoint/realtime_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/base64.h"
#include "base/format.h"

namespace assay::endpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A client of one session, in the process.
struct Caller : net::WebSocketEvents {
  RealtimeSession session{7, "m"};
  net::WebSocketWriter writer{net::WebSocketSide::client};
  net::WebSocketReader reader{net::WebSocketSide::client};
  std::vector<Json> events{};
  std::vector<std::string> pongs{};
  std::uint16_t closed = 0;

  void on_message(bool, std::string_view data, std::size_t) override {
    events.push_back(*Json::parse(data));
  }
  void on_ping(std::string_view) override {}
  void on_pong(std::string_view payload) override { pongs.emplace_back(payload); }
  void on_close(std::uint16_t code, std::string_view) override { closed = code; }

  void feed(std::string_view bytes) {
    session.feed(bytes);
    EXPECT_TRUE(reader.feed(session.take_output(), *this)) << reader.error();
  }
  void frame(net::FrameType type, std::string_view payload) {
    std::string bytes;
    writer.frame(bytes, type, payload);
    feed(bytes);
  }
  // Says an event; the types of the answers.
  std::vector<std::string> say(std::string_view json) {
    feed("");  // what it said before
    events.clear();
    frame(net::FrameType::text, json);
    std::vector<std::string> out;
    for (const Json& event : events) out.emplace_back(event["type"].as_string());
    return out;
  }
  // The error that an event is answered with.
  std::string refusal(std::string_view json) {
    EXPECT_THAT(say(json), ElementsAre("error")) << json;
    return events.empty() ? "" : events[0]["error"].dump();
  }
};

std::string sound(std::size_t bytes) {
  return format(R"({{"type":"input_audio_buffer.append","audio":"{}"}})",
                encode_base64(std::string(bytes, 'x')));
}
constexpr std::string_view kCommit = R"({"type":"input_audio_buffer.commit"})";
constexpr std::string_view kCreate = R"({"type":"response.create","event_id":"q1"})";
constexpr std::string_view kItem =
    R"({"type":"conversation.item.create","item":{"type":"message","role":"user",)"
    R"("content":[{"type":"input_text","text":"hello"}]}})";

TEST(RealtimeSession, a_turn_is_told_in_the_form_of_responses) {
  Caller caller;
  caller.feed("");
  EXPECT_EQ(caller.events.at(0)["type"].as_string(), "session.created");
  EXPECT_THAT(caller.say(R"({"type":"session.update","session":{"type":"realtime",)"
                         R"("instructions":"Be brief.","output_modalities":["text"],)"
                         R"("max_output_tokens":9}})"),
              ElementsAre("session.updated"));
  EXPECT_THAT(caller.say(kItem), ElementsAre("conversation.item.added", "conversation.item.done"));
  EXPECT_FALSE(caller.session.asked());
  EXPECT_THAT(caller.say(kCreate), ElementsAre());
  ASSERT_TRUE(caller.session.asked());
  EXPECT_EQ(caller.session.turn_id(), "q1");
  const std::string body(caller.session.turn_body());
  EXPECT_THAT(body, HasSubstr(R"("model":"m","stream":true,"instructions":"Be brief.",)"
                              R"("max_output_tokens":9,"input":[)"));
  EXPECT_THAT(body, HasSubstr("hello"));
  Ask ask;
  AskReader reader;
  const auto read = reader.read(Route::realtime, caller.session.turn_body(), ask);
  ASSERT_TRUE(std::holds_alternative<std::monostate>(read));
  EXPECT_EQ(ask.route, Route::realtime);
  EXPECT_EQ(ask.tokens_max, 9);
  caller.session.complete(ask);
  EXPECT_FALSE(ask.speech.events);
}

TEST(RealtimeSession, a_sound_counts_by_its_length) {
  Caller caller;
  EXPECT_THAT(caller.refusal(kCommit), HasSubstr("commit_empty"));
  caller.say(sound(48'000));
  caller.say(R"({"type":"input_audio_buffer.clear"})");
  EXPECT_THAT(caller.refusal(kCommit), HasSubstr("commit_empty"));
  caller.say(sound(24'000));
  caller.say(sound(24'000));
  EXPECT_THAT(caller.say(kCommit),
              ElementsAre("input_audio_buffer.committed", "conversation.item.added",
                          "conversation.item.done"));
  caller.say(kCreate);
  Ask ask;
  AskReader reader;
  const auto read = reader.read(Route::realtime, caller.session.turn_body(), ask);
  ASSERT_TRUE(std::holds_alternative<std::monostate>(read));
  const std::uint32_t without = ask.prompt_tokens;
  caller.session.complete(ask);
  EXPECT_EQ(ask.prompt_tokens, without + 10);  // a second
  EXPECT_TRUE(ask.speech.events);
  EXPECT_EQ(ask.speech.sample_rate, 24'000U);
}

TEST(RealtimeSession, one_response_at_a_time) {
  Caller caller;
  caller.say(kItem);
  caller.say(kCreate);
  EXPECT_THAT(caller.refusal(kCreate), HasSubstr("active_response"));
  caller.session.begin_turn();
  EXPECT_FALSE(caller.session.asked());
  EXPECT_THAT(caller.refusal(kCreate), HasSubstr("active_response"));
  caller.session.end_turn();
  caller.say(kCreate);
  EXPECT_TRUE(caller.session.asked());
}

TEST(RealtimeSession, what_it_cannot_do_it_says_and_goes_on) {
  Caller caller;
  EXPECT_THAT(caller.refusal("{"), HasSubstr("invalid_json"));
  EXPECT_THAT(caller.refusal("[]"), HasSubstr("invalid_json"));
  EXPECT_THAT(caller.refusal(R"({"type":"x","event_id":"e9"})"), HasSubstr(R"("event_id":"e9")"));
  EXPECT_THAT(caller.refusal(R"({"type":"session.update"})"), HasSubstr("must be an object"));
  EXPECT_THAT(caller.refusal(R"({"type":"session.update","session":{"type":"transcription"}})"),
              HasSubstr("session.type"));
  const auto session = [&](std::string_view members) {
    return caller.refusal(
        format(R"({{"type":"session.update","session":{{"type":"realtime",{}}}}})", members));
  };
  EXPECT_THAT(session(R"("output_modalities":["text","audio"])"), HasSubstr("output_modalities"));
  EXPECT_THAT(session(R"("audio":{"input":{"turn_detection":{"type":"server_vad"}}})"),
              HasSubstr("detects no turns"));
  EXPECT_THAT(session(R"("audio":{"output":{"format":{"type":"audio/pcmu"}}})"),
              HasSubstr("audio.output.format"));
  EXPECT_THAT(caller.refusal(R"({"type":"input_audio_buffer.append","audio":"*"})"),
              HasSubstr("base64"));
  EXPECT_THAT(caller.refusal(R"({"type":"conversation.item.create","item":{}})"),
              HasSubstr("must be a message"));
  EXPECT_THAT(caller.refusal(R"({"type":"response.cancel"})"), HasSubstr("cancel_not_supported"));
  EXPECT_FALSE(caller.session.closing());
}

TEST(RealtimeSession, control_frames_are_answered_and_faults_close_it) {
  Caller caller;
  caller.frame(net::FrameType::ping, "p");
  EXPECT_THAT(caller.pongs, ElementsAre("p"));
  caller.frame(net::FrameType::binary, "x");
  EXPECT_EQ(caller.closed, 1003);
  EXPECT_TRUE(caller.session.closing());
  Caller broken;
  broken.feed("\x81\x01x");  // not masked
  EXPECT_EQ(broken.closed, 1002);
  Caller leaving;
  std::string bytes;
  leaving.writer.close(bytes, 1000);
  leaving.feed(bytes);
  EXPECT_EQ(leaving.closed, 1000);
}

}  // namespace
}  // namespace assay::endpoint
