// Tests every threshold of the verdict on the client: just below it, at it, and at the one for
// guilt; and the text of each reason.
#include <gtest/gtest.h>

#include <functional>

#include "audit/innocence.h"

namespace assay::audit {
namespace {

// One second of a client without faults.
ClientAudit blameless() {
  ClientAudit audit{.wall = 1_s};
  audit.threads = {ThreadFigures{.cpu_share = 0.4}};
  audit.connections_peak = 10;
  audit.connections_max = 10;
  return audit;
}

metrics::Point thousand_queries() {
  metrics::Point point;
  point.counts.issued = 1000;
  point.counts.completed = 1000;
  return point;
}

using Change = std::function<void(ClientAudit&, metrics::Point&)>;

Innocence judged(const Change& change, const JudgeOptions& options = {}) {
  ClientAudit audit = blameless();
  metrics::Point point = thousand_queries();
  change(audit, point);
  return judge_client(audit, point, options);
}

ClientLimited verdict(const Change& change, const JudgeOptions& options = {}) {
  return judged(change, options).client_limited;
}

constexpr auto kNo = ClientLimited::no;
constexpr auto kSuspected = ClientLimited::suspected;
constexpr auto kYes = ClientLimited::yes;

TEST(InnocenceLimits, of_late_sends) {
  const auto late = [](Duration p99, std::int64_t holdups = 3) {
    return [=](ClientAudit& audit, metrics::Point&) {
      audit.threads[0].send.p99 = p99;
      audit.threads[0].send.holdups = holdups;
    };
  };
  EXPECT_EQ(verdict(late(1_ms - 1_ns)), kNo);
  EXPECT_EQ(verdict(late(1_ms)), kSuspected);
  EXPECT_EQ(verdict(late(kLate - 1_ns)), kSuspected);
  EXPECT_EQ(verdict(late(kLate)), kYes);
  EXPECT_EQ(verdict(late(kLate, 1)), kSuspected);
  EXPECT_EQ(verdict(late(kLate, 0)), kYes);
  EXPECT_EQ(verdict(late(kLate, -1)), kYes) << "not recorded";
  EXPECT_EQ(verdict(late(kLate), {.all_at_once = true}), kNo);
  const Innocence said = judged(late(7_ms));
  ASSERT_EQ(said.reasons.size(), 1U);
  EXPECT_EQ(said.reasons[0].what, "queries were released late: P99 7.00 ms");
  EXPECT_EQ(said.reasons[0].advice, "use more threads (--threads), another machine, or --spin");
}

TEST(InnocenceLimits, of_a_run_too_short_for_shares) {
  const auto busy = [](Duration wall) {
    return [=](ClientAudit& audit, metrics::Point&) {
      audit.wall = wall;
      audit.threads[0].cpu_share = 0.95;
      audit.stolen = wall;
      audit.throttled = wall;
    };
  };
  EXPECT_EQ(verdict(busy(kShareTimeMin - 1_ns)), kNo);
  EXPECT_EQ(judged(busy(kShareTimeMin)).reasons.size(), 3U);
}

TEST(InnocenceLimits, of_stalls_of_whichever_kind) {
  const auto stall = [](Duration loop, Duration send) {
    return [=](ClientAudit& audit, metrics::Point&) {
      audit.threads[0].loop = {.max = loop, .stalls = 1, .stalled = loop};
      audit.threads[0].send = {.max = send, .stalls = 1, .stalled = send};
    };
  };
  EXPECT_EQ(verdict(stall(999_us, {})), kNo);
  EXPECT_EQ(verdict(stall(1_ms, {})), kSuspected);
  EXPECT_EQ(verdict(stall({}, 1_ms)), kSuspected);
  EXPECT_EQ(verdict(stall(9999_us, 9999_us)), kSuspected) << "of both the longer, not their sum";
  EXPECT_EQ(verdict(stall(10_ms, {})), kYes);
  EXPECT_EQ(verdict(stall({}, 10_ms)), kYes);
  // In a burst only the loop's stalls count: its sends are late because of the load itself.
  EXPECT_EQ(verdict(stall({}, 500_ms), {.all_at_once = true}), kNo);
  EXPECT_EQ(verdict(stall(10_ms, 500_ms), {.all_at_once = true}), kYes);
  EXPECT_EQ(verdict(stall(9_ms, 500_ms), {.all_at_once = true}), kSuspected);
  EXPECT_EQ(
      verdict([](ClientAudit& audit,
                 metrics::Point&) { audit.threads[0].loop = {.stalls = 0, .stalled = 500_ms}; },
              {.all_at_once = true}),
      kNo);
  const Innocence said = judged(stall(20_ms, 30_ms));
  ASSERT_EQ(said.reasons.size(), 1U);
  EXPECT_EQ(said.reasons[0].what,
            "the measuring thread stood still for 3.0 % of the time, at most 30.0 ms at once");
  const Innocence longer = judged([&](ClientAudit& audit, metrics::Point& point) {
    stall(20_ms, 30_ms)(audit, point);
    audit.wall = 2_s;
  });
  ASSERT_EQ(longer.reasons.size(), 1U);
  EXPECT_EQ(longer.reasons[0].what,
            "the measuring thread stood still for 1.5 % of the time, at most 30.0 ms at once");
  EXPECT_NE(said.reasons[0].advice.find("a debugger"), std::string::npos);
}

TEST(InnocenceLimits, of_stops_and_of_waits_for_a_cpu) {
  const auto stopped = [](Duration for_ns) {
    return [=](ClientAudit& audit, metrics::Point&) {
      audit.threads[0].interrupted_for = for_ns;
      audit.threads[0].waits_interrupted = 4;
    };
  };
  EXPECT_EQ(verdict(stopped(999_us)), kNo);
  EXPECT_EQ(verdict(stopped(1_ms)), kSuspected);
  EXPECT_EQ(verdict(stopped(900_ms)), kSuspected) << "never guilt by itself";
  EXPECT_EQ(judged(stopped(2_ms)).reasons[0].what,
            "the measuring thread was stopped 4 times, for 2.00 ms at most");
  const auto queued = [](Duration wait) {
    return [=](ClientAudit& audit, metrics::Point&) { audit.threads[0].run_queue_delay = wait; };
  };
  EXPECT_EQ(verdict(queued(49_ms)), kNo);
  EXPECT_EQ(verdict(queued(50_ms)), kSuspected);
  EXPECT_EQ(verdict(queued(199_ms)), kSuspected);
  EXPECT_EQ(verdict(queued(200_ms)), kYes);
  EXPECT_EQ(judged(queued(200_ms)).reasons[0].what,
            "the measuring thread waited for a CPU during 20.0 % of the run");
}

TEST(InnocenceLimits, a_wait_of_5_us_for_each_time_on_the_core_is_the_price_of_a_switch) {
  const auto queued = [](Duration wait, std::int64_t waits) {
    return [=](ClientAudit& audit, metrics::Point&) {
      audit.threads[0].run_queue_delay = wait;
      audit.threads[0].run_queue_waits = waits;
    };
  };
  EXPECT_EQ(verdict(queued(50_ms, -1)), kSuspected) << "nothing is known";
  EXPECT_EQ(verdict(queued(50_ms - 3_us, -1)), kNo) << "an unknown number adds nothing";
  EXPECT_EQ(verdict(queued(50_ms, 0)), kSuspected);
  EXPECT_EQ(verdict(queued(99_ms, 10'000)), kNo);
  EXPECT_EQ(verdict(queued(100_ms, 10'000)), kSuspected);
  EXPECT_EQ(verdict(queued(300_ms, 20'000)), kYes);
  EXPECT_EQ(judged(queued(300_ms, 20'000)).reasons[0].what,
            "the measuring thread waited for a CPU during 20.0 % of the run");
  EXPECT_EQ(verdict(queued(Duration{-1}, 10)), kNo);
}

TEST(InnocenceLimits, of_a_busy_core_and_of_others_on_it) {
  const auto busy = [](double share, double foreign = 0, int cores = 0) {
    return [=](ClientAudit& audit, metrics::Point&) {
      audit.threads[0].cpu_share = share;
      audit.foreign_cpu = foreign;
      audit.cores = cores;
    };
  };
  EXPECT_EQ(verdict(busy(0.90)), kNo);
  EXPECT_EQ(verdict(busy(0.91)), kSuspected);
  EXPECT_EQ(verdict(busy(1.0), {.spinning = true}), kNo);
  const Innocence said = judged(busy(0.91));
  EXPECT_EQ(said.reasons[0].what, "the measuring thread used 91.0 % of its core");
  EXPECT_EQ(said.reasons[0].advice, "use more threads (--threads) or lower the load");
  EXPECT_EQ(judged(busy(0.91, 2.9, 4)).reasons[0].advice, said.reasons[0].advice);
  EXPECT_EQ(judged(busy(0.91, 3.0, 4)).reasons[0].advice,
            "stop the other programs first: they used 3.0 of 4 cores");
  EXPECT_EQ(judged(busy(0.91, 0.75, 1)).reasons[0].advice,
            "stop the other programs first: they used 0.8 of 1 core");
  EXPECT_EQ(judged(busy(0.91, 3.0, 0)).reasons[0].advice, said.reasons[0].advice)
      << "nobody said how many cores there are";
}

TEST(InnocenceLimits, each_of_several_threads_is_named) {
  const Innocence said = judged([](ClientAudit& audit, metrics::Point&) {
    audit.threads = {ThreadFigures{.shard = 0, .cpu_share = 0.95},
                     ThreadFigures{.shard = 5, .cpu_share = 0.92}};
  });
  ASSERT_EQ(said.reasons.size(), 2U);
  EXPECT_EQ(said.reasons[0].what, "measuring thread 0 used 95.0 % of its core");
  EXPECT_EQ(said.reasons[1].what, "measuring thread 5 used 92.0 % of its core");
  const Innocence late = judged([](ClientAudit& audit, metrics::Point&) {
    audit.threads = {ThreadFigures{.shard = 0}, ThreadFigures{.shard = 5}};
    for (ThreadFigures& thread : audit.threads) thread.send.p99 = 2_ms;
  });
  ASSERT_EQ(late.reasons.size(), 2U);
  EXPECT_EQ(late.reasons[1].what, "queries were released late by measuring thread 5: P99 2.00 ms");
}

TEST(InnocenceLimits, of_time_that_was_taken) {
  // One step less than was read is proved.
  const auto stolen = [](Duration time, int cores) {
    return [=](ClientAudit& audit, metrics::Point&) {
      audit.stolen_step = 7_ms;
      audit.stolen = audit.stolen_step + time;
      audit.cores = cores;
    };
  };
  EXPECT_EQ(verdict(stolen(999_us, 1)), kNo);
  EXPECT_EQ(verdict(stolen(1_ms, 1)), kSuspected);
  EXPECT_EQ(verdict(stolen(9_ms, 1)), kSuspected);
  EXPECT_EQ(verdict(stolen(10_ms, 1)), kYes);
  EXPECT_EQ(verdict(stolen(10_ms, 0)), kYes) << "at least one core";
  EXPECT_EQ(verdict(stolen(10_ms, 2)), kSuspected) << "over all cores";
  EXPECT_EQ(judged(stolen(40_ms, 2)).reasons[0].what,
            "the hypervisor took 2.0 % of the machine's time at least (steal)");
  const auto throttled = [](Duration time) {
    return [=](ClientAudit& audit, metrics::Point&) {
      audit.throttled = time;
      audit.throttled_periods = 3;
      audit.cores = 8;
    };
  };
  EXPECT_EQ(verdict(throttled(999_us)), kNo);
  EXPECT_EQ(verdict(throttled(1_ms)), kSuspected);
  EXPECT_EQ(verdict(throttled(10_ms)), kYes);
  EXPECT_EQ(judged(throttled(20_ms)).reasons[0].what,
            "its CPU quota stopped it 3 times, for 2.0 % of the run");
}

TEST(InnocenceLimits, of_replies_that_lay_unread) {
  const auto unread = [](Duration p99) {
    return [=](ClientAudit&, metrics::Point& point) {
      point.read_delay.count = 1;
      point.read_delay.percentiles[1] = static_cast<double>(p99.ns);
    };
  };
  EXPECT_EQ(metrics::kPercentiles[1], 99.0);
  EXPECT_EQ(verdict(unread(5_ms - 1_ns)), kNo);
  EXPECT_EQ(verdict(unread(5_ms)), kSuspected);
  EXPECT_EQ(verdict(unread(50_ms - 1_ns)), kSuspected);
  EXPECT_EQ(verdict(unread(50_ms)), kYes);
  EXPECT_EQ(judged(unread(50_ms)).reasons[0].what,
            "replies lay unread: P99 50.0 ms between arrival and our read");
  EXPECT_EQ(
      verdict([](ClientAudit&, metrics::Point& point) { point.read_delay.percentiles.fill(1e9); }),
      kNo)
      << "of no reads at all";
}

TEST(InnocenceLimits, of_connections) {
  const auto queued = [](std::uint64_t queries, std::uint32_t peak = 10) {
    return [=](ClientAudit& audit, metrics::Point&) {
      audit.queued_for_connection = queries;
      audit.connections_peak = peak;
    };
  };
  EXPECT_EQ(verdict(queued(0)), kNo);
  EXPECT_EQ(verdict(queued(1)), kSuspected);
  EXPECT_EQ(verdict(queued(9)), kSuspected);
  EXPECT_EQ(verdict(queued(10)), kYes);
  EXPECT_EQ(verdict(queued(10, 9)), kNo) << "one was free";
  EXPECT_EQ(verdict(queued(10, 11)), kYes);
  EXPECT_EQ(verdict(queued(10), {.all_at_once = true}), kNo);
  EXPECT_EQ(judged(queued(20)).reasons[0].what,
            "2.0 % of the queries waited for a connection: all 10 were in use");
  const auto none = [](ClientAudit& audit, metrics::Point& point) {
    audit.queued_for_connection = 1;
    point.counts = {};
  };
  EXPECT_EQ(verdict(none), kNo) << "of no queries";
  const auto half_failed = [&](ClientAudit& audit, metrics::Point& point) {
    queued(9)(audit, point);
    point.counts.completed = 500;
  };
  EXPECT_EQ(verdict(half_failed), kSuspected) << "a share of all queries, also of those that fail";
}

// A series with one percentile, `told`, between two limits.
metrics::Distribution uncertain(double low, double told, double high) {
  metrics::Distribution out{.count = 1};
  out.percentiles.fill(told);
  out.limits.emplace();
  for (metrics::Between& range : out.limits->percentiles) range = {told, told};
  out.limits->percentiles[7] = {low, high};
  return out;
}

TEST(InnocenceLimits, of_how_well_a_figure_is_known) {
  EXPECT_EQ(metrics::kPercentiles[7], 50.0);
  const auto range = [](double low, double told, double high) {
    return [=](ClientAudit&, metrics::Point& point) {
      point.arrival.ttft = uncertain(low, told, high);
    };
  };
  // A range of 200 µs never counts, whatever its share.
  EXPECT_EQ(verdict(range(0, 200'000, 200'000)), kNo);
  EXPECT_EQ(verdict(range(0, 200'001, 200'001)), kYes);
  EXPECT_EQ(verdict(range(9'500'001, 10'000'000, 10'000'000)), kNo);
  EXPECT_EQ(verdict(range(9'500'000, 10'000'000, 10'000'000)), kSuspected);
  EXPECT_EQ(verdict(range(8'000'001, 10'000'000, 10'000'000)), kSuspected);
  EXPECT_EQ(verdict(range(8'000'000, 10'000'000, 10'000'000)), kYes);
  EXPECT_EQ(verdict(range(-500'000, 0, 500'000)), kYes) << "of a figure of nothing too";
  const Innocence said = judged([](ClientAudit&, metrics::Point& point) {
    point.arrival.ttft = uncertain(9e6, 10e6, 10e6);
    point.arrival.tpot = uncertain(7e6, 10e6, 11e6);
    point.arrival.itl = uncertain(7e6, 10e6, 11e6);
    point.arrival.latency = uncertain(8e6, 10e6, 10e6);
  });
  ASSERT_EQ(said.reasons.size(), 1U) << "the worst known, and of equals the first";
  EXPECT_EQ(said.reasons[0].what,
            "the client was held up and saw several tokens at once: TPOT P50 is 10.0 ms, and in "
            "truth between 7.00 ms and 11.0 ms");
  // A share of nothing has no end: the widest range is named.
  const Innocence nothing = judged([](ClientAudit&, metrics::Point& point) {
    point.arrival.ttft = uncertain(-500'000, 0, 500'000);
    point.arrival.tpot = uncertain(-900'000, 0, 900'000);
  });
  ASSERT_EQ(nothing.reasons.size(), 1U);
  EXPECT_NE(nothing.reasons[0].what.find("TPOT P50 is"), std::string::npos)
      << nothing.reasons[0].what;
}

TEST(InnocenceLimits, of_a_run_in_which_nothing_succeeded_only_the_log_is_judged) {
  const auto wrong = [](std::uint64_t issued, std::uint64_t completed, std::uint64_t lost) {
    return [=](ClientAudit& audit, metrics::Point& point) {
      audit.threads[0].send.p99 = 7_ms;
      audit.lost_records = lost;
      point.counts.issued = issued;
      point.counts.completed = completed;
    };
  };
  EXPECT_EQ(verdict(wrong(10, 0, 0)), kNo);
  EXPECT_EQ(verdict(wrong(10, 1, 0)), kYes);
  EXPECT_EQ(verdict(wrong(0, 0, 0)), kYes);
  const Innocence lost = judged(wrong(10, 0, 1));
  ASSERT_EQ(lost.reasons.size(), 1U);
  EXPECT_EQ(lost.client_limited, kYes);
  EXPECT_EQ(lost.reasons[0].what, "1 record of the event log was lost");
  EXPECT_EQ(lost.reasons[0].advice, "write the run folder to a faster disk");
  const Innocence full = judged([](ClientAudit& audit, metrics::Point& point) {
    audit.lost_records = 2;
    point.end.out_of_space = true;
  });
  EXPECT_NE(full.reasons[0].advice.find("make room on the disk"), std::string::npos);
}

}  // namespace
}  // namespace assay::audit
