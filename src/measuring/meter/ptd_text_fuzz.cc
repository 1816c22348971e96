// Any line as one of PTDaemon's: a sample has finite watts above 0, a range is one of SR's words.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "meter/ptd_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::meter;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (const auto sample = read_ptd_sample(line)) {
    CHECK(std::isfinite(sample->watts) && sample->watts > 0);
    CHECK(sample->stamp.ns >= 0);
    CHECK(!sample->volts || *sample->volts >= 0);
  }
  if (const auto ranges = read_ptd_ranges(line)) CHECK(ranges->volts.size() <= size + 4);
  if (const auto count = read_ptd_count(line)) CHECK(*count <= 500'000);
  return 0;
}
