// RunEvents: one run's streams for the waterfall, folded from its event log into columns, and any
// window of them as JSON (docs/formats/api.yaml, Events).
//
// A million fragments take some 25 MB; ServedRuns keeps the last few runs that were looked at, so
// that panning does not read the log again. Reading is at the log's speed, millions of events a
// second. One thread.
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
  // ms from the run's first event; NaN where it never came so far.
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
  std::vector<StreamRow> streams{};      // by when they were sent
  std::vector<FragmentRow> fragments{};  // of each stream together, by arrival
};

Result<RunEvents> read_run_events(const std::filesystem::path& run_folder);

struct EventWindow {
  double from_ms = 0;
  double to_ms = -1;  // below 0: the run's end
  std::uint32_t from_lane = 0;
  std::uint32_t to_lane = 0xffffffff;
  bool tokens = false;
  std::size_t limit = 5000;
};
std::string events_document(const RunEvents& run, const EventWindow& window);

inline constexpr std::size_t kFragmentsMax = 200'000;  // in one answer

class ServedRuns {
 public:
  Result<std::shared_ptr<const RunEvents>> get(const std::string& folder);

 private:
  struct Entry {
    std::string folder{};
    std::uintmax_t bytes = 0;  // of the log: a run that went on is read again
    std::shared_ptr<const RunEvents> run{};
  };
  std::list<Entry> entries_{};  // the latest first
};

}  // namespace assay::explorer
