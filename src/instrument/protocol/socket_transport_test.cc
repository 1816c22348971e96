// Turns over a WebSocket, played by hand: the handshake, what goes out when, and every end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "net/websocket.h"
#include "net/websocket_handshake.h"
#include "protocol/testing_by_hand.h"

namespace assay::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// What the client sends, as the server hears it.
struct SaidByClient : net::WebSocketEvents {
  std::vector<std::string> texts{};
  std::vector<std::string> pongs{};
  std::vector<std::uint16_t> closes{};
  void on_message(bool, std::string_view data, std::size_t) override { texts.emplace_back(data); }
  void on_ping(std::string_view) override {}
  void on_pong(std::string_view payload) override { pongs.emplace_back(payload); }
  void on_close(std::uint16_t code, std::string_view) override { closes.push_back(code); }
};

// The server's end of a WebSocket.
struct SocketPeer {
  PlayedPeer peer{};
  SaidByClient heard{};
  std::unique_ptr<net::WebSocketReader> reader =
      std::make_unique<net::WebSocketReader>(net::WebSocketSide::server);
  std::string request{};

  void say(std::string_view json) { peer.say(frame(json)); }
  static std::string frame(std::string_view payload, net::FrameType type = net::FrameType::text,
                           bool final = true) {
    std::string out;
    net::WebSocketWriter(net::WebSocketSide::server).frame(out, type, payload, final);
    return out;
  }
  void hear() {
    peer.hear();
    EXPECT_TRUE(reader->feed(std::exchange(peer.heard, {}), heard)) << reader->error();
  }
};

std::string turn_event(std::string_view type, std::string_view members = "") {
  return format(R"({{"type":"{}","event_id":"e"{}}})", type, members);
}
std::string turn_words(std::string_view delta) {
  return turn_event("response.output_audio_transcript.delta", format(R"(,"delta":"{}")", delta));
}
std::string turn_sound(std::size_t bytes) {
  return turn_event("response.output_audio.delta",
                    format(R"(,"delta":"{}")", encode_base64(std::string(bytes, '\0'))));
}
std::string turn_done(std::string_view status = "completed", std::string_view details = "null") {
  return turn_event("response.done",
                    format(R"(,"response":{{"status":"{}","status_details":{},"output":[],"usage":)"
                           R"({{"input_tokens":3,"output_tokens":2,"input_token_details":)"
                           R"({{"cached_tokens":1}}}}}})",
                           status, details));
}

class RealtimeByHand : public ::testing::Test {
 protected:
  explicit RealtimeByHand(const std::string& scheme = "http") : hand(1, scheme) {
    hand.endpoints.api = Api::realtime;
    hand.endpoints.request_ids = true;
  }
  // Reads the handshake of the next connection, and answers it.
  SocketPeer open() {
    SocketPeer out;
    out.peer = hand.accept();
    if (context) out.peer.speak_tls(*context);
    EXPECT_TRUE(hand.until([&] {
      out.peer.hear();
      return out.peer.heard.find("\r\n\r\n") != std::string::npos;
    }));
    const std::size_t end = out.peer.heard.find("\r\n\r\n") + 4;
    out.request = out.peer.heard.substr(0, end);
    out.peer.heard.erase(0, end);
    out.peer.say(opened(out.request) + SocketPeer::frame(turn_event("session.created")));
    return out;
  }
  // The answer that opens a WebSocket.
  static std::string opened(const std::string& request) {
    net::RequestHead head;
    std::size_t searched = 0;
    EXPECT_EQ(net::parse_request_head(request, 4096, searched, head).status,
              net::ReadStatus::ready);
    std::string answer;
    EXPECT_EQ(net::answer_websocket(head, answer), net::Upgrade::accepted);
    return answer;
  }
  // Waits until the client has sent this many events.
  void hears(SocketPeer& peer, std::size_t count) {
    EXPECT_TRUE(hand.until([&] {
      peer.hear();
      return peer.heard.texts.size() >= count;
    })) << peer.heard.texts.size();
  }
  // One turn that fails: the server says `bytes` when the turn was asked.
  std::string failure(const std::string& bytes, Outcome outcome, bool closes = false) {
    const auto index = static_cast<std::uint32_t>(hand.notes.done.size());
    hand.submit(index);
    SocketPeer peer = open();
    hears(peer, 3);
    if (!bytes.empty()) peer.peer.say(bytes);
    if (closes) peer.peer.close();
    EXPECT_TRUE(hand.done(index + 1));
    EXPECT_EQ(hand.notes.done[index].outcome, outcome) << hand.notes.details[index];
    return hand.notes.details[index];
  }

  std::optional<net::TlsContext> context{};
  ByHand hand;
};

class SecureRealtime : public RealtimeByHand {
 protected:
  SecureRealtime() : RealtimeByHand("https") {
    hand.endpoints.insecure = true;
    context.emplace(net::TlsContext::self_signed_server(&pem, false).value());
  }
  std::string pem{};
};

TEST_F(SecureRealtime, events_in_records_that_came_together_share_their_read) {
  hand.submit(0);
  SocketPeer peer = open();
  hears(peer, 3);
  peer.peer.hold = true;
  peer.say(turn_words("a"));
  peer.say(turn_words("b"));
  peer.peer.say_raw(std::exchange(peer.peer.held, ""));
  ASSERT_TRUE(hand.until([&] { return hand.notes.text == "ab"; }));
  ASSERT_EQ(hand.notes.events.size(), 2U);
  EXPECT_TRUE(hand.notes.events[0].shares_read);
  EXPECT_FALSE(hand.notes.events[1].shares_read);
}

TEST_F(RealtimeByHand, a_turn_has_its_events_figures_and_end) {
  hand.submit(5);
  SocketPeer peer = open();
  EXPECT_THAT(peer.request, StartsWith("GET /v1/realtime?model=m HTTP/1.1\r\n"));
  EXPECT_THAT(peer.request, testing::Not(HasSubstr("x-request-id")));
  hears(peer, 3);
  const QueryUuid id = query_uuid(0, 0, 5);
  EXPECT_THAT(peer.heard.texts,
              ElementsAre(HasSubstr(R"({"type":"session.update","session":{"type":"realtime",)"),
                          HasSubstr(R"("content":[{"type":"input_text","text":"hello"}])"),
                          format(R"({{"event_id":"{}","type":"response.create"}})",
                                 std::string_view(id.data(), id.size()))));
  const Instant sent = hand.notes.sent.at(0).at;
  hand.pass(5_ms);
  peer.say(turn_event("session.updated"));
  peer.say(turn_event("conversation.item.added"));
  hand.turn();
  EXPECT_TRUE(hand.notes.events.empty());
  hand.pass(5_ms);
  peer.say(turn_event("response.created", R"(,"response":{})"));
  hand.turn();
  hand.pass(10_ms);
  peer.say(turn_words("hi"));
  hand.turn();
  hand.pass(10_ms);
  peer.say(turn_sound(4'800));  // 100 ms
  hand.turn();
  hand.pass(150_ms);
  peer.peer.say(SocketPeer::frame("p", net::FrameType::ping) +
                SocketPeer::frame(turn_sound(4'800)) + SocketPeer::frame(turn_words("!")));
  hand.turn();
  hand.pass(10_ms);
  peer.say(turn_done());
  ASSERT_TRUE(hand.done(1));
  const Event& it = hand.notes.done[0];
  EXPECT_EQ(it.outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_EQ(it.http_status, 101);
  EXPECT_EQ(it.first_byte, sent + 10_ms);
  EXPECT_EQ(it.first_event, sent + 10_ms);
  EXPECT_EQ(it.first_token, sent + 20_ms);
  EXPECT_EQ(it.sound.first, sent + 30_ms);
  EXPECT_EQ(it.last_token, sent + 180_ms);
  EXPECT_EQ(it.done, sent + 190_ms);
  EXPECT_EQ(it.sound.bytes, 9'600U);
  EXPECT_EQ(it.sound.length, 200_ms);
  EXPECT_EQ(it.sound.underruns, 1U);
  EXPECT_EQ(it.sound.waited, 50_ms);
  EXPECT_EQ(it.usage.prompt_tokens, 3);
  EXPECT_EQ(it.usage.completion_tokens, 2);
  EXPECT_EQ(it.usage.cached_tokens, 1);
  EXPECT_EQ(it.finish, FinishReason::stop);
  EXPECT_EQ(hand.notes.text, "hi!");
  std::vector<Category> categories;
  for (const StreamEvent& one : hand.notes.events) categories.push_back(one.category);
  EXPECT_THAT(categories, ElementsAre(Category::role, Category::text, Category::sound,
                                      Category::sound, Category::text, Category::finish));
  EXPECT_TRUE(hand.notes.events[3].shares_read);
  EXPECT_FALSE(hand.notes.events[4].shares_read);
  // The ping is answered, and the connection ends with its turn.
  EXPECT_TRUE(hand.until([&] {
    peer.hear();
    return !peer.heard.closes.empty();
  }));
  EXPECT_THAT(peer.heard.pongs, ElementsAre("p"));
  EXPECT_THAT(peer.heard.closes, ElementsAre(1000));
  hand.submit(1);
  SocketPeer next = open();
  hears(next, 3);
}

TEST_F(RealtimeByHand, a_sound_goes_out_as_it_is_spoken_and_the_turn_counts_from_its_end) {
  Sample& sample = hand.datasets[0].dataset.samples[0];
  sample.prompt.clear();
  // 250 ms of 24,000 samples of 16 bits a second.
  sample.attachments.push_back(
      {.name = "file", .file = "a.pcm", .bytes = std::string(12'000, 'x')});
  hand.submit(0);
  SocketPeer peer = open();
  hears(peer, 1);
  const Instant begun = hand.clock.now();
  const auto sent_after = [&](Duration time, std::size_t events) {
    hand.clock.sleep_until(begun + time);
    hand.turn();
    peer.hear();
    EXPECT_EQ(peer.heard.texts.size(), events) << time.ns;
  };
  sent_after(99_ms, 1);
  sent_after(100_ms, 2);
  sent_after(200_ms, 3);
  sent_after(249_ms, 3);
  EXPECT_TRUE(hand.notes.sent.empty());
  sent_after(250_ms, 6);
  ASSERT_EQ(hand.notes.sent.size(), 1U);
  EXPECT_EQ(hand.notes.sent[0].at, begun + 250_ms);
  EXPECT_THAT(peer.heard.texts[3], StartsWith(R"({"type":"input_audio_buffer.append",)"));
  EXPECT_EQ(peer.heard.texts[4], R"({"type":"input_audio_buffer.commit"})");
  peer.say(turn_sound(48));
  peer.say(turn_done());
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_EQ(hand.notes.done[0].sent, begun + 250_ms);
}

TEST_F(RealtimeByHand, a_sound_at_once_goes_out_in_one_write) {
  hand.datasets[0].generation.extra_body = Json::object().set("pace", "at_once");
  Sample& sample = hand.datasets[0].dataset.samples[0];
  sample.prompt.clear();
  sample.attachments.push_back(
      {.name = "file", .file = "a.pcm", .bytes = std::string(12'000, 'x')});
  hand.submit(0);
  SocketPeer peer = open();
  hears(peer, 6);
  EXPECT_EQ(hand.notes.sent.size(), 1U);
}

TEST_F(RealtimeByHand, a_turn_that_ends_early_sends_no_more_of_its_sound) {
  Sample& sample = hand.datasets[0].dataset.samples[0];
  sample.attachments.push_back(
      {.name = "file", .file = "a.pcm", .bytes = std::string(12'000, 'x')});
  hand.submit(0);
  SocketPeer peer = open();
  hears(peer, 2);
  peer.say(
      turn_event("error", R"(,"error":{"type":"invalid_request_error","message":"no sound"})"));
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::stream_error);
  EXPECT_EQ(hand.notes.details[0], "no sound");
  hand.pass(1_s);
  hand.turn();
  peer.hear();
  EXPECT_EQ(peer.heard.texts.size(), 2U);
}

TEST_F(RealtimeByHand, every_failure_has_its_outcome_and_its_words) {
  using net::FrameType;
  const auto frame = [](std::string_view text) { return SocketPeer::frame(text); };
  EXPECT_EQ(failure(frame(turn_done("failed", R"({"error":{"message":"no GPU"}})")),
                    Outcome::stream_error),
            "no GPU");
  EXPECT_EQ(failure(frame(turn_done("cancelled", R"({"reason":"turn_detected"})")),
                    Outcome::stream_error),
            "turn_detected");
  EXPECT_THAT(failure(frame(turn_words("a") + "}"), Outcome::bad_reply),
              HasSubstr("not a JSON object"));
  EXPECT_THAT(failure(SocketPeer::frame("x", FrameType::binary), Outcome::bad_reply),
              HasSubstr("binary"));
  EXPECT_EQ(failure("\xc1\x01x", Outcome::bad_reply),
            "WebSocket: a frame has a reserved bit, of an extension not agreed on");
  EXPECT_THAT(failure(frame(turn_words("a")), Outcome::truncated, true),
              HasSubstr("without a close frame"));
  std::string close;
  net::WebSocketWriter(net::WebSocketSide::server).close(close, 1011, "overloaded");
  EXPECT_EQ(failure(frame(turn_words("a")) + close, Outcome::truncated),
            "the server closed the WebSocket with code 1011: overloaded");
  EXPECT_THAT(failure(frame(turn_event("response.output_audio.delta", R"(,"delta":"*")")) +
                          frame(turn_done()),
                      Outcome::bad_reply),
              HasSubstr("base64"));
  const std::string cut = frame(turn_done("incomplete", R"({"reason":"max_output_tokens"})"));
  failure(cut, Outcome::ok);
  EXPECT_EQ(hand.notes.done.back().finish, FinishReason::length);
}

TEST_F(RealtimeByHand, a_ping_within_a_turn_is_answered_at_once) {
  hand.submit(0);
  SocketPeer peer = open();
  hears(peer, 3);
  peer.peer.say(SocketPeer::frame("still there?", net::FrameType::ping));
  EXPECT_TRUE(hand.until([&] {
    peer.hear();
    return !peer.heard.pongs.empty();
  }));
  EXPECT_THAT(peer.heard.pongs, ElementsAre("still there?"));
  EXPECT_TRUE(hand.notes.done.empty());
}

TEST_F(RealtimeByHand, a_refused_handshake_says_what_the_server_said) {
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  EXPECT_TRUE(hand.until([&] {
    peer.hear();
    return peer.heard.ends_with("\r\n\r\n");
  }));
  peer.say(
      "HTTP/1.1 401 Unauthorized\r\nContent-Length: 32\r\n\r\n"
      R"({"error":{"message":"bad key."}})");
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::connect_failed);
  EXPECT_EQ(hand.notes.details[0], "no WebSocket: HTTP 401: bad key.");
}

// Before the WebSocket is open no turn has begun: the query has had no connection.
TEST_F(RealtimeByHand, an_opening_that_fails_says_how) {
  const auto failed = [&](const std::function<void(PlayedPeer&)>& answer) {
    const std::size_t before = hand.notes.done.size();
    hand.submit(static_cast<std::uint32_t>(before));
    PlayedPeer peer = hand.accept();
    EXPECT_TRUE(hand.until([&] {
      peer.hear();
      return peer.heard.ends_with("\r\n\r\n");
    }));
    answer(peer);
    EXPECT_TRUE(hand.done(before + 1));
    EXPECT_EQ(hand.notes.done.back().outcome, Outcome::connect_failed);
    EXPECT_TRUE(hand.notes.sent.empty());
    return hand.notes.details.back();
  };
  EXPECT_EQ(failed([](PlayedPeer& peer) { peer.close(); }),
            "the server closed the connection before it was a WebSocket");
  EXPECT_EQ(failed([](PlayedPeer& peer) { peer.reset(); }), "Connection reset by peer");
  EXPECT_EQ(failed([](PlayedPeer& peer) { peer.say("SSH-2.0-x\r\n\r\n"); }),
            "the answer to the handshake is not HTTP");
  EXPECT_EQ(failed([](PlayedPeer& peer) {
              peer.say(
                  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                  "Connection: Upgrade\r\nSec-WebSocket-Accept: bm9uZSBvZiBvdXJz\r\n\r\n");
            }),
            "the 101's Sec-WebSocket-Accept does not fit our key");
  // A server that opens the WebSocket to say that it takes no turn.
  EXPECT_EQ(failed([](PlayedPeer& peer) {
              std::string bytes = opened(peer.heard);
              net::WebSocketWriter(net::WebSocketSide::server).close(bytes, 1008, "no such key");
              peer.say(bytes);
            }),
            "the server closed the WebSocket with code 1008: no such key");
  EXPECT_EQ(failed([](PlayedPeer& peer) { peer.say(opened(peer.heard) + "\xc1\x01x"); }),
            "WebSocket: a frame has a reserved bit, of an extension not agreed on");
}

TEST_F(RealtimeByHand, messages_may_come_in_fragments_at_any_cut) {
  const std::string bytes =
      SocketPeer::frame(turn_words("one").substr(0, 20), net::FrameType::text, false) +
      SocketPeer::frame("", net::FrameType::ping) +
      SocketPeer::frame(turn_words("one").substr(20), net::FrameType::more) +
      SocketPeer::frame(turn_done());
  for (std::size_t step = 1; step < bytes.size(); step += 1 + bytes.size() / 9) {
    const auto index = static_cast<std::uint32_t>(hand.notes.done.size());
    hand.notes.text.clear();
    hand.submit(index);
    SocketPeer peer = open();
    hears(peer, 3);
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      peer.peer.say(bytes.substr(at, step));
      hand.turn();
    }
    ASSERT_TRUE(hand.done(index + 1));
    EXPECT_EQ(hand.notes.done.back().outcome, Outcome::ok) << hand.notes.details.back();
    EXPECT_EQ(hand.notes.text, "one");
  }
}

// A conversation of three turns in one session, unless the server ends it.
class SessionByHand : public RealtimeByHand {
 protected:
  SessionByHand() {
    hand.datasets[0].generation.extra_body = Json::object().set("session", "conversation");
    Dataset& data = hand.datasets[0].dataset;
    data.samples.clear();
    Messages history;
    Conversation& one = hand.plan.phases[0].conversations.emplace_back();
    for (std::uint32_t turn = 0; turn < 3; ++turn) {
      const auto say = [&](std::string_view role, std::string_view what) {
        history.push_back(
            Json::object().set("role", role).set("content", format("{} {}", what, turn)));
      };
      say("user", "asked");
      one.turns.push_back({.sample = turn});
      data.samples.emplace_back().messages = history;
      say("assistant", "recorded");
    }
    hand.plan.phases[0].order = SampleOrder::sequential(3);
  }
  void ask(std::uint32_t turn) {
    hand.target().submit({.index = turn, .sample = turn}, hand.clock.now(), hand.notes);
  }
  void answer(SocketPeer& peer, std::uint32_t turn, std::string_view end = turn_done()) {
    peer.say(turn_words("hi"));
    peer.say(end);
    ASSERT_TRUE(hand.done(turn + 1));
  }
  // A session that has answered a first turn, the query `first`, and heard all of the next.
  SocketPeer in_its_second_turn(std::uint32_t first) {
    hand.target().submit({.index = first, .sample = 0}, hand.clock.now(), hand.notes);
    SocketPeer peer = open();
    hears(peer, 3);
    answer(peer, first);
    hand.target().submit({.index = first + 1, .sample = 1}, hand.clock.now(), hand.notes);
    hears(peer, 5);
    return peer;
  }
};

TEST_F(SessionByHand, a_later_turn_says_only_what_is_new) {
  ask(0);
  SocketPeer peer = open();
  hears(peer, 3);
  answer(peer, 0);
  peer.say(turn_event("rate_limits.updated"));
  ask(1);
  peer.hear();
  ASSERT_EQ(peer.heard.texts.size(), 5U) << "it goes out with the call that asks for it";
  EXPECT_THAT(peer.heard.texts[3], HasSubstr("asked 1"));
  EXPECT_THAT(peer.heard.texts[4], HasSubstr("response.create"));
  EXPECT_TRUE(hand.notes.done[0].connected);
  answer(peer, 1);
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok) << hand.notes.details[1];
  EXPECT_FALSE(hand.notes.done[1].connected);
  EXPECT_TRUE(peer.heard.closes.empty());
  ask(2);
  hears(peer, 7);
  answer(peer, 2);
  // The conversation's last turn ends the session.
  EXPECT_TRUE(hand.until([&] {
    peer.hear();
    return !peer.heard.closes.empty();
  }));
  EXPECT_EQ(hand.stats().connections_opened, 1U);
  EXPECT_EQ(hand.notes.text, "hihihi");
}

TEST_F(SessionByHand, two_runs_of_one_conversation_have_a_session_each) {
  ask(0);
  SocketPeer one = open();
  hears(one, 3);
  hand.target().submit({.index = 7, .sample = 0}, hand.clock.now(), hand.notes);
  SocketPeer other = open();
  hears(other, 3);
  answer(one, 0);
  answer(other, 1);
  ask(1);
  hand.target().submit({.index = 8, .sample = 1}, hand.clock.now(), hand.notes);
  hears(one, 5);
  hears(other, 5);
}

TEST_F(SessionByHand, a_turn_whose_session_is_gone_begins_another_with_the_recorded_history) {
  ask(0);
  SocketPeer peer = open();
  hears(peer, 3);
  answer(peer, 0);
  std::string close;
  net::WebSocketWriter(net::WebSocketSide::server).close(close, 1001, "an hour is over");
  peer.peer.say(close);
  hand.turn();
  ask(1);
  SocketPeer next = open();
  hears(next, 5);
  EXPECT_THAT(next.heard.texts, ElementsAre(HasSubstr("session.update"), HasSubstr("asked 0"),
                                            HasSubstr("recorded 0"), HasSubstr("asked 1"),
                                            HasSubstr("response.create")));
  answer(next, 1);
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok) << hand.notes.details[1];
  ask(2);
  hears(next, 7);
  next.peer.close();
  ASSERT_TRUE(hand.until([&] { return hand.somebody_waits(); }));  // it crossed with the end
}

TEST_F(SessionByHand, a_turn_that_crosses_with_the_servers_goodbye_begins_another_session) {
  std::uint32_t rounds = 0;
  for (const std::uint16_t code : {net::kCloseNormal, net::kCloseGoingAway, net::kCloseNoCode}) {
    const std::uint32_t first = 2 * rounds++;
    SocketPeer peer = in_its_second_turn(first);
    std::string close;
    net::WebSocketWriter(net::WebSocketSide::server).close(close, code, "");
    peer.peer.say(close);
    SocketPeer next = open();
    hears(next, 5);
    EXPECT_THAT(next.heard.texts[1], HasSubstr("asked 0"));
    EXPECT_EQ(hand.stats().queries_unprocessed, rounds) << code;
    // It has not gone on in this session, so a goodbye is its end.
    next.peer.say(close);
    ASSERT_TRUE(hand.done(first + 2));
    EXPECT_EQ(hand.notes.done[first + 1].outcome, Outcome::truncated);
  }
}

TEST_F(SessionByHand, a_session_that_ends_by_a_fault_or_within_a_reply_ends_its_turn) {
  for (const bool begun : {false, true}) {
    const std::uint32_t first = begun ? 2 : 0;
    SocketPeer peer = in_its_second_turn(first);
    if (begun) peer.say(turn_words("hi"));
    std::string close;
    net::WebSocketWriter(net::WebSocketSide::server).close(close, begun ? 1000 : 1011, "");
    peer.peer.say(close);
    ASSERT_TRUE(hand.done(first + 2));
    EXPECT_EQ(hand.notes.done[first + 1].outcome, Outcome::truncated);
  }
}

// Between two turns no query fails with it: the next one begins another session.
TEST_F(SessionByHand, a_session_that_breaks_the_protocol_between_two_turns_is_left) {
  ask(0);
  SocketPeer peer = open();
  hears(peer, 3);
  answer(peer, 0);
  peer.peer.say("\xc1\x01x");  // a reserved bit
  hand.turn();
  peer.hear();
  EXPECT_THAT(peer.heard.closes, ElementsAre(1002));
  ask(1);
  SocketPeer next = open();
  hears(next, 5);
  answer(next, 1);
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok) << hand.notes.details[1];
}

TEST_F(SessionByHand, a_turn_that_failed_ends_its_session) {
  ask(0);
  SocketPeer peer = open();
  hears(peer, 3);
  answer(peer, 0, turn_done("failed", R"({"error":{"message":"no GPU"}})"));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::stream_error);
  EXPECT_TRUE(hand.until([&] {
    peer.hear();
    return !peer.heard.closes.empty();
  }));
}

TEST_F(RealtimeByHand, http2_is_refused) {
  hand.endpoints.http = HttpVersion::http2;
  const auto made =
      HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, hand.clock);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("WebSocket of HTTP/1.1"));
}

}  // namespace
}  // namespace assay::protocol
