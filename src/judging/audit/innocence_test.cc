#include "audit/innocence.h"

#include <gtest/gtest.h>

namespace assay::audit {
namespace {

ClientAudit innocent() {
  ClientAudit audit{.wall = 10_s};
  ThreadFigures thread{.cpu_share = 0.4, .run_queue_delay = 100_ms};
  thread.send = {.count = 1000, .p50 = 1_us, .p99 = 40_us, .max = 900_us};
  audit.threads = {thread};
  audit.connections_peak = 64;
  audit.connections_max = 1000;
  return audit;
}

metrics::Point measured() {
  metrics::Point point;
  point.counts.issued = 1000;
  point.counts.completed = 1000;
  return point;
}

TEST(Innocence, a_quiet_client_is_innocent) {
  const Innocence verdict = judge_client(innocent(), measured(), {});
  EXPECT_EQ(verdict.client_limited, ClientLimited::no);
  EXPECT_TRUE(verdict.reasons.empty());
}

TEST(Innocence, shares_of_a_run_of_milliseconds_say_nothing) {
  ClientAudit audit = innocent();
  audit.threads[0].cpu_share = 0.97;
  audit.threads[0].run_queue_delay = 1_ms;
  audit.wall = 2_ms;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::no);
  audit.wall = 200_ms;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::suspected);
}

TEST(Innocence, late_sends_are_weighed_by_how_late) {
  ClientAudit audit = innocent();
  audit.threads[0].send.p99 = 2_ms;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::suspected);
  audit.threads[0].send.p99 = 7_ms;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::yes);
  EXPECT_EQ(judge_client(audit, measured(), {.all_at_once = true}).client_limited,
            ClientLimited::no);
}

TEST(Innocence, one_hold_up_is_one_accident_however_many_sends_it_made_late) {
  ClientAudit audit = innocent();
  audit.threads[0].send.p99 = 7_ms;
  audit.threads[0].send.holdups = 1;
  const Innocence once = judge_client(audit, measured(), {});
  EXPECT_EQ(once.client_limited, ClientLimited::suspected);
  EXPECT_EQ(once.reasons[0].what, "queries were released late: P99 7.00 ms, all by one hold-up");
  audit.threads[0].send.holdups = 2;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::yes);
  // A long hold-up is guilt by its time: more than 1 % of the run.
  audit.threads[0].send.holdups = 1;
  audit.threads[0].send.stalls = 1;
  audit.threads[0].send.stalled = 101_ms;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::yes);
}

TEST(Innocence, where_others_have_the_cores_they_are_to_be_stopped_first) {
  ClientAudit audit = innocent();
  audit.threads[0].send.p99 = 7_ms;
  audit.cores = 2;
  audit.foreign_cpu = 0.4;
  EXPECT_NE(judge_client(audit, measured(), {}).reasons[0].advice.find("--threads"),
            std::string::npos);
  audit.foreign_cpu = 1.9;
  const Innocence verdict = judge_client(audit, measured(), {});
  EXPECT_EQ(verdict.client_limited, ClientLimited::yes);
  EXPECT_EQ(verdict.reasons[0].advice, "stop the other programs first: they used 1.9 of 2 cores");
}

TEST(Innocence, a_stop_of_200_ms_in_ten_seconds_is_guilt_and_in_an_hour_is_not) {
  ClientAudit audit = innocent();
  audit.threads[0].loop = {.count = 10, .max = 200_ms, .stalls = 1, .stalled = 200_ms};
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::yes);
  audit.wall = 3600_s;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::no);
}

TEST(Innocence, a_hog_on_the_core_is_guilt) {
  ClientAudit audit = innocent();
  audit.threads[0].run_queue_delay = 4_s;
  const Innocence verdict = judge_client(audit, measured(), {});
  EXPECT_EQ(verdict.client_limited, ClientLimited::yes);
  EXPECT_NE(verdict.reasons[0].what.find("40.0 %"), std::string::npos);
}

TEST(Innocence, the_gravest_reason_comes_first) {
  ClientAudit audit = innocent();
  audit.threads[0].cpu_share = 0.97;
  audit.lost_records = 5;
  const Innocence verdict = judge_client(audit, measured(), {});
  ASSERT_EQ(verdict.reasons.size(), 2U);
  EXPECT_EQ(verdict.reasons[0].weight, ClientLimited::yes);
  EXPECT_EQ(verdict.reasons[1].weight, ClientLimited::suspected);
}

TEST(Innocence, a_full_pool_is_guilt_and_a_busy_one_is_not) {
  ClientAudit audit = innocent();
  audit.queued_for_connection = 100;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::no);
  audit.connections_peak = audit.connections_max;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::yes);
}

TEST(Innocence, every_document_has_it_in_the_same_words) {
  const Innocence verdict{.client_limited = ClientLimited::suspected,
                          .reasons = {{.what = "late", .advice = "--spin"}}};
  EXPECT_EQ(innocence_json(verdict).dump(),
            R"({"client_limited":"suspected","reasons":[{"weight":"suspected","what":"late",)"
            R"("advice":"--spin"}]})");
  EXPECT_EQ(innocence_json({}).dump(), R"({"client_limited":"no","reasons":[]})");
}

// A series of one value; its true value is in [low, high] ms.
metrics::Distribution between(double low, double told, double high) {
  metrics::Distribution out{.count = 1};
  out.percentiles.fill(told * 1e6);
  metrics::Limits limits{};
  limits.percentiles.fill({low * 1e6, high * 1e6});
  out.limits = limits;
  return out;
}

TEST(Innocence, follows_from_how_well_each_percentile_is_known) {
  const auto verdict_of = [](metrics::Distribution series) {
    metrics::Point point = measured();
    point.arrival.itl = std::move(series);
    return judge_client(innocent(), point, {}).client_limited;
  };
  EXPECT_EQ(verdict_of(between(9.6, 10, 10)), ClientLimited::no);
  EXPECT_EQ(verdict_of(between(9.3, 10, 10)), ClientLimited::suspected);
  EXPECT_EQ(verdict_of(between(7.9, 10, 10)), ClientLimited::yes);
  // A range of 0.2 ms never counts, whatever its share.
  EXPECT_EQ(verdict_of(between(0, 0.2, 0.2)), ClientLimited::no);
  EXPECT_EQ(verdict_of(between(0, 0.3, 0.3)), ClientLimited::yes);
  // An earlier log has no limits.
  metrics::Distribution old = between(0, 10, 10);
  old.limits.reset();
  EXPECT_EQ(verdict_of(old), ClientLimited::no);
}

TEST(Innocence, every_percentile_of_every_latency_counts) {
  for (metrics::Distribution metrics::Latencies::*const series :
       {&metrics::Latencies::ttft, &metrics::Latencies::tpot, &metrics::Latencies::itl,
        &metrics::Latencies::latency}) {
    for (std::size_t i = 0; i < metrics::kPercentiles.size(); ++i) {
      metrics::Point point = measured();
      point.arrival.*series = between(10, 10, 10);
      (point.arrival.*series).limits->percentiles[i] = {10e6, 15e6};
      const Innocence verdict = judge_client(innocent(), point, {});
      EXPECT_EQ(verdict.client_limited, ClientLimited::yes) << metrics::kPercentiles[i];
      ASSERT_EQ(verdict.reasons.size(), 1u);
      EXPECT_NE(verdict.reasons[0].what.find("between 10.0 ms and 15.0 ms"), std::string::npos)
          << verdict.reasons[0].what;
    }
  }
}

// Each reading is cut to a whole tick: a difference of one tick proves nothing.
TEST(Innocence, one_tick_of_steal_in_a_short_run_proves_nothing_and_two_do) {
  ClientAudit audit = innocent();
  audit.wall = 5_s;
  audit.cores = 2;
  for (const auto& [stolen, step, verdict] : {std::tuple{0_ms, 10_ms, ClientLimited::no},
                                              {10_ms, 10_ms, ClientLimited::no},
                                              {20_ms, 10_ms, ClientLimited::suspected},
                                              {20_ms, 20_ms, ClientLimited::no},
                                              {110_ms, 10_ms, ClientLimited::yes},
                                              {Duration{-1}, 10_ms, ClientLimited::no}}) {
    audit.stolen = stolen;
    audit.stolen_step = step;
    EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, verdict) << stolen.ns;
  }
}

TEST(Innocence, time_that_was_taken_is_told_from_a_slow_server) {
  ClientAudit audit = innocent();
  audit.cores = 4;
  audit.stolen = 200_ms;  // of 40 s on four cores
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::suspected);
  audit.stolen = 410_ms;
  const Innocence stolen = judge_client(audit, measured(), {});
  EXPECT_EQ(stolen.client_limited, ClientLimited::yes);
  EXPECT_NE(stolen.reasons[0].what.find("hypervisor"), std::string::npos);
  audit = innocent();
  audit.throttled = 50_ms;
  audit.throttled_periods = 3;
  EXPECT_EQ(judge_client(audit, measured(), {}).client_limited, ClientLimited::suspected);
  audit.throttled = 100_ms;
  const Innocence throttled = judge_client(audit, measured(), {});
  EXPECT_EQ(throttled.client_limited, ClientLimited::yes);
  EXPECT_NE(throttled.reasons[0].what.find("quota stopped it 3 times"), std::string::npos);
  audit = innocent();
  audit.threads[0].waits_interrupted = 40;
  audit.threads[0].interrupted_for = 300_ms;
  const Innocence stopped = judge_client(audit, measured(), {});
  EXPECT_EQ(stopped.client_limited, ClientLimited::suspected);
  EXPECT_NE(stopped.reasons[0].what.find("was stopped 40 times"), std::string::npos);
}

}  // namespace
}  // namespace assay::audit
