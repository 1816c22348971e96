#include "rules/review_head.h"

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::rules {
namespace {

constexpr std::string_view kHeadFormat = "assay-review-head";
constexpr std::int64_t kHeadVersion = 1;

bool is_head_hash(std::string_view text) {
  return text.size() == kNoHash.size() && std::ranges::all_of(text, [](char c) {
           return hex_value(c) >= 0 && (c < 'A' || c > 'F');
         });
}

}  // namespace

ReviewHead head_of(std::span<const std::string> hashes) {
  ReviewHead head;
  for (const std::string& hash : hashes) {
    head.hash = sha256_hex(head.hash + hash);
    ++head.count;
  }
  return head;
}

Json to_json(const ReviewHead& head) {
  return Json()
      .set("format", kHeadFormat)
      .set("version", kHeadVersion)
      .set("count", head.count)
      .set("hash", head.hash);
}

Result<ReviewHead> parse_head(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json) return json.error();
  // A run or a submission of an export contains one.
  const Json& head = (*json)["review_head"].is_object() ? (*json)["review_head"] : *json;
  if (!head.is_object() || head["format"].as_string() != kHeadFormat) {
    return invalid("no head of a review history; `assay review head` prints one");
  }
  if (!head["version"].is_integer() || head["version"].as_int() != kHeadVersion) {
    return Error{Code::unsupported, format("a head of version {} only is read", kHeadVersion)};
  }
  if (!head["count"].is_integer() || head["count"].as_int(-1) < 0) {
    return invalid("count: a whole number from 0");
  }
  if (!is_head_hash(head["hash"].as_string())) return invalid("hash: 64 hexadecimal digits");
  return ReviewHead{head["count"].as_int(), std::string(head["hash"].as_string())};
}

std::optional<std::int64_t> entries_since(std::span<const std::string> hashes,
                                          const ReviewHead& head) {
  const auto total = static_cast<std::int64_t>(hashes.size());
  if (head.count > total) return std::nullopt;
  ReviewHead now;
  for (std::int64_t i = 0;; ++i) {
    if ((head.count < 0 || head.count == i) && now.hash == head.hash) return total - i;
    if (i == total || i == head.count) return std::nullopt;
    now.hash = sha256_hex(now.hash + hashes[static_cast<std::size_t>(i)]);
  }
}

}  // namespace assay::rules
