#include "record/clock_shift.h"

#include <gtest/gtest.h>

#include "record/testing_said.h"

namespace assay::record {
namespace {

// Exact probes at own instants 0 and `to`, where the reference is at `first` and at to + `last`.
ClockMap exact_map(std::int64_t to, std::int64_t first, std::int64_t last) {
  const auto probe = [](std::int64_t own, std::int64_t offset) {
    const Instant there{own + offset};
    return ClockProbe{Instant{own}, there, there, Instant{own}};
  };
  return *ClockMap::make({probe(0, first), probe(to, last)});
}

// The eight instants of the line of a query's end.
std::string instants_of_end(const Said& said, std::size_t line = 0) {
  const std::string& text = said.lines.at(line);
  std::string out;
  std::size_t at = 0;
  for (int word = 0; at < text.size(); ++word) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    constexpr int kFirst = 11;  // of the words before: done, the query, the outcome, …
    if (word >= kFirst && word < kFirst + 8) out += text.substr(at, end - at) + " ";
    at = end + 1;
  }
  return out;
}

Event event_at(const std::vector<std::int64_t>& at) {
  Event event{};
  Instant* const places[] = {&event.due,         &event.sent,        &event.first_byte,
                             &event.first_event, &event.first_token, &event.first_visible,
                             &event.last_token,  &event.done};
  for (std::size_t i = 0; i < at.size(); ++i) {
    *places[i] = at[i] < 0 ? Instant::none() : Instant{at[i]};
  }
  return event;
}

TEST(ClockShift, every_instant_of_a_query_moves_by_the_offset) {
  const ClockMap map = exact_map(1'000, 1'000'000, 1'000'000);
  Said said;
  ClockShift shift(map, said);
  shift.on_done(event_at({1, 2, 3, 4, 5, 6, 7, 8}), "");
  EXPECT_EQ(instants_of_end(said),
            "1000001 1000002 1000003 1000004 1000005 1000006 1000007 1000008 ");
}

TEST(ClockShift, an_unknown_instant_stays_unknown) {
  const ClockMap map = exact_map(1'000, 1'000'000, 1'000'000);
  Said said;
  ClockShift shift(map, said);
  shift.on_done(event_at({1, -1, -1, -1, -1, -1, -1, 8}), "");
  const std::string none = std::to_string(Instant::none().ns) + " ";
  EXPECT_EQ(instants_of_end(said),
            "1000001 " + none + none + none + none + none + none + "1000008 ");
}

// 500 ppm of drift: the offset is 0 at 0 and 5,000,000 at 10 s.
TEST(ClockShift, a_query_that_was_never_sent_has_the_offset_of_its_end) {
  const ClockMap map = exact_map(10'000'000'000, 0, 5'000'000);
  Said said;
  ClockShift shift(map, said);
  const std::int64_t last = 10'000'000'000;
  shift.on_done(event_at({0, -1, -1, -1, -1, -1, -1, last}), "");
  EXPECT_EQ(instants_of_end(said).substr(0, 8), "5000000 ") << "due, moved as its end was";
  shift.on_done(event_at({last, -1, -1, -1, -1, -1, -1, -1}), "");
  EXPECT_EQ(instants_of_end(said, 1).substr(0, 12), "10005000000 ") << "its due instant's";
}

TEST(ClockShift, an_event_of_an_unknown_query_has_the_offset_of_its_reading) {
  const ClockMap map = exact_map(10'000'000'000, 0, 5'000'000);
  Said said;
  ClockShift shift(map, said);
  StreamEvent event{};
  event.arrival = Instant{0};
  event.read = Instant{10'000'000'000};
  shift.on_stream_event(Query{}, event, "");
  EXPECT_NE(said.lines.at(0).find(" 5000000 10005000000-0 "), std::string::npos) << said.lines[0];
}

TEST(ClockShift, what_was_in_flight_ends_where_its_log_ends) {
  const ClockMap map = exact_map(1'000, 1'000'000, 1'000'000);
  Said said;
  ClockShift shift(map, said);
  Query late{};
  late.index = 7;
  Query early{};
  early.index = 3;
  shift.on_sent(late, Instant{10}, Instant{12});
  shift.on_sent(early, Instant{14}, Instant{15});
  said.lines.clear();
  EXPECT_EQ(shift.end_all(Instant{20}, "it died"), 2u);
  ASSERT_EQ(said.lines.size(), 2u);
  EXPECT_TRUE(said.lines[0].starts_with("done 0.3 ")) << "in the order of their indices";
  EXPECT_NE(said.lines[0].find("cancelled"), std::string::npos);
  EXPECT_NE(said.lines[0].find("'it died'"), std::string::npos);
  const std::string ended = instants_of_end(said, 1);
  EXPECT_TRUE(ended.starts_with("1000010 1000012 ")) << ended;
  EXPECT_TRUE(ended.ends_with(" 1000020 ")) << ended;
  EXPECT_EQ(shift.end_all(Instant{30}, "again"), 0u) << "each ends once";
}

TEST(ClockShift, no_query_ends_before_it_was_sent) {
  const ClockMap map = exact_map(1'000, 1'000'000, 1'000'000);
  Said said;
  ClockShift shift(map, said);
  shift.on_sent(Query{}, Instant{10}, Instant{15});
  said.lines.clear();
  EXPECT_EQ(shift.end_all(Instant{12}, "it died"), 1u);
  EXPECT_TRUE(instants_of_end(said).ends_with(" 1000015 ")) << instants_of_end(said);
}

TEST(ClockShift, a_query_that_ended_is_not_ended_again) {
  const ClockMap map;
  Said said;
  ClockShift shift(map, said);
  shift.on_sent(Query{}, Instant{1}, Instant{2});
  shift.on_done(event_at({1, 2, -1, -1, -1, -1, -1, 3}), "");
  EXPECT_EQ(shift.end_all(Instant{20}, "it died"), 0u);
}

}  // namespace
}  // namespace assay::record
