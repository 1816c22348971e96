// The system calls that a jailed program may not use. It is a list of refused calls: compilers and
// interpreters of six languages run here, and a call that one of them starts to use must not make a
// score wrong. Calls newer than the list return ENOSYS, so a new kernel opens nothing.
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "score/code/jail.h"

namespace assay::score {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "jail_filter.cc: the system calls of this architecture are not known"
#endif

// set_mempolicy_home_node, of Linux 5.17. The numbers of the x32 calling convention are also above.
constexpr std::uint32_t kNewestKnown = 450;
constexpr std::uint32_t kLinuxConsole = 0x541C;  // TIOCLINUX

constexpr std::array kSockets = {SYS_socket, SYS_connect, SYS_bind, SYS_listen};

// Refused to a model's code, but not to an evaluator: memory that outlives its process or that no
// limit counts, programs without a file, ways to communicate.
constexpr std::array kForbiddenToCode = {
    SYS_shmget,       SYS_shmat,     SYS_shmctl,   SYS_semget,   SYS_semctl,
    SYS_semtimedop,   SYS_msgget,    SYS_msgsnd,   SYS_msgrcv,   SYS_msgctl,
    SYS_mq_open,      SYS_mq_unlink, SYS_vmsplice, SYS_execveat, SYS_memfd_create,
    SYS_memfd_secret, SYS_io_setup,  SYS_setsid,   SYS_setpgid,  SYS_socketpair};

constexpr std::array kForbidden = {
    // Other processes.
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_kcmp,
    SYS_pidfd_getfd,
    SYS_perf_event_open,
    SYS_migrate_pages,
    SYS_move_pages,
    // Namespaces and the tree of files.
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_chroot,
    SYS_pivot_root,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_swapon,
    SYS_swapoff,
    SYS_mknodat,
    SYS_fanotify_init,
    // Parts of the kernel that no program of these languages needs.
    SYS_bpf,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_syslog,
    SYS_personality,
    SYS_lookup_dcookie,
    SYS_nfsservctl,
    // The machine.
    SYS_reboot,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_acct,
    SYS_vhangup,
#if defined(__x86_64__)
    SYS_mknod,
    SYS_kexec_file_load,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
    SYS_create_module,
    SYS_get_kernel_syms,
    SYS_query_module,
    SYS__sysctl,
#endif
};

constexpr std::uint32_t low_word(std::size_t argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + argument * 8);
}

}  // namespace

std::vector<sock_filter> jail_filter(const Jail& jail) {
  std::vector<sock_filter> code;
  const auto step = [&code](int what, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    code.push_back({static_cast<std::uint16_t>(what), yes, no, value});
  };
  const auto load = [&step](std::uint32_t offset) { step(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); };
  const auto give = [&step](std::uint32_t answer) { step(BPF_RET | BPF_K, answer, 0, 0); };
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  const auto refuse = [&](std::uint32_t call, std::uint32_t answer) {
    step(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    give(answer);
  };
  load(offsetof(seccomp_data, arch));
  step(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
  give(SECCOMP_RET_KILL_PROCESS);
  load(kNumber);
  step(BPF_JMP | BPF_JGT | BPF_K, kNewestKnown, 0, 1);
  give(kUnknown);
  // Its flags are in memory, which a filter cannot read; the C library falls back to clone.
  refuse(SYS_clone3, kUnknown);
  for (const long call : kForbidden) refuse(static_cast<std::uint32_t>(call), kRefuse);
  if (jail.view == Jail::View::programs) {
    for (const long call : kForbiddenToCode) refuse(static_cast<std::uint32_t>(call), kRefuse);
  }
  if (!jail.network) {
    for (const long call : kSockets) refuse(static_cast<std::uint32_t>(call), kRefuse);
  }
  constexpr std::uint32_t kNamespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC |
                                        CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWCGROUP;
  step(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
  load(low_word(0));
  step(BPF_JMP | BPF_JSET | BPF_K, kNamespaces, 0, 1);
  give(kRefuse);
  load(kNumber);
  step(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5);
  load(low_word(1));
  refuse(TIOCSTI, kRefuse);
  step(BPF_JMP | BPF_JEQ | BPF_K, kLinuxConsole, 0, 1);
  give(kRefuse);
  give(SECCOMP_RET_ALLOW);
  return code;
}

}  // namespace assay::score
