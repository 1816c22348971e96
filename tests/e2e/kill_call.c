// Preloaded into a program that shall be killed at its KILL_CALL-th call that writes to a file, syncs
// one or sends to a peer: before the call, or behind it with KILL_AFTER. Processes that it starts are
// left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static int wanted;
static int after;

__attribute__((constructor)) static void read_wish(void) {
  const char* call = getenv("KILL_CALL");
  wanted = call == NULL ? 0 : atoi(call);
  after = getenv("KILL_AFTER") != NULL;
  unsetenv("KILL_CALL");
}

static int is_the_call(void) {
  static int calls = 0;
  return wanted > 0 && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == wanted;
}

#define KILLED_AT(call)                    \
  const int now = is_the_call();           \
  if (now && !after) raise(SIGKILL);       \
  const __typeof__(call) result = (call);  \
  if (now) raise(SIGKILL);                 \
  return result

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  ssize_t (*real)(int, const void*, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
  KILLED_AT(real(fd, bytes, size, at));
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  ssize_t (*real)(int, const void*, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  KILLED_AT(real(fd, bytes, size, at));
}

int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  KILLED_AT(real(fd));
}

int fdatasync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  KILLED_AT(real(fd));
}

ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  ssize_t (*real)(int, const void*, size_t, int) = dlsym(RTLD_NEXT, "send");
  KILLED_AT(real(fd, bytes, size, flags));
}

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  ssize_t (*real)(int, const struct msghdr*, int) = dlsym(RTLD_NEXT, "sendmsg");
  KILLED_AT(real(fd, message, flags));
}
