// Query: one request made from a sample. Its place in the run is (phase, index); both count from 0.
// Index k of a phase is the k-th query that the plan releases, on any thread.
#pragma once

#include <array>
#include <cstdint>

namespace assay {

struct Query {
  std::uint32_t index = 0;
  std::uint16_t phase = 0;
  bool salted = false;
  std::uint32_t sample = 0;  // row of the phase's dataset
  std::uint64_t salt = 0;    // printed as 16 hex digits, big end first, where `salted`
};

// Phase and index as one number: the key in tables of a run's queries.
constexpr std::uint64_t query_key(const Query& query) {
  return std::uint64_t{query.phase} << 32 | query.index;
}

// 32 lower-case hex digits that name a query in all runs: sent as x-request-id and written in
// sample_idx_map.json, so that a server's log can be joined to ours. `run_key` differs from run to
// run.
using QueryUuid = std::array<char, 32>;
QueryUuid query_uuid(std::uint64_t run_key, std::uint16_t phase, std::uint32_t index);

}  // namespace assay
