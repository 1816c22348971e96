// How much of a reply is sound, and how long it plays: the same however the bytes are cut.
#include "protocol/sound_meter.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/base64.h"

namespace assay::protocol {
namespace {

std::string little_bytes(std::uint32_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
  return out;
}

std::string wav_chunk(std::string_view name, std::string_view content) {
  std::string out = std::string(name) + little_bytes(static_cast<std::uint32_t>(content.size()), 4);
  return out.append(content).append(content.size() % 2, '\0');
}

std::string wav_form(std::uint32_t rate) {
  return little_bytes(1, 2) + little_bytes(1, 2) + little_bytes(rate / 2, 4) +
         little_bytes(rate, 4) + little_bytes(2, 2) + little_bytes(16, 2);
}

// A head with a list before the samples.
std::string wav_start(std::uint32_t rate, std::uint32_t samples) {
  return "RIFF" + little_bytes(0, 4) + "WAVE" + wav_chunk("LIST", "odd") +
         wav_chunk("fmt ", wav_form(rate)) + "data" + little_bytes(samples, 4);
}

struct Metered {
  std::uint64_t bytes = 0;
  std::uint32_t rate = 0;
  std::uint64_t missing = 0;
  bool operator==(const Metered&) const = default;
};

Metered metered(std::string_view sound, std::uint32_t asked, std::size_t cut) {
  SoundMeter meter;
  meter.begin(asked);
  Metered out;
  for (std::size_t at = 0; at < sound.size(); at += cut)
    out.bytes += meter.feed(sound.substr(at, cut));
  out.bytes += meter.finish();
  out.rate = meter.rate();
  out.missing = meter.missing();
  return out;
}

void expect_in_all_cuts(std::string_view sound, std::uint32_t asked, const Metered& expected) {
  for (const std::size_t cut :
       {std::size_t{1}, std::size_t{3}, std::size_t{7}, std::size_t{1024}}) {
    const Metered got = metered(sound, asked, cut);
    EXPECT_EQ(got.bytes, expected.bytes) << "in pieces of " << cut;
    EXPECT_EQ(got.rate, expected.rate) << "in pieces of " << cut;
    EXPECT_EQ(got.missing, expected.missing) << "in pieces of " << cut;
  }
}

TEST(SoundMeter, samples_without_a_head_play_as_they_were_asked_for) {
  expect_in_all_cuts(std::string(96'000, 'x'), 48'000, {96'000, 48'000, 0});
  expect_in_all_cuts("RI", 48'000, {2, 48'000, 0});  // could have been a head
  expect_in_all_cuts("RIFX", 48'000, {4, 48'000, 0});
  expect_in_all_cuts("RIFF0000AVI LIST", 48'000, {16, 48'000, 0});
}

TEST(SoundMeter, the_head_of_a_wav_file_is_no_sound_and_says_how_fast_it_plays) {
  expect_in_all_cuts(wav_start(32'000, 0xffff'ffff) + std::string(64, 's'), 48'000,
                     {64, 32'000, 0});
  expect_in_all_cuts(wav_start(32'000, 0) + std::string(64, 's'), 0, {64, 32'000, 0});
  expect_in_all_cuts(wav_start(32'000, 0x7fff'ffdb) + std::string(64, 's'), 0, {64, 32'000, 0});
}

TEST(SoundMeter, a_promised_length_is_kept_to) {
  expect_in_all_cuts(wav_start(32'000, 64) + std::string(64, 's') + wav_chunk("LIST", "end"), 0,
                     {64, 32'000, 0});
  expect_in_all_cuts(wav_start(32'000, 64) + std::string(40, 's'), 0, {40, 32'000, 24});
  expect_in_all_cuts(wav_start(32'000, 64), 0, {0, 32'000, 64});
}

TEST(SoundMeter, other_formats_are_bytes_of_unknown_length) {
  expect_in_all_cuts(std::string("\xFF\xF3\x84\xC0") + std::string(188, '\0'), 0, {192, 0, 0});
  // A head that never ends its list of chunks.
  const std::string endless = "RIFF0000WAVE" + std::string("junk") + little_bytes(100'000'000, 4);
  expect_in_all_cuts(endless + std::string(SoundMeter::kHeadMax, 'j'), 48'000,
                     {endless.size() + SoundMeter::kHeadMax, 0, 0});
}

TEST(SoundMeter, base64_counts_as_the_bytes_that_it_holds) {
  const std::string wav = wav_start(32'000, 0) + std::string(1000, 's');
  for (const std::size_t cut :
       {std::size_t{1}, std::size_t{5}, std::size_t{44}, std::size_t{999}}) {
    SoundMeter meter;
    meter.begin(0);
    std::uint64_t bytes = 0;
    for (std::size_t at = 0; at < wav.size(); at += cut) {
      std::string text = encode_base64(std::string_view(wav).substr(at, cut));
      if (at % 2 == 0) text.resize(text.find_last_not_of('=') + 1);  // padding may be left out
      bytes += meter.feed_base64(text);
    }
    EXPECT_EQ(bytes, 1000U) << "in pieces of " << cut;
    EXPECT_EQ(meter.rate(), 32'000U);
  }
  SoundMeter meter;
  meter.begin(48'000);
  EXPECT_EQ(meter.feed_base64("not base64!"), 0U);
  EXPECT_FALSE(meter.sound());
  EXPECT_EQ(meter.feed("more"), 0U);
  meter.begin(48'000);
  EXPECT_TRUE(meter.sound());
}

TEST(SoundMeter, a_length_is_exact_to_the_nanosecond) {
  SoundMeter meter;
  meter.begin(48'000);
  EXPECT_EQ(meter.rate(), 0U);  // the first bytes may still be a head
  EXPECT_EQ(meter.feed("xxxx"), 4U);
  EXPECT_EQ(meter.length_of(48'000), 1_s);
  EXPECT_EQ(meter.length_of(1152), 24_ms);
  EXPECT_EQ(meter.length_of(1).ns, 20'833);
  EXPECT_EQ(meter.length_of(std::uint64_t{48'000} * 10'000'000'000).ns,
            (std::int64_t{1} << 32) * 1'000'000'000);
}

TEST(SoundMeter, a_promise_is_one_below_the_numbers_that_say_none) {
  const auto missing = [](std::uint32_t promised) {
    SoundMeter meter;
    meter.begin(0);
    EXPECT_EQ(meter.feed(wav_start(32'000, promised) + "abcd"), 4U);
    return meter.missing();
  };
  EXPECT_EQ(missing(0x7fff'0000 - 1), 0x7fff'0000U - 5);
  EXPECT_EQ(missing(0x7fff'0000), 0U);
  EXPECT_EQ(missing(5), 1U);
  EXPECT_EQ(missing(4), 0U);
}

TEST(SoundMeter, each_reply_begins_anew) {
  SoundMeter meter;
  meter.begin(0);
  meter.feed(wav_start(32'000, 64) + "abcd");
  EXPECT_EQ(meter.missing(), 60U);
  meter.begin(8'000);
  EXPECT_EQ(meter.feed("plain samples"), 13U);
  EXPECT_EQ(meter.missing(), 0U);
  EXPECT_EQ(meter.rate(), 8'000U);
  EXPECT_EQ(meter.finish(), 0U) << "nothing was held back";
  meter.begin(8'000);
  meter.feed("RIF");
  meter.begin(8'000);
  EXPECT_EQ(meter.feed("xy"), 2U) << "what the one before held back is not of this one";
  meter.begin(0);
  EXPECT_EQ(meter.feed(wav_start(32'000, 6) + "abcdefgh"), 6U);
  EXPECT_EQ(meter.missing(), 0U) << "what the ones before brought is not of this one";
  meter.begin(0);
  EXPECT_EQ(meter.feed(wav_start(32'000, 6) + "ab"), 2U);
  EXPECT_EQ(meter.missing(), 4U);
}

TEST(SoundMeter, a_form_must_be_whole_and_a_head_may_be_as_long_as_its_room) {
  const auto rate = [](const std::string& chunks) {
    SoundMeter meter;
    meter.begin(48'000);
    meter.feed("RIFF0000WAVE" + chunks + "data" + little_bytes(0, 4) + "s");
    return meter.rate();
  };
  EXPECT_EQ(rate(wav_chunk("fmt ", wav_form(32'000))), 32'000U);
  EXPECT_EQ(rate(wav_chunk("fmt ", wav_form(32'000) + "more")), 32'000U);
  EXPECT_EQ(rate(wav_chunk("fmt ", wav_form(32'000).substr(0, 15))), 0U);
  EXPECT_EQ(rate(wav_chunk("form", wav_form(32'000))), 0U);
  // 12 bytes of RIFF, 24 of its form, 8 of the list's own head.
  const std::size_t most = SoundMeter::kHeadMax - 12 - 24 - 8;
  const std::string form = wav_chunk("fmt ", wav_form(32'000));
  EXPECT_EQ(rate(form + wav_chunk("LIST", std::string(most, 'x'))), 32'000U);
  EXPECT_EQ(rate(form + wav_chunk("LIST", std::string(most + 2, 'x'))), 0U);
}

TEST(SoundMeter, a_promise_of_one_byte_is_a_promise) {
  SoundMeter meter;
  EXPECT_EQ(meter.rate(), 0U);
  EXPECT_EQ(meter.missing(), 0U);
  meter.begin(0);
  EXPECT_EQ(meter.feed(wav_start(32'000, 1) + "abc"), 1U);
  EXPECT_EQ(meter.missing(), 0U);
}

TEST(SoundMeter, what_is_no_file_is_known_with_its_twelfth_byte_and_a_file_without_sound_has_none) {
  SoundMeter meter;
  meter.begin(8'000);
  EXPECT_EQ(meter.feed("RIFF0000WAV"), 0U);
  EXPECT_EQ(meter.feed("X"), 12U);
  for (const char* const head : {"RIFF", "RIFF0", "RIFF0000WAVE"}) {
    meter.begin(8'000);
    EXPECT_EQ(meter.feed(head), 0U) << head;
    EXPECT_EQ(meter.finish(), 0U) << head;
  }
  meter.begin(8'000);
  EXPECT_EQ(meter.feed("RIF"), 0U);
  EXPECT_EQ(meter.feed_base64("?"), 0U);
  EXPECT_EQ(meter.finish(), 0U) << "what is broken has no rest";
}

}  // namespace
}  // namespace assay::protocol
