// RunInfo: a run's facts, known before its first event. The event log keeps it in its header, so
// that a log can be folded and reported without other files.
//
// RunState: how a run ended. It is the last block of a log; a log without it is from a crashed run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/time.h"
#include "domain/plan.h"

namespace assay {

struct PhaseInfo {
  PhaseKind kind = PhaseKind::performance;
  std::string name{};
  bool open_loop = false;
};

struct RunInfo {
  std::string version{};      // of Assay
  std::string git_sha{};      // of Assay's source; "" where unknown
  std::string run_id{};       // unique name of the run; the caller makes it
  std::string plan_digest{};  // sha256 of the plan, hex
  std::uint64_t run_key = 0;  // query_uuid() names the queries with it
  bool simulated = false;     // clock kind: SimClock, else OsClock
  bool uncertainty = false;   // events record the uncertainty of their instants
  WallTime started{};
  ClockOffset offset{};             // wall − the run's clock; zero when simulated
  std::vector<PhaseInfo> phases{};  // in the plan's order: Query.phase is an index into it
  std::uint32_t shard_index = 0;
  std::uint32_t shard_count = 1;
  // Facts for the result that the program itself does not read: "model", "endpoints", "api",
  // "run_config" (as in the reference client's result_summary.json), … An object.
  Json facts{};
  // The command that made the run, without its secrets: an array of words; null where unknown.
  Json command{};
};

// False for another tool's recording that has only the first fragment's instant: gaps between
// fragments are unknown.
bool gaps_recorded(const RunInfo& info);

enum class RunState : std::uint8_t {
  complete,
  interrupted,  // by a person, or by a limit of the run itself; see the reason
  crashed,      // the log has no end record
};
std::string_view to_string(RunState state);

struct RunEnd {
  RunState state = RunState::crashed;
  std::string reason{};  // for a person; may be empty
  // The run folder's disk was full: interrupted, whether the load was stopped or went on.
  bool out_of_space = false;
};

}  // namespace assay
