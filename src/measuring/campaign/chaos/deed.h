// A deed of a chaos act, done: a shell command, one HTTP call, a signal. Blocks until it is over,
// its time limit has passed or `stop` becomes readable.
//
// A command runs by /bin/sh in a process group of its own, with nothing on its standard input; it
// is over when the shell ends. What the shell left running in the background is left alone, so a
// command may start a server again. Its two outputs go to one file in memory, not to a pipe, so
// that nothing breaks for a program that writes later. Past its limit the group gets SIGTERM, and
// SIGKILL a second later. Any thread.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "plan/chaos.h"

namespace assay::campaign {

struct DeedResult {
  std::optional<std::int64_t> exit_code{};  // of a command that ended by itself
  std::optional<std::int64_t> status{};     // of a call that was answered
  std::string output{};                     // 4 KiB at most
  std::string error{};                      // "" where all went well
  std::int64_t pid = 0;                     // that got the signal
};

struct DeedLimits {
  Duration timeout{};
  int stop = -1;          // a descriptor, or −1
  std::string ca_file{};  // for a call; "" for the system's store
};

DeedResult do_deed(const plan::ChaosDeed& deed, const DeedLimits& limits, const Clock& clock);

// False where `descriptor` became readable before `until`.
bool wait_unless(int descriptor, Instant until, const Clock& clock);

}  // namespace assay::campaign
