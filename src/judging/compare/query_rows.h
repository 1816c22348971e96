// QueryRows: a run's data for a comparison: one row for each query, in the order sent, and every
// gap between fragments as a bucket 0.05 % wide (two bytes). metrics/point.h has the definitions.
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "metrics/definitions/definition.h"
#include "metrics/reply_fold.h"

namespace assay::compare {

struct QueryRow {
  Instant sent{};
  Instant done{};
  std::uint16_t phase = 0;
  bool ok = false;
  std::optional<double> ttft{};  // ns
  std::optional<double> ttft_due{};
  std::optional<double> ttft_visible{};
  std::optional<double> tpot{};  // mean of all choices
  std::optional<double> latency{};
  std::optional<double> latency_due{};
  std::int64_t output_tokens = -1;
  std::size_t gaps_begin = 0;  // in QueryRows::gaps()
  std::uint32_t gaps = 0;
};

class QueryRows final : public metrics::ReplyFold {
 public:
  explicit QueryRows(const RunInfo& info) : metrics::ReplyFold(info) {}

  // Sorts by sent, ascending; leaves out queries that were never sent. Call it once, at the end.
  void sort();
  const std::vector<QueryRow>& rows() const { return rows_; }
  const std::vector<std::uint16_t>& gaps() const { return gaps_; }

  static std::uint16_t bucket_of(double gap_ns);
  static double value_of(std::uint16_t bucket);  // ns

 private:
  void on_reply(const metrics::Reply& reply) override;

  std::vector<QueryRow> rows_{};
  std::vector<std::uint16_t> gaps_{};
  metrics::Figures figures_{};
};

}  // namespace assay::compare
