#include "dataset/trace.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/rng.h"
#include "dataset/length.h"
#include "dataset/synthetic.h"

namespace assay::dataset {
namespace {

constexpr std::int32_t kFirstId = 1000;  // as in SyntheticSpec
constexpr std::uint64_t kIds = 29000;

Result<std::int64_t> length_at(const Json& row, const char* field) {
  const Json& value = row[field];
  const std::int64_t length = value.is_number() ? value.as_int(-1) : -1;
  if (length < 1 || length > kLengthMax) {
    return invalid(format("{}: expected a whole number from 1 to {}, found {}", field, kLengthMax,
                          value.dump()));
  }
  return length;
}

Result<std::optional<Duration>> timestamp_of(const Json& row) {
  const Json& value = row["timestamp"];
  if (value.is_null()) return std::optional<Duration>();
  constexpr double kLatestMs = 1e12;  // thirty years
  const double ms = value.is_number() ? value.as_double(-1) : -1;
  if (!(ms >= 0 && ms <= kLatestMs)) {
    return invalid(format("timestamp: expected milliseconds, found {}", value.dump()));
  }
  return std::optional(Duration::from_seconds(ms / 1e3));
}

// Applies a field of a request's body to the sample; an unknown field goes into the sample's body.
Result<void> read_trace_field(const std::string& name, const Json& value, Sample& sample) {
  constexpr std::array<std::string_view, 3> kLimits{"max_completion_tokens", "max_tokens",
                                                    "max_new_tokens"};
  constexpr std::array<std::string_view, 4> kOurs{"model", "stream", "stream_options", "n"};
  if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end() || value.is_null()) return {};
  if (std::find(kLimits.begin(), kLimits.end(), name) != kLimits.end()) {
    sample.output_tokens_max = value.as_int(0);
    if (sample.output_tokens_max < 1 || sample.output_tokens_max > kLengthMax) {
      return invalid(format("body.{}: expected a whole number from 1 to {}, found {}", name,
                            kLengthMax, value.dump()));
    }
  } else if (name == "messages") {
    sample.messages = value;
  } else if (name == "tools") {
    sample.tools = value;
  } else if (name == "tool_choice") {
    sample.tool_choice = value;
  } else if (name == "prompt") {
    if (value.is_string()) {
      sample.prompt = value.as_string();
      return {};
    }
    for (const Json& id : value.items()) {
      const std::int64_t number = id.is_integer() ? id.as_int(-1) : -1;
      if (number < 0 || number > INT32_MAX) {
        return invalid("body.prompt: expected text, or a list of token ids");
      }
      sample.input_tokens.push_back(static_cast<std::int32_t>(number));
    }
    sample.input_length = static_cast<std::int64_t>(sample.input_tokens.size());
  } else {
    sample.body.set(name, value);
  }
  return {};
}

}  // namespace

bool is_mooncake(const Json& row) {
  return row["input_length"].is_number() && row["output_length"].is_number() &&
         row.find("prompt") == nullptr && row.find("messages") == nullptr;
}

bool is_openai_batch(const Json& row) {
  return row["body"].is_object() && row["url"].is_string() && row["custom_id"].is_string();
}

Result<TraceRow> read_mooncake(const Json& row, std::uint64_t number, bool token_ids) {
  TraceRow out;
  ASSIGN_OR_RETURN(const std::int64_t length, length_at(row, "input_length"));
  ASSIGN_OR_RETURN(out.sample.output_tokens_max, length_at(row, "output_length"));
  ASSIGN_OR_RETURN(out.at, timestamp_of(row));
  const Json& hashes = row["hash_ids"];
  if (!hashes.is_null() && !hashes.is_array()) {
    return invalid(format("hash_ids: expected a list, found {}", hashes.type_name()));
  }
  // Blocks without a hash belong to this row alone.
  Rng alone(~Rng(number).next());
  Sample& sample = out.sample;
  std::int64_t left = length;
  for (std::size_t block = 0; left > 0; ++block) {
    const bool named = block < hashes.size();
    if (named && !hashes[block].is_integer()) {
      return invalid(format("hash_ids: element {} is no whole number", block));
    }
    const std::int64_t size = named ? std::min(left, kTraceBlock) : left;
    // The same hash gives the same block in every row.
    Rng shared(Rng(hashes[block].as_uint(0)).next());
    Rng& rng = named ? shared : alone;
    if (token_ids) {
      for (std::int64_t i = 0; i < size; ++i) {
        sample.input_tokens.push_back(kFirstId + static_cast<std::int32_t>(rng.below(kIds)));
      }
    } else {
      if (!sample.prompt.empty()) sample.prompt += ' ';
      sample.prompt += synthetic_text(size, rng);
    }
    left -= size;
  }
  if (token_ids) sample.input_length = length;
  return out;
}

Result<TraceRow> read_openai_batch(const Json& row) {
  TraceRow out;
  const Json& body = row["body"];
  const std::string_view url = row["url"].as_string();
  if (!url.ends_with("/chat/completions") && !url.ends_with("/completions")) {
    return invalid(format("url: '{}' is neither chat completions nor completions", url));
  }
  for (const auto& [name, value] : body.members()) TRY(read_trace_field(name, value, out.sample));
  ASSIGN_OR_RETURN(out.at, timestamp_of(row));
  const Sample& sample = out.sample;
  const bool messages = sample.messages.is_array() && sample.messages.size() > 0;
  if (!messages && sample.prompt.empty() && sample.input_tokens.empty()) {
    return invalid("body: it has neither messages nor a prompt");
  }
  return out;
}

}  // namespace assay::dataset
