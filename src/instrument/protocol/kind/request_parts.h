// What the requests of several kinds of API are made of: limits, columns of a row, prompts,
// messages and token ids, with or without a salt. `filler`: the digit that fills the salt's hole;
// 0: no salt.
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "domain/request_spec.h"
#include "domain/sample.h"

namespace assay::protocol {

template <typename T>
void set_if(Json& body, std::string_view key, const std::optional<T>& value) {
  if (value) body.set(key, Json(*value));
}

// The row's own columns, at the reference's places. A generation setting for the same column was
// set before and wins.
void set_from_row(Json& body, const Sample& sample, std::string_view key);
// All columns that are not set yet; called last.
void set_rest_of_row(Json& body, const Sample& sample);

// The reply's limit in tokens: the row's own, else the setting; 0 or less: none.
std::int64_t output_tokens_max(const Generation& generation, const Sample& sample);
// Sets it, as the field that the user chose or as `own`.
void set_limit(Json& body, std::string_view own, const Generation& generation,
               const Sample& sample);
void set_usage_wish(Json& body, const Generation& generation);

std::string prompt_of(const Sample& sample, char filler);
// A chat's messages, as OpenAI's chat completions have them.
Json chat_messages(const Sample& sample, char filler);
Json token_array(const Sample& sample, char filler);

// Refuse a sample that cannot be asked: by an API of messages; by one of a prompt or token ids.
Result<void> check_messages(const Sample& sample);
Result<void> check_prompt(Api api, const Sample& sample);
// Refuses messages without a place for a salt.
Result<void> check_message_salt(const Sample& sample);

}  // namespace assay::protocol
