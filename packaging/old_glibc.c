// What the program uses of the C library and version 2.28 of it has not, so that one program runs on
// every distribution since 2018. Linked into packages only (packaging/link.py); where the machine's C
// library has the function, it is used.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The headers of this machine may declare these functions, so they have names of their own here; the
// linker knows them by the C library's.
#ifndef NAMED
#define NAMED(name) __asm__(name)
#endif
int old_epoll_pwait2(int, struct epoll_event*, int, const struct timespec*, const sigset_t*)
    NAMED("epoll_pwait2");
int old_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*)
    NAMED("pthread_cond_clockwait");
struct Found;
int old_find_object(void*, struct Found*) NAMED("_dl_find_object");

// Version 2.32. libstdc++ asks whether it may count references without atomics: never.
char old_single_threaded NAMED("__libc_single_threaded") = 0;

// Version 2.35, and Linux 5.11. An epoll can itself be polled, with the same resolution.
int old_epoll_pwait2(int epoll, struct epoll_event* events, int room,
                     const struct timespec* timeout, const sigset_t* signals) {
  static atomic_int missing = 0;
  if (!missing) {
    const long got = syscall(441, epoll, events, room, timeout, signals, 8);
    if (got >= 0 || errno != ENOSYS) return (int)got;
    missing = 1;
  }
  struct pollfd one = {.fd = epoll, .events = POLLIN};
  const int ready = ppoll(&one, 1, timeout, signals);
  if (ready <= 0) return ready;
  return epoll_wait(epoll, events, room, 0);
}

// Version 2.30. Older ones know only the condition's own clock, which is the wall's for C++'s. A wall
// clock that is set must not hold a waiter up, so a wait ends after a second at the latest; to its
// caller that is a spurious wake-up, as the standard allows.
#ifndef LONGEST_WAIT_NS
#define LONGEST_WAIT_NS 1000000000LL
#endif
int old_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                       const struct timespec* until) {
  typedef int (*Wait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  static atomic_uintptr_t found = 1;  // 1: not looked for
  if (found == 1) found = (uintptr_t)dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  if (found != 0) return ((Wait)found)(condition, mutex, clock, until);
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  int64_t left = (until->tv_sec - now.tv_sec) * 1000000000LL + until->tv_nsec - now.tv_nsec;
  if (left < 0) left = 0;
  const int cut = left > LONGEST_WAIT_NS;
  if (cut) left = LONGEST_WAIT_NS;
  const int64_t nsec = wall.tv_nsec + left;
  wall.tv_sec += nsec / 1000000000LL;
  wall.tv_nsec = nsec % 1000000000LL;
  const int ended = pthread_cond_timedwait(condition, mutex, &wall);
  return ended == ETIMEDOUT && cut ? 0 : ended;
}

// Version 2.35. The unwinder asks which object holds an address, and where its table is.
struct Found {
  unsigned long long flags;
  void* start;
  void* end;
  struct link_map* link_map;
  void* eh_frame;
  unsigned long long reserved[7];
};

struct Search {
  uintptr_t address;
  struct Found* out;
};

static int look(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  struct Search* search = data;
  int here = 0;
  uintptr_t first = UINTPTR_MAX, last = 0, table = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) table = start;
    if (part->p_type != PT_LOAD) continue;
    if (start < first) first = start;
    if (start + part->p_memsz > last) last = start + part->p_memsz;
    if (search->address - start < part->p_memsz) here = 1;
  }
  if (!here || table == 0) return 0;
  search->out->start = (void*)first;
  search->out->end = (void*)last;
  search->out->eh_frame = (void*)table;
  return 1;
}

int old_find_object(void* address, struct Found* out) {
  typedef int (*Find)(void*, struct Found*);
  static atomic_uintptr_t found = 1;
  if (found == 1) found = (uintptr_t)dlsym(RTLD_NEXT, "_dl_find_object");
  if (found != 0) return ((Find)found)(address, out);
  *out = (struct Found){0};
  struct Search search = {(uintptr_t)address, out};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}
