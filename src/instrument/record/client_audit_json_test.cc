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

TEST(ClientAuditJson, what_is_missing_keeps_its_default) {
  const ClientAudit audit = client_audit_from_json(*Json::parse(R"({"cores": 8, "new": [1]})"));
  EXPECT_EQ(audit.cores, 8);
  EXPECT_EQ(audit.own_cpu, -1);
}

}  // namespace
}  // namespace assay::record
