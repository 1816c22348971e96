#include "record/client_audit_json.h"

#include "base/json_fields.h"

namespace assay::record {
namespace {

constexpr auto kLagFields = [](auto& io, auto& lag) {
  io.field("count", lag.count);
  io.field("p50_ns", lag.p50);
  io.field("p99_ns", lag.p99);
  io.field("p999_ns", lag.p999);
  io.field("max_ns", lag.max);
  io.field("stalls", lag.stalls);
  io.field("stalled_ns", lag.stalled);
  io.field("holdups", lag.holdups);
};

constexpr auto kThreadFields = [](auto& io, auto& thread) {
  io.field("shard", thread.shard);
  io.field("core", thread.core);
  io.field("cpu_share", thread.cpu_share);
  io.field("run_queue_delay_ns", thread.run_queue_delay);
  io.field("run_queue_waits", thread.run_queue_waits);
  io.field("preempted", thread.preempted);
  io.field("waits_interrupted", thread.waits_interrupted);
  io.field("interrupted_ns", thread.interrupted_for);
  io.part("loop_lag", thread.loop, kLagFields);
  io.part("send_lag", thread.send, kLagFields);
};

constexpr auto kSettingFields = [](auto& io, auto& setting) {
  io.field("name", setting.name);
  io.field("asked", setting.asked);
  io.field("granted", setting.granted);
  io.field("detail", setting.detail);
};

constexpr auto kCanaryFields = [](auto& io, auto& canary) {
  io.field("watched_ns", canary.watched);
  io.field("gaps_50us", canary.gaps_50us);
  io.field("gaps_1ms", canary.gaps_1ms);
  io.field("gap_max_ns", canary.gap_max);
};

constexpr auto kAuditFields = [](auto& io, auto& audit) {
  io.field("wall_ns", audit.wall);
  io.list("threads", audit.threads, kThreadFields);
  io.part("canary", audit.canary, kCanaryFields);
  io.field("own_cpu", audit.own_cpu);
  io.field("foreign_cpu", audit.foreign_cpu);
  io.field("pressure_share", audit.pressure_share);
  io.field("cores", audit.cores);
  io.field("stolen_ns", audit.stolen);
  io.field("stolen_step_ns", audit.stolen_step);
  io.field("throttled_ns", audit.throttled);
  io.field("throttled_periods", audit.throttled_periods);
  io.field("connections_opened", audit.connections_opened);
  io.field("connections_inside", audit.connections_inside);
  io.field("connections_failed", audit.connections_failed);
  io.field("queued_for_connection", audit.queued_for_connection);
  io.field("queries_sent_again", audit.queries_sent_again);
  io.field("queries_unprocessed", audit.queries_unprocessed);
  io.field("requests_made_late", audit.requests_made_late);
  io.field("connections_peak", audit.connections_peak);
  io.field("connections_max", audit.connections_max);
  io.field("descriptors_max", audit.descriptors_max);
  io.field("ports", audit.ports);
  io.field("retransmits", audit.retransmits);
  io.field("reads", audit.reads);
  io.field("reads_stamped", audit.reads_stamped);
  io.field("memory_bytes_max", audit.memory_bytes_max);
  io.field("memory_bytes_peak", audit.memory_bytes_peak);
  io.field("stamp_error_max_ns", audit.stamp_error_max);
  io.field("stamp_slew_max_ns", audit.stamp_slew_max);
  io.field("lost_records", audit.lost_records);
  io.field("disk_full_at_ns", audit.disk_full_at);
  io.field("disk_error", audit.disk_error);
  io.field("backoffs", audit.backoffs);
  io.field("backed_off_ns", audit.backed_off);
  io.list("settings", audit.settings, kSettingFields);
};

}  // namespace

Json client_audit_to_json(const ClientAudit& audit) { return json_of(audit, kAuditFields); }

ClientAudit client_audit_from_json(const Json& json) {
  ClientAudit audit;
  read_fields(json, audit, kAuditFields);
  return audit;
}

}  // namespace assay::record
