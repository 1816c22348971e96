#include "compare/sampled.h"

#include <algorithm>

#include "base/check.h"

namespace assay::compare {

Sampled::Sampled(const QueryRows& rows, TimeBlocks blocks, bool apart)
    : rows_(rows), blocks_(std::move(blocks)), apart_(apart) {
  owner_.resize(rows.rows().size());
  for (std::size_t b = 0; b < blocks_.count(); ++b) {
    for (std::size_t i = blocks_.begins[b]; i < blocks_.begins[b + 1]; ++i) {
      owner_[i] = static_cast<std::uint32_t>(b);
    }
  }
}

Statistic Sampled::statistic(ComparedMetric metric) const {
  const double fraction = metric.percentile / 100;
  switch (metric.series) {
    case ComparedSeries::ttft:
      return of_queries(&QueryRow::ttft, fraction);
    case ComparedSeries::ttft_due:
      return of_queries(&QueryRow::ttft_due, fraction);
    case ComparedSeries::ttft_visible:
      return of_queries(&QueryRow::ttft_visible, fraction);
    case ComparedSeries::tpot:
      return of_queries(&QueryRow::tpot, fraction);
    case ComparedSeries::itl:
      return of_gaps(fraction);
    case ComparedSeries::latency:
      return of_queries(&QueryRow::latency, fraction);
    case ComparedSeries::latency_due:
      return of_queries(&QueryRow::latency_due, fraction);
    case ComparedSeries::system_tps:
      return rate(true);
    case ComparedSeries::qps:
      return rate(false);
  }
  CHECK(false && "no such ComparedSeries");
  return {};
}

Statistic Sampled::of_queries(std::optional<double> QueryRow::*field, double fraction) const {
  std::vector<BlockedValue> values;
  const std::vector<QueryRow>& rows = rows_.rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (const auto& value = rows[i].*field) values.push_back({*value, owner_[i], 1});
  }
  return quantile_of(std::move(values), blocks_.count(), fraction);
}

Statistic Sampled::of_gaps(double fraction) const {
  std::vector<BlockedValue> values;
  std::vector<std::uint32_t> counts(65536);
  for (std::size_t b = 0; b < blocks_.count(); ++b) {
    std::ranges::fill(counts, 0U);
    for (std::size_t i = blocks_.begins[b]; i < blocks_.begins[b + 1]; ++i) {
      const QueryRow& row = rows_.rows()[i];
      for (std::uint32_t g = 0; g < row.gaps; ++g) ++counts[rows_.gaps()[row.gaps_begin + g]];
    }
    for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
      if (counts[bucket] == 0) continue;
      values.push_back({QueryRows::value_of(static_cast<std::uint16_t>(bucket)),
                        static_cast<std::uint32_t>(b), counts[bucket]});
    }
  }
  return quantile_of(std::move(values), blocks_.count(), fraction);
}

// A block lasts from its first send to the next block's first; the last one to the run's end.
std::vector<double> Sampled::block_seconds() const {
  const std::vector<QueryRow>& rows = rows_.rows();
  std::vector<double> out(blocks_.count());
  Instant end = rows.front().sent;
  for (const QueryRow& row : rows) end = std::max(end, row.done);
  for (std::size_t b = 0; b < out.size(); ++b) {
    const std::size_t next = blocks_.begins[b + 1];
    const Instant until = next < rows.size() ? rows[next].sent : end;
    out[b] = (until - rows[blocks_.begins[b]].sent).seconds();
  }
  return out;
}

std::vector<double> Sampled::phase_seconds() const {
  const std::vector<QueryRow>& rows = rows_.rows();
  std::vector<double> out(blocks_.count());
  for (std::size_t b = 0; b < out.size(); ++b) {
    for (std::size_t i = blocks_.begins[b]; i < blocks_.begins[b + 1];) {
      const QueryRow& first = rows[i];
      Instant end = first.done;
      for (; i < blocks_.begins[b + 1] && rows[i].phase == first.phase; ++i) {
        end = std::max(end, rows[i].done);
      }
      out[b] += (end - first.sent).seconds();
    }
  }
  return out;
}

Statistic Sampled::rate(bool tokens) const {
  const std::vector<double> seconds = apart_ ? phase_seconds() : block_seconds();
  std::vector<BlockedRate> out(blocks_.count());
  bool counted = !tokens;
  for (std::size_t b = 0; b < out.size(); ++b) {
    out[b].seconds = seconds[b];
    for (std::size_t i = blocks_.begins[b]; i < blocks_.begins[b + 1]; ++i) {
      const QueryRow& row = rows_.rows()[i];
      if (!row.ok) continue;
      counted = counted || row.output_tokens >= 0;
      out[b].amount +=
          tokens ? static_cast<double>(std::max<std::int64_t>(row.output_tokens, 0)) : 1;
    }
  }
  if (!counted) {
    return {.of = [](const std::vector<std::uint32_t>&) { return 0.0; }, .blocks = out.size()};
  }
  return rate_of(std::move(out));
}

}  // namespace assay::compare
