// Traces of real traffic, a row of JSON each, as samples:
//
//   Mooncake      {"timestamp": ms, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}
//   OpenAI batch  {"custom_id": …, "method": "POST", "url": "/v1/chat/completions", "body": {…}}
//
// A Mooncake row has no text: a hash stands for a block of 512 tokens, and rows that begin with the
// same hashes began with the same text. Here a hash is the seed of a block, so shared prefixes are
// kept: exactly as token ids, as text by the estimate of synthetic.h. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/sample.h"

namespace assay::dataset {

inline constexpr std::int64_t kTraceBlock = 512;  // tokens that a hash stands for

bool is_mooncake(const Json& row);
bool is_openai_batch(const Json& row);

struct TraceRow {
  Sample sample{};
  std::optional<Duration> at{};  // the trace's own timestamp
};

// `number`: the row's number; it seeds the parts that no other row shares.
Result<TraceRow> read_mooncake(const Json& row, std::uint64_t number, bool token_ids);
Result<TraceRow> read_openai_batch(const Json& row);

}  // namespace assay::dataset
