// Preloaded into a program whose host's clocks shall differ from the others': CLOCK_MONOTONIC,
// CLOCK_REALTIME and the kernel's receive stamps are all moved by CLOCK_SHIFT_S seconds and then
// run faster by CLOCK_DRIFT_PPM, as on a machine whose oscillator is off.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

static double number(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : atof(text);
}

static int (*real_gettime)(clockid_t, struct timespec*);
static int64_t began;  // of CLOCK_MONOTONIC, as it is
static int64_t shift;
static double drift;

static int64_t ns_of(const struct timespec* at) { return at->tv_sec * 1000000000LL + at->tv_nsec; }

static void put(int64_t ns, struct timespec* at) {
  at->tv_sec = ns / 1000000000LL;
  at->tv_nsec = ns % 1000000000LL;
}

__attribute__((constructor)) static void start(void) {
  real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  shift = (int64_t)(number("CLOCK_SHIFT_S") * 1e9);
  drift = number("CLOCK_DRIFT_PPM") * 1e-6;
  struct timespec now;
  real_gettime(CLOCK_MONOTONIC, &now);
  began = ns_of(&now);
}

static int64_t moved_now(void) {
  struct timespec now;
  real_gettime(CLOCK_MONOTONIC, &now);
  return shift + (int64_t)(drift * (double)(ns_of(&now) - began));
}

int clock_gettime(clockid_t id, struct timespec* at) {
  if (real_gettime == NULL) start();
  const int result = real_gettime(id, at);
  if (result == 0 && (id == CLOCK_MONOTONIC || id == CLOCK_REALTIME)) {
    put(ns_of(at) + moved_now(), at);
  }
  return result;
}

// An absolute sleep is asked for in the moved clock.
int clock_nanosleep(clockid_t id, int flags, const struct timespec* until, struct timespec* left) {
  int (*real)(clockid_t, int, const struct timespec*, struct timespec*) =
      dlsym(RTLD_NEXT, "clock_nanosleep");
  if (id != CLOCK_MONOTONIC || !(flags & TIMER_ABSTIME)) return real(id, flags, until, left);
  struct timespec there;
  put(ns_of(until) - moved_now(), &there);
  return real(id, flags, &there, left);
}

static void move_stamps(struct msghdr* message) {
  for (struct cmsghdr* c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    struct timespec stamp;
    memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
    if (stamp.tv_sec == 0 && stamp.tv_nsec == 0) continue;
    put(ns_of(&stamp) + moved_now(), &stamp);
    memcpy(CMSG_DATA(c), &stamp, sizeof(stamp));
  }
}

// The measuring path reads by syscall(), which is no cancellation point.
long syscall(long number_of, ...) {
  static long (*real)(long, ...);
  if (real == NULL) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  va_list list;
  va_start(list, number_of);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  const long result = real(number_of, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number_of == SYS_recvmsg && result >= 0) move_stamps((struct msghdr*)a[1]);
  return result;
}
