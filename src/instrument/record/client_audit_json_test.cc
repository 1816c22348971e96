#include "record/client_audit_json.h"

#include <gtest/gtest.h>

namespace assay::record {
namespace {

TEST(ClientAuditJson, what_was_written_is_what_is_read) {
  ClientAudit audit{.wall = 10_s, .own_cpu = 0.5, .cores = 2, .lost_records = 3};
  audit.canary = {.watched = 200_ms, .gaps_50us = 7, .gaps_1ms = 1, .gap_max = 3_ms};
  ThreadFigures thread{.shard = 1, .core = 4, .cpu_share = 0.25, .run_queue_delay = 5_ms};
  thread.send = {.count = 9, .p50 = 1_us, .p99 = 2_us, .p999 = 3_us, .max = 4_us};
  audit.threads = {thread};
  audit.settings = {{.name = "timer_slack", .granted = true, .detail = "1 ns"}};
  const Json json = client_audit_to_json(audit);
  EXPECT_EQ(client_audit_to_json(client_audit_from_json(json)), json);
  EXPECT_EQ(json["threads"][0]["send_lag"]["p99_ns"].as_int(), 2000);
  EXPECT_EQ(client_audit_from_json(*Json::parse(json.dump())).settings[0].detail, "1 ns");
}

// Every field of every part, each with a different value.
constexpr const char* kWholeAudit = R"({
  "wall_ns": 1,
  "threads": [
    {"shard": 2, "core": 3, "cpu_share": 0.25, "run_queue_delay_ns": 4, "run_queue_waits": 57,
     "preempted": 5, "waits_interrupted": 6, "interrupted_ns": 7,
     "loop_lag": {"count": 8, "p50_ns": 9, "p99_ns": 10, "p999_ns": 11, "max_ns": 12, "stalls": 13,
                  "stalled_ns": 14, "holdups": 15},
     "send_lag": {"count": 16, "p50_ns": 17, "p99_ns": 18, "p999_ns": 19, "max_ns": 20,
                  "stalls": 21, "stalled_ns": 22, "holdups": 23}},
    {"shard": 3, "core": -1, "cpu_share": -1.0, "run_queue_delay_ns": -1, "run_queue_waits": -1,
     "preempted": 0, "waits_interrupted": 0, "interrupted_ns": 0,
     "loop_lag": {"count": 0, "p50_ns": 0, "p99_ns": 0, "p999_ns": 0, "max_ns": 0, "stalls": 0,
                  "stalled_ns": 0, "holdups": -1},
     "send_lag": {"count": 0, "p50_ns": 0, "p99_ns": 0, "p999_ns": 0, "max_ns": 0, "stalls": 0,
                  "stalled_ns": 0, "holdups": -1}}],
  "canary": {"watched_ns": 24, "gaps_50us": 25, "gaps_1ms": 26, "gap_max_ns": 27},
  "own_cpu": 28.5, "foreign_cpu": 29.5, "pressure_share": 0.125, "cores": 30, "stolen_ns": 31,
  "stolen_step_ns": 56,
  "throttled_ns": 32, "throttled_periods": 33, "connections_opened": 34, "connections_inside": 35,
  "connections_failed": 36, "queued_for_connection": 37, "queries_sent_again": 38,
  "queries_unprocessed": 39, "requests_made_late": 55, "connections_peak": 40,
  "connections_max": 41, "descriptors_max": 42,
  "ports": 43, "retransmits": 44, "reads": 45, "reads_stamped": 46, "memory_bytes_max": 47,
  "memory_bytes_peak": 48, "stamp_error_max_ns": 49, "stamp_slew_max_ns": 50, "lost_records": 51,
  "disk_full_at_ns": 52, "disk_error": "full", "backoffs": 53, "backed_off_ns": 54,
  "settings": [{"name": "a", "asked": true, "granted": false, "detail": "x"},
               {"name": "b", "asked": false, "granted": true, "detail": ""}]})";

TEST(ClientAuditJson, every_field_stands_under_its_name) {
  const Json whole = Json::parse(kWholeAudit).value();
  const ClientAudit audit = client_audit_from_json(whole);
  EXPECT_EQ(client_audit_to_json(audit).dump(), whole.dump());
  ASSERT_EQ(audit.threads.size(), 2U);
  const ThreadFigures& thread = audit.threads[0];
  EXPECT_EQ(thread.loop.max, 12_ns);
  EXPECT_EQ(thread.send.stalled, 22_ns);
  EXPECT_EQ(thread.send.holdups, 23);
  EXPECT_EQ(thread.interrupted_for, 7_ns);
  EXPECT_EQ(thread.run_queue_waits, 57);
  EXPECT_EQ(audit.canary.gap_max, 27_ns);
  EXPECT_EQ(audit.foreign_cpu, 29.5);
  EXPECT_EQ(audit.disk_error, "full");
  EXPECT_TRUE(audit.settings[0].asked);
  EXPECT_FALSE(audit.settings[0].granted);
}

TEST(ClientAuditJson, what_is_missing_keeps_its_default) {
  const ClientAudit audit = client_audit_from_json(*Json::parse(R"({"cores": 8, "new": [1]})"));
  EXPECT_EQ(audit.cores, 8);
  EXPECT_EQ(audit.own_cpu, -1);
}

}  // namespace
}  // namespace assay::record
