// A system under test that passes its queries over a network (the network division).
#pragma once

#include "sut/mlperf/system_under_test.h"

// NOLINTBEGIN(readability-identifier-naming)
namespace mlperf {

class QueryDispatchLibrary : public SystemUnderTest {
 public:
  ~QueryDispatchLibrary() override = default;
};

}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
