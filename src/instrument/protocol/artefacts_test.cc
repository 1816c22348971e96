// Artefacts: found in replies as servers send them, handed over once, and within the budget.
#include "protocol/artefacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "base/base64.h"
#include "base/format.h"
#include "protocol/testing_by_hand.h"

namespace assay::protocol {
namespace {

std::string types_of(Api api, std::string_view body) {
  const auto found = artefacts_of(api, body);
  if (!found) return "error";
  std::string out;
  for (const Artefact& one : *found) out += format("{} {} ", one.ending, one.bytes.size());
  return out;
}

TEST(Artefacts, each_kind_has_its_files_where_its_replies_hold_them) {
  const std::string png = encode_base64("\x89PNG1234");
  EXPECT_EQ(types_of(Api::openai_images,
                     format(R"({{"data":[{{"b64_json":"{0}"}},{{"b64_json":"{0}"}}]}})", png)),
            "png 8 png 8 ");
  EXPECT_EQ(types_of(Api::openai_image_edits, R"({"data":[{"url":"https://h/a.png"}]})"), "");
  EXPECT_EQ(types_of(Api::videogen, R"({"video_id":"v","video_path":"/v.mp4"})"), "");
  EXPECT_EQ(types_of(Api::videogen, format(R"({{"video_id":"v","video_bytes":"{}"}})",
                                           encode_base64(std::string("\0\0\0\x10"
                                                                     "ftypisom",
                                                                     12)))),
            "mp4 12 ");
  EXPECT_EQ(types_of(Api::openai_videos, std::string("\0\0\0\x10"
                                                     "ftypisom",
                                                     12)),
            "mp4 12 ");
  EXPECT_EQ(types_of(Api::openai_videos, R"({"id":"v","status":"completed"})"), "");
  EXPECT_EQ(types_of(Api::openai_speech, "{}"), "pcm 2 ");  // samples may look like anything
  EXPECT_EQ(types_of(Api::openai_speech, "RIFF1234WAVEfmt "), "wav 16 ");
  EXPECT_EQ(types_of(Api::openai_images, R"({"data":[{"b64_json":"?"}]})"), "error");
  EXPECT_EQ(types_of(Api::openai_images, "{"), "error");
  EXPECT_EQ(types_of(Api::openai, R"({"data":[]})"), "");
  for (const ApiRow& row : kApis) {
    EXPECT_EQ(types_of(row.api, "bytes").empty(), !has_artefacts(row.api)) << row.name;
    const bool has = testing::Matches(testing::AnyOf("openai_images", "openai_image_edits",
                                                     "videogen", "openai_videos", "openai_speech",
                                                     "realtime"))(std::string(row.name));
    EXPECT_EQ(has_artefacts(row.api), has) << row.name;
  }
}

TEST(ArtefactQueue, what_is_put_is_taken_in_order_and_what_has_no_room_is_lost) {
  MemoryBudget budget(100);
  ArtefactQueue queue(budget);
  queue.put({.index = 1}, Api::openai_images, std::string(60, 'a'));
  queue.put({.index = 2}, Api::openai_images, std::string(41, 'b'));
  queue.put({.index = 3}, Api::openai_images, std::string(40, 'c'));
  EXPECT_EQ(queue.lost(), 1U);
  ReplyBytes out;
  ASSERT_TRUE(queue.take(out));
  EXPECT_EQ(out.query.index, 1U);
  EXPECT_EQ(budget.in_use(), 100U);
  ASSERT_TRUE(queue.take(out));
  EXPECT_EQ(out.query.index, 3U);
  EXPECT_EQ(budget.in_use(), 40U);
  std::thread later([&] {
    queue.put({.index = 4}, Api::openai_images, "d");
    queue.close();
  });
  ASSERT_TRUE(queue.take(out));
  EXPECT_EQ(out.bytes, "d");
  EXPECT_FALSE(queue.take(out));
  later.join();
  EXPECT_EQ(budget.in_use(), 0U);
}

// The taker waits for most of them.
TEST(ArtefactQueue, each_that_is_put_wakes_the_taker) {
  constexpr std::uint32_t kRounds = 300;
  MemoryBudget budget(100);
  ArtefactQueue queue(budget);
  std::atomic<std::uint32_t> taken{0};
  std::thread putter([&] {
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      taken.wait(i == 0 ? kRounds : i - 1);
      queue.put({.index = i}, Api::openai_images, "d");
    }
  });
  ReplyBytes out;
  for (std::uint32_t i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(queue.take(out));
    EXPECT_EQ(out.query.index, i);
    taken = i + 1;
    taken.notify_one();
  }
  putter.join();
}

// The bytes that a target with such a queue hands over.
std::vector<std::string> kept_bytes(Api api, bool stream, const std::vector<std::string>& replies) {
  MemoryBudget budget(1 << 20);
  ArtefactQueue queue(budget);
  ByHand hand;
  hand.endpoints.api = api;
  hand.datasets[0].generation.stream = stream;
  hand.options.artefacts = &queue;
  PlayedPeer peer;
  for (std::uint32_t i = 0; i < replies.size(); ++i) hand.exchange(peer, i, replies[i]);
  queue.close();
  std::vector<std::string> out;
  for (ReplyBytes one; queue.take(one);) out.push_back(format("{} {}", one.query.index, one.bytes));
  return out;
}

TEST(ArtefactQueue, gets_the_bodies_and_the_sounds_of_replies_that_succeeded) {
  const auto whole = [](int status, std::string_view body) {
    return format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                  status, body.size(), body);
  };
  const std::string picture = R"({"data":[{"b64_json":"AAAA"}]})";
  EXPECT_EQ(kept_bytes(Api::openai_images, false,
                       {whole(200, picture), whole(500, picture), whole(200, "{}")}),
            std::vector<std::string>{"0 " + picture});
  const std::string sound =
      "HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4\r\nabcd\r\n6\r\nefghij\r\n0\r\n\r\n";
  EXPECT_EQ(kept_bytes(Api::openai_speech, true, {sound}),
            std::vector<std::string>{"0 abcdefghij"});
  const auto event = [](std::string_view bytes) {
    return stream_chunk(
        format(R"({{"type":"speech.audio.delta","audio":"{}"}})", encode_base64(bytes)));
  };
  EXPECT_EQ(kept_bytes(Api::openai_speech, true,
                       {stream_head() + event("abcd") + event("ef") +
                        stream_chunk(R"({"type":"speech.audio.done"})") + std::string(kStreamEnd)}),
            std::vector<std::string>{"0 abcdef"});
}

TEST(ArtefactQueue, gets_the_bodies_of_all_queries_in_flight) {
  MemoryBudget budget(1 << 20);
  ArtefactQueue queue(budget);
  ByHand hand;
  hand.endpoints.api = Api::openai_images;
  hand.datasets[0].generation.stream = false;
  hand.options.artefacts = &queue;
  std::array<PlayedPeer, 3> peers;
  for (std::uint32_t i = 0; i < peers.size(); ++i) {
    hand.submit(i);
    peers[i] = hand.accept();
    EXPECT_FALSE(hand.request(peers[i]).empty());
  }
  for (PlayedPeer& peer : peers) {
    peer.say(
        "HTTP/1.1 200 X\r\nContent-Length: 30\r\n\r\n"
        R"({"data":[{"b64_json":"AAAA"}]})");
  }
  EXPECT_TRUE(hand.done(3));
  queue.close();
  int got = 0;
  for (ReplyBytes one; queue.take(one);) ++got;
  EXPECT_EQ(got, 3);
}

TEST(Artefacts, a_file_is_named_by_its_first_bytes_and_else_by_its_kind) {
  const auto named = [](Api api, std::string_view bytes) {
    const auto found = artefacts_of(api, bytes);
    EXPECT_TRUE(found && found->size() == 1) << bytes;
    return found && found->size() == 1 ? format("{} {}", found->front().type, found->front().ending)
                                       : "none";
  };
  struct Row {
    std::string_view bytes;
    std::string_view name;
  };
  for (const Row& row : {Row{"\x89PNG", "image/png png"},
                         {"\xFF\xD8\xFF", "image/jpeg jpg"},
                         {"\xFF\xD8", "audio/pcm pcm"},
                         {"RIFF1234WEBP", "image/webp webp"},
                         {"RIFF1234WAVE", "audio/wav wav"},
                         {"RIFF1234AVI ", "video/x-msvideo avi"},
                         {"RIFF12345678WAVE", "video/x-msvideo avi"},
                         {"RIFF1234WAV", "audio/pcm pcm"},
                         {"RIFF", "audio/pcm pcm"},
                         {"1234ftyp", "video/mp4 mp4"},
                         {"1234fty", "audio/pcm pcm"},
                         {"12345ftyp", "audio/pcm pcm"},
                         {"fLaC", "audio/flac flac"},
                         {"OggS", "audio/ogg ogg"},
                         {"ID3", "audio/mpeg mp3"},
                         {"x", "audio/pcm pcm"}}) {
    EXPECT_EQ(named(Api::openai_speech, row.bytes), row.name) << row.bytes;
  }
  EXPECT_EQ(named(Api::realtime, "x"), "audio/pcm pcm");
  EXPECT_EQ(named(Api::openai_videos, "x"), "application/octet-stream bin");
  EXPECT_EQ(types_of(Api::openai_speech, ""), "") << "no bytes, no file";
  EXPECT_EQ(types_of(Api::openai_videos, R"({"video_bytes":null,"data":5})"), "");
  EXPECT_EQ(types_of(Api::videogen, R"({"video_bytes":"?"})"), "error");
}

TEST(ArtefactQueue, what_it_still_has_at_its_end_is_given_back) {
  MemoryBudget budget(100);
  {
    ArtefactQueue queue(budget);
    EXPECT_EQ(queue.lost(), 0U);
    queue.put({.index = 1}, Api::openai_images, std::string(30, 'a'));
    queue.put({.index = 2}, Api::openai_images, std::string(20, 'b'));
    ReplyBytes out;
    ASSERT_TRUE(queue.take(out));
    EXPECT_EQ(out.api, Api::openai_images);
    EXPECT_EQ(budget.in_use(), 50U);
  }
  EXPECT_EQ(budget.in_use(), 0U);
}

}  // namespace
}  // namespace assay::protocol
