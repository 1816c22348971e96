// Preloaded into a program that shall be killed at its KILL_POINT-th step on the way to a file: a
// write, which is then half done, a sync or a rename. Steps on the standard streams do not count.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int is_the_point(void) {
  static int steps = 0;
  const char* wanted = getenv("KILL_POINT");
  return wanted != NULL && __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED) == atoi(wanted);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  ssize_t (*real)(int, const void*, size_t) = dlsym(RTLD_NEXT, "write");
  if (fd > STDERR_FILENO && is_the_point()) {
    if (real(fd, bytes, size / 2) >= 0) raise(SIGKILL);
  }
  return real(fd, bytes, size);
}

int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  if (is_the_point()) raise(SIGKILL);
  return real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  if (is_the_point()) raise(SIGKILL);
  return real(fd);
}

int rename(const char* from, const char* to) {
  int (*real)(const char*, const char*) = dlsym(RTLD_NEXT, "rename");
  if (is_the_point()) raise(SIGKILL);
  return real(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned int flags) {
  int (*real)(int, const char*, int, const char*, unsigned int) = dlsym(RTLD_NEXT, "renameat2");
  if (is_the_point()) raise(SIGKILL);
  return real(from_folder, from, to_folder, to, flags);
}
