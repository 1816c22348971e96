// Sampled: one run cut into blocks, and each compared metric of it as a statistic of those blocks.
// The rows must outlive it; a statistic does not read them again. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/bootstrap.h"
#include "compare/compare.h"
#include "compare/query_rows.h"

namespace assay::compare {

class Sampled {
 public:
  // `apart`: blocks are not neighbours in time, so each phase in them lasts from its first query's
  // start to its last one's end; else a block lasts until the next begins.
  Sampled(const QueryRows& rows, TimeBlocks blocks, bool apart = false);

  Statistic statistic(ComparedMetric metric) const;

 private:
  Statistic of_queries(std::optional<double> QueryRow::*field, double fraction) const;
  Statistic of_gaps(double fraction) const;
  Statistic rate(bool tokens) const;
  std::vector<double> block_seconds() const;
  std::vector<double> phase_seconds() const;

  const QueryRows& rows_;
  TimeBlocks blocks_;
  bool apart_;
  std::vector<std::uint32_t> owner_{};  // the block of each row
};

}  // namespace assay::compare
