// Jail: what stands between a program that nobody has read and this machine.
//
// A jailed program has its own PID, mount, IPC, network, UTS and user namespaces. It sees a tree of
// files that was put together for it, read-only but for its work folder, which lives in memory and
// is bounded as a whole; an evaluator sees the disk as its user does, read-only but for named
// folders. It has no network, no descriptor and no environment of ours, no capability, and cannot
// get one. A list of system calls is refused (seccomp), and Landlock is a second lock on writes,
// signals and sockets where the kernel has it. The first process of the PID namespace is ours: when
// it ends, or when Assay does, the kernel ends all the others.
//
// Every layer but Landlock is required. Where one cannot be had the program is not started, and the
// error names the layer, the kernel's reason and the remedy. Decision 46 has the alternatives.
//
// This header is for sandbox.cc: what is made before the process splits, and the half that runs in
// the child, which makes system calls only and takes no memory and no lock. Any thread.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "score/code/sandbox.h"

namespace assay::score {

// Where the jail's own files are, as the program sees them.
inline constexpr const char* kJailWork = "/jail";
inline constexpr unsigned kNobody = 65534;

// The tree of files, as a list of what to make. Paths in the jail are relative to its root.
struct JailView {
  struct Bind {
    std::string from{};  // on this machine
    std::string at{};    // in the jail
    bool folder = true;
    bool writable = false;
    bool devices = false;
  };
  bool whole_disk = false;             // begin with all that the user sees, read-only
  std::vector<std::string> folders{};  // in the order in which they are made
  std::vector<std::pair<std::string, std::string>> links{};  // target, path
  std::vector<Bind> binds{};
  std::string search_path{};            // PATH
  std::vector<std::string> programs{};  // of each command, where the jail has it
  std::vector<std::string> writable{};  // for Landlock: absolute, in the jail
};

// Fails where a command has no program that the jail can show.
Result<JailView> jail_view(const Program& program);

// The filter of system calls (seccomp).
std::vector<sock_filter> jail_filter(const Jail& jail);

// Where the child gave up.
enum class JailStep : std::uint8_t {
  namespaces,
  user,
  mounts,
  view,
  pivot,
  privileges,
  process,
  filter,
  exec,
};

// What the child says on its status pipe, in this order: at most one failure, or the end.
struct JailWord {
  enum Kind : std::uint8_t { failed, landlock, ended } kind = failed;
  JailStep step = JailStep::namespaces;
  std::uint16_t item = 0;  // of the view's binds, or of the commands
  std::int32_t value = 0;  // errno; Landlock's version; the status that wait() gave
};

// All that the child needs, made before it exists.
struct JailPlan {
  const Program* program = nullptr;
  JailView view{};
  std::vector<sock_filter> filter{};
  std::vector<std::vector<char*>> commands{};  // each ends with a null
  std::vector<char*> environment{};            // ends with a null
  std::vector<int> trees{};                    // room for one descriptor a bind
  std::string work_options{};                  // of the work folder's tmpfs
  unsigned inner_user = kNobody;
  unsigned inner_group = kNobody;
  bool drops_groups = false;
  int input = -1;
  int out = -1;
  int err = -1;
  int status = -1;
  int go = -1;  // one byte comes when the maps of users are written, the end when Assay ends
  int go_write = -1;
};

// A child in namespaces of its own, or -1. It waits for `go`.
pid_t split_into_jail(const JailPlan& plan);
// By the parent: who the child's users are on this machine.
Result<void> write_user_maps(pid_t child, const JailPlan& plan);

// ---- in the child ---------------------------------------------------------------------------

// A process of the same memory image; no lock of the C library is taken.
pid_t split_process(std::uint64_t namespaces);
void tell(int status, const JailWord& word);
// Of a plain program as well: its place, its descriptors, its signals.
bool take_place(const char* folder, int input, int out, int err);
// Landlock's version, or 0 where this kernel has none; -1: it has, and refused.
int lock_writes(const JailPlan& plan);
// False: errno says why, `at` which bind.
bool build_root(const JailPlan& plan, JailWord& at);

}  // namespace assay::score
