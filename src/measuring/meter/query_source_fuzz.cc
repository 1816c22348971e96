// Any bytes as the answer of a Prometheus server: values that are finite, or an error.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "meter/query_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = assay::meter::read_query_answer(text);
  if (read) {
    CHECK(!read->empty());
    for (const auto& sample : *read) CHECK(std::isfinite(sample.value));
  }
  return 0;
}
