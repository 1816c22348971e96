// The jail's own tree of files: a small one in memory with the view's folders bound into it, or the
// whole disk, read-only. Runs in the child (jail.h): system calls only.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "score/code/jail.h"

namespace assay::score {
namespace {

// A folder that every machine has: the tree is mounted over it, invisible to other processes.
constexpr const char* kStage = "/tmp";

bool protect(int tree, std::uint64_t flags, bool below) {
  mount_attr attributes{};
  attributes.attr_set = flags;
  const unsigned how = AT_EMPTY_PATH | (below ? AT_RECURSIVE : 0U);
  return ::syscall(SYS_mount_setattr, tree, "", how, &attributes, sizeof(attributes)) == 0;
}

int take_tree(const char* path) {
  return static_cast<int>(
      ::syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
}

bool put_tree(int tree, const char* at) {
  return ::syscall(SYS_move_mount, tree, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

bool make_empty_file(const char* path) {
  const int file = ::open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
  if (file >= 0) ::close(file);
  return file >= 0;
}

bool write_all(const char* path, const std::string& text) {
  const int file = ::open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return false;
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t wrote = ::write(file, text.data() + at, text.size() - at);
    if (wrote <= 0) return false;
    at += static_cast<std::size_t>(wrote);
  }
  return ::close(file) == 0;
}

// Runs before the user changes: the new user may not enter every folder in root's PATH.
bool take_trees(const JailPlan& plan, JailWord& at) {
  at.step = JailStep::view;
  auto& trees = const_cast<std::vector<int>&>(plan.trees);
  for (std::size_t i = 0; i < plan.view.binds.size(); ++i) {
    const JailView::Bind& bind = plan.view.binds[i];
    at.item = static_cast<std::uint16_t>(i);
    trees[i] = take_tree(bind.from.c_str());
    if (trees[i] < 0) return false;
    std::uint64_t flags = MOUNT_ATTR_NOSUID;
    if (!bind.writable) flags |= MOUNT_ATTR_RDONLY;
    if (!bind.devices && !bind.writable) flags |= MOUNT_ATTR_NODEV;
    if (!protect(trees[i], flags, true)) return false;
  }
  return true;
}

bool become_user(const JailPlan& plan) {
  if (plan.drops_groups && ::syscall(SYS_setgroups, 0, nullptr) != 0) return false;
  const unsigned group = plan.inner_group;
  const unsigned user = plan.inner_user;
  return ::syscall(SYS_setresgid, group, group, group) == 0 &&
         ::syscall(SYS_setresuid, user, user, user) == 0;
}

// Mounts the root: a small tree in memory, or a copy of the disk's.
bool lay_ground(const JailPlan& plan) {
  constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;
  if (!plan.view.whole_disk) {
    return ::mount("tmpfs", kStage, "tmpfs", kPlain, "size=1m,nr_inodes=4096,mode=0755") == 0 &&
           ::chdir(kStage) == 0;
  }
  const int disk = take_tree("/");
  if (disk < 0 || !protect(disk, MOUNT_ATTR_NOSUID | MOUNT_ATTR_RDONLY, true)) return false;
  if (!put_tree(disk, kStage)) return false;
  ::close(disk);
  return ::chdir(kStage) == 0 &&
         ::mount("proc", "proc", "proc", kPlain | MS_NOEXEC, nullptr) == 0 &&
         ::mount("tmpfs", "dev/shm", "tmpfs", kPlain, "mode=1777") == 0;
}

bool furnish(const JailPlan& plan, JailWord& at) {
  at.step = JailStep::view;
  for (const std::string& folder : plan.view.folders) {
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return false;
  }
  for (std::size_t i = 0; i < plan.view.binds.size(); ++i) {
    const JailView::Bind& bind = plan.view.binds[i];
    at.item = static_cast<std::uint16_t>(i);
    // A mask covers an existing file, on a tree that is read-only.
    if (!plan.view.whole_disk && bind.folder && ::mkdir(bind.at.c_str(), 0755) != 0 &&
        errno != EEXIST) {
      return false;
    }
    if (!bind.folder && ::access(bind.at.c_str(), F_OK) != 0 && !make_empty_file(bind.at.c_str())) {
      return false;
    }
    if (!put_tree(plan.trees[i], bind.at.c_str())) return false;
    ::close(plan.trees[i]);
  }
  for (const auto& [target, path] : plan.view.links) {
    if (::symlink(target.c_str(), path.c_str()) != 0) return false;
  }
  return true;
}

bool make_work(const JailPlan& plan) {
  if (plan.view.whole_disk) return true;
  unsigned long flags = MS_NOSUID | MS_NODEV;
  if (!plan.program->jail->runs_own_files) flags |= MS_NOEXEC;
  if (::mount("tmpfs", "jail", "tmpfs", flags, plan.work_options.c_str()) != 0) return false;
  if (::chdir("jail") != 0) return false;
  for (const auto& [name, text] : plan.program->files) {
    if (!write_all(name.c_str(), text)) return false;
  }
  return ::chdir("..") == 0;
}

bool step_in(const JailPlan& plan) {
  if (::syscall(SYS_pivot_root, ".", ".") != 0 || ::umount2(".", MNT_DETACH) != 0) return false;
  if (::chdir("/") != 0) return false;
  const std::string& folder = plan.program->folder.native();
  if (plan.view.whole_disk) return folder.empty() || ::chdir(folder.c_str()) == 0;
  mount_attr read_only{};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  return ::syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &read_only, sizeof(read_only)) == 0;
}

}  // namespace

bool build_root(const JailPlan& plan, JailWord& at) {
  if (!take_trees(plan, at)) return false;
  at.step = JailStep::user;
  if (!become_user(plan)) return false;
  at.step = JailStep::mounts;
  if (!lay_ground(plan)) return false;
  if (!furnish(plan, at)) return false;
  at.step = JailStep::mounts;
  if (!make_work(plan)) return false;
  at.step = JailStep::pivot;
  return step_in(plan);
}

}  // namespace assay::score
