#include "metrics/completion_clock.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "metrics/steady_state.h"

namespace assay::metrics {

CompletionClock::CompletionClock(std::span<const Issued> queries, std::uint32_t slots)
    : slots_(slots) {
  CHECK(slots > 0);
  Instant start = Instant::max();
  std::vector<std::pair<Instant, bool>> ends;
  for (const Issued& query : queries) {
    if (!query.sent.known() || !query.done.known()) continue;
    start = std::min(start, query.sent);
    ends.emplace_back(query.done, query.ok);
  }
  std::ranges::sort(ends);
  for (const auto& [at, ok] : ends) {
    instants_.push_back(instants_.back() + static_cast<double>((at - start).ns));
    ok_.push_back(ok_.back() + (ok ? 1U : 0U));
  }
}

double CompletionClock::instant(std::size_t completions) const {
  const std::size_t first = completions - std::min(completions, slots_);
  return (instants_[completions] - instants_[first]) / static_cast<double>(slots_);
}

double CompletionClock::rate(std::size_t from, std::size_t to) const {
  const std::size_t last = instants_.size() - 1;
  from = std::min(from, last);
  to = std::min(to, last);
  const double took = instant(to) - instant(from);
  if (took <= 0) return 0;
  return static_cast<double>(ok_[to] - ok_[from]) / took * 1e9;
}

}  // namespace assay::metrics
