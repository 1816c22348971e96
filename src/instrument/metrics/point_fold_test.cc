#include "metrics/point_fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "metrics/result_json.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

RunInfo run_of(bool open_loop = false) {
  RunInfo info{};
  info.version = "0.1.0";
  info.run_id = "r";
  info.phases = {{PhaseKind::warmup, "warmup", open_loop},
                 {PhaseKind::performance, "performance", open_loop},
                 {PhaseKind::accuracy, "gsm8k", open_loop}};
  return info;
}

const RunEnd kComplete{RunState::complete, {}};

// All performance queries in the order of sending, between the marks of their phase.
Point point_of(const std::vector<HandMadeQuery>& queries, const RunInfo& info = run_of(),
               RunEnd end = kComplete) {
  PointFold fold(info);
  fold.on_phase({1, PhaseStep::started, at_ms(0)});
  for (const HandMadeQuery& q : queries) tell(q, fold);
  fold.on_phase({1, PhaseStep::drained, at_ms(100'000)});
  return fold.finish(end);
}

TEST(PointFold, nothing_makes_an_empty_point) {
  const Point p = PointFold(run_of()).finish(kComplete);
  EXPECT_EQ(p.counts.issued, 0u);
  EXPECT_TRUE(p.arrival.ttft.empty());
  EXPECT_EQ(p.rates.duration.ns, 0);
  EXPECT_FALSE(p.rates.tps.has_value());
  EXPECT_TRUE(p.complete());
  EXPECT_TRUE(p.timeline.buckets.empty());
  EXPECT_TRUE(p.warnings.empty());
}

TEST(PointFold, one_query_by_hand) {
  // Due at 1000, sent at 1003, first token at 1053, then 63 fragments 10 ms apart.
  HandMadeQuery q = steady_query(1, 0, 1003, 50, 10, 64);
  q.due = at_ms(1000);
  for (HandMadeFragment& e : q.events) e.read_delay = 200_us;
  Event event = event_of(q);
  event.read_delay_done = 200_us;
  event.connected = true;
  event.connect_time = 1_ms;
  PointFold fold(run_of());
  fold.on_phase({1, PhaseStep::started, at_ms(1000)});
  tell_sent(q, fold);
  tell_stream(q, fold);
  fold.on_done(event, "");
  const Point p = fold.finish(kComplete);
  EXPECT_EQ(p.arrival.ttft.median(), 50e6);
  EXPECT_EQ(p.arrival.ttft_due.median(), 53e6);
  EXPECT_EQ(p.arrival.ttft_visible.median(), 50e6);
  EXPECT_EQ(p.read.ttft.median(), 50.2e6);
  EXPECT_EQ(p.read.ttft_visible.median(), 50.2e6);
  EXPECT_EQ(p.arrival.tpot.median(), 10e6);
  EXPECT_EQ(p.read.tpot.median(), 10e6);
  EXPECT_EQ(p.arrival.itl.count, 63u);
  EXPECT_EQ(p.arrival.itl.min, 10e6);
  EXPECT_EQ(p.arrival.itl.max, 10e6);
  EXPECT_EQ(p.arrival.latency.median(), 680e6);
  EXPECT_EQ(p.arrival.latency_due.median(), 683e6);
  EXPECT_EQ(p.read.latency.median(), 680.2e6);
  EXPECT_EQ(p.lateness.median(), 3e6);
  EXPECT_EQ(p.read_delay.count, 64u);
  EXPECT_EQ(p.read_delay.max, 200e3);
  EXPECT_EQ(p.connect.median(), 1e6);
  EXPECT_EQ(p.isl.median(), 100);
  EXPECT_EQ(p.osl.median(), 64);
  EXPECT_EQ(p.rates.duration, 683_ms);
  EXPECT_NEAR(*p.rates.tps, 64 / 0.683, 1e-9);
  EXPECT_NEAR(*p.rates.tps_per_user, 100, 1e-9);
  EXPECT_EQ(p.tokens.source, TokenSource::usage);
  EXPECT_TRUE(p.tokens.first_fragment_taken_for_one);
  EXPECT_EQ(p.tokens.per_fragment, 1.0);
  EXPECT_EQ(p.stamps.events, 64u);
  EXPECT_EQ(p.stamps.kernel_stamped, 64u);
}

TEST(PointFold, what_is_no_fragment_starts_and_ends_nothing) {
  HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 3);
  q.events.insert(q.events.begin(), {at_ms(20), "", Category::role});
  q.events.push_back({at_ms(75), "", Category::finish});
  q.events.push_back({at_ms(76), "", Category::usage});
  q.events.push_back({at_ms(77), "", Category::marker});
  const Point p = point_of({q});
  EXPECT_EQ(p.arrival.ttft.median(), 50e6);
  EXPECT_EQ(p.arrival.itl.count, 2u);
  EXPECT_EQ(p.arrival.itl.max, 10e6);
  EXPECT_EQ(p.stamps.events, 7u);
}

TEST(PointFold, words_that_were_not_read_are_counted_and_begin_nothing) {
  HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 3);
  q.events.insert(q.events.begin(), 2, {at_ms(20), "", Category::unread});
  const Point p = point_of({q, steady_query(1, 1, 500, 550, 10, 3)});
  EXPECT_EQ(p.arrival.ttft.median(), 50e6);
  EXPECT_EQ(p.tokens.unread_events, 2U);
  EXPECT_EQ(p.tokens.replies_with_unread, 1U);
}

TEST(PointFold, reasoning_counts_as_a_token_and_text_as_visible) {
  HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 5);
  q.events[0].category = q.events[1].category = Category::reasoning;
  const Point p = point_of({q});
  EXPECT_EQ(p.arrival.ttft.median(), 50e6);
  EXPECT_EQ(p.arrival.ttft_visible.median(), 70e6);
}

TEST(PointFold, a_failed_query_is_counted_and_in_no_latency_series) {
  std::vector<HandMadeQuery> queries;
  for (std::uint32_t i = 0; i < 10; ++i) queries.push_back(steady_query(1, i, i, 50, 10, 8));
  queries[3].outcome = Outcome::truncated;
  queries[3].events.back().arrival = at_ms(90'000);
  queries[3].detail = "no finish reason";
  queries[5].outcome = Outcome::http_error;
  queries[5].http_status = 503;
  queries[7].outcome = Outcome::http_error;
  const Point p = point_of(queries);
  EXPECT_EQ(p.counts.issued, 10u);
  EXPECT_EQ(p.counts.completed, 7u);
  EXPECT_EQ(p.counts.failed, 3u);
  EXPECT_EQ(p.arrival.latency.count, 7u);
  EXPECT_EQ(p.arrival.itl.count, 7u * 7);
  EXPECT_EQ(p.arrival.itl.max, 10e6);
  EXPECT_EQ(p.osl.count, 7u);
  EXPECT_EQ(p.lateness.count, 10u) << "our own lateness is of all that was sent";
  ASSERT_EQ(p.failures.size(), 2u);
  EXPECT_EQ(p.failures[0].outcome, Outcome::http_error);
  EXPECT_EQ(p.failures[0].count, 2u);
  EXPECT_EQ(p.failures[0].examples[0].http_status, 503);
  EXPECT_EQ(p.failures[1].examples[0].detail, "no finish reason");
  EXPECT_EQ(p.failures[1].examples[0].query, 3u);
}

TEST(PointFold, failures_keep_a_few_examples_and_count_all) {
  std::vector<HandMadeQuery> queries;
  for (std::uint32_t i = 0; i < 50; ++i) {
    queries.push_back(steady_query(1, i, i, 50, 10, 1));
    queries.back().outcome = Outcome::reset;
  }
  const Point p = point_of(queries);
  EXPECT_EQ(p.failures[0].count, 50u);
  EXPECT_EQ(p.failures[0].examples.size(), 5u);
  ASSERT_FALSE(p.warnings.empty());
  EXPECT_NE(p.warnings[0].find("no query succeeded"), std::string::npos);
}

TEST(PointFold, only_performance_is_measured) {
  PointFold fold(run_of());
  fold.on_phase({0, PhaseStep::started, at_ms(0)});
  tell(steady_query(0, 0, 0, 500, 10, 8), fold);
  fold.on_phase({1, PhaseStep::started, at_ms(1000)});
  tell(steady_query(1, 0, 1000, 50, 10, 8), fold);
  tell(steady_query(1, 1, 1000, 50, 10, 8), fold);
  fold.on_phase({2, PhaseStep::started, at_ms(2000)});
  tell(steady_query(2, 0, 2000, 700, 10, 8), fold);
  const Point p = fold.finish(kComplete);
  EXPECT_EQ(p.counts.issued, 2u);
  EXPECT_EQ(p.all_phases.issued, 4u);
  EXPECT_EQ(p.arrival.ttft.count, 2u);
  EXPECT_EQ(p.arrival.ttft.max, 50e6);
  EXPECT_EQ(p.arrival.itl.count, 14u);
  EXPECT_EQ(p.stamps.events, 16u);
  EXPECT_EQ(p.phases[0].counts.completed, 1u);
  EXPECT_EQ(p.phases[2].counts.completed, 1u);
  EXPECT_EQ(p.rates.duration, 120_ms);
  std::uint64_t sent = 0;
  for (const TimeBucket& bucket : p.timeline.buckets) sent += bucket.sent;
  EXPECT_EQ(sent, 4u) << "the timeline shows every phase";
}

TEST(PointFold, without_usage_there_are_no_token_metrics_and_it_says_so) {
  HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 8);
  q.usage = Usage{};
  const Point p = point_of({q});
  EXPECT_EQ(p.tokens.source, TokenSource::unknown);
  EXPECT_TRUE(p.arrival.tpot.empty());
  EXPECT_TRUE(p.osl.empty());
  EXPECT_FALSE(p.rates.tps.has_value());
  EXPECT_FALSE(p.rates.tps_per_user.has_value());
  EXPECT_EQ(p.arrival.ttft.count, 1u);
  EXPECT_EQ(p.arrival.itl.count, 7u);
  ASSERT_EQ(p.warnings.size(), 1u);
  EXPECT_NE(p.warnings[0].find("usage"), std::string::npos);

  const Point mixed = point_of({q, steady_query(1, 1, 0, 50, 10, 8)});
  EXPECT_EQ(mixed.tokens.source, TokenSource::mixed);
  EXPECT_EQ(mixed.arrival.tpot.count, 1u);
  EXPECT_EQ(mixed.tokens.replies_uncounted, 1u);
}

TEST(PointFold, fragments_of_several_tokens_are_named) {
  HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 8);
  q.usage.completion_tokens = 32;
  const Point p = point_of({q});
  EXPECT_EQ(p.tokens.per_fragment, 4.0);
  EXPECT_NEAR(p.arrival.tpot.median(), 70e6 / 31, 1e-3);
  ASSERT_EQ(p.warnings.size(), 1u);
  EXPECT_NE(p.warnings[0].find("4.00 tokens"), std::string::npos) << p.warnings[0];
}

TEST(PointFold, a_reply_in_one_piece_has_no_tpot) {
  HandMadeQuery one = steady_query(1, 0, 0, 50, 10, 1);
  one.usage.completion_tokens = 30;
  HandMadeQuery token = steady_query(1, 1, 0, 50, 10, 1);
  const Point p = point_of({one, token});
  EXPECT_TRUE(p.arrival.tpot.empty());
  EXPECT_EQ(p.arrival.ttft.count, 2u);
}

TEST(PointFold, a_reply_that_is_not_streamed_has_a_latency_only) {
  HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 1);
  q.streamed = false;
  q.usage.completion_tokens = 30;
  const Point p = point_of({q});
  EXPECT_EQ(p.arrival.latency.count, 1u);
  EXPECT_TRUE(p.arrival.ttft.empty());
  EXPECT_TRUE(p.arrival.tpot.empty());
  EXPECT_EQ(p.osl.median(), 30);
  double tokens = 0;
  for (const TimeBucket& bucket : p.timeline.buckets) tokens += bucket.output_tokens;
  EXPECT_EQ(tokens, 30);
}

TEST(PointFold, what_was_in_flight_at_a_crash_did_not_fail) {
  PointFold fold(run_of());
  fold.on_phase({1, PhaseStep::started, at_ms(0)});
  tell(steady_query(1, 0, 0, 50, 10, 8), fold);
  for (std::uint32_t i = 1; i < 4; ++i) {
    const HandMadeQuery q = steady_query(1, i, 200, 50, 10, 8);
    tell_sent(q, fold);
    tell_stream(q, fold);
  }
  const Point p = fold.finish(RunEnd{});
  EXPECT_EQ(p.counts.issued, 4u);
  EXPECT_EQ(p.counts.completed, 1u);
  EXPECT_EQ(p.counts.failed, 0u);
  EXPECT_EQ(p.counts.unfinished, 3u);
  EXPECT_FALSE(p.complete());
  EXPECT_EQ(p.arrival.itl.count, 7u) << "nobody knows whether those replies were whole";
  EXPECT_EQ(p.rates.duration, 200_ms);
  EXPECT_NE(p.warnings.at(0).find("3 queries"), std::string::npos);
}

TEST(PointFold, an_interrupted_run_is_not_complete) {
  const Point p =
      point_of({steady_query(1, 0, 0, 50, 10, 8)}, run_of(), {RunState::interrupted, "Ctrl-C"});
  EXPECT_FALSE(p.complete());
  EXPECT_EQ(p.warnings.at(0), "the run was interrupted: Ctrl-C");
}

TEST(PointFold, a_run_with_a_query_in_flight_at_its_end_is_not_complete) {
  Point p{.end = {RunState::complete, {}}};
  EXPECT_TRUE(p.complete());
  p.counts.unfinished = 1;
  EXPECT_FALSE(p.complete());
}

TEST(PointFold, lost_records_are_a_warning) {
  PointFold fold(run_of());
  const Point p = fold.finish(kComplete, 12'345);
  EXPECT_NE(p.warnings.at(0).find("12,345 records"), std::string::npos);
}

TEST(PointFold, the_legacy_window_ends_with_the_query_sent_last) {
  std::vector<HandMadeQuery> queries = {
      steady_query(1, 0, 1000, 50, 10, 8), steady_query(1, 1, 1500, 50, 10, 8),
      steady_query(1, 2, 2000, 50, 10, 8), steady_query(1, 3, 2500, 50, 10, 8)};
  queries[1].done = at_ms(60'000);  // a straggler, sent early
  queries[3].outcome = Outcome::reset;
  const Point p = point_of(queries, run_of(true));
  ASSERT_TRUE(p.rates.legacy_window.has_value());
  EXPECT_EQ(*p.rates.legacy_window, 1120_ms);
  EXPECT_NEAR(*p.rates.legacy_qps, 2 / 1.12, 1e-12);
  EXPECT_NEAR(*p.rates.legacy_tps, 24 / 1.12, 1e-12);
  EXPECT_EQ(p.rates.duration, 60_s);
  EXPECT_NEAR(*p.rates.offered_qps, 3 / 1.5, 1e-12);

  EXPECT_FALSE(point_of(queries, run_of(false)).rates.legacy_window.has_value());
  queries.resize(1);
  EXPECT_FALSE(point_of(queries, run_of(true)).rates.legacy_window.has_value()) << "one is none";
}

TEST(PointFold, queries_never_sent_were_due_all_the_same) {
  std::vector<HandMadeQuery> queries = {steady_query(1, 0, 0, 5, 1, 2),
                                        steady_query(1, 1, 1000, 5, 1, 2),
                                        steady_query(1, 2, 4000, 5, 1, 2)};
  queries[2].sent = Instant::none();
  queries[2].events.clear();
  queries[2].outcome = Outcome::connect_failed;
  const Point p = point_of(queries);
  EXPECT_EQ(p.counts.issued, 3u);
  EXPECT_NEAR(*p.rates.offered_qps, 0.5, 1e-12);
  EXPECT_NEAR(*p.rates.achieved_qps, 1.0, 1e-12);
  EXPECT_EQ(p.lateness.count, 2u);
}

// The slow twin: it keeps all queries and applies the definitions as they are written.
struct Twin {
  std::map<std::string, std::vector<double>> values{};
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  double tokens = 0;
  Instant last = at_ms(0);

  void add(const HandMadeQuery& q) {
    const auto ns = [](Instant a, Instant b) { return static_cast<double>((a - b).ns); };
    last = std::max(last, q.done);
    values["lateness"].push_back(ns(q.sent, q.due));
    if (q.outcome != Outcome::ok) {
      ++failed;
      return;
    }
    ++completed;
    values["latency"].push_back(ns(q.done, q.sent));
    values["latency_due"].push_back(ns(q.done, q.due));
    std::vector<const HandMadeFragment*> fragments;
    for (const HandMadeFragment& e : q.events) {
      if (is_fragment(e.category)) fragments.push_back(&e);
    }
    for (std::size_t i = 1; i < fragments.size(); ++i) {
      values["itl"].push_back(ns(fragments[i]->arrival, fragments[i - 1]->arrival));
      values["itl_read"].push_back(ns(fragments[i]->arrival + fragments[i]->read_delay,
                                      fragments[i - 1]->arrival + fragments[i - 1]->read_delay));
    }
    if (!fragments.empty()) values["ttft"].push_back(ns(fragments[0]->arrival, q.sent));
    if (q.usage.completion_tokens < 0) return;
    tokens += q.usage.completion_tokens;
    values["osl"].push_back(q.usage.completion_tokens);
    if (fragments.size() > 1 && q.usage.completion_tokens > 1) {
      values["tpot"].push_back(ns(q.done, fragments[0]->arrival) / (q.usage.completion_tokens - 1));
    }
  }

  void expect(const char* name, const Distribution& d) {
    std::vector<double>& all = values[name];
    std::sort(all.begin(), all.end());
    ASSERT_EQ(d.count, all.size()) << name;
    if (all.empty()) return;
    for (const double p : kPercentiles) {
      const auto index = static_cast<std::size_t>(p / 100 * static_cast<double>(all.size() - 1));
      ASSERT_EQ(d.percentile(p), all[index]) << name << ' ' << p;
    }
    ASSERT_NEAR(d.total, std::accumulate(all.begin(), all.end(), 0.0), 1e-9 * std::abs(d.total));
  }
};

std::vector<HandMadeQuery> random_queries(Rng& rng, std::uint32_t count) {
  std::vector<HandMadeQuery> queries;
  for (std::uint32_t i = 0; i < count; ++i) {
    HandMadeQuery q{};
    q.query.phase = 1;
    q.query.index = i;
    q.due = Instant{static_cast<std::int64_t>(rng.below(20'000'000'000))};
    q.sent = q.due + Duration{static_cast<std::int64_t>(rng.below(3'000'000))};
    Instant at = q.sent + Duration{static_cast<std::int64_t>(rng.exponential(4e7))};
    const std::uint64_t events = rng.below(30);
    for (std::uint64_t k = 0; k < events; ++k) {
      HandMadeFragment e{at, "word"};
      const std::uint64_t kind = rng.below(8);
      if (kind == 0) e.category = Category::reasoning;
      if (kind == 1) e.category = Category::role;
      e.read_delay = Duration{static_cast<std::int64_t>(rng.below(800'000))};
      q.events.push_back(e);
      // Now and then a stall far beyond 32 bits of nanoseconds.
      at = at +
           Duration{static_cast<std::int64_t>(rng.exponential(rng.below(200) == 0 ? 6e9 : 1e7))};
    }
    q.done = at;
    if (rng.below(10) != 0) q.usage.completion_tokens = static_cast<std::int32_t>(rng.below(60));
    if (rng.below(8) == 0) q.outcome = static_cast<Outcome>(1 + rng.below(kOutcomes - 1));
    queries.push_back(q);
  }
  return queries;
}

// Emits the queries with their fragments interleaved; each query's own order is kept.
void tell_interleaved(const std::vector<HandMadeQuery>& queries, Rng& rng, EventSink& sink) {
  struct Progress {
    const HandMadeQuery* query = nullptr;
    std::size_t told = 0;
  };
  std::vector<Progress> open;
  std::size_t next = 0;
  while (next < queries.size() || !open.empty()) {
    if (open.empty() || (next < queries.size() && rng.below(4) == 0)) {
      tell_sent(queries[next], sink);
      open.push_back({&queries[next++], 0});
      continue;
    }
    Progress& one = open[rng.below(open.size())];
    if (one.told < one.query->events.size()) {
      HandMadeQuery part = *one.query;
      part.events = {one.query->events[one.told++]};
      tell_stream(part, sink);
      continue;
    }
    sink.on_done(event_of(*one.query), one.query->detail);
    one = open.back();
    open.pop_back();
  }
}

TEST(PointFold, agrees_with_the_definitions_however_replies_interleave) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto queries = random_queries(rng, 1 + static_cast<std::uint32_t>(rng.below(400)));
    Twin twin;
    for (const HandMadeQuery& q : queries) twin.add(q);
    PointFold fold(run_of(true));
    fold.on_phase({1, PhaseStep::started, at_ms(0)});
    tell_interleaved(queries, rng, fold);
    const Point p = fold.finish(kComplete);
    ASSERT_EQ(p.counts.completed, twin.completed);
    ASSERT_EQ(p.counts.failed, twin.failed);
    ASSERT_EQ(p.counts.issued, twin.completed + twin.failed);
    ASSERT_EQ(p.counts.unfinished, 0u);
    twin.expect("ttft", p.arrival.ttft);
    twin.expect("tpot", p.arrival.tpot);
    twin.expect("itl", p.arrival.itl);
    twin.expect("itl_read", p.read.itl);
    twin.expect("latency", p.arrival.latency);
    twin.expect("latency_due", p.arrival.latency_due);
    twin.expect("lateness", p.lateness);
    twin.expect("osl", p.osl);
    ASSERT_EQ(p.rates.duration, twin.last - at_ms(0));
    if (p.rates.tps) {
      ASSERT_NEAR(*p.rates.tps, twin.tokens / p.rates.duration.seconds(), 1e-6);
    }
    double tokens = 0;
    for (const TimeBucket& bucket : p.timeline.buckets) tokens += bucket.output_tokens;
    ASSERT_NEAR(tokens, twin.tokens, 1e-6);
  }
}

TEST(PointFold, a_stream_that_a_proxy_gathers_is_warned_of) {
  PointFold fold(run_of());
  for (std::uint32_t i = 0; i < 8; ++i) {
    HandMadeQuery q = steady_query(1, i, i, 50, 10, 20);
    for (std::size_t k = 0; k < q.events.size(); ++k) {  // two bursts of ten
      q.events[k].arrival = q.events[k < 10 ? 9 : 19].arrival;
    }
    tell(q, fold);
  }
  const Point p = fold.finish(kComplete);
  EXPECT_TRUE(in_bursts(p));
  ASSERT_EQ(p.warnings.size(), 1u);
  EXPECT_NE(p.warnings[0].find("something gathers the stream"), std::string::npos);
}

// Most servers send the last token, its finish reason, usage and [DONE] in one read.
TEST(PointFold, short_replies_in_one_read_are_no_burst) {
  PointFold fold(run_of());
  for (std::uint32_t i = 0; i < 8; ++i) tell(steady_query(1, i, i, 50, 0, 2), fold);
  EXPECT_FALSE(in_bursts(fold.finish(kComplete)));
}

TEST(PointFold, a_series_of_gaps_above_its_limit_is_counted_and_says_so) {
  FoldOptions options{};
  options.gaps_max = 100;
  PointFold fold(run_of(), options);
  for (std::uint32_t i = 0; i < 50; ++i) tell(steady_query(1, i, i, 50, 10, 8), fold);
  const Point p = fold.finish(kComplete);
  EXPECT_EQ(p.arrival.itl.count, 350u);
  EXPECT_FALSE(p.arrival.itl.exact);
  EXPECT_NEAR(p.arrival.itl.median(), 10e6, 0.008 * 10e6);
  EXPECT_TRUE(p.arrival.ttft.exact);
}

// Two replies: one exact; in the other the first two tokens came in one read with the third.
TEST(PointFold, what_is_uncertain_of_a_reply_limits_every_figure) {
  RunInfo info = run_of();
  info.uncertainty = true;
  HandMadeQuery exact = steady_query(1, 0, 100, 50, 10, 11);
  HandMadeQuery vague = steady_query(1, 1, 100, 50, 10, 11);
  for (std::size_t i = 0; i < 3; ++i) {
    vague.events[i].arrival = at_ms(170);
    if (i < 2) vague.events[i].uncertainty = 24_ms;
  }
  const Point p = point_of({exact, vague}, info);
  ASSERT_TRUE(p.arrival.ttft.limits);
  EXPECT_EQ(p.arrival.ttft.max, 70e6);  // as recorded
  EXPECT_EQ(p.arrival.ttft.limits->max.low, 50e6);
  EXPECT_EQ(p.arrival.ttft.limits->max.high, 70e6);
  EXPECT_EQ(p.arrival.ttft.limits->min.low, 46e6);
  EXPECT_EQ(p.arrival.ttft.limits->mean.low, 48e6);
  EXPECT_EQ(p.arrival.ttft_due.limits->min.low, 46e6);
  EXPECT_EQ(p.arrival.ttft_visible.limits->min.low, 46e6);
  // 80 ms over 10 tokens as recorded, 104 if the first came as early as possible.
  EXPECT_EQ(p.arrival.tpot.min, 8e6);
  EXPECT_EQ(p.arrival.tpot.limits->min.high, 10e6);
  EXPECT_EQ(p.arrival.tpot.limits->max.high, 10.4e6);
  // Two gaps that are recorded as 0 and may be up to 24 ms together.
  EXPECT_EQ(p.arrival.itl.min, 0);
  EXPECT_EQ(p.arrival.itl.limits->max.low, 10e6);
  EXPECT_EQ(p.arrival.itl.limits->max.high, 24e6);
  EXPECT_EQ(p.arrival.latency.limits->max.high, p.arrival.latency.limits->max.low);
  EXPECT_FALSE(p.read.ttft.limits);
  const Limits& limits = *p.arrival.ttft.limits;
  const Json shown = result_summary(p)["assay"]["arrival"]["ttft"]["limits"]["percentiles"];
  ASSERT_EQ(shown.size(), kPercentiles.size());
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    const Json& range = shown.members()[i].second;
    EXPECT_EQ(range[0].as_double(), limits.percentiles[i].low) << i;
    EXPECT_EQ(range[1].as_double(), limits.percentiles[i].high) << i;
  }
}

TEST(PointFold, a_send_that_was_held_up_limits_what_counts_from_it) {
  RunInfo info = run_of();
  info.uncertainty = true;
  const HandMadeQuery q = steady_query(1, 0, 100, 50, 10, 3);
  PointFold fold(info);
  tell_sent(q, fold);
  tell_stream(q, fold);
  Event event = event_of(q);
  event.sent_uncertainty = 8_ms;
  event.done_uncertainty = 1_ms;
  fold.on_done(event, "");
  const Point p = fold.finish(kComplete);
  EXPECT_EQ(p.arrival.ttft.limits->max.low, 42e6);
  EXPECT_EQ(p.arrival.ttft_due.limits->max.low, 50e6);
  EXPECT_EQ(p.arrival.latency.limits->max.low, 61e6);
  EXPECT_EQ(p.arrival.latency_due.limits->max.low, 69e6);
  EXPECT_EQ(p.arrival.tpot.limits->max.low, 9.5e6);
}

TEST(PointFold, a_log_that_knows_no_uncertainty_has_no_limits) {
  const Point p = point_of({steady_query(1, 0, 100, 50, 10, 3)});
  EXPECT_FALSE(p.arrival.ttft.limits);
  EXPECT_FALSE(p.arrival.itl.limits);
}

}  // namespace
}  // namespace assay::metrics
