// ReviewHead: the anchor of a review board's history outside its database. Every entry has the hash
// of the one before it of the same submission; what no chain can show of itself is that its end was
// cut off, that a whole submission is gone, or that an older database was put back. The head can:
// it is how many entries all submissions have together, and one hash over theirs in the order in
// which they were appended. Whoever keeps a head, in a file, in an export, on paper, can say later
// whether the history goes on from it.
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

// `hashes`: of every entry, in the order in which they were appended.
ReviewHead head_of(std::span<const std::string> hashes);

Json to_json(const ReviewHead& head);
Result<ReviewHead> parse_head(std::string_view text);

// How many entries have been appended since the head; nullopt: the history does not go on from it.
// `count` < 0: not known, any place where the hash fits will do.
std::optional<std::int64_t> entries_since(std::span<const std::string> hashes,
                                          const ReviewHead& head);

}  // namespace assay::rules
