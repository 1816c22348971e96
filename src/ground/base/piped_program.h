// PipedProgram: a program of the user's, with a pipe to its standard input and one from its
// standard output, both non-blocking. Its standard error is ours. It runs by /bin/sh in a process
// group of its own; at the end its pipes are closed, and a while later the group gets SIGTERM, and
// SIGKILL after that. One thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace assay {

class PipedProgram {
 public:
  // `named_by`: the flag that names it, for messages. Refused where ASSAY_NO_PROGRAMS is set
  // (base/reach.h).
  static Result<PipedProgram> start(const std::string& command, std::string_view named_by);
  PipedProgram() = default;
  ~PipedProgram() { end(kGrace); }
  PipedProgram(PipedProgram&& other) noexcept { *this = std::move(other); }
  PipedProgram& operator=(PipedProgram&& other) noexcept;

  bool running() const { return process_ > 0; }
  int output() const { return output_; }
  int input() const { return input_; }

  enum class Io { done, later, closed };
  // Writes as much as the pipe takes and removes it from `bytes`.
  Io write(std::string_view& bytes);
  // Appends what is there to `out`; closed: the program has closed its output.
  Io read(std::string& out);

  static constexpr Duration kGrace{1'000'000'000};
  // Ends it and says how it ended: "ended with exit code 3", "was ended by signal 9". `grace`: how
  // long it may take from the end of its input to SIGTERM, and from there to SIGKILL.
  std::string end(Duration grace);

 private:
  pid_t process_ = -1;
  int input_ = -1;
  int output_ = -1;
};

}  // namespace assay
