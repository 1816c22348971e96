// The system under test of LoadGen: what is asked. It answers each issued sample once, with
// QuerySamplesComplete() (loadgen.h), from any thread and also inside IssueQuery().
#pragma once

#include <string>
#include <vector>

#include "sut/mlperf/query_sample.h"

// NOLINTBEGIN(readability-identifier-naming)
namespace mlperf {

class SystemUnderTest {
 public:
  virtual ~SystemUnderTest() = default;
  virtual const std::string& Name() = 0;
  // Called on an issue thread. While it lasts, that thread issues nothing else.
  virtual void IssueQuery(const std::vector<QuerySample>& samples) = 0;
  // No query of this series follows. The samples in flight are still to be completed.
  virtual void FlushQueries() = 0;
};

}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
