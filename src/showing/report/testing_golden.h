// For the room's own tests: compares with a golden file of tests/golden/report/.
#pragma once

#include <string>
#include <string_view>

#include "base/testing_golden.h"

namespace assay::report {

inline void expect_golden(std::string_view name, std::string_view text) {
  assay::expect_golden("report/" + std::string(name), text);
}

}  // namespace assay::report
