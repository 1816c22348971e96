#include "sut/desk.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/clock.h"

namespace assay::sut {
namespace {

using mlperf::QuerySampleResponse;

std::vector<Entry> taken(Desk& desk) {
  std::vector<Entry> out;
  desk.take(out);
  return out;
}

void complete(Desk& desk, mlperf::ResponseId id, Instant at = Instant{5}) {
  std::vector<QuerySampleResponse> one{{id, 0, 0, 3}};
  desk.complete(one, at, {});
}

TEST(Desk, what_comes_in_goes_out_with_its_time_and_its_first_token) {
  SimClock clock;
  Desk desk(3);
  desk.begin(clock, false);
  const Desk::Ticket ticket = desk.open(false);
  EXPECT_EQ(desk_of(ticket.id), 3);
  std::vector<QuerySampleResponse> one{{ticket.id, 0, 0}};
  desk.first_token(one, Instant{2});
  complete(desk, ticket.id);
  EXPECT_TRUE(desk.pending());
  const auto entries = taken(desk);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].slot, ticket.slot);
  EXPECT_EQ(entries[0].at, Instant{5});
  EXPECT_EQ(entries[0].first_token, Instant{2});
  EXPECT_EQ(entries[0].tokens, 3);
  EXPECT_FALSE(desk.pending());
  EXPECT_EQ(desk.completed(), 1U);
}

TEST(Desk, only_the_bytes_of_logged_samples_are_kept_after_the_callback) {
  SimClock clock;
  Desk desk(0);
  desk.begin(clock, false);
  const Desk::Ticket plain = desk.open(false);
  const Desk::Ticket logged = desk.open(true);
  std::uint8_t bytes[2] = {1, 2};
  const auto data = reinterpret_cast<std::uintptr_t>(&bytes[0]);
  const Desk::Ticket last = desk.open(false);
  std::vector<QuerySampleResponse> three{
      {plain.id, data, 2}, {logged.id, data, 2}, {last.id, data, 2}};
  int called = 0;
  desk.complete(three, Instant{}, [&](QuerySampleResponse*) {
    ++called;
    bytes[1] = 9;
  });
  bytes[0] = 0;
  const auto entries = taken(desk);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(entries[2].slot, last.slot);  // in the order of the call
  EXPECT_EQ(entries[0].answer, nullptr);
  EXPECT_EQ(entries[1].answer->data, (Bytes{1, 9}));
}

TEST(Desk, each_misuse_has_its_name_and_completes_nothing) {
  SimClock clock;
  Desk desk(0);
  desk.begin(clock, false);
  const Desk::Ticket lost = desk.open(false);
  const Desk::Ticket done = desk.open(false);
  complete(desk, done.id);
  complete(desk, done.id);
  std::vector<QuerySampleResponse> late{{done.id, 0, 0}};
  desk.first_token(late, Instant{});
  std::vector<QuerySampleResponse> early{{lost.id, 0, 0}};
  desk.first_token(early, Instant{});
  desk.first_token(early, Instant{});
  complete(desk, 0);
  complete(desk, 12345);
  complete(desk, lost.id + (std::uint64_t{1} << 40));  // a use of the slot that is still to come
  std::vector<Misuse> seen;
  for (const Entry& entry : taken(desk)) {
    if (entry.kind == Entry::Kind::misuse) seen.push_back(entry.misuse);
  }
  EXPECT_EQ(seen, (std::vector{Misuse::completed_twice, Misuse::first_token_late,
                               Misuse::first_token_twice, Misuse::unknown_sample,
                               Misuse::unknown_sample, Misuse::unknown_sample}));
  EXPECT_EQ(desk.completed(), 1U);
  // The slot is used again: its former id stays used up.
  const Desk::Ticket again = desk.open(false);
  EXPECT_EQ(again.slot, done.slot);
  complete(desk, done.id);
  EXPECT_EQ(taken(desk).at(0).misuse, Misuse::completed_twice);
  desk.end();
  complete(desk, lost.id);
  EXPECT_FALSE(desk.pending());
  desk.begin(clock, false);
  complete(desk, lost.id);
  EXPECT_EQ(taken(desk).at(0).misuse, Misuse::old_sample);
}

TEST(Desk, of_many_threads_that_complete_the_same_samples_one_wins_each) {
  constexpr int kThreads = 64;
  constexpr int kSamples = 500;
  const OsClock clock;
  Desk desk(0);
  desk.begin(clock, false);
  std::vector<QuerySampleResponse> all;
  for (int i = 0; i < kSamples; ++i) all.emplace_back(desk.open(false).id, 0, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&desk, all]() mutable {
      for (QuerySampleResponse& one : all) desk.complete({&one, 1}, Instant{}, {});
    });
  }
  std::size_t samples = 0;
  std::size_t misuses = 0;
  while (samples + misuses < std::size_t{kThreads} * kSamples) {
    desk.wait(1_s);
    for (const Entry& entry : taken(desk)) {
      if (entry.kind == Entry::Kind::sample) ++samples;
      if (entry.kind == Entry::Kind::misuse) ++misuses;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(samples, std::size_t{kSamples});
  EXPECT_EQ(misuses, std::size_t{kThreads - 1} * kSamples);
}

}  // namespace
}  // namespace assay::sut
