// Any bytes as a page of metrics: finite values with a name each, and no line read twice.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "observe/prometheus_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::observe;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const PrometheusPage page = read_prometheus(text);
  for (const PrometheusSample& sample : page.samples) {
    CHECK(!sample.name.empty());
    CHECK(std::isfinite(sample.value));
    for (const auto& [key, value] : sample.labels) CHECK(!key.empty());
  }
  const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  CHECK(page.samples.size() + page.unreadable + page.not_finite + page.dropped <= lines);
  return 0;
}
