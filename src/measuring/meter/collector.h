// Collector reads sources while a run goes on, and writes what they say to a file, each value at
// its instant of the run's clock. Each source has a thread of its own, so a page that hangs keeps
// no other waiting, and none of the measuring threads ever waits for them. Where cores are left
// over the threads stay off those that are measured on, and they run at a lower priority; what they
// cost is in the file's last line.
//
// open() reads each source once: one that cannot be read then is an error before the run begins.
// Later a failed reading is data. A file that cannot be written any more ends the recording, and
// not the run. open(), start() and stop() belong to one thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/mutex.h"
#include "meter/source.h"
#include "observe/telemetry.h"

namespace assay::meter {

struct CollectorOptions {
  std::vector<int> cores{};  // that its threads may use; empty: any
  // How long after stop() is called the sources are read on, for those that lag.
  Duration after{};
};

class Collector {
 public:
  // The clock must outlive the collector.
  static Result<std::unique_ptr<Collector>> open(std::vector<std::unique_ptr<Source>> sources,
                                                 CollectorOptions options, const Clock& clock);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Writes to `file` from now on; what open() read comes first.
  Result<void> start(const std::filesystem::path& file, std::string_view run_id);
  // Reads each source a last time, and ends the file. Later calls do nothing.
  void stop();

  // Why the file is not whole; "" where it is. After stop().
  std::string trouble() const;

 private:
  struct Reader {
    std::unique_ptr<Source> source{};
    std::vector<SourceReading> first{};
    observe::TelemetryCost cost{};
    std::thread thread{};
  };

  Collector(CollectorOptions options, const Clock& clock) : options_(options), clock_(clock) {}
  void read_on(std::uint32_t index);
  void read_once(std::uint32_t index);
  // True when it is time to end.
  bool wait_until(Instant due);
  void write(const std::string& lines);

  CollectorOptions options_;
  const Clock& clock_;
  std::vector<Reader> readers_{};
  Mutex mutex_{};
  Condition ended_{};
  observe::TelemetryLines lines_{};  // under mutex_
  File file_{};                      // under mutex_
  std::string trouble_{};            // under mutex_
  bool stopping_ = false;            // under mutex_
  bool started_ = false;
};

}  // namespace assay::meter
