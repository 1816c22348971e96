// TraceRows turns what passed the proxy into rows of a trace that `assay run` replays
// (docs/formats/proxy_trace.md): instants, lengths, gaps and shared prefixes, and no text.
//
// A prompt's text is cut into blocks; each block's name is a digest of a secret, the name of the
// block before and the block's text, so equal names mean equal text from the prompt's start. What a
// row has are only numbers in the order in which names were first seen. The secret is random, stays
// in memory and ends with this object, so a guess of a text cannot be tested against a file.
//
// Blocks are of `block` tokens where there is a tokenizer, else of as many bytes as the first
// prompt whose tokens the server counted had for them (4 a token before that).
//
// A session is guessed: a prompt that goes on where exactly one earlier prompt ended is its next
// turn. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "proxy/reply_figures.h"
#include "proxy/seen.h"
#include "text/tokenizer.h"

namespace assay::proxy {

struct TraceOptions {
  std::int64_t block = 64;                             // tokens
  std::shared_ptr<const text::Tokenizer> tokenizer{};  // null: none
  std::string secret{};
  Instant start{};                               // that rows count from: before the first request
  std::size_t names_max = std::size_t{4} << 20;  // blocks beyond it get no number
};

struct TraceCounts {
  std::uint64_t rows = 0;
  std::uint64_t other = 0;  // exchanges that are no request for tokens
  std::uint64_t blocks = 0;
  std::uint64_t blocks_unnamed = 0;
  std::uint64_t input_by_server = 0;  // rows whose lengths are the server's own counts
  std::uint64_t output_by_server = 0;
};

class TraceRows {
 public:
  explicit TraceRows(TraceOptions options) : options_(std::move(options)) {}

  // Null: no request for tokens.
  Json row(const Seen& seen);
  const TraceCounts& counts() const { return counts_; }
  std::int64_t block() const { return options_.block; }
  double bytes_per_token() const { return bytes_per_token_.value_or(4.0); }

 private:
  struct Blocks {
    std::vector<std::uint32_t> numbers{};
    std::size_t whole = 0;  // the last one may be a part
  };
  struct Place {
    std::uint32_t number = 0;
    std::uint32_t passed = 0;   // by how many prompts
    std::uint64_t session = 0;  // of the prompt whose last whole block it is; 0: of none
    std::uint32_t turn = 0;
  };

  std::vector<std::string> cut(std::string_view prompt, std::int64_t& tokens) const;
  // Tokens of the reply, and whose count it is.
  std::pair<std::int64_t, std::string_view> output_length(const Seen& seen,
                                                          const ReplyFigures& reply) const;
  Blocks name(std::span<const std::string> pieces);
  void link(const Blocks& blocks, Json& row);

  TraceOptions options_;
  std::optional<double> bytes_per_token_{};
  std::unordered_map<std::string, std::uint32_t> names_{};
  std::vector<Place> places_{};  // by number
  std::uint64_t sessions_ = 0;
  TraceCounts counts_{};
};

}  // namespace assay::proxy
