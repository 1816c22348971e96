// HdrHistogram, reduced to what its log format needs: counts of integers with three significant
// digits, in the layout of the reference implementation (lowest discernible value 1), encoded as a
// compressed V2 histogram in base64. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::interchange {

class HdrHistogram {
 public:
  // `highest`: the largest value it can hold; larger values are recorded as `highest`. REQUIRES: >=
  // 2.
  explicit HdrHistogram(std::int64_t highest);

  void record(std::int64_t value);
  std::uint64_t count() const { return count_; }
  std::int64_t max() const { return max_; }
  std::string encode() const;  // "HISTFAAA…"

  // The index of a value in the counts, for tests.
  std::size_t index_of(std::int64_t value) const;

 private:
  std::string payload() const;

  std::int64_t highest_;
  std::vector<std::int64_t> counts_{};
  std::uint64_t count_ = 0;
  std::int64_t max_ = 0;
};

}  // namespace assay::interchange
