// ReferenceRun: a run that the reference client for endpoints made, read from its folder and
// written as an event log of ours, so that every command on runs works on it.
//
//   events.jsonl                        needed: every event (reference_events.h)
//   sample_idx_map.json                 which row of which phase each query used
//   config.yaml                         model, API, endpoints, load pattern
//   performance/result_summary.json     how the run ended, its load and seeds
//
// What the files do not have is not made up. `due` is `sent`; an arrival is the instant at which
// that client's main loop handled the message. Without stream_all_chunks only the first fragment of
// a reply has an instant: the rest is recorded at the reply's end, and
// facts["imported"]["chunks"] is "first", so that no gap between fragments is reported. Queries of
// the warm-up have no end in the file and are left out. facts["imported"]["lacks"] lists such
// things in words.
//
// Memory: about 150 bytes a query, and the instants of the replies in flight. Two passes over the
// events. One thread. docs/formats/interchange.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/event_sink.h"
#include "domain/run_info.h"

namespace assay::interchange {

// True for a folder with events.jsonl and no event log of ours.
bool is_reference_folder(const std::filesystem::path& folder);

struct ReferenceRun {
  struct Place {
    std::uint16_t phase = 0;
    bool left_out = false;  // of the warm-up
    bool ended = false;     // used during the second pass
    std::uint32_t index = 0;
    std::uint32_t sample = 0;
  };

  std::filesystem::path events{};  // the file
  RunInfo info{};
  Json summary{};  // result_summary.json; null without it
  RunEnd end{};
  std::unordered_map<std::string, Place> places{};  // by the query's uuid
  // By phase: its first instant.
  std::vector<Instant> began{};
};

// The first pass. `path`: the folder, or the event file in it. Errors name file, line and field.
Result<ReferenceRun> read_reference_run(const std::filesystem::path& path);

// The second pass: every query of the run, each whole at its end. Marks queries in `run` as ended.
Result<void> replay_reference_run(ReferenceRun& run, EventSink& sink);

// The second pass, into a new event log.
Result<void> write_reference_log(ReferenceRun& run, const std::filesystem::path& log);

}  // namespace assay::interchange
