#include "metrics/token_counts.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::metrics {
namespace {

constexpr std::string_view kFormat = "assay-token-counts";

// [phase, index, input, output, after_first]
Result<void> read_line(std::string_view line, TokenCounts& out) {
  ASSIGN_OR_RETURN(const Json row, Json::parse(line));
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const auto in_range = [&row](std::size_t i, std::int64_t low, std::int64_t high) {
    const std::int64_t value = row[i].as_int(low - 1);
    return value >= low && value <= high;
  };
  if (row.size() != 5 || !in_range(0, 0, 0xffff) || !in_range(1, 0, 0xffffffff) ||
      !in_range(2, -1, kMax) || !in_range(3, -1, kMax) || !in_range(4, -1, kMax)) {
    return invalid("expected [phase, index, input, output, after_first]");
  }
  Query query;
  query.phase = static_cast<std::uint16_t>(row[std::size_t{0}].as_int());
  query.index = static_cast<std::uint32_t>(row[1].as_int());
  const auto tokens = [&row](std::size_t i) { return static_cast<std::int32_t>(row[i].as_int()); };
  out.set(query, {tokens(2), tokens(3), tokens(4)});
  return {};
}

}  // namespace

const TokenCount* TokenCounts::find(const Query& query) const {
  const auto at = counts_.find(key_of(query));
  return at == counts_.end() ? nullptr : &at->second;
}

Result<void> TokenCounts::write(const std::filesystem::path& path) const {
  std::vector<std::uint64_t> keys;
  for (const auto& [key, count] : counts_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  Json head;
  head.set("format", kFormat).set("version", 1).set("source", source);
  std::string text = head.dump() + "\n";
  for (const std::uint64_t key : keys) {
    const TokenCount& count = counts_.at(key);
    text += format("[{},{},{},{},{}]\n", key >> 32, key & 0xffffffff, count.input, count.output,
                   count.after_first);
  }
  return write_file_atomic(path, text);
}

Result<TokenCounts> TokenCounts::read(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  TokenCounts out;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const auto place = [&] { return format("{}:{}", path.string(), number); };
    if (number == 1) {
      auto head = Json::parse(line);
      if (!head) return head.error().within(place());
      if ((*head)["format"].as_string() != kFormat || (*head)["version"].as_int() != 1) {
        return invalid(format("{}: not version 1 of {}", place(), kFormat));
      }
      out.source = (*head)["source"];
      continue;
    }
    if (const auto read = read_line(line, out); !read) return read.error().within(place());
  }
  return out;
}

}  // namespace assay::metrics
