// ReviewHead: an anchor for a review board's history outside its database. Every entry has the hash
// of the one before it in the same submission. Such a chain cannot show that its end was cut off,
// that a whole submission is gone, or that an older database was restored. The head can: it is the
// number of entries of all submissions, and one hash over their hashes in the order in which they
// were appended. A reader with a saved head (a file, an export, paper) can check later that the
// history continues it.
//
//     head(0) = 64 zeros,  head(n) = sha256(head(n − 1) + hash of the nth entry), all in hex
//
// A head names no submission, so it may be public. Format: docs/formats/review_head.md. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "rules/review.h"

namespace assay::rules {

struct ReviewHead {
  std::int64_t count = 0;
  std::string hash{kNoHash};
  bool operator==(const ReviewHead&) const = default;
};

// `hashes`: those of all entries, in the order in which they were appended.
ReviewHead head_of(std::span<const std::string> hashes);

Json to_json(const ReviewHead& head);
Result<ReviewHead> parse_head(std::string_view text);

// Number of entries appended since the head; nullopt: the history does not continue it. `count` <
// 0: unknown; any place where the hash matches is accepted.
std::optional<std::int64_t> entries_since(std::span<const std::string> hashes,
                                          const ReviewHead& head);

}  // namespace assay::rules
