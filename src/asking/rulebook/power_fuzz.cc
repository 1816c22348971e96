// Any two lines of JSON as a power file and the description of its system: finite sums, or errors
// with their place.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "rulebook/power.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::rulebook;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(bytes.find('\n'), size);
  const assay::Json file = assay::Json::parse(bytes.substr(0, end)).value_or(assay::Json());
  const assay::Json description =
      assay::Json::parse(bytes.substr(std::min(end + 1, size))).value_or(assay::Json());
  const Power power = compute_power(file, description);
  for (const auto* const issues : {&power.errors, &power.warnings, &power.estimated}) {
    for (const PowerIssue& issue : *issues) CHECK(!issue.found.empty() || !issue.expected.empty());
  }
  if (!power.good()) return 0;
  CHECK(std::isfinite(power.total_w) && power.total_w >= 0);
  CHECK(std::isfinite(power.provisioned_kw()));
  CHECK(std::isfinite(point_power_kw(power, {{0, 1}, {1, 2}})));
  CHECK(power.nodes() >= 0);
  return 0;
}
