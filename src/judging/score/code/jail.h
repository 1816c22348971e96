// Jail: separates a program of unknown content from this machine.
//
// A jailed program has its own PID, mount, IPC, network, UTS and user namespaces. It sees a tree of
// files made for it: read-only, except for its work folder, which is in memory and limited as a
// whole. An evaluator sees the disk as its user does, read-only except for named folders. The
// program has no network, no descriptor and no environment of ours, no capability, and cannot get
// one. seccomp refuses a list of system calls. If the kernel has Landlock, it is a second lock on
// writes, signals and sockets. The first process of the PID namespace is ours: when it or Assay
// ends, the kernel ends all the others.
//
// Every layer except Landlock is required. If one is missing, the program is not started, and the
// error names the layer, the kernel's reason and the remedy. Decision 46 has the alternatives.
//
// This header is for sandbox.cc: it declares what is made before the fork, and the part that runs
// in the child, which makes system calls only and takes no memory and no lock. Any thread.
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

// The folder of the jail's own files, as the program sees it.
inline constexpr const char* kJailWork = "/jail";
inline constexpr unsigned kNobody = 65534;

// The tree of files, as a list of parts to make. Paths in the jail are relative to its root.
struct JailView {
  struct Bind {
    std::string from{};  // on this machine
    std::string at{};    // in the jail
    bool folder = true;
    bool writable = false;
    bool devices = false;
  };
  bool whole_disk = false;             // begin with all that the user sees, read-only
  std::vector<std::string> folders{};  // in the order of their creation
  std::vector<std::pair<std::string, std::string>> links{};  // target, path
  std::vector<Bind> binds{};
  std::string search_path{};            // PATH
  std::vector<std::string> programs{};  // one for each command: its path in the jail
  std::vector<std::string> writable{};  // for Landlock: absolute, in the jail
};

// Fails if a command has no program that the jail can show.
Result<JailView> jail_view(const Program& program);

// The filter of system calls (seccomp).
std::vector<sock_filter> jail_filter(const Jail& jail);

// The step at which the child failed.
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

// A message on the child's status pipe: Landlock's version, a failure (at most one), or the end.
struct JailWord {
  enum Kind : std::uint8_t { failed, landlock, ended } kind = failed;
  JailStep step = JailStep::namespaces;
  std::uint16_t item = 0;  // of the view's binds, or of the commands
  std::int32_t value = 0;  // errno; Landlock's version; or the status from wait()
};

// The child's input, made before the fork.
struct JailPlan {
  const Program* program = nullptr;
  JailView view{};
  std::vector<sock_filter> filter{};
  std::vector<std::vector<char*>> commands{};  // each ends with a null
  std::vector<char*> environment{};            // ends with a null
  std::vector<int> trees{};                    // space for one descriptor for each bind
  std::string work_options{};                  // of the work folder's tmpfs
  unsigned inner_user = kNobody;
  unsigned inner_group = kNobody;
  bool drops_groups = false;
  int input = -1;
  int out = -1;
  int err = -1;
  int status = -1;
  int go = -1;  // one byte: the maps of users are written; end of file: Assay has ended
  int go_write = -1;
};

// Starts a child in its own namespaces; returns -1 on failure. The child waits for `go`.
pid_t split_into_jail(const JailPlan& plan);
// Run by the parent: maps the child's users to users of this machine.
Result<void> write_user_maps(pid_t child, const JailPlan& plan);

// ---- in the child ---------------------------------------------------------------------------

// Forks into the same memory image, without locks of the C library.
pid_t split_process(std::uint64_t namespaces);
void tell(int status, const JailWord& word);
// Sets folder, descriptors and signals, also for a program without a jail.
bool take_place(const char* folder, int input, int out, int err);
// Returns Landlock's version, 0 if this kernel has none, -1 if it failed.
int lock_writes(const JailPlan& plan);
// Returns false on failure; errno has the reason, `at` the bind.
bool build_root(const JailPlan& plan, JailWord& at);

}  // namespace assay::score
