// Telemetry: what sources other than the replies reported while a run went on, each value at its
// instant of the run's clock, as the run folder keeps it (assay/telemetry.jsonl,
// docs/formats/telemetry.md).
//
// The names are those that the source has for them: what a name means is decided when the file is
// read (measure.h), so an older recording gains from a longer table. A value is written when it
// changes, and a source's last values stand until then.
//
// TelemetryLines makes the file's lines; it belongs to one thread at a time. Telemetry is plain
// data; any thread may read it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "observe/prometheus_text.h"

namespace assay::observe {

inline constexpr std::size_t kSeriesMax = 20'000;  // of one file; values of further ones are lost
inline constexpr std::string_view kTelemetryName = "telemetry.jsonl";

struct TelemetrySource {
  std::string kind{};   // "page", "nvml", "rapl", "host", "command"
  std::string name{};   // a URL without secrets, a folder, a command
  Duration interval{};  // between two readings, as asked
};

struct TelemetrySeries {
  std::uint32_t source = 0;
  std::string name{};
  Labels labels{};
};

// What reading a source cost this machine.
struct TelemetryCost {
  std::uint64_t readings = 0;
  std::uint64_t failed = 0;
  std::uint64_t unreadable = 0;  // lines or values
  Duration cpu{};                // of the thread that read it
};

struct TelemetryReading {
  std::uint32_t source = 0;
  Instant at{};         // the middle of the reading, or the source's own stamp
  Duration took{};      // the value is of an instant within ± took / 2
  std::string error{};  // why there is no value; "" where there are some
  std::vector<std::pair<std::uint32_t, double>> values{};  // series and value, those that changed
};

struct Telemetry {
  std::vector<TelemetrySource> sources{};
  std::vector<TelemetrySeries> series{};
  std::vector<TelemetryReading> readings{};  // of each source in the order of time
  std::vector<TelemetryCost> costs{};        // of each source; zero where the run was cut off
  std::uint64_t series_lost = 0;             // beyond kSeriesMax
  std::string trouble{};                     // where the file is damaged; "" for a whole one
};

class TelemetryLines {
 public:
  static std::string head(std::string_view run_id);
  // The source's number is that of the call, from 0.
  std::string source(const TelemetrySource& source);
  // Lines for the series that are new, and one for the reading.
  std::string reading(std::uint32_t source, Instant at, Duration took,
                      const std::vector<PrometheusSample>& samples);
  static std::string failure(std::uint32_t source, Instant at, Duration took,
                             std::string_view error);
  std::string end(const std::vector<TelemetryCost>& costs) const;

 private:
  struct Known {
    std::uint32_t id = 0;
    double value = 0;
  };
  std::uint32_t sources_ = 0;
  std::map<std::string, Known> known_{};  // by source, name and labels
  std::uint64_t lost_ = 0;
};

// A file that ends in the middle of a line is of a run that was cut off, and is read up to there.
Result<Telemetry> read_telemetry(const std::filesystem::path& path);
Result<Telemetry> parse_telemetry(std::string_view text);

}  // namespace assay::observe
