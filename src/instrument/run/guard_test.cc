#include "run/guard.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "domain/quiet_sink.h"
#include "run/run.h"

namespace assay::run {
namespace {

Event ended(Outcome outcome, std::uint16_t status = 0, Instant done = Instant{}) {
  Event event{.outcome = outcome, .http_status = status};
  event.done = done;
  return event;
}

Event refusal(Instant done = Instant{}) { return ended(Outcome::http_error, 401, done); }

// Answers each query after `service`; `answer` gives the result for its number.
class ScriptTarget final : public Target {
 public:
  using Answer = Event (*)(std::size_t);
  ScriptTarget(Clock& clock, Duration service, Answer answer)
      : clock_(clock), service_(service), answer_(answer) {}

  void submit(const Query& query, Instant due, EventSink& sink) override {
    const Instant now = clock_.now();
    sink.on_sent(query, due, now);
    pending_.push_back({query, due, now});
    sent.push_back(now);
  }
  void poll(Instant until, EventSink& sink) override {
    Instant wake = until;
    if (!pending_.empty()) wake = std::min(until, pending_.front().sent + service_);
    clock_.sleep_until(wake);
    // A few at a time, as from a socket.
    for (int i = 0; i < 4; ++i) {
      if (pending_.empty() || pending_.front().sent + service_ > clock_.now()) return;
      const Pending one = pending_.front();
      pending_.pop_front();
      Event event = answer_(answered++);
      event.query = one.query;
      event.due = one.due;
      event.sent = one.sent;
      event.done = one.sent + service_;
      sink.on_done(event, "");
    }
  }
  std::size_t in_flight() const override { return pending_.size(); }
  void cancel_all(EventSink& sink) override {
    for (const Pending& one : pending_) {
      sink.on_done(Event{.query = one.query, .outcome = Outcome::cancelled}, "");
    }
    cancelled += pending_.size();
    pending_.clear();
  }

  std::vector<Instant> sent{};
  std::size_t answered = 0;
  std::size_t cancelled = 0;

 private:
  struct Pending {
    Query query{};
    Instant due{};
    Instant sent{};
  };
  Clock& clock_;
  Duration service_;
  Answer answer_;
  std::deque<Pending> pending_{};
};

class TokenSink final : public QuietSink {
 public:
  void on_done(const Event& event, std::string_view) override {
    tokens += std::max(event.usage.prompt_tokens, 0) + std::max(event.usage.completion_tokens, 0);
  }
  std::int64_t tokens = 0;
};

Plan closed_plan(std::uint32_t concurrency, const GuardRule& guard) {
  PhasePlan phase{.name = "performance", .order = SampleOrder::shuffled(5, 42)};
  phase.limits = {{{}, concurrency}};
  phase.stop.queries_max = 100'000;
  return Plan{.phases = {phase}, .guard = guard};
}

RunResult run_with(const Plan& plan, ScriptTarget& target, SimClock& clock, TokenSink& sink) {
  return run(plan, clock, target, sink, Control{});
}

Event of_50_tokens(std::size_t) {
  Event event{};
  event.usage = {.prompt_tokens = 10, .completion_tokens = 40};
  return event;
}

TEST(Guard, the_same_fatal_answer_ends_a_run_that_nothing_else_answers) {
  SimClock clock;
  ScriptTarget target(clock, 10_ms, [](std::size_t) { return refusal(); });
  TokenSink sink;
  const RunResult result =
      run_with(closed_plan(4, GuardRule{.fatal_max = 20}), target, clock, sink);
  EXPECT_TRUE(result.guarded);
  EXPECT_EQ(result.phases[0].stopped, StopReason::refused);
  EXPECT_EQ(target.answered, 20U);
  EXPECT_LE(target.sent.size(), 24U);
  EXPECT_EQ(result.phases[0].issued, result.phases[0].completed + result.phases[0].failed);
}

TEST(Guard, a_burst_of_refusals_is_not_sent_to_its_end) {
  SimClock clock;
  ScriptTarget target(clock, 10_ms, [](std::size_t) { return refusal(); });
  TokenSink sink;
  Plan plan = closed_plan(1, GuardRule{.fatal_max = 20});
  plan.phases[0].limits = {LimitStep{}};
  plan.phases[0].stop.queries_max = 2000;
  const RunResult result = run_with(plan, target, clock, sink);
  EXPECT_TRUE(result.guarded);
  EXPECT_LT(target.answered + target.cancelled, 2001U);
  EXPECT_EQ(result.phases[0].completed, 0U);
}

TEST(Guard, what_a_server_under_load_says_does_not_end_a_run) {
  for (const Event& busy :
       {ended(Outcome::http_error, 429), ended(Outcome::http_error, 500),
        ended(Outcome::http_error, 503), ended(Outcome::reset), ended(Outcome::truncated),
        ended(Outcome::timed_out), ended(Outcome::cancelled)}) {
    Guard guard(GuardRule{.fatal_max = 2}, 1);
    for (int i = 0; i < 100; ++i) guard.on_done(0, busy);
    EXPECT_FALSE(guard.verdict(0, Instant{}, true)) << to_string(busy.outcome);
  }
}

TEST(Guard, two_kinds_of_fatal_answers_are_not_the_same_answer) {
  Guard guard(GuardRule{.fatal_max = 3}, 1);
  for (int i = 0; i < 60; ++i) {
    guard.on_done(0, ended(Outcome::http_error, i % 2 == 0 ? 401 : 404));
    EXPECT_FALSE(guard.verdict(0, Instant{}, true));
  }
}

TEST(Guard, an_endpoint_that_has_answered_is_given_time_to_come_back) {
  Guard guard(GuardRule{.fatal_max = 3, .fatal_patience = 5_s}, 1);
  guard.on_done(0, ended(Outcome::ok));
  for (int ms = 0; ms < 5000; ms += 100) {
    const Instant now = Instant{} + Duration{ms * 1'000'000LL};
    guard.on_done(0, ended(Outcome::connect_failed, 0, now));
    EXPECT_FALSE(guard.verdict(0, now, true)) << ms;
  }
  guard.on_done(0, ended(Outcome::connect_failed, 0, Instant{} + 5_s));
  EXPECT_EQ(guard.verdict(0, Instant{} + 5_s, true), StopReason::refused);
  EXPECT_EQ(guard.reason(), "51 queries in a row got connect_failed and nothing else");
}

TEST(Guard, shards_are_judged_together) {
  Guard guard(GuardRule{.fatal_max = 4}, 2);
  for (int i = 0; i < 3; ++i) guard.on_done(0, refusal());
  guard.on_done(1, ended(Outcome::ok));
  EXPECT_FALSE(guard.verdict(0, Instant{}, true));

  Guard alone(GuardRule{.fatal_max = 4}, 2);
  for (int i = 0; i < 2; ++i) alone.on_done(0, refusal());
  EXPECT_FALSE(alone.verdict(0, Instant{}, true));
  for (int i = 0; i < 2; ++i) alone.on_done(1, refusal());
  EXPECT_EQ(alone.verdict(1, Instant{}, true), StopReason::refused);
  EXPECT_EQ(alone.verdict(0, Instant{}, true), StopReason::refused);
}

TEST(Guard, so_many_failures_are_allowed_and_no_more) {
  Guard guard(GuardRule{.failures_max = 3}, 1);
  for (int i = 0; i < 3; ++i) guard.on_done(0, ended(Outcome::reset));
  EXPECT_FALSE(guard.verdict(0, Instant{}, true));
  guard.on_done(0, ended(Outcome::reset));
  EXPECT_EQ(guard.verdict(0, Instant{}, true), StopReason::failures);
}

TEST(Guard, a_share_is_not_judged_from_a_handful) {
  EXPECT_EQ(share_is_judged_from(0.5), 20U);
  EXPECT_EQ(share_is_judged_from(0.01), 100U);
  EXPECT_EQ(share_is_judged_from(0), 1U);
  EXPECT_EQ(share_is_judged_from(-1), 1U);
  EXPECT_EQ(share_is_judged_from(0.05), 20U);
  EXPECT_EQ(share_is_judged_from(0.049), 21U);
  EXPECT_EQ(share_is_judged_from(1e-12), 1'000'000U) << "a share that no run could show";
  Guard guard(GuardRule{.failed_share_max = 0.1}, 1);
  for (int i = 0; i < 19; ++i) guard.on_done(0, ended(i < 5 ? Outcome::reset : Outcome::ok));
  EXPECT_FALSE(guard.verdict(0, Instant{}, true));
  guard.on_done(0, ended(Outcome::ok));
  EXPECT_EQ(guard.verdict(0, Instant{}, true), StopReason::failures);
}

TEST(Guard, a_budget_of_tokens_is_not_overspent) {
  for (const std::uint32_t concurrency : {1U, 3U, 8U}) {
    SimClock clock;
    ScriptTarget target(clock, 10_ms, of_50_tokens);
    TokenSink sink;
    const RunResult result =
        run_with(closed_plan(concurrency, GuardRule{.tokens_max = 1000}), target, clock, sink);
    EXPECT_EQ(result.phases[0].stopped, StopReason::budget);
    EXPECT_LE(sink.tokens, 1000);
    EXPECT_GE(sink.tokens, 1000 - 50 * (static_cast<std::int64_t>(concurrency) + 1));
    EXPECT_EQ(result.phases[0].failed, 0U);
  }
}

TEST(Guard, a_burst_spends_its_budget_and_leaves_the_rest_unasked) {
  SimClock clock;
  ScriptTarget target(clock, 10_ms, of_50_tokens);
  TokenSink sink;
  Plan plan = closed_plan(1, GuardRule{.tokens_max = 1000});
  plan.phases[0].limits = {LimitStep{}};
  plan.phases[0].stop.queries_max = 5000;
  const RunResult result = run_with(plan, target, clock, sink);
  EXPECT_EQ(result.phases[0].stopped, StopReason::budget);
  EXPECT_GE(sink.tokens, 950);
  EXPECT_LT(result.phases[0].completed, 5000U);
}

TEST(Guard, money_is_tokens_at_their_two_prices) {
  SimClock clock;
  ScriptTarget target(clock, 10_ms, of_50_tokens);
  TokenSink sink;
  // 10 × 0.01 + 40 × 0.02 = 0.9 a query.
  const GuardRule rule{.cost_max = 10, .price_in = 0.01, .price_out = 0.02};
  const RunResult result = run_with(closed_plan(1, rule), target, clock, sink);
  EXPECT_EQ(result.phases[0].stopped, StopReason::budget);
  EXPECT_EQ(result.phases[0].completed, 11U);
}

TEST(Guard, nobody_is_asked_while_the_endpoint_wants_to_be_left_alone) {
  SimClock clock;
  ScriptTarget target(clock, 10_ms, [](std::size_t n) {
    if (n != 3) return Event{};
    Event event = ended(Outcome::http_error, 429);
    event.retry_after = 2_s;
    return event;
  });
  TokenSink sink;
  Plan plan = closed_plan(2, GuardRule{.honour_retry_after = true});
  plan.phases[0].stop.queries_max = 20;
  const RunResult result = run_with(plan, target, clock, sink);
  ASSERT_EQ(target.sent.size(), 20U);
  const Instant refused = Instant{} + 20_ms;  // the fourth answer
  for (const Instant at : target.sent) {
    EXPECT_TRUE(at < refused || at >= refused + 2_s) << at.ns;
  }
  EXPECT_EQ(result.backoffs, 1U);
  EXPECT_EQ(result.backed_off, 2_s);
  EXPECT_EQ(result.send_lag.max, Duration{});  // held back by the endpoint's Retry-After, not by us
}

TEST(Guard, a_retry_after_is_no_matter_to_a_run_that_does_not_honour_it) {
  SimClock clock;
  ScriptTarget target(clock, 10_ms, [](std::size_t) {
    Event event = ended(Outcome::http_error, 429);
    event.retry_after = 2_s;
    return event;
  });
  TokenSink sink;
  Plan plan = closed_plan(2, GuardRule{});
  plan.phases[0].stop.queries_max = 20;
  const RunResult result = run_with(plan, target, clock, sink);
  EXPECT_EQ(result.backoffs, 0U);
  EXPECT_LT(clock.now(), Instant{} + 1_s);
}

// The rules again, in the slow way, from the list of all ended queries.
struct SlowGuard {
  GuardRule rule{};
  std::vector<Event> events{};
  std::size_t in_flight = 0;

  std::optional<StopReason> verdict(Instant now) const {
    double tokens = 0;
    double cost = 0;
    std::uint64_t failed = 0;
    double ok = 0;
    for (const Event& event : events) {
      if (event.outcome == Outcome::ok) ++ok;
      if (event.outcome != Outcome::ok && event.outcome != Outcome::cancelled) ++failed;
      tokens += event.usage.prompt_tokens + event.usage.completion_tokens;
      cost += event.usage.prompt_tokens * rule.price_in +
              event.usage.completion_tokens * rule.price_out;
    }
    std::size_t streak = 0;
    Instant since{};
    for (auto event = events.rbegin(); event != events.rend() && is_fatal(*event); ++event) {
      if (event->outcome != events.back().outcome) break;
      if (event->http_status != events.back().http_status) break;
      ++streak;
      since = event->done;
    }
    if (streak >= rule.fatal_max && (ok == 0 || now - since >= rule.fatal_patience)) {
      return StopReason::refused;
    }
    const auto ended = static_cast<double>(events.size());
    if (failed > rule.failures_max ||
        (events.size() >= share_is_judged_from(rule.failed_share_max) &&
         static_cast<double>(failed) > rule.failed_share_max * ended)) {
      return StopReason::failures;
    }
    const double ahead = ok == 0 ? 0 : (static_cast<double>(in_flight) + 1) / ok;
    if (tokens * (1 + ahead) > static_cast<double>(rule.tokens_max) ||
        cost * (1 + ahead) > rule.cost_max) {
      return StopReason::budget;
    }
    return std::nullopt;
  }
};

TEST(Guard, what_asking_again_cannot_mend_is_fatal_and_a_busy_or_broken_server_is_not) {
  const auto fatal = [](int status) {
    Event event{};
    event.outcome = Outcome::http_error;
    event.http_status = static_cast<std::uint16_t>(status);
    return is_fatal(event);
  };
  for (const int status : {400, 401, 402, 403, 404, 405, 410, 415, 422, 501}) {
    EXPECT_TRUE(fatal(status)) << status;
  }
  for (int status = 300; status < 400; ++status) EXPECT_TRUE(fatal(status)) << status;
  for (const int status : {0, 299, 408, 409, 413, 425, 429, 499, 500, 502, 503, 504, 529}) {
    EXPECT_FALSE(fatal(status)) << status;
  }
}

TEST(Guard, is_what_its_rules_say_of_the_list_of_all_queries) {
  int verdicts = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto pick = [&rng](std::uint64_t n) { return rng.below(n); };
    GuardRule rule{.fatal_max = static_cast<std::uint32_t>(1 + pick(6)),
                   .fatal_patience = Duration{static_cast<std::int64_t>(pick(50)) * 1'000'000},
                   .failures_max = 5 + pick(60),
                   .failed_share_max = 0.3 + 0.1 * static_cast<double>(pick(7)),
                   .tokens_max = 500 + pick(3000),
                   .cost_max = 20 + static_cast<double>(pick(100)),
                   .price_in = 0.01,
                   .price_out = 0.05};
    Guard guard(rule, 1);
    SlowGuard slow{.rule = rule};
    std::uint64_t fatal = 0;
    for (int i = 0; i < 120; ++i) {
      if (pick(3) != 0 || slow.in_flight == 0) {
        guard.on_issued(0);
        ++slow.in_flight;
      }
      if (pick(4) == 0) fatal = pick(4);  // answers come in runs
      const Instant now = Instant{} + Duration{i * 3'000'000LL};
      const Event kinds[] = {ended(Outcome::ok, 200, now), refusal(now),
                             ended(Outcome::connect_failed, 0, now), ended(Outcome::reset, 0, now)};
      Event event = kinds[fatal];
      event.usage = {.prompt_tokens = static_cast<std::int32_t>(pick(20)),
                     .completion_tokens = static_cast<std::int32_t>(pick(40))};
      guard.on_done(0, event);
      slow.events.push_back(event);
      --slow.in_flight;
      const auto wanted = slow.verdict(now);
      ASSERT_EQ(guard.verdict(0, now, true), wanted) << i;
      if (!wanted) continue;
      ++verdicts;
      break;
    }
  }
  EXPECT_GT(verdicts, 100);
}

TEST(Guard, tells_which_of_its_rules_ended_the_run_and_by_how_much) {
  const auto why = [](const GuardRule& rule, const std::vector<Event>& events) {
    Guard guard(rule, 1);
    for (const Event& event : events) guard.on_done(0, event);
    EXPECT_TRUE(guard.verdict(0, Instant{} + 1_s, true));
    return guard.reason();
  };
  EXPECT_EQ(why({.fatal_max = 2}, {refusal(), refusal()}),
            "2 queries in a row got HTTP 401, and none succeeded");
  EXPECT_EQ(why({.fatal_max = 1, .fatal_patience = 1_s},
                {ended(Outcome::ok), ended(Outcome::tls_failed)}),
            "1 queries in a row got tls_failed and nothing else");
  const Event reset = ended(Outcome::reset);
  EXPECT_EQ(why({.failures_max = 1}, {reset, ended(Outcome::ok), reset}),
            "2 of 3 queries failed, more than --max-failures allows");
}

TEST(Guard, names_the_budget_that_is_used_up) {
  const auto why = [](const GuardRule& rule, int queries) {
    Guard guard(rule, 1);
    for (int i = 0; i < queries; ++i) {
      guard.on_issued(0);
      Event event = of_50_tokens(0);
      event.usage = {.prompt_tokens = 1000, .completion_tokens = 500};
      guard.on_done(0, event);
    }
    EXPECT_EQ(guard.verdict(0, Instant{}, true), StopReason::budget);
    return guard.reason();
  };
  EXPECT_EQ(why({.tokens_max = 5999}, 3),
            "the budget is used up: 4,500 of 5,999 tokens, and the next query would exceed it");
  EXPECT_EQ(
      why({.cost_max = 7.5, .price_in = 0.001, .price_out = 0.002}, 3),
      "the budget is used up: 6 of 7.5, for 4,500 tokens, and the next query would exceed it");
  // Both at once: tokens are named.
  EXPECT_EQ(why({.tokens_max = 5999, .cost_max = 7.5, .price_in = 0.001, .price_out = 0.002}, 3),
            "the budget is used up: 4,500 of 5,999 tokens, and the next query would exceed it");
}

TEST(Guard, a_reply_without_counts_is_as_long_as_its_fragments) {
  const auto budget = [](const Usage& usage, std::uint32_t fragments, std::uint64_t most) {
    Guard guard(GuardRule{.tokens_max = most}, 1);
    guard.on_issued(0);
    Event event = ended(Outcome::ok);
    event.usage = usage;
    event.fragments = fragments;
    guard.on_done(0, event);
    return guard.verdict(0, Instant{}, true).has_value();
  };
  // The next query would need as much again.
  EXPECT_FALSE(budget(Usage{}, 30, 60));
  EXPECT_TRUE(budget(Usage{}, 30, 59));
  EXPECT_FALSE(budget({.prompt_tokens = 10}, 30, 80)) << "a prompt's count is not the reply's";
  EXPECT_TRUE(budget({.prompt_tokens = 10}, 30, 79));
  EXPECT_FALSE(budget({.completion_tokens = 0}, 30, 0)) << "a count of 0 is a count";
  EXPECT_FALSE(budget({.prompt_tokens = 10, .completion_tokens = 5}, 30, 30));
  EXPECT_TRUE(budget({.prompt_tokens = 10, .completion_tokens = 5}, 30, 29));
}

// Counts of other shards are read while they change.
TEST(Guard, an_end_that_is_seen_before_its_beginning_leaves_nothing_in_flight) {
  Guard guard(GuardRule{.tokens_max = 150}, 1);
  for (int i = 0; i < 2; ++i) guard.on_done(0, of_50_tokens(0));
  EXPECT_FALSE(guard.verdict(0, Instant{}, true)) << "100, and 50 for one more";
  guard.on_issued(0);
  EXPECT_FALSE(guard.verdict(0, Instant{}, true));
  guard.on_done(0, of_50_tokens(0));
  EXPECT_EQ(guard.verdict(0, Instant{}, true), StopReason::budget);
}

TEST(Guard, patience_counts_from_the_last_shard_that_began_to_be_refused) {
  Guard guard(GuardRule{.fatal_max = 3, .fatal_patience = 10_s}, 3);
  const auto at = [](std::int64_t s) { return Instant{} + 1_s * s; };
  guard.on_done(0, ended(Outcome::ok));
  guard.on_done(0, refusal(at(2)));
  guard.on_done(0, refusal(at(9)));
  guard.on_done(1, refusal(at(5)));
  EXPECT_FALSE(guard.verdict(0, at(14), true));
  guard.on_done(0, refusal(at(14)));
  EXPECT_EQ(guard.verdict(0, at(15), true), StopReason::refused);
  EXPECT_EQ(guard.reason(), "4 queries in a row got HTTP 401 and nothing else");
  // A time before the clock's zero is one, too.
  Guard early(GuardRule{.fatal_max = 1, .fatal_patience = 10_s}, 1);
  early.on_done(0, ended(Outcome::ok));
  early.on_done(0, refusal(at(-20)));
  EXPECT_FALSE(early.verdict(0, at(-11), true));
  early.on_done(0, refusal(at(-10)));
  EXPECT_EQ(early.verdict(0, at(-10), true), StopReason::refused);
}

TEST(Guard, a_wait_that_the_endpoint_asks_for_is_never_made_shorter) {
  Guard guard(GuardRule{.honour_retry_after = true}, 1);
  EXPECT_EQ(guard.held_back_until(), Instant{});
  const auto asks = [&guard](Duration wait, Instant done) {
    Event event = ended(Outcome::http_error, 429, done);
    event.retry_after = wait;
    guard.on_done(0, event);
    return guard.held_back_until();
  };
  EXPECT_EQ(asks(3_s, Instant{} + 1_s), Instant{} + 4_s);
  EXPECT_EQ(asks(1_s, Instant{} + 2_s), Instant{} + 4_s);
  EXPECT_EQ(asks(0_s, Instant{} + 5_s), Instant{} + 5_s) << "at once is an answer";
  EXPECT_EQ(asks(Duration{-1}, Instant{} + 9_s), Instant{} + 5_s);
  EXPECT_EQ(asks(60_s, Instant::none()), Instant{} + 5_s);
}

TEST(Guard, shards_of_another_process_have_its_numbers) {
  Guard guard(GuardRule{.fatal_max = 2}, 2, 6);
  guard.on_done(6, refusal());
  EXPECT_FALSE(guard.verdict(6, Instant{}, true));
  guard.on_done(7, refusal());
  EXPECT_EQ(guard.verdict(7, Instant{}, true), StopReason::refused);
}

TEST(Guard, what_was_cancelled_is_no_failure_and_ends_a_row_of_refusals) {
  Guard guard(GuardRule{.fatal_max = 2, .failures_max = 0}, 1);
  guard.on_done(0, ended(Outcome::cancelled));
  EXPECT_FALSE(guard.verdict(0, Instant{}, true));
  Guard row(GuardRule{.fatal_max = 2}, 1);
  row.on_done(0, refusal());
  row.on_done(0, ended(Outcome::cancelled));
  row.on_done(0, refusal());
  EXPECT_FALSE(row.verdict(0, Instant{}, true));
  row.on_done(0, refusal());
  EXPECT_TRUE(row.verdict(0, Instant{}, true));
}

TEST(Guard, in_a_burst_only_what_has_ended_is_reckoned_with) {
  for (const bool drains : {false, true}) {
    Guard guard(GuardRule{.tokens_max = 100}, 1);
    for (int i = 0; i < 9; ++i) guard.on_issued(0);
    guard.on_done(0, of_50_tokens(0));
    EXPECT_EQ(guard.verdict(0, Instant{}, drains).has_value(), drains);
  }
}

TEST(Guard, a_budget_may_be_spent_to_its_very_end) {
  const auto stopped = [](const GuardRule& rule, Outcome outcome) {
    Guard guard(rule, 1);
    guard.on_issued(0);
    Event event = ended(outcome);
    event.usage = {.prompt_tokens = 2, .completion_tokens = 4};
    guard.on_done(0, event);
    return guard.verdict(0, Instant{}, true).has_value();
  };
  const auto dollars = [](double most) {
    return GuardRule{.cost_max = most, .price_in = 0.5, .price_out = 0.25};
  };
  // It cost 2, and the next query would cost as much.
  EXPECT_FALSE(stopped(dollars(4), Outcome::ok));
  EXPECT_TRUE(stopped(dollars(3.75), Outcome::ok));
  // What the next one needs is not known before one has succeeded.
  EXPECT_FALSE(stopped(dollars(2), Outcome::reset));
  EXPECT_TRUE(stopped(dollars(1.75), Outcome::reset));
  EXPECT_FALSE(stopped({.tokens_max = 6}, Outcome::reset));
  EXPECT_TRUE(stopped({.tokens_max = 5}, Outcome::reset));
}

TEST(Guard, prompt_tokens_that_the_server_had_in_its_cache_count_as_all_others) {
  const auto stopped = [](const GuardRule& rule) {
    Guard guard(rule, 1);
    guard.on_issued(0);
    Event event = ended(Outcome::reset);
    event.usage = {.prompt_tokens = 10, .completion_tokens = 0, .cached_tokens = 9};
    guard.on_done(0, event);
    return guard.verdict(0, Instant{}, true).has_value();
  };
  EXPECT_FALSE(stopped({.tokens_max = 10}));
  EXPECT_TRUE(stopped({.tokens_max = 9}));
  EXPECT_TRUE(stopped({.cost_max = 4.5, .price_in = 0.5}));
}

TEST(Guard, is_asked_anew_only_when_something_has_happened) {
  Guard guard(GuardRule{.fatal_max = 1, .fatal_patience = 10_s}, 1);
  guard.on_done(0, ended(Outcome::ok));
  guard.on_done(0, refusal());
  EXPECT_FALSE(guard.verdict(0, Instant{} + 9_s, true));
  EXPECT_FALSE(guard.verdict(0, Instant{} + 11_s, true)) << "nothing has ended since";
  guard.on_issued(0);
  EXPECT_FALSE(guard.verdict(0, Instant{} + 12_s, true)) << "without a budget a send is nothing";
  guard.on_done(0, refusal(Instant{} + 13_s));
  EXPECT_EQ(guard.verdict(0, Instant{} + 13_s, true), StopReason::refused);
}

TEST(Guard, shards_of_which_one_heard_something_else_are_not_refused) {
  const auto refused = [](const std::vector<Event>& last) {
    Guard guard(GuardRule{.fatal_max = 1}, static_cast<std::uint32_t>(last.size()));
    for (std::uint32_t i = 0; i < last.size(); ++i) guard.on_done(i, last[i]);
    return guard.verdict(0, Instant{}, true).has_value();
  };
  const Event other = ended(Outcome::http_error, 404);
  const Event reset = ended(Outcome::reset);
  EXPECT_TRUE(refused({refusal(), refusal(), refusal()}));
  EXPECT_FALSE(refused({reset, refusal(), refusal()}));
  EXPECT_FALSE(refused({refusal(), reset, refusal()}));
  EXPECT_FALSE(refused({refusal(), refusal(), reset}));
  EXPECT_FALSE(refused({refusal(), other, refusal()}));
  EXPECT_FALSE(refused({other, refusal(), refusal()}));
}

}  // namespace
}  // namespace assay::run
