// Certificate: the result of `assay calibrate` for this client on this machine: how much it can
// carry at one shape (the ceiling), and the error of its instants at shares of that ceiling. Later
// runs cite it: the share of the proven capacity that they used, and the error to expect.
//
// Errors are client minus truth, signed, in ns. The truth of an arrival is the instant just before
// the endpoint handed the event to its kernel, on the same host and clock
// (docs/formats/truth_log.md). TTFT's and latency's errors are those of the first fragment's and
// the last event's arrival; ITL's is the difference of two neighbours' errors. So an error includes
// the kernels' time, some µs on loopback; the client's own error is not larger.
//
// Plain data and JSON; the file format is docs/formats/certificate.md. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/machine.h"
#include "base/result.h"
#include "base/time.h"
#include "metrics/point.h"

namespace assay::audit {

// A distribution of signed errors; ns.
struct ErrorFigures {
  std::uint64_t count = 0;
  std::int64_t p0_1 = 0;
  std::int64_t p1 = 0;
  std::int64_t p50 = 0;
  std::int64_t p99 = 0;
  std::int64_t p99_9 = 0;
  // The larger of the errors at P1 and P99.
  std::int64_t size_p99() const;
};
// Sorts the values in place.
ErrorFigures error_figures(std::vector<std::int64_t>& values);

struct ClockErrors {
  ErrorFigures ttft{};
  ErrorFigures itl{};
  ErrorFigures latency{};
};

// One load, kept up for a while and compared with known times.
struct CalibratedLevel {
  double share = 0;  // of the ceiling in events a second, as intended
  double events_per_second = 0;
  double qps = 0;
  std::uint32_t tokens = 0;  // a reply
  std::uint64_t replies = 0;
  std::uint64_t unmatched = 0;  // replies that differ from the truth log
  double kernel_stamped = 0;    // share of the events
  double shares_read = 0;       // share of the events read together with a later one
  std::string client_limited{};
  ClockErrors arrival{};  // by the kernel's stamps, if there are any
  ClockErrors alone{};    // the same, for events that were the last of their read
  ClockErrors read{};     // by our reads
};

struct Certificate {
  WallTime made{};
  std::string version{};  // Assay's version and build
  std::string build{};
  Machine machine{};
  std::uint32_t streams = 0;
  std::uint32_t threads = 1;
  std::uint32_t isl = 0;
  double events_per_second = 0;  // the ceilings
  double qps = 0;
  std::vector<CalibratedLevel> levels{};  // by share, ascending
};

Json certificate_to_json(const Certificate& certificate);
Result<Certificate> certificate_from_json(const Json& json);

// Same build, same machine and same number of measuring threads.
bool same_client(const Certificate& certificate, const Certificate& other);

// A run's use of the capacity in a certificate.
struct Citation {
  double used = 0;  // share of the proven capacity
  std::optional<Duration> ttft_error_p99{};
  std::optional<Duration> itl_error_p99{};
  double at_share = 0;  // of the level whose errors are cited
};
// Returns nullopt for a simulated run, TLS, or a run without duration.
std::optional<Citation> cite(const Certificate& certificate, const metrics::Point& point);
// "used 23 % of the capacity proven on 2026-11-20 at 100 streams; TTFT error at P99 < 60 µs"
std::string citation_text(const Certificate& certificate, const Citation& citation);

}  // namespace assay::audit
