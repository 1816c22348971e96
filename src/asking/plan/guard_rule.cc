#include "plan/guard_rule.h"

#include <charconv>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::plan {
namespace {

// Refusals in a row that stop a run: too many for an accident, too few to do harm.
constexpr std::uint32_t kFatalMax = 20;
constexpr double kMillion = 1e6;

template <typename T>
bool read_number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Result<void> read_max_failures(std::string_view text, GuardRule& out) {
  const Error wrong =
      invalid(format("max_failures: \"{}\" is neither a number nor a share\n  20, or 5%", text));
  if (!text.ends_with('%')) return read_number(text, out.failures_max) ? Result<void>() : wrong;
  text.remove_suffix(1);
  double percent = 0;
  if (!read_number(trim(text), percent)) return wrong;
  if (!std::isfinite(percent) || percent < 0 || percent > 100) return wrong;
  out.failed_share_max = percent / 100;
  return {};
}

}  // namespace

Result<GuardRule> guard_rule(const Guarding& from) {
  GuardRule out;
  if (from.stop_when_refused) out.fatal_max = kFatalMax;
  if (const std::string_view text = trim(from.max_failures); !text.empty()) {
    TRY(read_max_failures(text, out));
  }
  if (from.max_tokens_total) out.tokens_max = *from.max_tokens_total;
  if (from.max_cost) out.cost_max = *from.max_cost;
  out.price_in = from.price_in.value_or(0) / kMillion;
  out.price_out = from.price_out.value_or(0) / kMillion;
  out.honour_retry_after = from.honour_retry_after;
  return out;
}

}  // namespace assay::plan
