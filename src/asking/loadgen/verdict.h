// The verdict on a LoadGen performance test: VALID or INVALID with the reasons, LoadGen's figures,
// and `mlperf_log_summary.txt` as release 6.0.17 writes it, its oddities included. The rule of
// early stopping is metrics/early_stopping.h. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "loadgen/settings.h"

namespace assay::loadgen {

// What a performance test left. Nanoseconds. Latencies count from when the query was due; in
// SingleStream and MultiStream that is when it was issued.
struct Recorded {
  std::string sut_name{};
  std::uint64_t queries_issued = 0;
  std::vector<std::int64_t> sample_latencies{};
  std::vector<std::int64_t> query_latencies{};  // MultiStream: of each query's slowest sample
  // Where tokens are measured, one for each sample in the order of sample_latencies. Offline needs
  // no first tokens.
  std::vector<std::int64_t> first_tokens{};
  std::vector<std::int64_t> tokens{};
  // The last issued query, from the test's start.
  std::int64_t last_due = 0;
  std::int64_t last_issued = 0;
  std::int64_t last_done = 0;
  // Entries of these kinds in the detail log.
  std::uint64_t warnings = 0;
  std::uint64_t errors = 0;

  // An object with these members; times and latencies have "_ns" behind the name.
  static Result<Recorded> from_json(const Json& json);
};

// The percentiles that LoadGen prints: sorted[floor(n × fraction)].
inline constexpr std::array kPercentiles{.50, .90, .95, .97, .99, .999};

struct Spread {
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t mean = 0;
  std::int64_t target = 0;  // at the scenario's own percentile
  std::array<std::int64_t, kPercentiles.size()> at{};
};

// Early stopping, in LoadGen's words. SingleStream and MultiStream get estimates of percentiles.
struct EarlyStopping {
  bool met = true;
  std::string text{};
  std::optional<std::int64_t> estimate{};     // at the scenario's own percentile
  std::optional<std::int64_t> estimate_99{};  // SingleStream: at 99 %
};

struct Verdict {
  bool min_duration_met = false;
  bool min_queries_met = false;
  bool performance_met = true;  // Server alone has limits
  std::string duration_advice{};
  std::string performance_advice{};
  // Where tokens are measured `tpot` and `ttft` count, else `latency`. LoadGen does not look at
  // TTFT where TPOT has failed: its text is empty then.
  EarlyStopping latency{};
  EarlyStopping tpot{};
  EarlyStopping ttft{};
  bool early_stopping_met = true;
  // Reasons of INVALID that LoadGen has no words for, such as failed queries; the caller's.
  std::vector<std::string> others{};

  std::uint64_t samples = 0;
  std::uint64_t tokens = 0;
  Spread sample_latency{};
  Spread query_latency{};  // MultiStream
  Spread first_token{};
  Spread output_token{};  // per token after the first

  bool valid() const {
    return min_duration_met && min_queries_met && performance_met && early_stopping_met &&
           others.empty();
  }
  // The reasons of INVALID, as the detail log joins them; `others` behind them.
  std::string reasons() const;
};

// Fails where the record has no sample, or its series are not of one length.
Result<Verdict> verdict(const EffectiveSettings& settings, const Recorded& recorded);

// The whole of mlperf_log_summary.txt. After an accuracy test that file has only the two lines that
// summary_trailer() makes.
std::string summary_text(const EffectiveSettings& settings, const Recorded& recorded,
                         const Verdict& verdict);
std::string summary_trailer(std::uint64_t warnings, std::uint64_t errors);

}  // namespace assay::loadgen
