// Chaos: acts that are done to a server at stated instants of a run's measured phase, so that the
// report can say what broke and when it was whole again (observe/chaos.h). settings.chaos of a
// config is {file: a path}, or what is in it: {acts: […]}. docs/formats/chaos.md has the keys.
//
// A config that was read holds the content, so a saved config does the same acts. Reading looks at
// no process and starts no program: campaign/chaos_runner.h does the acts. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "plan/config.h"
#include "plan/environment.h"
#include "plan/schema.h"

namespace assay::plan {

inline constexpr std::size_t kChaosActsMax = 100;  // each one has a thread of its own

enum class ChaosKind : std::uint8_t {
  command,  // a shell command
  http,     // one call
  signal,   // one signal to a process
  pause,    // SIGSTOP, and SIGCONT at the end of the act's time
};

struct ChaosDeed {
  ChaosKind kind = ChaosKind::command;
  std::string command{};
  std::string method{};  // of http
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  int signal = 0;
  std::int64_t pid = 0;  // 0: pid_file has it, and is read when the act is done
  std::string pid_file{};
};

struct ChaosAct {
  std::string name{};
  Duration at{};     // from the start of the first measured phase
  Duration lasts{};  // from `at` to what ends it; zero: nothing ends it
  ChaosDeed deed{};
  std::optional<ChaosDeed> undo{};   // done at the end; a pause has its own
  Duration timeout{60'000'000'000};  // of one command or call
};

// The acts in the order of the list. Errors name the key: "acts[2].at: …".
Result<std::vector<ChaosAct>> parse_chaos(const Json& chaos);

// Replaces {file: …} of settings.chaos by the file's content and checks it. In the file, ${NAME}
// in a header's value is a variable of the environment. Problems go to `reading`.
void read_chaos(Config& config, const Environment& environment, Reading& reading);

}  // namespace assay::plan
