// The decoder at its edges: a record's own instant, the state that a block leaves for the next,
// numbers out of range, and what remains of a broken record.
#include <gtest/gtest.h>

#include <limits>

#include "domain/quiet_sink.h"
#include "record/event_codec.h"
#include "record/testing_said.h"

namespace assay::record {
namespace {

// Encodes by hand into one block after another.
struct Bytes {
  DeltaState state{};
  std::string text{};

  template <typename Put>
  Bytes& add(Put put) {
    std::string room(kRecordMax, '\0');
    char* const end = put(room.data(), state);
    text.append(room.data(), static_cast<std::size_t>(end - room.data()));
    return *this;
  }
  Bytes& mark(const PhaseMark& phase_mark) {
    return add([&](char* p, DeltaState& s) { return put_phase_mark(p, s, phase_mark); });
  }
  Bytes& sent(const Query& query, Instant due, Instant at) {
    return add([&](char* p, DeltaState& s) { return put_sent(p, s, query, due, at); });
  }
  Bytes& event(const Query& query, const StreamEvent& e, std::string_view words = "",
               bool kept = true) {
    return add(
        [&](char* p, DeltaState& s) { return put_stream_event(p, s, query, e, words, kept); });
  }
  Bytes& long_event(const Query& query, const StreamEvent& e, std::size_t bytes) {
    return add([&](char* p, DeltaState& s) { return put_long_event(p, s, query, e, bytes); });
  }
  Bytes& piece(std::string_view words) {
    return add([&](char* p, DeltaState&) { return put_text_piece(p, words); });
  }
  Bytes& done(const Event& e, std::string_view detail = "") {
    return add([&](char* p, DeltaState& s) { return put_done(p, s, e, detail); });
  }
};

struct Reading {
  std::vector<Instant> at{};
  Said said{};
  std::string trouble{};
};

// A block's records, in a decoder that has read others before.
Reading read_block(RecordDecoder& decoder, std::string_view bytes) {
  Reading out;
  ByteReader in(bytes);
  Record record;
  while (decoder.next(in, record) == RecordDecoder::Step::record) {
    out.at.push_back(record.at);
    record.tell(out.said);
  }
  out.trouble = decoder.trouble();
  return out;
}

Reading read_alone(std::string_view bytes, Instant base = Instant{}) {
  RecordDecoder decoder(TextRule(Texts::all, {}));
  decoder.start_block(base, false);
  return read_block(decoder, bytes);
}

TEST(CodecEdges, any_set_of_known_instants_comes_back_as_it_was) {
  struct Last final : QuietSink {
    void on_done(const Event& done, std::string_view) override { event = done; }
    Event event{};
  };
  constexpr Instant Event::*kInstants[] = {
      &Event::due,         &Event::sent,          &Event::first_byte, &Event::first_event,
      &Event::first_token, &Event::first_visible, &Event::last_token, &Event::done};
  for (unsigned known = 0; known < 1U << std::size(kInstants); ++known) {
    Event event{};
    for (std::size_t i = 0; i < std::size(kInstants); ++i) {
      const auto at = static_cast<std::int64_t>(1000 + 7 * i);
      event.*kInstants[i] = (known >> i & 1) != 0 ? Instant{at} : Instant::none();
    }
    RecordDecoder decoder(TextRule(Texts::all, {}));
    decoder.start_block(Instant{}, false);
    const std::string bytes = Bytes().done(event).text;
    ByteReader in(bytes);
    Record record;
    ASSERT_EQ(decoder.next(in, record), RecordDecoder::Step::record) << known;
    Last last;
    record.tell(last);
    for (const auto instant : kInstants) EXPECT_EQ(last.event.*instant, event.*instant) << known;
  }
}

TEST(CodecEdges, a_record_is_of_the_instant_at_which_our_thread_had_it) {
  Event whole{.done = Instant{500}};
  whole.read_delay_done = 7_ns;
  const Event none{.query = {.index = 1}, .due = Instant{300}};
  Bytes bytes;
  bytes.mark({0, PhaseStep::started, Instant{100}})
      .sent({}, Instant{50}, Instant{200})
      .event({}, {.kernel_stamped = true, .arrival = Instant{310}, .read = Instant{330}})
      .event({}, {.arrival = Instant{400}, .read = Instant{400}})
      .done(whole)
      .done(none);
  const Reading got = read_alone(bytes.text);
  EXPECT_EQ(got.trouble, "");
  const std::vector<Instant> wanted = {Instant{100}, Instant{200}, Instant{330},
                                       Instant{400}, Instant{507}, Instant{507}};
  ASSERT_EQ(got.at.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(got.at[i], wanted[i]) << i;
}

TEST(CodecEdges, a_long_fragment_is_of_its_read) {
  Bytes bytes;
  bytes.long_event({}, {.arrival = Instant{10}, .read = Instant{30}}, 6).piece("abc").piece("def");
  const Reading got = read_alone(bytes.text);
  ASSERT_EQ(got.at.size(), 1U);
  EXPECT_EQ(got.at[0], Instant{30});
  EXPECT_TRUE(got.said.lines[0].ends_with("10 30-0 'abcdef'")) << got.said.lines[0];
}

TEST(CodecEdges, what_is_told_against_a_blocks_base_is_read_against_it) {
  for (const Instant base : {Instant{0}, Instant{1'000'000}, Instant{-77}}) {
    Bytes bytes{.state = DeltaState::at(base)};
    bytes.event({}, {.arrival = base, .read = base});
    bytes.event({.index = 5}, {.arrival = base + 1_us, .read = base + 1_us});
    const Reading got = read_alone(bytes.text, base);
    ASSERT_EQ(got.at.size(), 2U);
    EXPECT_EQ(got.at[0], base);
    EXPECT_EQ(got.at[1], base + 1_us);
  }
}

// A writer never separates an extension from its record; bytes that do leave no state behind.
TEST(CodecEdges, an_extension_at_the_end_of_a_block_is_of_no_record_of_the_next) {
  StreamEvent rich{.choice = 3};
  rich.tokens_so_far = 9;
  rich.uncertainty = 5_us;
  Event asked{.done = Instant{5}};
  asked.tokens_max = 64;
  asked.done_uncertainty = 3_us;
  Bytes one;
  one.event({}, rich);
  Bytes two;
  two.done(asked);
  for (const std::string* const whole : {&one.text, &two.text}) {
    // The extensions come first: find where they end.
    std::size_t at = 0;
    while ((*whole)[at] == '\x0f') at += 3 + static_cast<std::size_t>((*whole)[at + 2]);
    ASSERT_GT(at, 0U);
    RecordDecoder decoder(TextRule(Texts::all, {}));
    decoder.start_block(Instant{}, false);
    EXPECT_TRUE(read_block(decoder, whole->substr(0, at)).at.empty());
    decoder.start_block(Instant{}, false);
    Bytes plain;
    plain.event({}, StreamEvent{}).done(Event{.done = Instant{5}});
    const Reading got = read_block(decoder, plain.text);
    EXPECT_EQ(got.said.lines, read_alone(plain.text).said.lines);
  }
}

TEST(CodecEdges, a_fragment_whose_pieces_are_lost_with_a_block_is_dropped_and_no_other) {
  Bytes begun;
  begun.long_event({}, {}, 6).piece("abc");
  Bytes rest;
  rest.piece("def").sent({}, Instant{1}, Instant{2});
  // In one piece across two blocks it is whole.
  RecordDecoder whole(TextRule(Texts::all, {}));
  whole.start_block(Instant{}, false);
  EXPECT_TRUE(read_block(whole, begun.text).at.empty());
  whole.start_block(Instant{}, false);
  EXPECT_EQ(read_block(whole, rest.text).at.size(), 2U);
  // With a gap between them the first part is dropped, and so is the rest.
  RecordDecoder gap(TextRule(Texts::all, {}));
  gap.start_block(Instant{}, false);
  EXPECT_TRUE(read_block(gap, begun.text).at.empty());
  gap.start_block(Instant{}, true);
  const Reading got = read_block(gap, rest.text);
  EXPECT_EQ(got.trouble, "");
  EXPECT_EQ(got.said.lines, std::vector<std::string>{"sent 0.0 sample 0 salt 00 1 2"});
}

TEST(CodecEdges, pieces_make_up_their_fragment_exactly) {
  Bytes more;
  more.long_event({}, {}, 4).piece("abc").piece("de");
  EXPECT_NE(read_alone(more.text).trouble, "") << "more than was said";
  Bytes empty;
  empty.long_event({}, {}, 4).piece("abc").piece("");
  EXPECT_NE(read_alone(empty.text).trouble, "") << "a piece of nothing would go on for ever";
  Bytes other;
  other.long_event({}, {}, 4).piece("abc").sent({}, Instant{}, Instant{});
  EXPECT_EQ(read_alone(other.text).trouble, "a long fragment that breaks off");
  Bytes of_one_byte;
  of_one_byte.long_event({}, {}, 1).sent({}, Instant{}, Instant{});
  EXPECT_EQ(read_alone(of_one_byte.text).trouble, "a long fragment that breaks off");
  Bytes none;
  none.long_event({}, {.bytes = 9}, 0);
  EXPECT_EQ(read_alone(none.text).at.size(), 1U) << "of a text that is not kept only the length";
  Bytes two;
  two.long_event({}, {}, 3).piece("abc").long_event({}, {}, 2).piece("de");
  const Reading got = read_alone(two.text);
  ASSERT_EQ(got.at.size(), 2U);
  EXPECT_TRUE(got.said.lines[1].ends_with("'de'"));
}

TEST(CodecEdges, queries_are_unfinished_from_their_sending_to_their_end) {
  RecordDecoder decoder(TextRule(Texts::all, {}));
  decoder.start_block(Instant{}, false);
  Bytes bytes;
  bytes.sent({.index = 1}, {}, {}).sent({.index = 2}, {}, {});
  read_block(decoder, bytes.text);
  EXPECT_EQ(decoder.unfinished(), 2U);
  Bytes next;
  next.done(Event{.query = {.index = 2}}).done(Event{.query = {.index = 9}});
  decoder.start_block(Instant{}, false);
  read_block(decoder, next.text);
  EXPECT_EQ(decoder.unfinished(), 1U);
  // A truncated record reports no query.
  Bytes cut;
  cut.sent({.index = 3}, Instant{5'000'000}, Instant{9'000'000});
  decoder.start_block(Instant{}, false);
  EXPECT_NE(read_block(decoder, cut.text.substr(0, cut.text.size() - 1)).trouble, "");
  EXPECT_EQ(decoder.unfinished(), 1U);
}

TEST(CodecEdges, a_name_that_no_enumerator_has_is_refused_and_the_last_that_has_one_is_not) {
  const auto reads = [](std::string bytes, std::size_t at, int value) {
    bytes[at] = static_cast<char>(value);
    return read_alone(bytes).trouble.empty();
  };
  Bytes mark;
  mark.mark({0, PhaseStep::started, Instant{}});
  for (int step = 0; step < 256; ++step) EXPECT_EQ(reads(mark.text, 2, step), step <= 2) << step;
  Bytes event;
  event.long_event({}, {}, 0);
  for (int category = 0; category < 16; ++category) {
    EXPECT_EQ(reads(event.text, 1, category), category < kCategories) << category;
  }
  Bytes done;
  done.done(Event{});
  ASSERT_EQ(done.text[0], '\x0a');
  for (int flags = 0; flags < 128; ++flags) {
    const bool named = (flags & 15) < kOutcomes && (flags >> 4) < kFinishReasons;
    EXPECT_EQ(reads(done.text, 1, flags), named) << flags;
  }
}

TEST(CodecEdges, a_piece_of_sound_is_told_by_its_length_alone) {
  Bytes sound;
  sound.event({}, {.category = Category::sound, .bytes = 4800}, "", true);
  sound.event({}, {.category = Category::sound, .bytes = 70'000}, "", false);
  const Reading got = read_alone(sound.text);
  ASSERT_EQ(got.trouble, "");
  ASSERT_EQ(got.said.lines.size(), 2U);
  EXPECT_NE(got.said.lines[0].find(" sound 00 4800 "), std::string::npos) << got.said.lines[0];
  EXPECT_NE(got.said.lines[1].find(" sound 00 70000 "), std::string::npos) << got.said.lines[1];
}

TEST(CodecEdges, instants_are_taken_up_to_the_limit_and_not_at_it) {
  constexpr std::int64_t kReach = std::int64_t{1} << 62;
  for (const std::int64_t sign : {1, -1}) {
    Bytes in;
    in.mark({0, PhaseStep::started, Instant{sign * (kReach - 1)}});
    EXPECT_EQ(read_alone(in.text).trouble, "");
    Bytes out;
    out.mark({0, PhaseStep::started, Instant{sign * kReach}});
    EXPECT_NE(read_alone(out.text).trouble, "");
  }
  // Each instant of each record is checked.
  const Instant far{kReach};
  Bytes due;
  due.sent({}, far, Instant{});
  EXPECT_NE(read_alone(due.text).trouble, "");
  Bytes sent;
  sent.sent({}, Instant{}, far);
  EXPECT_NE(read_alone(sent.text).trouble, "");
  Bytes read;
  read.event({}, {.arrival = far, .read = far});
  EXPECT_NE(read_alone(read.text).trouble, "");
  Bytes arrival;
  arrival.event({}, {.kernel_stamped = true, .arrival = Instant{-kReach}, .read = Instant{}});
  EXPECT_NE(read_alone(arrival.text).trouble, "");
  Bytes long_read;
  long_read.long_event({}, {.arrival = far, .read = far}, 0);
  EXPECT_NE(read_alone(long_read.text).trouble, "");
  Bytes long_arrival;
  long_arrival.long_event({}, {.arrival = far, .read = Instant{}}, 0);
  EXPECT_NE(read_alone(long_arrival.text).trouble, "");
  Bytes milestone;
  milestone.done(Event{.due = far, .done = Instant{}});
  EXPECT_NE(read_alone(milestone.text).trouble, "");
  Event late{.done = Instant{kReach - 1}};
  late.read_delay_done = 1_ns;
  Bytes had;
  had.done(late);
  EXPECT_NE(read_alone(had.text).trouble, "") << "when our thread had the end";
  Event delayed{.done = Instant{}};
  delayed.connect_time = Duration{kReach};
  Bytes delay;
  delay.done(delayed);
  EXPECT_NE(read_alone(delay.text).trouble, "");
}

TEST(CodecEdges, an_uncertainty_may_be_as_long_as_the_limit_and_no_longer) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  const auto reads = [](Duration of_event, Duration of_done) {
    Event done{.done = Instant{}};
    done.done_uncertainty = of_done;
    Bytes bytes;
    bytes.event({}, {.uncertainty = of_event}).done(done);
    return read_alone(bytes.text).trouble.empty();
  };
  EXPECT_TRUE(reads(Duration{kMost}, Duration{kMost}));
  EXPECT_FALSE(reads(Duration{kMost + 1}, {}));
  EXPECT_FALSE(reads({}, Duration{kMost + 1}));
}

TEST(CodecEdges, texts_are_kept_by_the_rule_and_phases_beyond_the_list_unless_none_are) {
  const std::vector<PhaseInfo> phases = {{PhaseKind::performance, "p", false},
                                         {PhaseKind::accuracy, "a", false}};
  const auto kept = [&](Texts texts, std::uint16_t phase) {
    const TextRule rule(texts, phases);
    EXPECT_EQ(rule.texts(), texts);
    return rule.kept(phase);
  };
  EXPECT_FALSE(kept(Texts::none, 0) || kept(Texts::none, 1) || kept(Texts::none, 2));
  EXPECT_FALSE(kept(Texts::accuracy, 0));
  EXPECT_TRUE(kept(Texts::accuracy, 1) && kept(Texts::accuracy, 2));
  EXPECT_TRUE(kept(Texts::all, 0) && kept(Texts::all, 1) && kept(Texts::all, 2));
}

TEST(CodecEdges, a_text_that_is_not_kept_costs_nothing_and_a_length_that_is_no_text_s_is_told) {
  Bytes without;
  without.event({}, {.bytes = 500}, "", false);
  EXPECT_LE(without.text.size(), 5U);
  // Kept text whose length differs from the event's: it is written in the long form.
  Bytes odd;
  odd.event({}, {.bytes = 500}, "abc");
  const Reading got = read_alone(odd.text);
  ASSERT_EQ(got.said.lines.size(), 1U);
  EXPECT_NE(got.said.lines[0].find(" 500 "), std::string::npos);
  EXPECT_TRUE(got.said.lines[0].ends_with("'abc'"));
}

TEST(CodecEdges, what_most_records_do_not_have_takes_no_bytes) {
  const auto done_size = [](auto change) {
    Event event{.done = Instant{}};
    change(event);
    Bytes bytes;
    bytes.done(event);
    return bytes.text.size();
  };
  const std::size_t plain = done_size([](Event&) {});
  EXPECT_GT(done_size([](Event& e) { e.stream_asked = true; }), plain);
  EXPECT_GT(done_size([](Event& e) { e.tokens_max = 0; }), plain);
  EXPECT_GT(done_size([](Event& e) { e.choices_asked = 0; }), plain);
  EXPECT_GT(done_size([](Event& e) { e.fragments_after_done = 1; }), plain);
  EXPECT_GT(done_size([](Event& e) { e.sent_uncertainty = 1_ns; }), plain);
  EXPECT_GT(done_size([](Event& e) { e.done_uncertainty = 1_ns; }), plain);
  EXPECT_GT(done_size([](Event& e) { e.sound.bytes = 1; }), plain);
  EXPECT_GT(done_size([](Event& e) { e.sound.first = Instant{}; }), plain);
  EXPECT_LT(plain, 35U);
  // A read of three events: the two that share it write their uncertainty once.
  Bytes read;
  StreamEvent shared{.shares_read = true};
  shared.uncertainty = 9_us;
  read.event({}, shared);
  const std::size_t first = read.text.size();
  read.event({}, shared);
  EXPECT_EQ(read.text.size() - first, 2U);
  const std::size_t second = read.text.size();
  read.event({}, StreamEvent{});
  EXPECT_EQ(read.text.size() - second, 2U) << "the last of a read has none";
}

}  // namespace
}  // namespace assay::record
