// The ways out of the jail that its tests try, each a piece of Python that says ESCAPED where it
// succeeds. Names (VICTIM, FOLDER, HOST, call, got) are those of jail_long_test.cc's preamble.
#pragma once

#include <sys/syscall.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/format.h"

namespace assay::score {

struct Attempt {
  std::string name{};
  std::string code{};
  bool works = false;  // without a jail
  bool alone = false;  // ends attempts that run beside it
};

inline std::vector<Attempt> attempts_on_files() {
  return {
      {"truncate", "os.truncate(VICTIM, 0); got()", true},
      {"chmod", "os.chmod(VICTIM, 0); got()", true},
      {"utime", "os.utime(VICTIM, (1, 1)); got()", true},
      {"setxattr", "os.setxattr(VICTIM, 'user.x', b'y'); got()", true},
      {"append", "open(VICTIM, 'a').write('x'); got()", true},
      {"unlink", "os.unlink(VICTIM); got()", true},
      {"rename", "os.rename(VICTIM, VICTIM + '.mine'); got()", true},
      {"link", "os.link(VICTIM, FOLDER + '/mine'); got()", true},
      {"read_the_dataset", "got('SECRET' in open(VICTIM).read())", true},
      {"read_ssh", "got('SECRET' in open(FOLDER + '/.ssh/id_rsa').read())", true},
      {"read_accounts", "got('root' in open('/etc/passwd').read())", true},
      // A language in a home folder is visible, with the folders on the way to it.
      {"list_home_folders",
       "homes, prefix = [h for h in ('/root', '/home') if os.path.isdir(h)], sys.base_prefix\n"
       "for folder, below, files in (one for h in homes for one in os.walk(h)):\n"
       "    if folder == prefix: below.clear()\n"
       "    elif files or not prefix.startswith(folder + '/'): got()",
       true},
      {"symlink", "os.symlink(VICTIM, 'link')\nopen('link', 'w').write('x'); got()", true},
      {"symlink_to_root", "os.symlink('/', 'r')\ngot(os.path.exists('r' + VICTIM))", true},
      {"dot_dot", "got(os.path.exists('../' * 40 + VICTIM.lstrip('/')))", true},
      {"write_to_programs", "open('/usr/bin/assay-was-here', 'w'); got()"},
      {"write_to_root", "open('/assay-was-here', 'w'); got()"},
      {"write_to_shared_memory", "open('/dev/shm/assay-was-here', 'w'); got()"},
      {"devices",
       "got(any(n not in ('null', 'zero', 'full', 'random', 'urandom', 'stdin',"
       " 'stdout') for n in os.listdir('/dev')))",
       true},
      {"dataset_by_proc",
       "for p in os.listdir('/proc'):\n"
       "    if p.isdigit() and os.path.exists(f'/proc/{p}/root' + VICTIM): got(); break",
       true},
      {"memory_by_proc", "open(f'/proc/{os.getppid()}/mem', 'rb'); got()"},
      {"command_lines", "got(open('/proc/1/cmdline').read() != '')", true},
      {"system_settings", "got(any(os.path.exists(p) for p in ('/sys/kernel', '/proc/sys')))",
       true},
      {"handle", format("got(call({}, -100, b'/', ctypes.create_string_buffer(200),"
                        " ctypes.byref(ctypes.c_int()), 0) == 0)",
                        SYS_name_to_handle_at)},
      {"device_node", "os.mknod('disk', 0o60666, os.makedev(254, 0)); got()"},
      {"our_own_program",
       format("got(os.path.exists({}))",
              "'" + std::filesystem::read_symlink("/proc/self/exe").string() + "'"),
       true},
  };
}

inline std::vector<Attempt> attempts_on_the_kernel() {
  const auto number = [](const char* name, long call, const char* arguments) {
    return Attempt{name, format("got(call({}, {}) >= 0)", call, arguments)};
  };
  return {
      number("unshare_users", SYS_unshare, "0x10000000"),
      number("unshare_mounts", SYS_unshare, "0x00020000"),
      {"clone_users",
       format("pid = call({}, 0x10000011, 0, 0, 0, 0)\n"
              "if pid == 0: os._exit(0)\n"
              "got(pid > 0)",
              SYS_clone),
       true},
      {"clone3", format("call({}, ctypes.create_string_buffer(88), 88)\n"
                        "got(ctypes.get_errno() != errno.ENOSYS)",
                        SYS_clone3)},
      {"setns", "got(libc.setns(os.open('/', os.O_RDONLY), 0) == 0)"},
      number("mount", SYS_mount, "b'none', b'/jail', b'tmpfs', 0, 0"),
      number("bind_mount", SYS_mount, "b'/', b'/jail', 0, 4096, 0"),
      number("remount", SYS_mount, "0, b'/', 0, 4096 | 32, 0"),
      number("umount", SYS_umount2, "b'/usr', 2"),
      number("open_tree", SYS_open_tree, "-100, b'/', 1"),
      number("fsopen", SYS_fsopen, "b'proc', 0"),
      number("pivot_root", SYS_pivot_root, "b'/jail', b'/jail'"),
      {"chroot", "os.chroot('/jail'); got()"},
      {"become_root", "os.setuid(0); got()"},
      {"setuid_program",
       "import subprocess\n"
       "got(b'uid=0' in subprocess.run(['su', '-c', 'id'], stdin=0,"
       " capture_output=True).stdout)"},
      {"capability", "got(libc.prctl(24, 21, 0, 0, 0) == 0 and libc.prctl(23, 21, 0, 0, 0) == 1)"},
      number("ptrace", SYS_ptrace, "16, os.getppid(), 0, 0"),
      number("trace_me", SYS_ptrace, "0, 0, 0, 0"),
      {"read_a_process",
       format("b = ctypes.create_string_buffer(8)\n"
              "v = (ctypes.c_void_p * 2)(ctypes.addressof(b), 8)\n"
              "got(call({}, os.getpid(), v, 1, v, 1, 0) >= 0)",
              SYS_process_vm_readv),
       true},
      {"memfd", "os.memfd_create('x'); got()", true},
      number("execveat", SYS_execveat, "-100, b'/bin/true', 0, 0, 0"),
      {"run_own_file",
       "import shutil, subprocess\n"
       "shutil.copy('/bin/true', 'own'); os.chmod('own', 0o755)\n"
       "got(subprocess.run(['./own']).returncode == 0)"},
      number("io_uring", SYS_io_uring_setup, "1, ctypes.create_string_buffer(200)"),
      number("keyring", SYS_keyctl, "0, -3, 1"),
      number("add_key", SYS_add_key, "b'user', b'x', b'y', 1, -3"),
      number("bpf", SYS_bpf, "0, ctypes.create_string_buffer(128), 128"),
      number("userfaultfd", SYS_userfaultfd, "1"),
      number("perf", SYS_perf_event_open, "ctypes.create_string_buffer(128), 0, -1, -1, 0"),
      number("personality", SYS_personality, "0x0040000"),
      number("host_name", SYS_sethostname, "b'mine', 4"),
      {"calls_of_newer_kernels",
       "for n in range(451, 480):\n"
       "    ctypes.set_errno(0)\n"
       "    call(n, 0, 0, 0, 0, 0, 0)\n"
       "    if ctypes.get_errno() != errno.ENOSYS: got()"},
      {"raise_a_limit", "resource.setrlimit(resource.RLIMIT_NPROC, (99999, 99999)); got()"},
  };
}

inline std::vector<Attempt> attempts_on_others() {
  return {
      {"loopback", "socket.create_connection(('127.0.0.1', PORT), 1); got()", true},
      {"loopback6", "socket.socket(socket.AF_INET6).bind(('::1', 0)); got()"},
      {"abstract_socket", "socket.socket(socket.AF_UNIX).bind('\\0assay-was-here'); got()", true},
      {"netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); got()", true},
      {"socketpair", "socket.socketpair(); got()", true},
      {"kill_us", "os.kill(HOST, 0); got()", true},
      {"kill_the_parent", "os.kill(os.getppid(), 9)\nif os.getppid() != 1: got()", false, true},
      {"stop_the_parent", "os.kill(os.getppid(), 19)", false, true},
      {"kill_all", "os.kill(-1, 9)", false, true},
      {"kill_group", "os.kill(0, 9)", false, true},
      {"leave_the_session", "os.setsid(); got()"},
      {"see_processes", "got(os.getpid() > 60)"},
      {"shared_memory", format("got(call({}, 0x4153, 1 << 20, 0o1666) >= 0)", SYS_shmget)},
      {"semaphores", format("got(call({}, 0x4153, 1, 0o1666) >= 0)", SYS_semget)},
      {"messages", format("got(call({}, 0x4153, 0o1666) >= 0)", SYS_msgget)},
      {"message_queue", format("got(call({}, b'assay', 66, 0o666, 0) >= 0)", SYS_mq_open)},
      {"descriptors",
       "for n in range(3, 256):\n"
       "    try: os.fstat(n)\n"
       "    except OSError: continue\n"
       "    got()"},
      {"environment", "got('ASSAY_TEST_SECRET' in os.environ)"},
      {"write_to_the_input", "os.write(0, b'x'); got()"},
      {"truncate_the_input", "os.ftruncate(0, 1 << 20); got()"},
      {"type_for_the_user", "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSTI, b'x'); got()"},
      {"core_dump", "got(resource.getrlimit(resource.RLIMIT_CORE)[1] != 0)"},
  };
}

// Rarer ways: calls that few programs make, and what the attempts above do by other calls.
inline std::vector<Attempt> attempts_by_rarer_calls() {
  const auto number = [](const char* name, long call, const char* arguments) {
    return Attempt{name, format("got(call({}, {}) >= 0)", call, arguments)};
  };
  return {
      {"own_memory_file", "open('/proc/self/mem', 'r+b'); got()", true},
      {"own_maps", "got(open('/proc/self/maps').read() != '')", true},
      {"folder_of_another", "got(os.path.exists(f'/proc/{HOST}/cwd/.'))"},
      {"descriptors_of_another", "got(len(os.listdir('/proc/1/fd')) >= 0)"},
      {"mount_proc", "got(libc.mount(b'proc', b'/jail', b'proc', 0, None) == 0)"},
      {"mount_overlay",
       "got(libc.mount(b'o', b'/jail', b'overlay', 0, b'lowerdir=/usr,upperdir=/jail') == 0)"},
      number("move_mount", SYS_move_mount, "-100, b'/usr', -100, b'/jail', 0"),
      number("mount_setattr", SYS_mount_setattr,
             "-100, b'/', 0, ctypes.create_string_buffer(32), 32"),
      number("fspick", SYS_fspick, "-100, b'/', 0"),
      number("unshare_processes", SYS_unshare, "0x20000000"),
      number("unshare_network", SYS_unshare, "0x40000000"),
      number("unshare_clock", SYS_unshare, "0x00000080"),
      {"setns_of_a_process",
       format("fd = call({}, os.getppid(), 0)\ngot(libc.setns(fd, 0x20000000) == 0)",
              SYS_pidfd_open)},
      {"kill_by_descriptor",
       format("fd = call({}, HOST, 0)\ngot(fd >= 0 and call({}, fd, 0, 0, 0) == 0)", SYS_pidfd_open,
              SYS_pidfd_send_signal),
       true},
      number("take_a_descriptor", SYS_pidfd_getfd, "3, 0, 0"),
      number("attach", SYS_ptrace, "0x4206, os.getppid(), 0, 0"),
      number("write_to_a_process", SYS_process_vm_writev, "os.getppid(), 0, 0, 0, 0, 0"),
      number("compare_processes", SYS_kcmp, "os.getpid(), os.getpid(), 0, 0, 0"),
      {"limit_another", "resource.prlimit(HOST, resource.RLIMIT_CPU); got()", true},
      {"slow_another", "os.getpriority(os.PRIO_PROCESS, HOST); got()", true},
      {"pin_another", "os.sched_getaffinity(HOST); got()", true},
      {"signal_a_thread", format("got(call({}, HOST, HOST, 0) == 0)", SYS_tgkill), true},
      {"signals_by_a_file",
       "import fcntl\nr, w = os.pipe()\nfcntl.fcntl(r, fcntl.F_SETOWN, HOST); got()", true},
  };
}

inline std::vector<Attempt> attempts_by_rarer_parts_of_the_kernel() {
  const auto number = [](const char* name, long call, const char* arguments) {
    return Attempt{name, format("got(call({}, {}) >= 0)", call, arguments)};
  };
  const auto socket = [](const char* name, const char* arguments) {
    return Attempt{name, format("socket.socket({}); got()", arguments)};
  };
  return {
      number("io_uring_enter", SYS_io_uring_enter, "0, 1, 0, 0, 0, 0"),
      number("aio", SYS_io_setup, "1, ctypes.create_string_buffer(8)"),
      number("request_key", SYS_request_key, "b'user', b'x', 0, -3"),
      number("join_a_keyring", SYS_keyctl, "1, b'assay'"),
      number("secret_memory", SYS_memfd_secret, "0"),
      number("run_from_memory", SYS_execveat, "3, b'', 0, 0, 0x1000"),
      number("fanotify", SYS_fanotify_init, "0, 0"),
      number("kernel_module", SYS_init_module, "b'', 0, b''"),
      number("new_kernel", SYS_kexec_load, "0, 0, 0, 0"),
      number("kernel_log", SYS_syslog, "3, ctypes.create_string_buffer(99), 99"),
      number("set_the_clock", SYS_clock_settime, "0, ctypes.create_string_buffer(16)"),
      number("swap", SYS_swapon, "b'/jail/x', 0"),
      number("quota", SYS_quotactl, "0x80000102, b'/dev/null', 0, 0"),
      number("accounting", SYS_acct, "b'/jail/acct'"),
      number("reboot", SYS_reboot, "0xfee1dead, 672274793, 0, 0"),
      number("attach_shared_memory", SYS_shmat, "0, 0, 0"),
      number("unlink_a_queue", SYS_mq_unlink, "b'assay'"),
      socket("packets", "socket.AF_PACKET, socket.SOCK_RAW, 0"),
      socket("raw_socket", "socket.AF_INET, socket.SOCK_RAW, 1"),
      socket("datagrams", "socket.AF_INET, socket.SOCK_DGRAM"),
      socket("kernel_ciphers", "socket.AF_ALG, socket.SOCK_SEQPACKET"),
      socket("virtual_machines_host", "socket.AF_VSOCK, socket.SOCK_STREAM"),
      {"socket_of_a_service",
       "s = socket.socket(socket.AF_UNIX); s.connect('/run/dbus/system_bus_socket'); got()"},
      {"32_bit_numbers", "got(call(0x40000000 + 20, 1, 0, 0) >= 0)"},
      {"race_of_a_link",
       "for i in range(300):\n"
       "    try:\n"
       "        os.symlink(VICTIM, 'race'); open('race', 'a').write('x'); got()\n"
       "    except OSError: pass\n"
       "    try: os.unlink('race')\n"
       "    except OSError: pass\n"
       "    open('race', 'w').close(); os.unlink('race')"},
      {"unnamed_file_elsewhere", "os.open('/usr', os.O_TMPFILE | os.O_RDWR); got()"},
      {"setuid_bit",
       "open('s', 'w').close(); os.chmod('s', 0o4755); os.chown('s', 0, 0)\n"
       "got(os.stat('s').st_uid == 0 and os.stat('s').st_uid != os.getuid())"},
      {"device_numbers", "os.mknod('tty', 0o20666, os.makedev(5, 0)); got()"},
      {"terminal", "open('/dev/tty', 'w').write('x'); got()"},
      {"core_pattern", "open('/proc/sys/kernel/core_pattern', 'w').write('|/jail/x'); got()"},
      {"control_groups", "got(len(os.listdir('/sys/fs/cgroup')) > 0)", false},
      {"become_another_user", "os.setresuid(1, 1, 1); got()"},
      {"become_another_group", "os.setgroups([0]); got()"},
      {"keep_capabilities",
       "got(libc.prctl(8, 1, 0, 0, 0) == 0 and libc.prctl(7, 0, 0, 0, 0) == 1"
       " and os.setuid(0) is None)"},
      {"undo_no_new_privileges", "got(libc.prctl(38, 0, 0, 0, 0) == 0)"},
      {"undo_seccomp", "got(libc.prctl(22, 0, 0, 0, 0) == 0)"},
      {"more_memory", "resource.setrlimit(resource.RLIMIT_AS, (-1, -1)); got()"},
      {"lock_memory", "got(libc.mlockall(3) == 0)"},
      {"real_time", "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)); got()"},
      {"leave_an_orphan",
       "if os.fork() == 0:\n"
       "    try: os.setsid()\n"
       "    except OSError: os._exit(0)\n"
       "    got()"},
  };
}

}  // namespace assay::score
