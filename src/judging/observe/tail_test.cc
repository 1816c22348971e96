#include "observe/tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/rng.h"

namespace assay::observe {
namespace {

constexpr std::uint32_t kQueries = 400;
constexpr Duration kItl = 10_ms;
constexpr int kTokens = 20;

// One reply of a made run, and what is planted in it.
struct Planned {
  Instant due{};
  Duration late{};
  Duration connect{};
  Duration connected_before{};  // it was due: what the handshake took, which nothing waited for
  Duration ttft{50'000'000};
  Duration itl = kItl;
  std::int32_t prompt = 100;
  std::int32_t cached = 0;
  int gap_at = 0;  // before this fragment
  Duration gap{};
  bool at_once = false;  // what the gap held back comes behind it at once
  Duration unread{};     // of the gap's end and of the first token
};

struct Told {
  Tail tail{};
  std::string cause{};  // that most slow queries have
};

// A query each 25 ms, with a little noise; `plant` changes some of them.
Told tell(std::uint64_t seed, const std::function<void(std::uint32_t, Planned&)>& plant,
          const std::vector<Signal>& signals = {}) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", true});
  TailFold fold(info);
  LoadFold load;
  Rng rng(seed);
  struct Mark {
    Instant at{};
    std::function<void()> tell{};
  };
  std::vector<Mark> marks;
  fold.on_phase({.phase = 0, .step = PhaseStep::started, .at = {1'000'000'000}});
  for (std::uint32_t i = 0; i < kQueries; ++i) {
    Planned one{.due = Instant{1'000'000'000} + 25_ms * i};
    one.prompt = 80 + static_cast<std::int32_t>(rng.below(41));
    one.ttft = 40_ms + 100_us * one.prompt + 1_us * static_cast<std::int64_t>(rng.below(2000));
    plant(i, one);
    Event event;
    event.query.index = i;
    event.query.sample = i;
    event.streamed = true;
    event.connect_time = one.connect + one.connected_before;
    event.connected = event.connect_time > Duration{};
    event.due = one.due;
    event.sent = one.due + one.late + one.connect;
    event.first_token = event.first_event = event.first_byte = event.sent + one.ttft;
    event.first_token_uncertainty = one.unread;
    Instant at = event.first_token;
    for (int k = 0; k < kTokens; ++k) {
      const bool held = one.at_once && k > one.gap_at;
      if (k > 0) at = at + (held ? 100_us : one.itl);
      if (k > 0 && k == one.gap_at) at = at + one.gap;
      StreamEvent fragment;
      fragment.category = Category::text;
      fragment.bytes = 4;
      fragment.arrival = fragment.read = at;
      if (k == one.gap_at) fragment.uncertainty = one.unread;
      marks.push_back({at, [&fold, query = event.query, fragment] {
                         fold.on_stream_event(query, fragment, "word");
                       }});
    }
    event.last_token = event.done = at;
    event.fragments = kTokens;
    event.output_bytes = 4 * kTokens;
    event.usage = {
        .prompt_tokens = one.prompt, .completion_tokens = kTokens, .cached_tokens = one.cached};
    marks.push_back(
        {event.sent, [&load, event] { load.on_sent(event.query, event.due, event.sent); }});
    marks.push_back({event.done, [&fold, &load, event] {
                       load.on_done(event, "");
                       fold.on_done(event, "");
                     }});
  }
  std::ranges::stable_sort(marks, {}, &Mark::at);
  for (const Mark& mark : marks) mark.tell();
  Told out{.tail = fold.finish(load.finish(), signals)};
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < kTailCauses; ++i) {
    if (out.tail.by_cause[i] <= most) continue;
    most = out.tail.by_cause[i];
    out.cause = to_string(static_cast<TailCause>(i));
  }
  return out;
}

bool is_victim(std::uint32_t query) { return query == 100 || query == 230 || query == 310; }

// A signal of a made server: one value in a stretch of seconds, another outside.
Signal made_signal(std::string_view id, double inside, double outside) {
  Signal out{.measure = find_measure(id)};
  for (double at = 0; at < 20; at += 0.05) {
    const Instant instant{static_cast<std::int64_t>(at * 1e9)};
    bool in = false;
    for (const std::uint32_t victim : {100U, 230U, 310U}) {
      const double due = 1 + 0.025 * victim;
      in = in || (at > due - 0.1 && at < due + 1.5);
    }
    const double before = out.points.empty() ? 0 : out.points.back().value;
    const double value = in ? inside : outside;
    const bool gauge = out.measure->kind == MeasureKind::gauge;
    out.points.push_back({.at = instant, .value = gauge ? value : before + value});
  }
  return out;
}

TEST(Tail, nothing_stands_out_in_a_healthy_run) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Told told = tell(seed, [](std::uint32_t, Planned&) {});
    EXPECT_EQ(told.tail.queries, kQueries);
    EXPECT_TRUE(told.tail.slow.empty()) << seed;
    EXPECT_EQ(tail_lines(told.tail)[0].second.substr(0, 19), "nothing stands out:");
  }
}

struct Case {
  std::string_view cause{};
  std::function<void(Planned&)> plant{};
  std::vector<Signal> signals{};
};

void expect_named(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Told told = tell(
          seed,
          [&one](std::uint32_t query, Planned& planned) {
            if (is_victim(query)) one.plant(planned);
          },
          one.signals);
      EXPECT_EQ(told.cause, one.cause) << seed;
      ASSERT_EQ(told.tail.slow.size(), 3U) << one.cause;
      for (const SlowQuery& slow : told.tail.slow) {
        EXPECT_TRUE(is_victim(slow.index));
        EXPECT_GE(slow.share, 0.8) << one.cause;
      }
    }
  }
}

TEST(Tail, each_planted_cause_is_named) {
  const std::vector<Signal> waiting = {made_signal("requests_waiting", 5, 0)};
  const std::vector<Signal> preempted = {made_signal("preemptions", 1, 0)};
  // More runs and more comes in; or more runs, and no more comes in.
  const std::vector<Signal> busier = {made_signal("requests_running", 40, 8),
                                      made_signal("prompt_tokens", 200, 20)};
  const std::vector<Signal> busier_but_slow = {made_signal("requests_running", 40, 8),
                                               made_signal("prompt_tokens", 20, 20)};
  expect_named({
      {"client_late", [](Planned& one) { one.late = 900_ms; }},
      {"connect", [](Planned& one) { one.connect = 700_ms; }},
      {"long_prompt",
       [](Planned& one) {
         one.prompt = 9000;
         one.ttft = 40_ms + 100_us * 9000;
       }},
      {"queue", [](Planned& one) { one.ttft = 1200_ms; }, waiting},
      {"before_first", [](Planned& one) { one.ttft = 1200_ms; }},
      {"preemption", [](Planned& one) { one.ttft = 1200_ms; }, preempted},
      {"slow_tokens", [](Planned& one) { one.itl = 80_ms; }},
      {"slow_tokens", [](Planned& one) { one.itl = 80_ms; }, busier_but_slow},
      {"batch", [](Planned& one) { one.itl = 80_ms; }, busier},
  });
}

TEST(Tail, what_a_gap_ends_with_says_whose_it_is) {
  const auto gap = [](Planned& one) {
    one.gap_at = 7;
    one.gap = 800_ms;
  };
  expect_named({
      {"gap", gap},
      {"preemption", gap, {made_signal("preemptions", 1, 0)}},
      {"network",
       [](Planned& one) {
         one.gap_at = 10;
         one.gap = 800_ms;
         one.at_once = true;
       }},
      {"network",
       [](Planned& one) {
         one.ttft = 900_ms;
         one.at_once = true;
       }},
      {"client_late",
       [](Planned& one) {
         one.gap_at = 7;
         one.gap = one.unread = 800_ms;
       }},
      {"client_late", [](Planned& one) { one.ttft = one.unread = 1200_ms; }},
  });
}

TEST(Tail, a_prompt_that_the_cache_did_not_have_is_told_from_a_long_one) {
  const auto warm = [](Planned& one) {
    one.prompt = 5000;
    one.cached = 4900;
  };
  const Told told = tell(1, [&](std::uint32_t query, Planned& one) {
    warm(one);
    if (!is_victim(query)) return;
    one.cached = 0;
    one.ttft = 40_ms + 200_us * one.prompt;
  });
  EXPECT_EQ(told.cause, "cache_miss");
  EXPECT_EQ(told.tail.slow.size(), 3U);
}

TEST(Tail, a_long_prompt_is_the_cause_for_those_that_it_holds_up) {
  // Query 200's prefill stops every stream for a second; its own wait is that long too.
  const Instant from = Instant{1'000'000'000} + 25_ms * 200;
  const Told told = tell(1, [&](std::uint32_t query, Planned& one) {
    if (query == 200) {
      one.prompt = 10000;
      one.ttft = 1000_ms;
      return;
    }
    const Instant first = one.due + one.ttft;
    if (first >= from && first < from + 1000_ms) one.ttft = from + 1000_ms - one.due;
    for (int k = 1; k < kTokens; ++k) {
      const Instant at = first + kItl * k;
      if (first >= from || at < from) continue;
      one.gap_at = k;
      one.gap = 1000_ms;
      break;
    }
  });
  EXPECT_EQ(told.cause, "long_prompt");
  EXPECT_EQ(told.tail.by_cause[static_cast<std::size_t>(TailCause::stall)], 0U);
  EXPECT_EQ(told.tail.slow.size(), 5U);
}

TEST(Tail, the_cause_that_cost_the_most_is_named_first) {
  const Told told = tell(1, [](std::uint32_t query, Planned& one) {
    if (query == 100 || query == 150) one.late = 600_ms;
    if (query == 230) one.ttft = 5000_ms;
  });
  ASSERT_EQ(told.tail.ranked.size(), 2U);
  EXPECT_EQ(told.tail.ranked[0], TailCause::before_first);
  EXPECT_EQ(told.tail.ranked[1], TailCause::client_late);
  EXPECT_EQ(to_json(told.tail)["first"].as_string(), "before_first");
  EXPECT_NE(tail_lines(told.tail)[0].second.find("1 of 3"), std::string::npos);
}

TEST(Tail, a_pause_of_the_server_is_told_from_that_of_one_stream) {
  // From 5.0 s to 5.8 s no stream has a fragment.
  const Instant from{5'000'000'000};
  const Told told = tell(1, [&](std::uint32_t, Planned& one) {
    const Instant first = one.due + one.ttft;
    if (first >= from && first < from + 800_ms) one.ttft = from + 800_ms - one.due;
    for (int k = 1; k < kTokens; ++k) {
      const Instant at = one.due + one.ttft + kItl * k;
      if (one.ttft > 200_ms || at < from || at >= from + 800_ms) continue;
      one.gap_at = k;
      one.gap = 800_ms;
      break;
    }
  });
  std::uint64_t stalled = told.tail.by_cause[static_cast<std::size_t>(TailCause::stall)];
  std::uint64_t alone = told.tail.by_cause[static_cast<std::size_t>(TailCause::gap)];
  EXPECT_GT(stalled, 0U);
  EXPECT_EQ(alone, 0U);
}

TEST(Tail, a_part_below_half_is_not_named) {
  const Told told = tell(1, [](std::uint32_t query, Planned& one) {
    if (!is_victim(query)) return;
    one.late = 300_ms;
    one.connect = 300_ms;
    one.ttft = one.ttft + 300_ms;
  });
  EXPECT_EQ(told.cause, "not_explained");
}

TEST(Tail, a_connection_that_was_opened_before_a_query_was_due_cost_it_nothing) {
  const Told told = tell(1, [](std::uint32_t query, Planned& one) {
    if (query < 20) one.connected_before = 1_s;
    if (is_victim(query)) one.late = 900_ms;
  });
  EXPECT_EQ(told.cause, "client_late");
  EXPECT_EQ(told.tail.by_cause[static_cast<std::size_t>(TailCause::connect)], 0U);
}

TEST(Tail, too_few_replies_have_no_usual_time) {
  RunInfo info;
  TailFold fold(info);
  Load load;
  load.sum_up();
  const Tail tail = fold.finish(load, {});
  EXPECT_EQ(tail.queries, 0U);
  EXPECT_NE(tail_lines(tail)[0].second.find("too few"), std::string::npos);
}

}  // namespace
}  // namespace assay::observe
