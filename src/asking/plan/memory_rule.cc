#include "plan/memory_rule.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::plan {
namespace {

constexpr std::uint64_t kUnknownMachine = std::uint64_t{4} << 30;

// Returns 0 if it is not a unit. Units are powers of 1024.
std::uint64_t memory_unit(std::string_view text) {
  std::string unit = lower(trim(text));
  if (unit.size() > 1 && unit.ends_with('b')) unit.pop_back();
  if (unit.size() > 1 && unit.ends_with('i')) unit.pop_back();
  if (unit.empty() || unit == "b") return 1;
  if (unit == "k") return std::uint64_t{1} << 10;
  if (unit == "m") return std::uint64_t{1} << 20;
  if (unit == "g") return std::uint64_t{1} << 30;
  return unit == "t" ? std::uint64_t{1} << 40 : 0;
}

}  // namespace

Result<MemoryRule> memory_rule(std::string_view text) {
  text = trim(text);
  if (text.empty()) return MemoryRule{};
  const Error wrong =
      invalid(format("memory_max: \"{}\" is neither a size nor a share\n  512M, 2G, or 25%", text));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value <= 0) return wrong;
  const std::string_view unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  if (unit == "%") {
    if (value > 100) return wrong;
    return MemoryRule{.share = value / 100};
  }
  constexpr double kMost = 1e18;
  const double bytes = value * static_cast<double>(memory_unit(unit));
  if (bytes <= 0 || bytes > kMost) return wrong;
  if (bytes < static_cast<double>(MemoryRule::kLeastBytes)) {
    return invalid(format("memory_max: \"{}\" is too little: at least 1M", text));
  }
  return MemoryRule{.bytes = static_cast<std::uint64_t>(bytes)};
}

std::uint64_t memory_bytes(const MemoryRule& rule, std::uint64_t usable) {
  if (rule.bytes > 0) return rule.bytes;
  const auto whole = static_cast<double>(usable == 0 ? kUnknownMachine : usable);
  return std::max(MemoryRule::kLeastBytes, static_cast<std::uint64_t>(whole * rule.share));
}

}  // namespace assay::plan
