// What the tests of the jail share: Python that runs in one, and an act of another user. One
// thread.
#pragma once

#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <utility>

#include "score/code/sandbox.h"

namespace assay::score {

inline constexpr unsigned kOrdinary = 4242;

// Runs `act` in a process of its own, whose limits end with it, and returns its text. If the test
// is root, that process belongs to `user`, else to the test's own user.
inline std::string as_user(unsigned user, const std::function<std::string()>& act) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::string said = "cannot become the user";
    const bool stays = ::geteuid() != 0 || user == 0;
    if (stays || (::setgroups(0, nullptr) == 0 && ::setresgid(user, user, user) == 0 &&
                  ::setresuid(user, user, user) == 0)) {
      // As for a program that the user started: his processes may read it.
      ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
      said = act();
    }
    [[maybe_unused]] const auto wrote = ::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    said.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? said : "killed";
}

inline Program attempt_of(const std::string& code, Jail jail = {}) {
  return {.commands = {{"python3", "-I", "-S", "-c", code}},
          .time_max = 20_s,
          .output_bytes_max = 100'000,
          .jail = std::move(jail)};
}

}  // namespace assay::score
