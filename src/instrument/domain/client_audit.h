// ClientAudit: what the client measured about itself during a run. run/ and the transport gather
// it, audit/innocence.h judges it, the run folder keeps it. Plain data.
//
// Sums of durations are over the audited span, `wall`. A figure that the system does not provide is
// negative, never zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/latency_profile.h"
#include "base/time.h"

namespace assay {

// Percentiles of a lag, and the time lost in long ones.
struct LagFigures {
  std::uint64_t count = 0;
  Duration p50{};
  Duration p99{};
  Duration p999{};
  Duration max{};
  std::uint64_t stalls = 0;  // lags above kStall
  Duration stalled{};        // their sum
  // Hold-ups behind lags of at least kLate; one hold-up that made many things late counts once.
  // Negative: not recorded.
  std::int64_t holdups = -1;
};
inline constexpr Duration kStall{10'000'000};
inline constexpr Duration kLate{5'000'000};
// In less time than some scheduler ticks, a share says nothing.
inline constexpr Duration kShareTimeMin{100'000'000};

// One measuring thread.
struct ThreadFigures {
  std::uint32_t shard = 0;
  int core = -1;                 // it was pinned to this core; −1: not pinned
  double cpu_share = -1;         // of one core
  Duration run_queue_delay{-1};  // ready to run and not running
  // Times it got the core, each after a wait; negative: not recorded.
  std::int64_t run_queue_waits = -1;
  std::uint64_t preempted = 0;
  // Waits that a signal cut short, as a stop does (SIGSTOP, the freezer), and their total length,
  // which is the upper limit of the stops' length.
  std::uint64_t waits_interrupted = 0;
  Duration interrupted_for{};
  LagFigures loop{};  // delay of the loop's return after its planned time, with handling
  LagFigures send{};  // delay of a query's release after it was possible
};

// A thread of the idle class that only reads the clock now and then. A gap without preemption was
// not caused by a program: the hypervisor, an interrupt or the firmware took the time.
struct CanaryFigures {
  Duration watched{};  // time spent looking
  std::uint64_t gaps_50us = 0;
  std::uint64_t gaps_1ms = 0;
  Duration gap_max{};
};

struct ClientAudit {
  Duration wall{};
  std::vector<ThreadFigures> threads{};
  CanaryFigures canary{};
  double own_cpu = -1;      // cores used by this process
  double foreign_cpu = -1;  // cores used by others on this machine
  double pressure_share =
      -1;               // share of the time in which something waited for a CPU (PSI, "some")
  int cores = 0;        // that this process may use
  Duration stolen{-1};  // by the hypervisor, over all cores (/proc/stat)
  Duration stolen_step{10'000'000};  // resolution of `stolen`: a difference may be off by one
  Duration throttled{-1};            // by the quota of this process's control group
  std::uint64_t throttled_periods = 0;

  std::uint64_t connections_opened = 0;
  std::uint64_t connections_inside = 0;  // opened while something was measured
  std::uint64_t connections_failed = 0;
  std::uint64_t queued_for_connection = 0;
  std::uint64_t queries_sent_again = 0;   // after a kept connection that the server had just closed
  std::uint64_t queries_unprocessed = 0;  // left so by an HTTP/2 server; they went out again
  // Prompts of a synthetic dataset that a measuring thread had to make itself, during the run.
  std::uint64_t requests_made_late = 0;
  std::uint32_t connections_peak = 0;
  std::uint32_t connections_max = 0;
  std::uint64_t descriptors_max = 0;
  std::uint32_t ports = 0;  // ephemeral ports of the system
  std::uint64_t retransmits = 0;
  std::uint64_t reads = 0;
  std::uint64_t reads_stamped = 0;
  // Limit of the memory for replies, all connections together, and its peak. A limit of 0: not
  // recorded.
  std::uint64_t memory_bytes_max = 0;
  std::uint64_t memory_bytes_peak = 0;
  Duration stamp_error_max{};
  Duration stamp_slew_max{};
  std::uint64_t lost_records = 0;  // of the event log
  Duration disk_full_at{-1};       // since the start; negative: it never was full
  std::string disk_error{};        // the system's error text in that case
  // How often, and for how long in total, queries were held back because a reply asked for it
  // (Retry-After); from the shard that was held back longest.
  std::uint64_t backoffs = 0;
  Duration backed_off{};

  std::vector<LatencySetting> settings{};
};

}  // namespace assay
