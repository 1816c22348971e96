// TokenCounts: how many tokens each query asked and got, counted with the model's own tokenizer
// after the run's clock has stopped. They replace the server's `usage` (token_truth.h).
//
// Kept in the run folder as assay/token_counts.jsonl (docs/formats/token_counts.md), so that a run
// can be reported and verified without the tokenizer. campaign's TokenCounter makes them. Plain
// data; any thread may read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <unordered_map>

#include "base/json.h"
#include "base/result.h"
#include "domain/event.h"
#include "domain/query.h"

namespace assay::metrics {

// -1: not counted.
struct TokenCount {
  std::int32_t input = -1;        // ISL: with salt, template and generation prompt
  std::int32_t output = -1;       // OSL, of every category
  std::int32_t after_first = -1;  // after the first fragment: TPOT's denominator
  bool operator==(const TokenCount&) const = default;
};

class TokenCounts {
 public:
  // How it was counted: tokenizer, template, digests, method. An object.
  Json source{};

  void set(const Query& query, const TokenCount& count) { counts_[key_of(query)] = count; }
  // nullptr: the query has no counts.
  const TokenCount* find(const Query& query) const;
  std::size_t size() const { return counts_.size(); }

  Result<void> write(const std::filesystem::path& path) const;
  static Result<TokenCounts> read(const std::filesystem::path& path);

 private:
  static std::uint64_t key_of(const Query& query) {
    return std::uint64_t{query.phase} << 32 | query.index;
  }
  std::unordered_map<std::uint64_t, TokenCount> counts_{};
};

}  // namespace assay::metrics
