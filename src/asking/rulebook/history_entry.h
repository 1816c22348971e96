// HistoryEntry: one act of a submission's review, as the store keeps it. Entries form a chain of
// hashes, so that a changed or missing entry is found; rules/review.h defines their meaning. Plain
// data; any thread may read.
#pragma once

#include <cstdint>
#include <string>

namespace assay::rulebook {

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
