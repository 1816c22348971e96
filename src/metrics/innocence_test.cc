#include "metrics/innocence.h"

#include <gtest/gtest.h>

namespace assay::metrics {
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

Point measured() {
  Point point;
  point.counts.issued = 1000;
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
  // A long one is guilt by its time: more than a hundredth of the run.
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

}  // namespace
}  // namespace assay::metrics
