#include "score/accuracy_log.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/base64.h"
#include "base/check.h"
#include "base/enum_name.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"

namespace assay::score {
namespace {

constexpr std::uint64_t kLettersOfWer = 45;  // score/text/word_error_rate.cc has the table

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string out(hex.size() / 2, '\0');
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = hex_digit(hex[2 * i]);
    const int low = hex_digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out[i] = static_cast<char>(high * 16 + low);
  }
  return out;
}

Result<LoggedReply> read_entry(const Json& entry) {
  const std::int64_t sample = entry["qsl_idx"].as_int(-1);
  if (sample < 0 || sample > std::numeric_limits<std::uint32_t>::max()) {
    return invalid("qsl_idx: must be a sample's index");
  }
  if (!entry["data"].is_string()) return invalid("data: must be the response's bytes as hex");
  auto bytes = from_hex(entry["data"].as_string());
  if (!bytes) return invalid("data: must be hex, two digits a byte");
  LoggedReply out{.sample = static_cast<std::uint32_t>(sample), .bytes = *std::move(bytes)};
  if (entry["token_data"].is_string()) {
    out.first_token = from_hex(entry["token_data"].as_string());
    if (!out.first_token) return invalid("token_data: must be hex, two digits a byte");
  }
  out.tokens = entry["token_count"].as_int(-1);
  return out;
}

static_assert(std::endian::native == std::endian::little);

// The number at `index`, without a sign.
std::uint64_t number_at(std::string_view bytes, std::size_t index, std::size_t width) {
  std::uint64_t out = 0;
  std::memcpy(&out, bytes.data() + index * width, width);
  return out;
}

bool all_fit(const std::vector<LoggedReply>& log, std::size_t width, std::uint64_t end) {
  return std::ranges::all_of(log, [&](const LoggedReply& one) {
    if (one.bytes.size() % width != 0) return false;
    for (std::size_t i = 0; i < one.bytes.size() / width; ++i) {
      if (number_at(one.bytes, i, width) >= end) return false;
    }
    return true;
  });
}

// An int64, an int32, a float32 or a byte: a label is small, and a small int32 read as a float32 is
// far below 1.
std::string label_text(std::string_view bytes) {
  if (bytes.size() == 1) return format("{}", number_at(bytes, 0, 1));
  if (bytes.size() < 4) return {};
  if (bytes.size() == 8 && number_at(bytes, 0, 8) < (1U << 24)) {
    return format("{}", number_at(bytes, 0, 8));
  }
  const auto bits = static_cast<std::uint32_t>(number_at(bytes, 0, 4));
  if (bits < (1U << 24)) return format("{}", bits);
  return format("[{}]", std::bit_cast<float>(bits));
}

Result<ReadPayload> read_tokens(std::string_view bytes, const LoggedWorkload& workload,
                                std::size_t width, const text::Tokenizer* tokenizer) {
  if (tokenizer == nullptr) return invalid("token ids need the model's tokenizer");
  if (bytes.size() % width != 0) return invalid("is not a whole number of token ids");
  std::vector<text::TokenId> ids;
  for (std::size_t i = 0; i < bytes.size() / width; ++i) {
    const std::uint64_t id = number_at(bytes, i, width);
    if (id >= tokenizer->id_end()) {
      return invalid(format("token id {} is not the tokenizer's, which has ids below {}", id,
                            tokenizer->id_end()));
    }
    ids.push_back(static_cast<text::TokenId>(id));
  }
  return ReadPayload{.reply = tokenizer->decode(ids, !workload.keeps_special),
                     .tokens = static_cast<std::int64_t>(ids.size())};
}

}  // namespace

Result<std::vector<LoggedReply>> read_accuracy_log(std::string_view text) {
  text = trim(text);
  if (!text.starts_with('[')) return invalid("an accuracy log begins with '['");
  if (!text.ends_with(']')) return invalid("the log ends early: its last ']' is missing");
  std::vector<LoggedReply> out;
  const auto add = [&out](const Json& entry) -> Result<void> {
    auto read = read_entry(entry);
    if (!read) return read.error().within(format("entry {}", out.size()));
    out.push_back(*std::move(read));
    return {};
  };
  // LoadGen writes an entry a line: a log of many GB needs no tree of all its entries.
  const std::string_view body = trim(text.substr(1, text.size() - 2));
  if (body.starts_with('{') && body.find("},\n") != std::string_view::npos) {
    for (std::string_view line : split(body, '\n')) {
      line = trim(line);
      if (line.ends_with(',')) line.remove_suffix(1);
      if (line.empty()) continue;
      const auto entry = Json::parse(line);
      if (!entry) return entry.error().within(format("entry {}", out.size()));
      TRY(add(*entry));
    }
    return out;
  }
  ASSIGN_OR_RETURN(const Json list, Json::parse(text));
  for (const Json& entry : list.items()) TRY(add(entry));
  return out;
}

std::string_view to_string(PayloadKind kind) { return enum_name(kind); }

const LoggedWorkload* find_logged_workload(std::string_view name) {
  for (const LoggedWorkload& one : kLoggedWorkloads) {
    if (one.workload == name) return &one;
  }
  return nullptr;
}

std::vector<std::uint64_t> read_numbers(std::string_view bytes, NumberWidth width) {
  const auto each = static_cast<std::size_t>(width);
  std::vector<std::uint64_t> out(bytes.size() / each);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = number_at(bytes, i, each);
  return out;
}

Result<NumberWidth> number_width(const std::vector<LoggedReply>& log, PayloadKind kind) {
  if (kind == PayloadKind::tokens) {
    return all_fit(log, 8, std::uint64_t{1} << 32) ? NumberWidth::eight : NumberWidth::four;
  }
  if (kind != PayloadKind::letters) return NumberWidth::four;
  for (const auto width :
       {NumberWidth::eight, NumberWidth::four, NumberWidth::two, NumberWidth::one}) {
    if (all_fit(log, static_cast<std::size_t>(width), kLettersOfWer)) return width;
  }
  return invalid("the payloads are not letters: numbers from 0 to 44 of 1, 2, 4 or 8 bytes");
}

Result<ReadPayload> read_payload(std::string_view bytes, const LoggedWorkload& workload,
                                 NumberWidth number, const text::Tokenizer* tokenizer) {
  const auto width = static_cast<std::size_t>(number);
  switch (workload.payload) {
    case PayloadKind::floats:
    case PayloadKind::volume:
    case PayloadKind::spans:
      return ReadPayload{.reply = encode_base64(bytes)};
    case PayloadKind::label:
      return ReadPayload{.reply = label_text(bytes)};
    case PayloadKind::letters: {
      Json list = Json::array();
      for (std::size_t i = 0; i < bytes.size() / width; ++i) {
        list.push_back(number_at(bytes, i, width));
      }
      return ReadPayload{.reply = list.dump()};
    }
    case PayloadKind::tokens:
      return read_tokens(bytes, workload, width, tokenizer);
    case PayloadKind::text:
      return ReadPayload{.reply = std::string(bytes)};
  }
  CHECK(false && "no such PayloadKind");
  return ReadPayload{};
}

}  // namespace assay::score
