#include "protocol/body_feed.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/rng.h"

namespace assay::protocol {
namespace {

constexpr std::uint64_t kFeedKey = 5;

// A million prompts, and the number of those that were made.
struct Made {
  std::shared_ptr<std::atomic<std::uint64_t>> count =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  Plan plan{};
  std::vector<PlannedDataset> datasets{};
  Endpoints endpoints{.urls = {"http://a:1/v1"}};

  explicit Made(std::uint32_t rows, bool salted = false) {
    PlannedDataset planned{.generation = {.model = "m"}};
    planned.dataset.made_rows = rows;
    planned.dataset.slow_rows = true;  // few of them are prepared
    planned.dataset.make_row = [count = count](std::uint32_t row) {
      ++*count;
      return Sample{.prompt = format("row {} {}", row, std::string(row * 7919UL % 100, 'x')),
                    .output_tokens_max = row % 7 + 1};
    };
    datasets.push_back(std::move(planned));
    for (int i = 0; i < 2; ++i) {
      plan.phases.push_back({.order = SampleOrder::shuffled(rows, 3)});
      plan.phases.back().salted = salted && i == 1;
    }
  }

  // The same rows, as in a dataset that was read.
  std::vector<PlannedDataset> read() const {
    std::vector<PlannedDataset> out = datasets;
    Dataset& dataset = out[0].dataset;
    for (std::uint32_t i = 0; i < dataset.made_rows; ++i) {
      dataset.samples.push_back(dataset.make_row(i));
    }
    dataset.make_row = nullptr;
    return out;
  }

  PreparedRequests requests(const std::vector<PlannedDataset>& of, const Plan& whose) const {
    auto bodies = PreparedBodies::make(plan, of, endpoints);
    EXPECT_TRUE(bodies) << bodies.error().message;
    return {std::make_shared<const PreparedBodies>(*std::move(bodies)), whose};
  }
};

std::string bytes_of(PreparedRequests& requests, const Query& query) {
  std::string out =
      format("{} {} ", requests.asked(query).tokens_max, requests.asked(query).stream);
  const auto pieces = requests.fill(query, 0, kFeedKey);
  for (const std::string_view part : pieces.all()) out += part;
  return out;
}

// A feed that never does what a test waits for fails the test, and does not hang it.
constexpr Duration kPatience = 10_s;

template <typename Holds>
bool comes(Holds&& holds) {
  const OsClock clock;
  for (const Instant limit = clock.now() + kPatience; !holds();) {
    if (clock.now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

void get_ahead(PreparedRequests& requests) {
  OsClock clock;
  const Instant limit = clock.now() + kPatience;
  requests.get_ahead(clock, limit);
  EXPECT_LT(clock.now(), limit) << "the feed never says that it has made what it may make";
}

TEST(BodyFeed, a_million_prompts_are_not_made_before_the_first_query) {
  const Made made(1'000'000);
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  get_ahead(requests);
  QueryStream queries(made.plan.phases[0], 0, 0, 1);
  bytes_of(requests, queries.next());
  EXPECT_EQ(*made.count, 8U + 4096U);
  EXPECT_EQ(requests.made_here(), 0U);
}

// The beginning of each send uses the same memory, also where the longest body is made in the run.
TEST(BodyFeed, sending_a_body_that_was_made_in_the_run_allocates_nothing) {
  Made made(1'000'000);
  made.datasets[0].dataset.make_row = [](std::uint32_t) {
    return Sample{.prompt = std::string(1000, 'x'), .output_tokens_max = 3};
  };
  made.datasets.push_back({.generation = {.model = "m"}});
  made.datasets[1].dataset.samples.push_back({.prompt = "x"});
  made.plan.phases[0] = {.dataset = 1, .order = SampleOrder::sequential(1)};
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  const char* const at = requests.fill({}, 0, kFeedKey, true).parts[0].data();
  QueryStream queries(made.plan.phases[1], 1, 0, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(requests.fill(queries.next(), 0, kFeedKey, true).parts[0].data(), at);
  }
}

TEST(BodyFeed, a_short_run_is_made_ahead_as_a_whole) {
  Made made(1'000'000);
  made.plan.phases.push_back(made.plan.phases[0]);
  const std::vector<std::uint32_t> lengths = {100, 250, 50};
  for (std::size_t i = 0; i < 3; ++i) made.plan.phases[i].stop.queries_max = lengths[i];
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  get_ahead(requests);
  const std::uint64_t ahead = *made.count;
  EXPECT_EQ(ahead, 8U + 400U);
  for (std::uint16_t phase = 0; phase < 3; ++phase) {
    QueryStream queries(made.plan.phases[phase], phase, 0, 1);
    for (std::uint32_t i = 0; i < lengths[phase]; ++i) bytes_of(requests, queries.next());
  }
  EXPECT_EQ(*made.count, ahead);
  EXPECT_EQ(requests.made_here(), 0U);
}

// Bodies of 16 MiB together are held: at least 4, at most 4096, whichever phase has the largest.
TEST(BodyFeed, many_small_bodies_are_held_and_few_large_ones) {
  const auto room_of = [](const std::vector<std::size_t>& body_bytes) {
    Made made(10'000);
    made.plan.phases.clear();
    made.datasets.assign(body_bytes.size(), made.datasets[0]);
    for (std::size_t i = 0; i < body_bytes.size(); ++i) {
      const auto row_of = [](std::size_t prompt) {
        return Sample{.prompt = std::string(prompt, 'x'), .output_tokens_max = 3};
      };
      const auto least = make_body(Api::openai, made.datasets[i].generation, row_of(1), false);
      const std::size_t prompt = body_bytes[i] - least->bytes.size() + 1;
      made.datasets[i].dataset.make_row = [=](std::uint32_t) { return row_of(prompt); };
      made.plan.phases.push_back(
          {.dataset = static_cast<std::uint32_t>(i), .order = SampleOrder::shuffled(10'000, 3)});
      made.plan.phases.back().stop.queries_max = 1;
    }
    auto bodies = PreparedBodies::make(made.plan, made.datasets, made.endpoints);
    EXPECT_TRUE(bodies) << bodies.error().message;
    return BodyFeed(std::make_shared<const PreparedBodies>(*std::move(bodies)), made.plan).room();
  };
  EXPECT_EQ(room_of({200}), 4096U);
  EXPECT_EQ(room_of({4096}), 4096U);
  EXPECT_EQ(room_of({4097}), 4095U);
  EXPECT_EQ(room_of({65'536}), 256U);
  EXPECT_EQ(room_of({200, 65'536}), 256U);
  EXPECT_EQ(room_of({65'536, 200}), 256U);
  EXPECT_EQ(room_of({std::size_t{5} << 20}), 4U);
}

TEST(BodyFeed, the_first_query_that_is_asked_may_be_any) {
  const Made made(10'000);
  PreparedRequests prepared = made.requests(made.read(), made.plan);
  for (std::uint16_t phase = 0; phase < 2; ++phase) {
    for (std::uint32_t before = 0; before < 3; ++before) {
      PreparedRequests fed = made.requests(made.datasets, made.plan);
      QueryStream queries(made.plan.phases[phase], phase, 0, 1);
      for (std::uint32_t i = 0; i < before; ++i) queries.next();
      const Query query = queries.next();
      EXPECT_EQ(bytes_of(fed, query), bytes_of(prepared, query)) << before;
    }
  }
}

// Rows that the feed's thread can make only when the test lets it; the test's own thread always
// can.
struct Gate {
  std::shared_ptr<std::atomic<bool>> open = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<bool>> reached = std::make_shared<std::atomic<bool>>(false);

  void close_before(Made& made, std::size_t prompt_bytes) const {
    made.datasets[0].dataset.make_row = [open = open, reached = reached, count = made.count,
                                         prompt_bytes,
                                         test = std::this_thread::get_id()](std::uint32_t row) {
      const bool own = std::this_thread::get_id() == test;
      if (!own) *reached = true;
      while (!own && !*open) std::this_thread::yield();
      ++*count;
      return Sample{.prompt = format("row {} {}", row, std::string(prompt_bytes, 'x')),
                    .output_tokens_max = 3};
    };
  }
};

// A feed that was late leaves a few queries to the measuring thread, fewer where few bodies are
// held, and none of the next phase's.
TEST(BodyFeed, a_late_feed_leaps_ahead_of_the_queries_and_is_late_in_that_phase_only) {
  struct Late {
    std::size_t prompt_bytes;
    std::uint64_t queries;  // of each phase
    std::uint64_t asked;    // before the feed could make any
    std::uint64_t leap;
  };
  for (const Late& late : {Late{10, 100, 10, 32}, Late{500'000, 25, 5, 16}}) {
    Made made(10'000);
    for (PhasePlan& phase : made.plan.phases) phase.stop.queries_max = late.queries;
    const Gate gate;
    gate.close_before(made, late.prompt_bytes);
    PreparedRequests requests = made.requests(made.datasets, made.plan);
    EXPECT_TRUE(comes([&] { return gate.reached->load(); }));
    QueryStream first(made.plan.phases[0], 0, 0, 1);
    for (std::uint64_t i = 0; i < late.asked; ++i) bytes_of(requests, first.next());
    EXPECT_EQ(requests.made_here(), late.asked);
    *gate.open = true;
    get_ahead(requests);
    for (std::uint64_t i = late.asked; i < late.queries; ++i) bytes_of(requests, first.next());
    EXPECT_EQ(requests.made_here(), late.asked + late.leap);
    QueryStream second(made.plan.phases[1], 1, 0, 1);
    for (std::uint64_t i = 0; i < 8; ++i) bytes_of(requests, second.next());
    EXPECT_EQ(requests.made_here(), late.asked + late.leap);
  }
}

TEST(BodyFeed, is_awaited_up_to_the_limit_and_no_longer) {
  Made made(10'000);
  const Gate gate;
  gate.close_before(made, 10);
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  SimClock clock;
  const Instant limit = clock.now() + 2'500_us;
  requests.get_ahead(clock, limit);
  EXPECT_EQ(clock.now(), limit);
  requests.get_ahead(clock, limit);
  EXPECT_EQ(clock.now(), limit);
  *gate.open = true;
}

// The kernel counts the time on a core of each thread.
TEST(BodyFeed, sleeps_where_it_has_no_room) {
  const Made made(1'000'000);
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  get_ahead(requests);
  const auto on_core = [](auto whose) {
    rusage used{};
    ::getrusage(whose, &used);
    const auto us = [](const timeval& t) { return t.tv_sec * 1'000'000 + t.tv_usec; };
    return us(used.ru_utime) + us(used.ru_stime);
  };
  const auto others = [&] { return on_core(RUSAGE_SELF) - on_core(RUSAGE_THREAD); };
  const auto before = others();
  const auto begun = on_core(RUSAGE_THREAD);
  while (on_core(RUSAGE_THREAD) - begun < 60'000) continue;
  EXPECT_LT(others() - before, 30'000) << "of its 60 ms beside it";
}

// The feed may come to the place of a body that the measuring thread still sends, where that one is
// of an earlier query than the furthest.
TEST(BodyFeed, a_body_in_use_is_not_written_over_by_the_one_that_is_due_in_its_place) {
  Made made(10'000);
  const Gate gate;
  gate.close_before(made, 500'000);
  *gate.open = true;
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  get_ahead(requests);
  *gate.open = false;
  *gate.reached = false;
  const std::uint64_t ahead = *made.count;
  QueryStream queries(made.plan.phases[0], 0, 0, 1);
  std::vector<Query> first;
  for (int i = 0; i < 8; ++i) first.push_back(queries.next());
  bytes_of(requests, first[7]);  // the feed looks again, and comes to the first place
  EXPECT_TRUE(comes([&] { return gate.reached->load(); }));
  const Query& query = first[3];
  const Pieces pieces = requests.fill(query, 0, kFeedKey);
  const auto text = [&] {
    std::string out;
    for (const std::string_view part : pieces.all()) out += part;
    return out;
  };
  const std::string before = text();
  EXPECT_NE(before.find(format("row {} x", query.sample)), std::string::npos);
  EXPECT_EQ(pieces.count, 2U);
  *gate.open = true;
  EXPECT_TRUE(comes([&] { return *made.count >= ahead + 6; })) << "0 to 6 without the fourth";
  EXPECT_EQ(text(), before);
  EXPECT_EQ(requests.made_here(), 0U);
}

// The first body was never asked for, and the feed writes the body over that is due in its place.
TEST(BodyFeed, a_query_whose_body_is_written_over_has_its_own_all_the_same) {
  Made made(10'000);
  const Gate gate;
  gate.close_before(made, 500'000);
  *gate.open = true;
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  get_ahead(requests);
  *gate.open = false;
  *gate.reached = false;
  const std::uint64_t ahead = *made.count;
  QueryStream queries(made.plan.phases[0], 0, 0, 1);
  const Query first = queries.next();
  Query eighth;
  for (int i = 1; i < 8; ++i) eighth = queries.next();
  bytes_of(requests, eighth);  // the feed looks again, and comes to the first place
  EXPECT_TRUE(comes([&] { return gate.reached->load(); }));
  const Pieces pieces = requests.fill(first, 0, kFeedKey);
  *gate.open = true;
  EXPECT_TRUE(comes([&] { return *made.count >= ahead + 6; }));
  std::string text;
  for (const std::string_view part : pieces.all()) text += part;
  EXPECT_NE(text.find(format("row {} x", first.sample)), std::string::npos);
  EXPECT_EQ(requests.made_here(), 1U);
}

// 2,000 bodies of the first phase, and 2,096 of the second, fill the 4,096 places. With the 1,024th
// query the feed looks again, and finds the places of the 1,023 bodies before it.
TEST(BodyFeed, the_next_phases_bodies_take_the_places_of_those_that_were_sent) {
  Made made(10'000);
  made.plan.phases[0].stop.queries_max = 2000;
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  get_ahead(requests);
  EXPECT_EQ(*made.count, 8U + 4096U);
  QueryStream first(made.plan.phases[0], 0, 0, 1);
  for (int i = 0; i < 1024; ++i) bytes_of(requests, first.next());
  ASSERT_TRUE(comes([&] { return *made.count >= 8U + 4096U + 1023U; })) << *made.count;
  for (int i = 1024; i < 2000; ++i) bytes_of(requests, first.next());
  QueryStream second(made.plan.phases[1], 1, 0, 1);
  for (int i = 0; i < 2096 + 1023; ++i) bytes_of(requests, second.next());
  EXPECT_EQ(requests.made_here(), 0U);
}

// A thread of three that send has every third query. Its feed looks again with each eighth of them,
// whose own body is in use then.
TEST(BodyFeed, keeps_its_distance_to_its_own_threads_queries_also_past_one_that_is_never_asked) {
  for (const bool all : {true, false}) {
    Made made(10'000);
    const Gate gate;
    gate.close_before(made, 500'000);
    *gate.open = true;
    Plan whose = made.plan;
    whose.shard_index = 2;
    whose.shard_count = 3;
    PreparedRequests requests = made.requests(made.datasets, whose);
    get_ahead(requests);
    const std::uint64_t ahead = *made.count;
    QueryStream queries(whose.phases[0], 0, 2, 3);
    for (std::uint64_t asked = 0; asked < 64;) {
      // It is behind by at most half of the bodies that are held, and may come to where it waits.
      ASSERT_TRUE(comes([&] { return *made.count + 16 >= ahead + asked; })) << *made.count;
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      for (int i = 0; i < 8; ++i, ++asked) {
        const Query query = queries.next();
        if (all || asked != 3) bytes_of(requests, query);
      }
    }
    EXPECT_EQ(requests.made_here(), 0U);
  }
}

TEST(BodyFeed, few_prompts_are_prepared_as_those_of_a_file_are) {
  const Made made(300);
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  EXPECT_EQ(*made.count, 300U);
  QueryStream queries(made.plan.phases[0], 0, 0, 1);
  for (int i = 0; i < 300; ++i) bytes_of(requests, queries.next());
  EXPECT_EQ(*made.count, 300U);
}

// Queries in order and out of order, repeated, past a phase that ended early, and in shards.
TEST(BodyFeed, the_bytes_are_those_of_prepared_bodies_whatever_is_asked_when) {
  const Made made(10'000, true);
  const std::vector<PlannedDataset> read = made.read();
  constexpr std::uint64_t kSeed = 11;
  Rng rng(kSeed);
  for (const std::uint32_t shard : {0U, 2U}) {
    Plan whose = made.plan;
    whose.shard_index = shard;
    whose.shard_count = 3;
    PreparedRequests fed = made.requests(made.datasets, whose);
    PreparedRequests prepared = made.requests(read, whose);
    for (std::uint16_t phase = 0; phase < 2; ++phase) {
      QueryStream stream(whose.phases[phase], phase, shard, 3);
      std::vector<Query> asked;
      for (int i = 0; i < 4500; ++i) {
        asked.push_back(stream.next());
        // Now and then a query that was asked before, or the one before the last.
        const Query query = rng.below(10) == 0 ? asked[rng.below(asked.size())] : asked.back();
        ASSERT_EQ(bytes_of(fed, query), bytes_of(prepared, query)) << "seed " << kSeed;
      }
    }
    EXPECT_EQ(prepared.made_here(), 0U);
  }
}

TEST(BodyFeed, a_phase_that_nobody_finishes_does_not_hold_up_the_next) {
  const Made made(20'000);
  PreparedRequests requests = made.requests(made.datasets, made.plan);
  get_ahead(requests);
  QueryStream first(made.plan.phases[0], 0, 0, 1);
  bytes_of(requests, first.next());
  QueryStream second(made.plan.phases[1], 1, 0, 1);
  const std::string asked = bytes_of(requests, second.next());
  EXPECT_EQ(requests.made_here(), 1U);
  // The feed follows, a little ahead of the queries.
  const std::uint64_t before = *made.count;
  ASSERT_TRUE(comes([&] { return *made.count >= before + 1000; })) << *made.count;
  for (int i = 0; i < 500; ++i) bytes_of(requests, second.next());
  EXPECT_EQ(requests.made_here(), 33U);
}

// 256 KiB of rows that are slow to make are prepared, and no row more.
TEST(BodyFeed, rows_are_prepared_up_to_the_very_limit) {
  const auto bodies = [](std::uint32_t rows, std::uint64_t* made_out = nullptr) {
    Made made(rows);
    made.datasets[0].dataset.make_row = [count = made.count](std::uint32_t) {
      ++*count;
      return Sample{.prompt = "one prompt for all", .output_tokens_max = 3};
    };
    auto out = PreparedBodies::make(made.plan, made.datasets, made.endpoints);
    EXPECT_TRUE(out);
    if (made_out != nullptr) *made_out = *made.count;
    return out->bytes();
  };
  const std::uint64_t body = bodies(8) / 8;
  ASSERT_LT(body, 512U);  // so that the limit's share of a row can be this very size
  const auto rows = static_cast<std::uint32_t>((std::uint64_t{256} << 10) / body);
  std::uint64_t made = 0;
  EXPECT_EQ(bodies(rows, &made), rows * body);
  EXPECT_EQ(made, rows);
  EXPECT_EQ(bodies(rows + 1, &made), 0U);
  EXPECT_EQ(made, 8U);
}

TEST(BodyFeed, a_row_that_cannot_be_asked_is_refused_before_the_run) {
  Made made(1'000'000);
  made.datasets[0].dataset.make_row = [](std::uint32_t) { return Sample{}; };
  const auto bodies = PreparedBodies::make(made.plan, made.datasets, made.endpoints);
  ASSERT_FALSE(bodies);
}

}  // namespace
}  // namespace assay::protocol
