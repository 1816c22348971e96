// HistoryEntry: one act of a submission's review, as the store keeps it. Entries form a chain of
// hashes, so that a changed or missing entry is found; rules/review.h defines their meaning. Plain
// data; any thread may read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::rulebook {

// A hub's history of acts (hub/ledger.h), which may stand in the store of a review board. No
// submission can have this name, because it is no plain id.
inline constexpr std::string_view kFederationHistory = "the federation";

// One entry of a submission's history. `hash` covers all other fields; `previous` is the hash of
// the entry before.
struct HistoryEntry {
  std::string submission{};
  std::int64_t sequence = 0;  // from 1
  std::string at{};           // RFC 3339
  std::string actor{};        // an organisation, or a role
  std::string role{};
  std::string kind{};
  std::string body{};  // JSON
  std::string previous{};
  std::string hash{};
};

}  // namespace assay::rulebook
