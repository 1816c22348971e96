// Replies that are sound: their first piece, what a player has of them, and how they end.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/format.h"
#include "domain/quiet_sink.h"
#include "protocol/exchange.h"

namespace assay::protocol {
namespace {

constexpr Instant kSoundDue{1'000'000'000};
constexpr std::uint32_t kSoundRate = 48'000;

class HeardSound final : public QuietSink {
 public:
  void on_stream_event(const Query&, const StreamEvent& e, std::string_view text) override {
    EXPECT_EQ(text, "");
    // A plus: what came behind it in one read.
    events += format("{}:{}{} ", to_string(e.category), e.bytes, e.shares_read ? "+" : "");
  }
  void on_done(const Event& e, std::string_view why) override {
    done = e;
    detail = why;
  }
  std::string events{};
  std::string detail{};
  Event done{};
};

struct Bit {
  Duration after{};  // it was due
  std::string bytes{};
};

struct SoundReply {
  net::ResponseHead head{.status = 200, .chunked = true, .type = net::ContentType::other};
  std::vector<Bit> bits{};
  bool streaming = true;
  Outcome cut = Outcome::ok;
  std::uint32_t rate = kSoundRate;
};

HeardSound heard_of(const SoundReply& reply) {
  HeardSound sink;
  ReplyDecoder decoder;
  Exchange exchange;
  exchange.begin({.index = 7}, kSoundDue, 0,
                 {.api = Api::openai_speech, .stream = reply.streaming, .sound_rate = reply.rate});
  exchange.set_sent(kSoundDue, kSoundDue);
  bool going = exchange.on_head(reply.head);
  Stamp stamp{.arrival = kSoundDue, .read = kSoundDue, .kernel = true};
  for (const Bit& bit : reply.bits) {
    if (!going) break;
    std::string bytes = bit.bytes;
    bytes.append(net::kSsePadding + kDecodePadding, '\0');
    stamp.arrival = kSoundDue + bit.after;
    stamp.read = stamp.arrival + 1_ms;
    exchange.on_bytes(bit.bytes.size(), stamp);
    going = exchange.on_body({bytes.data(), bit.bytes.size()}, 0, stamp, decoder, sink);
  }
  if (reply.cut == Outcome::ok) {
    exchange.complete(stamp, decoder, sink);
  } else {
    exchange.cut_short(reply.cut, stamp, "it was cut", decoder, sink);
  }
  return sink;
}

std::string sound_samples(int ms) { return std::string(static_cast<std::size_t>(ms) * 48, '{'); }

std::string wav_reply(std::uint32_t promised) {
  std::string out = "RIFF0000WAVEfmt ";
  const auto number = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
  };
  number(16, 4);
  for (const std::uint32_t two : {1U, 1U}) number(two, 2);
  number(kSoundRate / 2, 4);
  number(kSoundRate, 4);
  for (const std::uint32_t two : {2U, 16U}) number(two, 2);
  out += "data";
  number(promised, 4);
  return out;
}

std::string sound_delta(std::string_view sound) {
  return format(
      "event: speech.audio.delta\ndata: {{\"type\":\"speech.audio.delta\",\"audio\":\"{}\"}}\n\n",
      encode_base64(sound));
}
const std::string kSoundDone = "data: {\"type\":\"speech.audio.done\"}\n\n";

TEST(ExchangeSound, the_player_waits_where_sound_comes_later_than_it_plays) {
  // 30 ms play until 50; the next 10 come at 45 and last until 60; the next at 75 are 15 too late,
  // and the last at 90 another 5.
  const HeardSound got = heard_of({.bits = {{20_ms, sound_samples(30)},
                                            {45_ms, sound_samples(10)},
                                            {75_ms, sound_samples(10)},
                                            {90_ms, sound_samples(20)}}});
  EXPECT_EQ(got.done.outcome, Outcome::ok) << got.detail;
  EXPECT_TRUE(got.done.streamed);
  const Sound& sound = got.done.sound;
  EXPECT_EQ(sound.first, kSoundDue + 20_ms);
  EXPECT_EQ(sound.first_read_delay, 1_ms);
  EXPECT_EQ(sound.bytes, 70U * 48);
  EXPECT_EQ(sound.length, 70_ms);
  EXPECT_EQ(sound.pieces, 4U);
  EXPECT_EQ(sound.underruns, 2U);
  EXPECT_EQ(sound.waited, 20_ms);
  EXPECT_EQ(got.done.done, kSoundDue + 90_ms);
  // Sound is no token.
  EXPECT_EQ(got.done.fragments, 0U);
  EXPECT_FALSE(got.done.first_token.known());
  EXPECT_EQ(got.events, "sound:1440 sound:480 sound:480 sound:960 marker:0 ");
}

TEST(ExchangeSound, the_head_of_a_file_is_no_sound) {
  const HeardSound got =
      heard_of({.bits = {{5_ms, wav_reply(0)}, {30_ms, sound_samples(10)}}, .rate = 0});
  EXPECT_EQ(got.done.outcome, Outcome::ok) << got.detail;
  EXPECT_EQ(got.done.sound.first, kSoundDue + 30_ms);
  EXPECT_EQ(got.done.sound.length, 10_ms);
  EXPECT_EQ(got.events, "other:0 sound:480 marker:0 ");
}

TEST(ExchangeSound, the_length_of_other_formats_is_not_known_and_nobody_waits) {
  const HeardSound got = heard_of({.bits = {{5_ms, "\xFF\xF3..."}, {5000_ms, "..."}}, .rate = 0});
  EXPECT_EQ(got.done.outcome, Outcome::ok);
  EXPECT_LT(got.done.sound.length.ns, 0);
  EXPECT_EQ(got.done.sound.underruns, 0U);
  EXPECT_EQ(got.done.sound.bytes, 8U);
}

// The least of each: a byte a piece, a byte a second, a byte too few.
TEST(ExchangeSound, a_sound_may_be_one_byte) {
  const HeardSound streamed = heard_of({.bits = {{1_ms, "{"}, {3000_ms, "{"}}, .rate = 1});
  EXPECT_EQ(streamed.done.outcome, Outcome::ok) << streamed.detail;
  EXPECT_EQ(streamed.events, "sound:1 sound:1 marker:0 ");
  EXPECT_EQ(streamed.done.sound.underruns, 1U);
  EXPECT_EQ(streamed.done.sound.waited, 1999_ms);
  EXPECT_EQ(streamed.done.sound.length, 2_s);
  const net::ResponseHead with_length{
      .status = 200, .has_length = true, .type = net::ContentType::other, .length = 1};
  const HeardSound whole = heard_of({.head = with_length, .bits = {{5_ms, "{"}}, .rate = 1});
  EXPECT_EQ(whole.done.outcome, Outcome::ok) << whole.detail;
  EXPECT_EQ(whole.events, "sound:1 ");
  EXPECT_EQ(whole.done.sound.bytes, 1U);
  EXPECT_EQ(whole.done.sound.length, 1_s);
  const HeardSound cut =
      heard_of({.bits = {{5_ms, wav_reply(11) + std::string(10, '{')}}, .rate = 0});
  EXPECT_EQ(cut.done.outcome, Outcome::truncated);
  EXPECT_EQ(cut.detail, "the sound ended 1 bytes before the length in its head");
}

TEST(ExchangeSound, events_in_base64_bring_the_same) {
  SoundReply reply{.bits = {{5_ms, sound_delta(wav_reply(0))},
                            {20_ms, sound_delta(sound_samples(10))},
                            {35_ms, sound_delta(sound_samples(10)) + kSoundDone}}};
  reply.head.type = net::ContentType::event_stream;
  const HeardSound got = heard_of(reply);
  EXPECT_EQ(got.done.outcome, Outcome::ok) << got.detail;
  EXPECT_EQ(got.done.sound.first, kSoundDue + 20_ms);
  EXPECT_EQ(got.done.sound.length, 20_ms);
  EXPECT_EQ(got.done.sound.underruns, 1U);
  EXPECT_EQ(got.done.sound.waited, 5_ms);
  EXPECT_EQ(got.done.finish, FinishReason::stop);
  EXPECT_EQ(got.events, "other:0 sound:480 sound:480+ finish:0 ");
}

TEST(ExchangeSound, a_reply_that_came_whole_has_a_length_and_no_first_sound) {
  SoundReply reply{.bits = {{20_ms, sound_samples(30)}, {45_ms, sound_samples(10)}}};
  reply.streaming = false;
  HeardSound got = heard_of(reply);
  EXPECT_EQ(got.done.outcome, Outcome::ok);
  EXPECT_FALSE(got.done.sound.first.known());
  EXPECT_EQ(got.done.sound.length, 40_ms);
  EXPECT_EQ(got.events, "sound:1920 ");
  // A stream was asked for, but its length was known before its first byte left.
  reply.streaming = true;
  reply.head.has_length = true;
  got = heard_of(reply);
  EXPECT_FALSE(got.done.streamed);
  EXPECT_FALSE(got.done.sound.first.known());
  EXPECT_EQ(got.done.sound.underruns, 0U);
}

TEST(ExchangeSound, what_is_no_whole_sound_fails) {
  const auto outcome = [](SoundReply reply) {
    const HeardSound got = heard_of(reply);
    return format("{}: {}", to_string(got.done.outcome), got.detail);
  };
  EXPECT_EQ(outcome({.bits = {{5_ms, wav_reply(96)}, {9_ms, sound_samples(1)}}, .rate = 0}),
            "truncated: the sound ended 48 bytes before the length in its head");
  EXPECT_EQ(outcome({.bits = {{5_ms, wav_reply(0)}}, .rate = 0}),
            "bad_reply: the reply holds no sound");
  EXPECT_EQ(outcome({}), "truncated: the reply is empty");
  EXPECT_EQ(outcome({.bits = {{5_ms, sound_samples(1)}}, .cut = Outcome::reset}),
            "reset: it was cut");
  SoundReply json{.bits = {{5_ms, R"({"error":{"message":"no voice"}})"}}};
  EXPECT_EQ(outcome(json), "ok: ");  // these bytes are samples, unless the head says JSON
  json.head.type = net::ContentType::json;
  EXPECT_EQ(outcome(json), "stream_error: no voice");
  json.bits[0].bytes = R"({"text":"Hello"})";
  EXPECT_EQ(outcome(json), "bad_reply: not a reply of this API: {\"text\":\"Hello\"}");
  json.head.type = net::ContentType::text;
  EXPECT_EQ(outcome(json), "bad_reply: not a reply of this API: {\"text\":\"Hello\"}");
  json.bits[0].bytes = "<html>sign in</html>";
  EXPECT_EQ(outcome(json), "bad_reply: not a reply of this API: <html>sign in</html>");
  json.bits[0].bytes = "hello";
  EXPECT_EQ(outcome(json), "ok: ") << "a type that some servers say of all";
  json.head.type = net::ContentType::other;
  json.bits[0].bytes = "<html>sign in</html>";
  EXPECT_EQ(outcome(json), "ok: ") << "these are samples as well";
  SoundReply events{.bits = {{5_ms, sound_delta(sound_samples(1))}}};
  EXPECT_EQ(outcome(events), "truncated: the stream ended without speech.audio.done");
  events.bits = {{5_ms, kSoundDone}};
  events.head.type = net::ContentType::event_stream;
  EXPECT_EQ(outcome(events), "bad_reply: the reply holds no sound");
  events.bits = {
      {5_ms, "data: {\"type\":\"speech.audio.delta\",\"audio\":\"no base64!\"}\n\n" + kSoundDone}};
  EXPECT_EQ(outcome(events), "bad_reply: the sound of an event is not base64");
}

TEST(ExchangeSound, nothing_of_a_sound_is_left_for_the_next_reply) {
  ReplyDecoder decoder;
  Exchange exchange;
  for (const int ms : {10, 4}) {
    HeardSound sink;
    exchange.begin({}, kSoundDue, 0, {.api = Api::openai_speech, .sound_rate = kSoundRate});
    exchange.on_head({.status = 200, .type = net::ContentType::other});
    const Stamp stamp{.arrival = kSoundDue + 50_ms, .read = kSoundDue + 50_ms};
    exchange.on_body(sound_samples(ms), 0, stamp, decoder, sink);
    exchange.complete(stamp, decoder, sink);
    EXPECT_EQ(sink.done.sound.length.ns, ms * 1'000'000);
    EXPECT_EQ(sink.done.sound.underruns, 0U);
  }
}

struct OnePiece final : QuietSink {
  void on_stream_event(const Query&, const StreamEvent& e, std::string_view) override {
    events.push_back(e);
  }
  void on_done(const Event& e, std::string_view why) override {
    done = e;
    detail = why;
  }
  std::vector<StreamEvent> events{};
  Event done{};
  std::string detail{};
};

TEST(ExchangeSound, a_piece_shares_its_read_and_is_exact_as_an_event_is) {
  const Stamp stamp{.arrival = kSoundDue + 50_ms,
                    .read = kSoundDue + 51_ms,
                    .kernel = true,
                    .not_before = kSoundDue + 47_ms};
  for (const std::size_t rest : {0U, 2U, 3U, 7U, 8U}) {
    ReplyDecoder decoder;
    Exchange exchange;
    OnePiece sink;
    exchange.begin({}, kSoundDue, 0, {.api = Api::openai_speech, .sound_rate = kSoundRate});
    exchange.on_head({.status = 200, .type = net::ContentType::other});
    exchange.on_body(sound_samples(4), rest, stamp, decoder, sink);
    ASSERT_EQ(sink.events.size(), 1U);
    EXPECT_EQ(sink.events[0].shares_read, rest > 7) << rest;
    EXPECT_EQ(sink.events[0].uncertainty, rest > 2 ? 3_ms : Duration{}) << rest;
    Stamp end = stamp;
    end.kernel = false;
    exchange.complete(end, decoder, sink);
    EXPECT_EQ(sink.done.stream_events, 1U);
    EXPECT_EQ(sink.done.first_event, kSoundDue + 50_ms);
    EXPECT_EQ(sink.done.sound.first_uncertainty, rest > 2 ? 3_ms : Duration{});
    // The mark of the end is as uncertain as the end.
    ASSERT_EQ(sink.events.size(), 2U);
    EXPECT_EQ(sink.events[1].category, Category::marker);
    EXPECT_EQ(sink.events[1].uncertainty, 3_ms);
  }
}

TEST(ExchangeSound, the_player_does_not_wait_for_what_comes_as_it_ends) {
  const HeardSound got =
      heard_of({.bits = {{20_ms, sound_samples(30)}, {50_ms, sound_samples(10)}}});
  EXPECT_EQ(got.done.sound.underruns, 0U);
  EXPECT_EQ(got.done.sound.waited, Duration{});
  EXPECT_EQ(got.done.stream_events, 2U);
  EXPECT_EQ(got.done.first_event, kSoundDue + 20_ms);
}

TEST(ExchangeSound, the_first_bytes_and_the_head_tell_samples_from_events_and_json) {
  // JSON by its head, and yet no object.
  SoundReply reply{.bits = {{5_ms, "....data: "}}};
  reply.head.type = net::ContentType::json;
  EXPECT_EQ(heard_of(reply).done.sound.bytes, 10U);
  // Events of no type; that a length is known does not make them whole.
  for (const char* const field : {"", "event: speech.audio.delta\n"}) {
    SoundReply events{
        .bits = {{5_ms, format(R"({}data: {{"type":"speech.audio.delta","audio":"AAAA"}})", field) +
                            "\n\n" + kSoundDone}}};
    events.head.has_length = true;
    const HeardSound got = heard_of(events);
    EXPECT_TRUE(got.done.streamed) << field;
    EXPECT_EQ(got.done.sound.bytes, 3U) << field;
  }
}

TEST(ExchangeSound, a_few_bytes_that_could_begin_a_head_are_sound_at_the_end) {
  for (const bool streaming : {true, false}) {
    SoundReply reply{.bits = {{5_ms, "RIF"}}};
    reply.streaming = streaming;
    const HeardSound got = heard_of(reply);
    EXPECT_EQ(got.done.outcome, Outcome::ok);
    EXPECT_EQ(got.done.sound.bytes, 3U);
    EXPECT_EQ(got.events, streaming ? "other:0 sound:3 marker:0 " : "sound:3 ");
    // A head alone is no sound, and no event either where nothing was streamed.
    reply.bits[0].bytes = wav_reply(0);
    const HeardSound none = heard_of(reply);
    EXPECT_EQ(none.detail, "the reply holds no sound");
    EXPECT_EQ(none.events, streaming ? "other:0 " : "");
    EXPECT_LT(none.done.sound.length.ns, 0);
  }
}

// A sound that is only heard needs no room, however long it is.
TEST(ExchangeSound, that_is_kept_finds_room_or_the_reply_is_over_memory) {
  std::string deltas;
  for (int i = 0; i < 100; ++i) deltas += sound_delta(sound_samples(10));
  for (const auto& [events, kept] :
       {std::pair{true, true}, {false, true}, {true, false}, {false, false}}) {
    MemoryBudget budget(20'000);
    MemoryBudget for_queue(1 << 20);
    ArtefactQueue queue(for_queue);
    ReplyDecoder decoder;
    Exchange exchange(&budget);
    if (kept) exchange.keep_artefacts(&queue);
    HeardSound sink;
    exchange.begin({}, kSoundDue, 0, {.api = Api::openai_speech, .sound_rate = kSoundRate});
    exchange.on_head(
        {.status = 200, .type = events ? net::ContentType::event_stream : net::ContentType::other});
    std::string body = events ? deltas + kSoundDone : sound_samples(1000);
    const std::size_t size = body.size();
    body.append(net::kSsePadding + kDecodePadding, '\0');
    const Stamp stamp{.arrival = kSoundDue + 50_ms, .read = kSoundDue + 50_ms};
    EXPECT_EQ(exchange.on_body({body.data(), size}, 0, stamp, decoder, sink), !kept);
    exchange.complete(stamp, decoder, sink);
    EXPECT_EQ(sink.done.outcome, kept ? Outcome::over_memory : Outcome::ok) << sink.detail;
    EXPECT_EQ(queue.lost(), 0U);
  }
}

}  // namespace
}  // namespace assay::protocol
