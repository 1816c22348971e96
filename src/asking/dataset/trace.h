// Traces of real traffic as samples, a row each of JSON or of CSV:
//
//   Mooncake      {"timestamp": ms, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}
//   OpenAI batch  {"custom_id": …, "method": "POST", "url": "/v1/chat/completions", "body": {…}}
//
//   Azure LLM     TIMESTAMP,ContextTokens,GeneratedTokens; instants of a calendar
//   BurstGPT      Timestamp,Model,Request tokens,Response tokens,…; seconds
//   Bailian       {"chat_id": …, "parent_chat_id": …, "timestamp": s, …}, blocks of 16 tokens
//
// A Mooncake row has no text: a hash stands for a block of 512 tokens (or of the row's own
// block_size, which `assay proxy` writes), and rows that begin with the same hashes began with the
// same text. Here a hash is the seed of a block, so shared prefixes are kept: exactly as token ids,
// as text by the estimate of synthetic.h. Azure's and BurstGPT's rows have lengths only, so each
// prompt is its own. BurstGPT keeps requests that failed, as replies of no tokens, and a proxy's
// trace those whose status is not 200; they are left out. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/sample.h"

namespace assay::dataset {

inline constexpr std::int64_t kTraceBlock = 512;  // tokens that a hash stands for
inline constexpr std::int64_t kBailianBlock = 16;

bool is_mooncake(const Json& row);
bool is_openai_batch(const Json& row);
bool is_azure_llm(const Json& row);
bool is_burstgpt(const Json& row);
bool is_bailian(const Json& row);

struct TraceRow {
  Sample sample{};
  std::optional<Duration> at{};  // the trace's own timestamp
};

// `number`: the row's number; it seeds the parts that no other row shares.
Result<TraceRow> read_mooncake(const Json& row, std::uint64_t number, bool token_ids);
Result<TraceRow> read_openai_batch(const Json& row);
// Returns the row as Mooncake writes it, its timestamp in milliseconds; null if it is left out.
Result<Json> mooncake_of_azure(const Json& row);
Result<Json> mooncake_of_burstgpt(const Json& row);
Result<Json> mooncake_of_bailian(const Json& row);

}  // namespace assay::dataset
