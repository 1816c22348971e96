// TokenTally: adds up the bases of the token counts of a run's replies. TokenTruth (token_truth.h)
// is about one reply. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/point.h"
#include "metrics/token_counts.h"
#include "metrics/token_truth.h"

namespace assay::metrics {

class TokenTally {
 public:
  // Adds a successful reply of a performance phase. `choices`: how many of its choices had a
  // fragment.
  void add(const Event& event, const TokenTruth& truth, std::size_t choices);
  // Its events of Category::unread.
  void add_unread(std::uint64_t events);
  // `counts`: those that reconcile() got; null: none.
  Tokens finish(const TokenCounts* counts) const;

 private:
  void add_doubts(const Event& event, const TokenTruth& truth);

  Tokens sum_{};
  std::uint64_t streamed_tokens_ = 0;
  std::uint64_t streamed_fragments_ = 0;
};

// Warnings about the counts that a reader must know before using a number, gravest first.
std::vector<std::string> token_warnings(const Tokens& tokens);

}  // namespace assay::metrics
