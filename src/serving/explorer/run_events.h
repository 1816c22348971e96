// RunEvents: one run's streams for the waterfall, folded from its event log into columns, and any
// window of them as JSON (docs/formats/api.yaml, Events).
//
// A million fragments take about 25 MB; ServedRuns caches the last few runs shown, so that panning
// does not read the log again. Reading runs at the log's speed, millions of events a second. One
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::explorer {

struct StreamRow {
  std::uint32_t query = 0;
  std::uint32_t sample = 0;
  std::uint16_t phase = 0;
  std::uint8_t outcome = 0;
  std::uint32_t lane = 0;
  // ms since the run's first event; NaN if that milestone was not reached.
  float gap_max = 0;
  double due = 0;
  double sent = 0;
  double first_token = 0;
  double last_token = 0;
  double done = 0;
  std::uint32_t fragments = 0;
  std::size_t first_fragment = 0;  // into RunEvents::fragments
};

struct FragmentRow {
  double at = 0;  // ms
  std::uint32_t bytes = 0;
  std::uint8_t category = 0;
};

struct RunEvents {
  double run_ms = 0;
  std::uint32_t lanes = 0;
  std::vector<std::string> phases{};
  std::vector<StreamRow> streams{};      // by the instant sent
  std::vector<FragmentRow> fragments{};  // grouped by stream, by arrival
};

Result<RunEvents> read_run_events(const std::filesystem::path& run_folder);

struct EventWindow {
  double from_ms = 0;
  double to_ms = -1;  // negative: the run's end
  std::uint32_t from_lane = 0;
  std::uint32_t to_lane = 0xffffffff;
  bool tokens = false;
  std::size_t limit = 5000;
};
std::string events_document(const RunEvents& run, const EventWindow& window);

inline constexpr std::size_t kFragmentsMax = 200'000;  // in one reply

class ServedRuns {
 public:
  Result<std::shared_ptr<const RunEvents>> get(const std::string& folder);

 private:
  struct Entry {
    std::string folder{};
    std::uintmax_t bytes = 0;  // of the log: a run that has grown is read again
    std::shared_ptr<const RunEvents> run{};
  };
  std::list<Entry> entries_{};  // the latest first
};

}  // namespace assay::explorer
