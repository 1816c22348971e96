// Any bytes as the telemetry of a run: series with a source each, values with a series each, and
// signals whose figures are finite or none.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "observe/signal.h"
#include "observe/telemetry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::observe;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = parse_telemetry(text);
  if (!read) return 0;
  CHECK(read->costs.size() == read->sources.size());
  for (const TelemetrySeries& series : read->series) CHECK(series.source < read->sources.size());
  for (const TelemetryReading& reading : read->readings) {
    CHECK(reading.source < read->sources.size());
    for (const auto& [series, value] : reading.values) CHECK(series < read->series.size());
  }
  for (const Signal& signal : signals_of(*read)) {
    CHECK(!signal.points.empty());
    CHECK(signal.source < read->sources.size());
  }
  return 0;
}
