#include "record/event_codec.h"

#include <gtest/gtest.h>

#include "domain/quiet_sink.h"
#include "domain/tee.h"
#include "record/testing_said.h"

namespace assay::record {
namespace {

// Encodes all events into one endless block.
class Encode final : public QuietSink {
 public:
  void on_phase(const PhaseMark& mark) override { room(put_phase_mark(p(), state, mark)); }
  void on_sent(const Query& query, Instant due, Instant sent) override {
    room(put_sent(p(), state, query, due, sent));
  }
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    if (text.size() <= kInlineTextMax) {
      return room(put_stream_event(p(), state, query, event, text, true));
    }
    room(put_long_event(p(), state, query, event, text.size()));
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), kInlineTextMax))) {
      room(put_text_piece(p(), text.substr(0, kInlineTextMax)));
    }
  }
  void on_done(const Event& event, std::string_view detail) override {
    room(put_done(p(), state, event, detail));
  }

  std::string bytes() const { return bytes_.substr(0, used_); }
  DeltaState state{};

 private:
  char* p() {
    bytes_.resize(used_ + kRecordMax);
    return bytes_.data() + used_;
  }
  void room(const char* end) {
    const auto used = static_cast<std::size_t>(end - bytes_.data());
    ASSERT_LE(used, used_ + kRecordMax);
    used_ = used;
  }
  std::string bytes_{};
  std::size_t used_ = 0;
};

std::vector<std::string> read_back(std::string_view bytes, std::string* trouble = nullptr) {
  RecordDecoder decoder(TextRule(Texts::all, {}));
  decoder.start_block(Instant{}, false);
  ByteReader in(bytes);
  Record record;
  Said said;
  RecordDecoder::Step step{};
  while ((step = decoder.next(in, record)) == RecordDecoder::Step::record) record.tell(said);
  if (trouble != nullptr) *trouble = decoder.trouble();
  EXPECT_EQ(step == RecordDecoder::Step::bad, !decoder.trouble().empty());
  return said.lines;
}

TEST(Varint, gives_back_every_number_and_any_two_instants) {
  Rng rng(1);
  char buffer[kVarintMax];
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t value = rng.next() >> rng.below(64);
    const char* const end = put_varint(buffer, value);
    ByteReader in({buffer, static_cast<std::size_t>(end - buffer)});
    ASSERT_EQ(in.varint(), value);
    ASSERT_TRUE(in.good() && in.at_end());
    const auto base = static_cast<std::int64_t>(rng.next());
    const auto at = static_cast<std::int64_t>(rng.next() >> rng.below(64));
    const char* const stop = put_delta(buffer, at, base);
    ByteReader delta({buffer, static_cast<std::size_t>(stop - buffer)});
    ASSERT_EQ(delta.delta(base), at);
  }
}

TEST(Varint, refuses_what_is_short_or_longer_than_64_bits) {
  for (const std::string_view bytes :
       {std::string_view(""), std::string_view("\x80"), std::string_view("\xff\xff"),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}) {
    ByteReader in(bytes);
    EXPECT_EQ(in.varint(), 0u);
    EXPECT_FALSE(in.good());
    EXPECT_EQ(in.byte(), 0u);
  }
}

TEST(EventCodec, what_a_run_says_survives_the_round_trip) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Encode encode;
    Said said;
    Tee both({&encode, &said});
    RandomTeller(seed, false).tell(both, 3000);
    EXPECT_EQ(first_difference(read_back(encode.bytes()), said.lines), "") << "seed " << seed;
  }
}

TEST(EventCodec, whatever_the_fields_hold_survives_the_round_trip) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Encode encode;
    Said said;
    Tee both({&encode, &said});
    RandomTeller(seed, true).tell(both, 3000);
    EXPECT_EQ(first_difference(read_back(encode.bytes()), said.lines), "") << "seed " << seed;
  }
}

TEST(EventCodec, a_detail_is_kept_up_to_its_limit_and_cut_there) {
  for (const std::size_t size :
       {std::size_t{0}, kDetailMax - 1, kDetailMax, kDetailMax + 1, 2 * kDetailMax}) {
    const std::string detail(size, 'x');
    Encode out;
    out.on_sent({}, Instant{1}, Instant{1});
    out.on_done(Event{.outcome = Outcome::reset, .done = Instant{2}}, detail);
    Said wanted;
    wanted.on_sent({}, Instant{1}, Instant{1});
    wanted.on_done(Event{.outcome = Outcome::reset, .done = Instant{2}},
                   detail.substr(0, kDetailMax));
    EXPECT_EQ(read_back(out.bytes()).back(), wanted.lines.back()) << size;
  }
}

TEST(EventCodec, a_record_cut_anywhere_gives_the_records_before_it) {
  Encode encode;
  Said said;
  Tee both({&encode, &said});
  RandomTeller(5, false).tell(both, 300);
  const std::string bytes = encode.bytes();
  for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + cut % 7) {
    const std::vector<std::string> got = read_back(std::string_view(bytes).substr(0, cut));
    ASSERT_LE(got.size(), said.lines.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], said.lines[i]) << cut;
  }
}

TEST(EventCodec, an_event_is_as_short_as_the_format_says) {
  DeltaState state{};
  char buffer[kRecordMax];
  Query query{};
  query.index = 40;
  StreamEvent event{};
  event.category = Category::text;
  event.bytes = 4;
  event.kernel_stamped = true;
  event.read = Instant{5000};
  event.arrival = Instant{3000};
  EXPECT_EQ(put_stream_event(buffer, state, query, event, "", false) - buffer, 7);
  // The next event of the same read: its kind and its length.
  EXPECT_EQ(put_stream_event(buffer, state, query, event, "", false) - buffer, 2);
}

TEST(EventCodec, who_does_not_know_an_extension_skips_it) {
  Encode encode;
  encode.on_phase({1, PhaseStep::started, Instant{7}});
  const std::string bytes = std::string("\x0f\x63\x03xyz") + encode.bytes();
  EXPECT_EQ(read_back(bytes), std::vector<std::string>{"phase 1 0 7"});
}

TEST(EventCodec, an_event_of_a_query_that_nobody_sent_keeps_its_place) {
  Encode encode;
  Query query{};
  query.index = 9;
  query.phase = 1;
  query.sample = 77;
  StreamEvent event{};
  encode.on_stream_event(query, event, "");
  EXPECT_EQ(read_back(encode.bytes()),
            std::vector<std::string>{"event 1.9 sample 0 salt 00 other 00 0 0 -1 0 0-0 ''"});
}

TEST(EventCodec, an_extension_is_of_the_next_record_of_its_kind_and_no_other) {
  Encode encode;
  Query query{};
  StreamEvent event{};
  event.choice = 300;
  event.tokens_so_far = kNoCount;
  encode.on_stream_event(query, event, "");
  encode.on_stream_event(query, StreamEvent{}, "");
  Event done{};
  done.tokens_max = 64;
  done.choices_asked = 2;
  encode.on_done(done, "");
  done = Event{};
  done.query.index = 1;
  encode.on_done(done, "");
  const std::vector<std::string> lines = read_back(encode.bytes());
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "event 0.0 sample 0 salt 00 other 00 0 300 -2 0 0-0 ''");
  EXPECT_EQ(lines[1], "event 0.0 sample 0 salt 00 other 00 0 0 -1 0 0-0 ''");
  EXPECT_TRUE(lines[2].ends_with(" asked 0 64 2 after 0")) << lines[2];
  EXPECT_TRUE(lines[3].ends_with(" asked 0 -1 1 after 0")) << lines[3];
}

TEST(EventCodec, what_a_later_version_adds_to_an_extension_is_passed_over) {
  Encode encode;
  Query query{};
  encode.on_stream_event(query, StreamEvent{}, "");
  const std::string_view longer("\x0f\x01\x04\x05\x0cxy", 7);
  const std::vector<std::string> lines = read_back(std::string(longer) + encode.bytes());
  EXPECT_EQ(lines, std::vector<std::string>{"event 0.0 sample 0 salt 00 other 00 0 5 6 0 0-0 ''"});
  std::string trouble;
  read_back(std::string_view("\x0f\x01\x01\x05", 4), &trouble);
  EXPECT_NE(trouble.find("cut short"), std::string::npos);
}

TEST(EventCodec, an_instant_of_another_century_is_refused) {
  for (const std::int64_t ns : {std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max(),
                                std::numeric_limits<std::int64_t>::min()}) {
    Encode encode;
    encode.on_phase({0, PhaseStep::started, Instant{ns}});
    std::string trouble;
    EXPECT_TRUE(read_back(encode.bytes(), &trouble).empty());
    EXPECT_NE(trouble.find("out of range"), std::string::npos);
  }
}

TEST(EventCodec, nonsense_is_named) {
  std::string trouble;
  read_back("\x0a\xff\xff", &trouble);
  EXPECT_NE(trouble.find("out of range"), std::string::npos);
  read_back(std::string_view("\x0d\x00\x00\x00\x00\x05\x08\x0b", 8), &trouble);
  EXPECT_NE(trouble.find("breaks off"), std::string::npos);
}

}  // namespace
}  // namespace assay::record
