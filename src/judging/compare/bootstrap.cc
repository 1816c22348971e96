#include "compare/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace assay::compare {
namespace {

constexpr std::size_t kBootstrapBlocksMin = 10;

// Returns the average number of queries in flight, by Little's law.
double in_flight(const std::vector<QueryRow>& rows) {
  double busy = 0;
  Instant last = rows.front().sent;
  for (const QueryRow& row : rows) {
    busy += (row.done - row.sent).seconds();
    last = std::max(last, row.done);
  }
  const double wall = (last - rows.front().sent).seconds();
  return wall > 0 ? busy / wall : 1;
}

// Draws blocks with replacement; returns the standard deviation of the log of the statistic.
double log_deviation(std::size_t blocks, std::size_t replicates, Rng& rng,
                     const std::function<double(const std::vector<std::uint32_t>&)>& statistic) {
  std::vector<std::uint32_t> times(blocks);
  double sum = 0;
  double sum_sq = 0;
  std::size_t good = 0;
  for (std::size_t r = 0; r < replicates; ++r) {
    std::ranges::fill(times, 0U);
    for (std::size_t i = 0; i < blocks; ++i) ++times[rng.below(blocks)];
    const double value = statistic(times);
    if (value <= 0) continue;
    const double log = std::log(value);
    sum += log;
    sum_sq += log * log;
    ++good;
  }
  if (good < 2) return 0;
  const auto n = static_cast<double>(good);
  return std::sqrt(std::max(0.0, (sum_sq - sum * sum / n) / (n - 1)));
}

}  // namespace

std::vector<TimeBlocks> time_blocks(const std::vector<QueryRow>& rows) {
  std::vector<TimeBlocks> out(1);
  const std::size_t n = rows.size();
  if (n == 0) return out;
  const double length = std::max(std::cbrt(static_cast<double>(n)), in_flight(rows));
  auto count = static_cast<std::size_t>(std::floor(static_cast<double>(n) / length));
  count = std::min(std::max(count, kBootstrapBlocksMin), n);
  for (int doubled = 0; doubled < 3 && (doubled == 0 || count >= kBootstrapBlocksMin); ++doubled) {
    if (doubled > 0) out.emplace_back();
    for (std::size_t b = 0; b <= count; ++b) out.back().begins.push_back(b * n / count);
    count /= 2;
  }
  return out;
}

Statistic quantile_of(std::vector<BlockedValue> values, std::size_t blocks, double fraction) {
  Statistic out{.blocks = blocks};
  std::ranges::sort(values, {}, &BlockedValue::value);
  std::vector<std::uint64_t> held(blocks);
  for (const BlockedValue& v : values) {
    held[v.block] += v.count;
    out.values += v.count;
  }
  out.of = [values = std::move(values), held = std::move(held),
            fraction](const std::vector<std::uint32_t>& times) {
    std::uint64_t total = 0;
    for (std::size_t b = 0; b < held.size(); ++b) total += held[b] * times[b];
    const double wanted = fraction * static_cast<double>(total);
    std::uint64_t seen = 0;
    for (const BlockedValue& v : values) {
      seen += std::uint64_t{v.count} * times[v.block];
      if (seen > 0 && static_cast<double>(seen) >= wanted) return v.value;
    }
    return 0.0;
  };
  return out;
}

Statistic rate_of(std::vector<BlockedRate> blocks) {
  Statistic out{.blocks = blocks.size(), .values = blocks.size()};
  out.of = [blocks = std::move(blocks)](const std::vector<std::uint32_t>& times) {
    double amount = 0;
    double seconds = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      amount += blocks[b].amount * times[b];
      seconds += blocks[b].seconds * times[b];
    }
    return seconds > 0 ? amount / seconds : 0;
  };
  return out;
}

Estimate bootstrap(const Statistic& statistic, std::size_t replicates, Rng& rng) {
  Estimate out{.blocks = statistic.blocks, .values = statistic.values};
  if (out.values == 0) return out;
  out.value = statistic.of(std::vector<std::uint32_t>(statistic.blocks, 1));
  out.log_deviation = log_deviation(statistic.blocks, replicates, rng, statistic.of);
  return out;
}

Estimate bootstrap_ratio(const Statistic& a, const Statistic& b, std::size_t replicates, Rng& rng) {
  CHECK(a.blocks == b.blocks);
  const auto blocks = static_cast<double>(a.blocks);
  Statistic ratio{.blocks = a.blocks, .values = std::min(a.values, b.values)};
  ratio.of = [&a, &b](const std::vector<std::uint32_t>& times) {
    const double below = a.of(times);
    return below > 0 ? b.of(times) / below : 0;
  };
  Estimate out = bootstrap(ratio, replicates, rng);
  // Samples from few blocks vary less than the blocks themselves.
  if (a.blocks > 1) out.log_deviation *= std::sqrt(blocks / (blocks - 1));
  return out;
}

}  // namespace assay::compare
