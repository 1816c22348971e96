#include "campaign/power_log.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "meter/ptd_text.h"

namespace assay::campaign {
namespace {

constexpr Duration kZoneStep = 900_s;
constexpr Duration kLate = 30_s;  // the last sample before the stop, and the clocks' difference

}  // namespace

Result<observe::Telemetry> telemetry_of_power_log(std::string_view text, WallTime stopped_wall,
                                                  Duration wall_minus_run) {
  std::vector<meter::PtdSample> samples;
  std::uint64_t unreadable = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    const auto sample = meter::read_ptd_sample(trim(line));
    if (sample) {
      samples.push_back(*sample);
    } else {
      ++unreadable;
    }
  }
  if (samples.size() < 2) {
    return Error{Code::corrupt,
                 format("spl.txt: {} samples of power; two are the fewest", samples.size())};
  }
  std::ranges::stable_sort(samples, {}, &meter::PtdSample::stamp);
  const Duration last = samples.back().stamp;
  const double steps =
      std::round((Duration{stopped_wall.ns} - last).seconds() / kZoneStep.seconds());
  const Duration zone = kZoneStep * static_cast<std::int64_t>(steps);
  const Duration off = Duration{stopped_wall.ns} - (last + zone);
  if (off > kLate || off < -kLate) {
    return Error{Code::corrupt,
                 format("spl.txt: its last sample is {} from the stop in the nearest zone; the "
                        "analyzer's clock is not this machine's",
                        human_duration(off < Duration{} ? -off : off))};
  }
  observe::Telemetry out;
  out.sources.push_back({.kind = "ptd", .name = "the director's spl.txt", .interval = 1_s});
  out.series.push_back({.source = 0, .name = "meter_power_watts", .labels = {}});
  for (const meter::PtdSample& sample : samples) {
    observe::TelemetryReading reading;
    reading.at = Instant{} + (sample.stamp + zone - wall_minus_run);
    reading.values.emplace_back(0, sample.watts);
    out.readings.push_back(std::move(reading));
  }
  observe::TelemetryCost cost;
  cost.readings = samples.size();
  cost.unreadable = unreadable;
  out.costs.push_back(cost);
  return out;
}

}  // namespace assay::campaign
