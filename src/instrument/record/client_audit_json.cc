#include "record/client_audit_json.h"

#include <type_traits>

namespace assay::record {
namespace {

// Writing and reading use the same list of fields, so that they cannot differ.
class Writer {
 public:
  template <typename T>
  void field(const char* key, T& value) {
    if constexpr (std::is_same_v<T, Duration>) {
      json_.set(key, value.ns);
    } else {
      json_.set(key, value);
    }
  }
  template <typename T, typename Walk>
  void part(const char* key, T& value, Walk&& walk) {
    Writer inner;
    walk(inner, value);
    json_.set(key, std::move(inner.json_));
  }
  template <typename T, typename Walk>
  void list(const char* key, std::vector<T>& values, Walk&& walk) {
    Json out = Json::array();
    for (T& value : values) {
      Writer inner;
      walk(inner, value);
      out.push_back(std::move(inner.json_));
    }
    json_.set(key, std::move(out));
  }
  Json take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

class AuditReader {
 public:
  explicit AuditReader(const Json& json) : json_(json) {}
  template <typename T>
  void field(const char* key, T& value) {
    const Json* found = json_.find(key);
    if (found == nullptr) return;
    if constexpr (std::is_same_v<T, Duration>) {
      value.ns = found->as_int(value.ns);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = found->as_bool(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = found->as_string(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      value = found->as_double(value);
    } else if constexpr (std::is_unsigned_v<T>) {
      value = static_cast<T>(found->as_uint(value));
    } else {
      value = static_cast<T>(found->as_int(value));
    }
  }
  template <typename T, typename Walk>
  void part(const char* key, T& value, Walk&& walk) {
    AuditReader inner(json_[key]);
    walk(inner, value);
  }
  template <typename T, typename Walk>
  void list(const char* key, std::vector<T>& values, Walk&& walk) {
    for (const Json& item : json_[key].items()) {
      AuditReader inner(item);
      walk(inner, values.emplace_back());
    }
  }

 private:
  const Json& json_;
};

constexpr auto kWalkLag = [](auto& io, LagFigures& lag) {
  io.field("count", lag.count);
  io.field("p50_ns", lag.p50);
  io.field("p99_ns", lag.p99);
  io.field("p999_ns", lag.p999);
  io.field("max_ns", lag.max);
  io.field("stalls", lag.stalls);
  io.field("stalled_ns", lag.stalled);
  io.field("holdups", lag.holdups);
};

constexpr auto kWalkThread = [](auto& io, ThreadFigures& thread) {
  io.field("shard", thread.shard);
  io.field("core", thread.core);
  io.field("cpu_share", thread.cpu_share);
  io.field("run_queue_delay_ns", thread.run_queue_delay);
  io.field("preempted", thread.preempted);
  io.field("waits_interrupted", thread.waits_interrupted);
  io.field("interrupted_ns", thread.interrupted_for);
  io.part("loop_lag", thread.loop, kWalkLag);
  io.part("send_lag", thread.send, kWalkLag);
};

constexpr auto kWalkSetting = [](auto& io, LatencySetting& setting) {
  io.field("name", setting.name);
  io.field("asked", setting.asked);
  io.field("granted", setting.granted);
  io.field("detail", setting.detail);
};

constexpr auto kWalkCanary = [](auto& io, CanaryFigures& canary) {
  io.field("watched_ns", canary.watched);
  io.field("gaps_50us", canary.gaps_50us);
  io.field("gaps_1ms", canary.gaps_1ms);
  io.field("gap_max_ns", canary.gap_max);
};

template <typename Io>
void walk(Io& io, ClientAudit& audit) {
  io.field("wall_ns", audit.wall);
  io.list("threads", audit.threads, kWalkThread);
  io.part("canary", audit.canary, kWalkCanary);
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
  io.list("settings", audit.settings, kWalkSetting);
}

}  // namespace

Json client_audit_to_json(const ClientAudit& audit) {
  ClientAudit copy = audit;  // one visitor serves both directions, so it needs a mutable copy
  Writer writer;
  walk(writer, copy);
  return writer.take();
}

ClientAudit client_audit_from_json(const Json& json) {
  ClientAudit audit;
  AuditReader reader(json);
  walk(reader, audit);
  return audit;
}

}  // namespace assay::record
