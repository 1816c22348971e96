#include "dataset/trace.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/rng.h"
#include "base/text.h"
#include "dataset/calendar.h"
#include "dataset/length.h"
#include "dataset/made_block.h"

namespace assay::dataset {
namespace {

Result<std::int64_t> length_at(const Json& row, const char* field) {
  const Json& value = row[field];
  const std::int64_t length = value.is_number() ? value.as_int(-1) : -1;
  if (length < 1 || length > kLengthMax) {
    return invalid(format("{}: expected a whole number from 1 to {}, found {}", field, kLengthMax,
                          value.dump()));
  }
  return length;
}

// A cell of JSON or of CSV.
Result<double> number_at(const Json& row, std::string_view field) {
  const Json& cell = row[field];
  if (cell.is_number()) return cell.as_double();
  if (const auto number = parse_double(trim(cell.as_string()))) return *number;
  return invalid(format("{}: expected a number, found {}", field, cell.dump()));
}

Result<std::int64_t> tokens_at(const Json& row, std::string_view field) {
  ASSIGN_OR_RETURN(const double tokens, number_at(row, field));
  if (!(tokens >= 0 && tokens <= static_cast<double>(kLengthMax)) || tokens != std::floor(tokens)) {
    return invalid(format("{}: expected a whole number from 0 to {}, found {}", field, kLengthMax,
                          row[field].dump()));
  }
  return static_cast<std::int64_t>(tokens);
}

// Reads "2023-11-16 18:17:03.9799600", with or without "+00:00" or "Z", as ms since 2000.
Result<double> instant_ms(std::string_view text) {
  const Error wrong = invalid(
      format("TIMESTAMP: expected an instant such as 2023-11-16 18:17:03.97996, found '{}'", text));
  std::string_view rest = trim(text);
  if (rest.ends_with("+00:00")) rest.remove_suffix(6);
  if (rest.ends_with('Z')) rest.remove_suffix(1);
  constexpr std::string_view kForm = "dddd-dd-dd dd:dd:dd";
  if (rest.size() < kForm.size()) return wrong;
  std::array<std::int64_t, 6> parts{};
  std::size_t part = 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != 'd') {
      if (rest[i] != kForm[i] && !(kForm[i] == ' ' && rest[i] == 'T')) return wrong;
      ++part;
    } else if (rest[i] >= '0' && rest[i] <= '9') {
      parts[part] = parts[part] * 10 + (rest[i] - '0');
    } else {
      return wrong;
    }
  }
  const auto [year, month, day, hour, minute, second] = parts;
  if (year < 2000 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
      second > 60) {
    return wrong;
  }
  double fraction = 0;
  if (rest.size() > kForm.size()) {
    const auto digits = parse_double(format("0{}", rest.substr(kForm.size())));
    if (rest[kForm.size()] != '.' || !digits || !(*digits >= 0 && *digits < 1)) return wrong;
    fraction = *digits;
  }
  const std::int64_t seconds =
      ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  // Counted from 2000, so that a double keeps the microseconds of an instant.
  constexpr std::int64_t kFrom = 946'684'800;
  return (static_cast<double>(seconds - kFrom) + fraction) * 1e3;
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

bool is_azure_llm(const Json& row) {
  return row.find("TIMESTAMP") != nullptr && row.find("ContextTokens") != nullptr &&
         row.find("GeneratedTokens") != nullptr;
}

bool is_burstgpt(const Json& row) {
  return row.find("Timestamp") != nullptr && row.find("Request tokens") != nullptr &&
         row.find("Response tokens") != nullptr;
}

bool is_bailian(const Json& row) {
  return row["chat_id"].is_integer() && row.find("parent_chat_id") != nullptr && is_mooncake(row);
}

namespace {

Json lengths_row(double ms, std::int64_t input, std::int64_t output) {
  if (input == 0 || output == 0) return {};
  return Json().set("timestamp", ms).set("input_length", input).set("output_length", output);
}

}  // namespace

Result<Json> mooncake_of_azure(const Json& row) {
  ASSIGN_OR_RETURN(const double ms, instant_ms(row["TIMESTAMP"].as_string()));
  ASSIGN_OR_RETURN(const std::int64_t input, tokens_at(row, "ContextTokens"));
  ASSIGN_OR_RETURN(const std::int64_t output, tokens_at(row, "GeneratedTokens"));
  return lengths_row(ms, input, output);
}

Result<Json> mooncake_of_burstgpt(const Json& row) {
  ASSIGN_OR_RETURN(const double seconds, number_at(row, "Timestamp"));
  ASSIGN_OR_RETURN(const std::int64_t input, tokens_at(row, "Request tokens"));
  ASSIGN_OR_RETURN(const std::int64_t output, tokens_at(row, "Response tokens"));
  return lengths_row(seconds * 1e3, input, output);
}

Result<Json> mooncake_of_bailian(const Json& row) {
  ASSIGN_OR_RETURN(const double seconds, number_at(row, "timestamp"));
  ASSIGN_OR_RETURN(const std::int64_t input, tokens_at(row, "input_length"));
  ASSIGN_OR_RETURN(const std::int64_t output, tokens_at(row, "output_length"));
  Json out = lengths_row(seconds * 1e3, input, output);
  if (out.is_null()) return out;
  return out.set("hash_ids", row["hash_ids"]).set("block_size", kBailianBlock);
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
  const Json& asked_block = row["block_size"];
  const std::int64_t block_size = asked_block.is_null() ? kTraceBlock : asked_block.as_int(0);
  if (block_size < 1 || block_size > kLengthMax) {
    return invalid(format("block_size: expected a whole number from 1 to {}, found {}", kLengthMax,
                          asked_block.dump()));
  }
  // Blocks without a hash belong to this row alone.
  Rng alone(~Rng(number).next());
  Sample& sample = out.sample;
  std::int64_t left = length;
  for (std::size_t block = 0; left > 0; ++block) {
    const bool named = block < hashes.size();
    if (named && !hashes[block].is_integer()) {
      return invalid(format("hash_ids: element {} is not a whole number", block));
    }
    const std::int64_t size = named ? std::min(left, block_size) : left;
    // The same hash gives the same block in every row.
    Rng shared(Rng(hashes[block].as_uint(0)).next());
    Rng& rng = named ? shared : alone;
    append_made(sample, size, named ? kTraceBlock : size, rng, token_ids);
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
