// The sample library of a LoadGen test: how many samples there are, how many fit in memory
// together, and which to load. All calls come from the thread that runs the test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sut/mlperf/query_sample.h"

// NOLINTBEGIN(readability-identifier-naming)
namespace mlperf {

class QuerySampleLibrary {
 public:
  virtual ~QuerySampleLibrary() = default;
  // One of the two is overridden: the const one is that of LoadGen before v2.1, which the stock
  // repository's own tests still override. The other is what the test calls.
  virtual const std::string& Name() const {
    static const std::string kUnnamed = "unnamed";
    return kUnnamed;
  }
  virtual const std::string& Name() { return static_cast<const QuerySampleLibrary&>(*this).Name(); }
  virtual size_t TotalSampleCount() = 0;
  virtual size_t PerformanceSampleCount() = 0;
  // A MultiStream set has its first samples again behind the last.
  virtual void LoadSamplesToRam(const std::vector<QuerySampleIndex>& samples) = 0;
  virtual void UnloadSamplesFromRam(const std::vector<QuerySampleIndex>& samples) = 0;
};

}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
