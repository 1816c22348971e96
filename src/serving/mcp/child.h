// Child: one command of `assay`, run as a process of its own, so that no mistake in it ends the
// server. Its standard input is empty; output and messages are read without blocking. A group of
// its own receives the signals. One thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::mcp {

// What the process may do beyond reading files and talking to this machine.
struct Fence {
  bool remote = false;  // addresses beyond this machine
  bool write = false;   // files below `folder`; without it nothing that stays is written
  std::filesystem::path folder{};
  std::filesystem::path scratch{};  // for what a command throws away; it may always write there
};

class Child {
 public:
  // Starts `program` with `arguments`. Errors: no process, or no fence for files on this kernel.
  static Result<Child> start(const std::filesystem::path& program,
                             const std::vector<std::string>& arguments, const Fence& fence);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  // kills what still runs

  // The pipes' ends for poll(); -1 when that stream has ended.
  int out_fd() const { return out_; }
  int messages_fd() const { return messages_; }
  // Appends what there is. False: the stream has ended.
  bool read_out(std::string& to);
  bool read_messages(std::string& to);
  // Asks it to end (SIGINT); a run drains at the first and stops at the second.
  void interrupt();
  void kill();
  // True once it has ended; the status is wait()'s.
  bool has_ended(int* status);

 private:
  Child(pid_t pid, int out, int messages) : pid_(pid), out_(out), messages_(messages) {}

  pid_t pid_ = -1;
  int out_ = -1;
  int messages_ = -1;
};

// Whether this kernel can keep a process from writing files (Landlock).
bool can_fence_files();

}  // namespace assay::mcp
