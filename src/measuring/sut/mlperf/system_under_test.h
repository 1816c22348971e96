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
  // One of the two is overridden: the const one is that of LoadGen before v2.1, which the stock
  // repository's own tests still override. The other is what the test calls.
  virtual const std::string& Name() const {
    static const std::string kUnnamed = "unnamed";
    return kUnnamed;
  }
  virtual const std::string& Name() { return static_cast<const SystemUnderTest&>(*this).Name(); }
  // Called on an issue thread. While it lasts, that thread issues nothing else.
  virtual void IssueQuery(const std::vector<QuerySample>& samples) = 0;
  // No query of this series follows. The samples in flight are still to be completed.
  virtual void FlushQueries() = 0;
};

}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
