#include "audit/innocence.h"

#include <algorithm>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::audit {
namespace {

// A send later than this moves a TTFT percentile that is published in whole milliseconds.
constexpr Duration kSendLagSuspected = 1_ms;
constexpr Duration kSendLagGuilty = kLate;
// Time lost in stalls, as a share of the run: above 1 %, stalls decide every P99.
constexpr double kStalledSuspected = 0.001;
constexpr double kStalledGuilty = 0.01;
// Time ready to run and not running, as a share of the run.
constexpr double kQueuedSuspected = 0.05;
constexpr double kQueuedGuilty = 0.20;
// To take a core from a program that runs costs some µs each time: as much of a wait moves no
// figure, and 70,000 waits a second of it are no sign of a hold-up.
constexpr Duration kSwitch = 5_us;
constexpr double kBusySuspected = 0.90;
// Share of the cores used by other programs; above it, they are the first thing to change.
constexpr double kForeignMost = 0.75;
// Time that bytes waited in the socket before we read them.
constexpr Duration kReadDelaySuspected = 5_ms;
constexpr Duration kReadDelayGuilty = 50_ms;
// A figure's range, as a share of the figure. A range up to kRangeFine never counts.
constexpr double kRangeSuspected = 0.05;
constexpr double kRangeGuilty = 0.20;
constexpr Duration kRangeFine = 200_us;
// Share of the run taken by the hypervisor or by a quota: same limits as for stalls.
constexpr double kTakenSuspected = 0.001;
constexpr double kTakenGuilty = 0.01;
constexpr double kWithoutConnectionGuilty = 0.01;  // share of queries that waited for a connection

std::string percent(double share) { return format("{:.1f} %", 100 * share); }

class Judge {
 public:
  Judge(const ClientAudit& audit, const metrics::Point& point, const JudgeOptions& options)
      : audit_(audit), point_(point), options_(options) {}

  Innocence decide() {
    // If no query succeeded, there is no figure that the client could have changed.
    if (point_.counts.issued == 0 || point_.counts.completed > 0) {
      for (const ThreadFigures& thread : audit_.threads) weigh_thread(thread);
      weigh_ranges();
      weigh_taken();
      weigh_reading();
      weigh_connections();
    }
    if (audit_.lost_records > 0) {
      add(ClientLimited::yes,
          counted(audit_.lost_records, "record of the event log was",
                  "records of the event log were") +
              " lost",
          point_.end.out_of_space
              ? "make room on the disk, or name a folder elsewhere (--report-dir)"
              : "write the run folder to a faster disk");
    }
    std::stable_sort(out_.reasons.begin(), out_.reasons.end(),
                     [](const auto& a, const auto& b) { return a.weight > b.weight; });
    if (!out_.reasons.empty()) out_.client_limited = out_.reasons.front().weight;
    return std::move(out_);
  }

 private:
  void add(ClientLimited weight, std::string what, std::string advice) {
    out_.reasons.push_back({weight, std::move(what), std::move(advice)});
  }

  // Compares `value` with two thresholds.
  template <typename T>
  void weigh(T value, T suspected, T guilty, std::string what, std::string advice) {
    if (value < suspected) return;
    add(value >= guilty ? ClientLimited::yes : ClientLimited::suspected, std::move(what),
        std::move(advice));
  }

  // If other programs use nearly all cores, more threads would only wait with them.
  std::string advice(std::string_view otherwise) const {
    const double cores = audit_.cores;
    if (cores <= 0 || audit_.foreign_cpu < kForeignMost * cores) return std::string(otherwise);
    return format("stop the other programs first: they used {:.1f} of {}", audit_.foreign_cpu,
                  counted(audit_.cores, "core"));
  }

  std::string who(const ThreadFigures& thread) const {
    return audit_.threads.size() > 1 ? format("measuring thread {}", thread.shard)
                                     : std::string("the measuring thread");
  }

  // Judges the thread's lag, not the queries' `lateness`: a send takes time too. If many streams
  // end together, one hold-up makes all their next sends late: more than 1 % of a short run, but
  // one event. Its time counts as a stall's.
  void weigh_sending(const ThreadFigures& thread) {
    const Duration p99 = thread.send.p99;
    if (p99 < kSendLagSuspected) return;
    const bool once = thread.send.holdups == 1;
    add(p99 >= kSendLagGuilty && !once ? ClientLimited::yes : ClientLimited::suspected,
        format("queries were released late{}: P99 {}{}",
               audit_.threads.size() > 1 ? " by " + who(thread) : "", human_duration(p99),
               once ? ", all by one hold-up" : ""),
        advice("use more threads (--threads), another machine, or --spin"));
  }

  void weigh_thread(const ThreadFigures& thread) {
    const double wall = audit_.wall.seconds();
    if (!options_.all_at_once) weigh_sending(thread);
    if (audit_.wall < kShareTimeMin) return;
    const Duration stalled = std::max(thread.loop.stalled, thread.send.stalled);
    const Duration longest = std::max(thread.loop.max, thread.send.max);
    if (!options_.all_at_once || thread.loop.stalls > 0) {
      const Duration lost = options_.all_at_once ? thread.loop.stalled : stalled;
      weigh(lost.seconds() / wall, kStalledSuspected, kStalledGuilty,
            format("{} stood still for {} of the time, at most {} at once", who(thread),
                   percent(lost.seconds() / wall), human_duration(longest)),
            "find what stopped it: a debugger, a frozen cgroup, a neighbour on the same core");
    }
    // A wait on a slow endpoint is long and may contain a short stop: suspected at most.
    if (thread.interrupted_for.seconds() / wall >= kStalledSuspected) {
      add(ClientLimited::suspected,
          format("{} was stopped {}, for {} at most", who(thread),
                 counted(thread.waits_interrupted, "time"), human_duration(thread.interrupted_for)),
          "find what stopped it: a debugger, a job control signal, a frozen cgroup");
    }
    const auto waits = static_cast<double>(std::max<std::int64_t>(thread.run_queue_waits, 0));
    const double queued = (thread.run_queue_delay.seconds() - waits * kSwitch.seconds()) / wall;
    weigh(queued, kQueuedSuspected, kQueuedGuilty,
          format("{} waited for a CPU during {} of the run", who(thread), percent(queued)),
          "give it a core of its own: stop other programs, pin it (--pin), or --realtime");
    if (!options_.spinning && thread.cpu_share > kBusySuspected) {
      add(ClientLimited::suspected,
          format("{} used {} of its core", who(thread), percent(thread.cpu_share)),
          advice("use more threads (--threads) or lower the load"));
    }
  }

  // Judges the figure with the widest range. The other reasons name what delayed the client.
  void weigh_ranges() {
    const metrics::Latencies& l = point_.arrival;
    const metrics::Between* worst = nullptr;
    double worst_share = 0;
    double worst_value = 0;
    std::string name;
    const auto look = [&](std::string_view what, const metrics::Distribution& series) {
      if (!series.limits) return;
      std::size_t i = 0;
      for (const metrics::Between& range : series.limits->percentiles) {
        const double value = series.percentiles[i];
        const double percentile = metrics::kPercentiles[i++];
        const double share = range_share(value, range);
        if (share <= worst_share) continue;
        worst = &range;
        worst_share = share;
        worst_value = value;
        name = format("{} P{:g}", what, percentile);
      }
    };
    look("TTFT", l.ttft);
    look("TPOT", l.tpot);
    look("ITL", l.itl);
    look("latency", l.latency);
    if (worst == nullptr) return;
    const auto text = [](double ns) { return human_duration({static_cast<std::int64_t>(ns)}); };
    weigh(worst_share, kRangeSuspected, kRangeGuilty,
          format("the client was held up and saw several tokens at once: {} is {}, and in truth "
                 "between {} and {}",
                 name, text(worst_value), text(worst->low), text(worst->high)),
          advice("let nothing stop or delay it: no quota, no debugger, a core of its own (--pin), "
                 "or --realtime"));
  }

  static double range_share(double value, const metrics::Between& range) {
    if (range.width() <= static_cast<double>(kRangeFine.ns)) return 0;
    return range.width() / std::max(value, 1.0);
  }

  void weigh_taken() {
    if (audit_.wall < kShareTimeMin) return;
    const double wall = audit_.wall.seconds();
    // Each of the two readings is cut to a whole tick, so a difference of one tick proves nothing
    // (docs/decisions/0060).
    const Duration proved = std::max(audit_.stolen - audit_.stolen_step, Duration{});
    const double stolen = proved.seconds() / wall / std::max(audit_.cores, 1);
    weigh(stolen, kTakenSuspected, kTakenGuilty,
          format("the hypervisor took {} of the machine's time at least (steal)", percent(stolen)),
          "measure from a machine whose cores are its own");
    const double throttled = audit_.throttled.seconds() / wall;
    weigh(throttled, kTakenSuspected, kTakenGuilty,
          format("its CPU quota stopped it {}, for {} of the run",
                 counted(audit_.throttled_periods, "time"), percent(throttled)),
          "raise or lift the control group's quota (cpu.max, cpu.cfs_quota_us)");
  }

  // With kernel stamps a late read does not move an arrival, but it delays the next query.
  void weigh_reading() {
    if (point_.read_delay.empty()) return;
    const Duration p99{static_cast<std::int64_t>(point_.read_delay.percentile(99.0))};
    weigh(p99, kReadDelaySuspected, kReadDelayGuilty,
          format("replies lay unread: P99 {} between arrival and our read", human_duration(p99)),
          advice("use more threads (--threads) or lower the load"));
  }

  void weigh_connections() {
    const double queries = static_cast<double>(point_.counts.issued);
    if (options_.all_at_once || queries == 0) return;
    const double share = static_cast<double>(audit_.queued_for_connection) / queries;
    if (audit_.connections_peak < audit_.connections_max || share == 0) return;
    weigh(share, 0.0, kWithoutConnectionGuilty,
          format("{} of the queries waited for a connection: all {} were in use", percent(share),
                 audit_.connections_max),
          "raise the limit on connections and on descriptors (ulimit -n)");
  }

  const ClientAudit& audit_;
  const metrics::Point& point_;
  const JudgeOptions& options_;
  Innocence out_{};
};

}  // namespace

std::string_view to_string(ClientLimited verdict) { return enum_name(verdict); }

Json innocence_json(const Innocence& innocence) {
  Json reasons = Json::array();
  for (const InnocenceReason& reason : innocence.reasons) {
    reasons.push_back(Json()
                          .set("weight", to_string(reason.weight))
                          .set("what", reason.what)
                          .set("advice", reason.advice));
  }
  return Json()
      .set("client_limited", to_string(innocence.client_limited))
      .set("reasons", std::move(reasons));
}

Innocence judge_client(const ClientAudit& audit, const metrics::Point& point,
                       const JudgeOptions& options) {
  return Judge(audit, point, options).decide();
}

}  // namespace assay::audit
