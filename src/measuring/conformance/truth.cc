#include "conformance/truth.h"

#include <algorithm>
#include <vector>

namespace assay::conformance {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
}

Spread percentiles_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {percentile(values, 0.5), percentile(values, 0.99)};
}

}  // namespace

TruthFigures truth_figures(const endpoint::TruthRecord& record) {
  constexpr double kNsToMs = 1e-6;
  std::vector<double> firsts;
  std::vector<double> gaps;
  std::vector<double> means;
  for (const endpoint::TruthReply& reply : record.replies) {
    const bool whole = reply.ended && reply.end.outcome == endpoint::TruthOutcome::served;
    if (!reply.request.streamed || !whole) continue;
    std::vector<Instant> tokens;
    for (const endpoint::TruthEvent& event : reply.events) {
      if (is_fragment(event.category)) tokens.push_back(event.at);
    }
    if (tokens.size() < 2) continue;
    firsts.push_back(static_cast<double>((tokens.front() - reply.request.arrived).ns) * kNsToMs);
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      gaps.push_back(static_cast<double>((tokens[i] - tokens[i - 1]).ns) * kNsToMs);
    }
    means.push_back(static_cast<double>((tokens.back() - tokens.front()).ns) * kNsToMs /
                    static_cast<double>(tokens.size() - 1));
  }
  const std::uint64_t replies = firsts.size();
  return {.ttft = percentiles_of(std::move(firsts)),
          .gaps = percentiles_of(std::move(gaps)),
          .reply_gaps = percentiles_of(std::move(means)),
          .replies = replies};
}

}  // namespace assay::conformance
