#include "campaign/measure_end.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace assay::campaign {
namespace {

std::uint64_t lost_records(const Shards& shards) {
  std::uint64_t lost = 0;
  for (const auto& shard : shards) {
    for (const auto& log : shard->logs) lost += log->health().lost_records;
  }
  return lost;
}

// The run's end record after a full disk, whatever else ended the run.
RunEnd disk_end(const ClientAudit& audit, bool stops) {
  return {RunState::interrupted,
          format("the disk took no more, {} after the start ({}); the load {}",
                 human_duration(audit.disk_full_at), audit.disk_error,
                 stops ? "was stopped" : "went on without a record"),
          true};
}

void add_transport(const protocol::TransportStats& stats, std::uint64_t opened_ahead,
                   ClientAudit& audit) {
  audit.connections_opened += stats.connections_opened;
  audit.connections_inside += stats.connections_opened - opened_ahead;
  audit.connections_failed += stats.connections_failed;
  audit.queued_for_connection += stats.queued_for_connection;
  audit.queries_sent_again += stats.queries_sent_again;
  audit.queries_unprocessed += stats.queries_unprocessed;
  audit.requests_made_late += stats.requests_made_late;
  audit.connections_peak += stats.connections_peak;
  audit.connections_max += stats.connections_max;
  audit.retransmits += stats.retransmits;
  audit.reads += stats.reads;
  audit.reads_stamped += stats.reads_stamped;
  audit.stamp_error_max = std::max(audit.stamp_error_max, stats.stamp_error_max);
  audit.stamp_slew_max = std::max(audit.stamp_slew_max, stats.stamp_slew_max);
}

}  // namespace

const record::EventLogWriter* failed_log(const Shards& shards) {
  for (const auto& shard : shards) {
    for (const auto& log : shard->logs) {
      if (log->health().failed) return log.get();
    }
  }
  return nullptr;
}

std::string disk_trouble(const Shards& shards, bool stops) {
  const record::EventLogWriter* const failed = failed_log(shards);
  if (failed == nullptr) return {};
  return format("the disk takes no more ({}); {} records are lost; the load {}", failed->error(),
                with_thousands(static_cast<std::int64_t>(lost_records(shards))),
                stops ? "is being stopped" : "goes on without a record");
}

RunEnd end_of(const Shards& shards, const run::Guard& guard, bool out_of_time) {
  if (!guard.reason().empty()) return {RunState::interrupted, guard.reason()};
  for (const auto& shard : shards) {
    if (shard->result.target_dead) {
      return {RunState::interrupted, "the endpoint sent nothing any more"};
    }
    if (shard->result.interrupted) {
      return {RunState::interrupted, out_of_time ? "the run's time limit" : "asked to stop"};
    }
  }
  return {RunState::complete, ""};
}

void close_logs(const Shards& shards, Watched watched, Instant began, const OsClock& clock,
                const MeasureOptions& options, Measurement& out) {
  for (const auto& shard : shards) {
    for (const auto& log : shard->logs) log->settle();
  }
  if (const record::EventLogWriter* const failed = failed_log(shards)) {
    out.audit.disk_full_at = watched.disk_full.value_or(clock.now()) - began;
    out.audit.disk_error = failed->error();
    out.end = disk_end(out.audit, options.stop_on_full_disk);
  }
  for (const auto& shard : shards) {
    for (const auto& log : shard->logs) {
      const Result<void> closed = log->close(out.end);
      if (closed || out.end.out_of_space) continue;
      out.audit.disk_full_at = clock.now() - began;
      out.audit.disk_error = closed.error().message;
      out.end = disk_end(out.audit, options.stop_on_full_disk);
    }
  }
  out.audit.lost_records = lost_records(shards);
}

void gather(Shards& shards, Measurement& out) {
  for (auto& shard : shards) {
    out.audit.threads.push_back(shard->figures);
    out.audit.backed_off = std::max(out.audit.backed_off, shard->result.backed_off);
    out.audit.backoffs = std::max(out.audit.backoffs, shard->result.backoffs);
    const protocol::TransportStats stats = shard->stats();
    add_transport(stats, shard->opened_ahead, out.audit);
    if (!stats.tls_version.empty()) out.tls_version = stats.tls_version;
    out.shards.push_back(std::move(shard->result));
  }
}

}  // namespace assay::campaign
