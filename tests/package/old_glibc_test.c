// What an old C library lacks (packaging/old_glibc.c), as if this machine's lacked it too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

static void* real_dlsym(const char* name) { return dlsym(RTLD_DEFAULT, name); }
static long no_syscall(void) {
  errno = ENOSYS;
  return -1;
}
#define dlsym(place, name) ((void*)0)
#define syscall(...) no_syscall()
#define NAMED(name)  // beside the C library's, not in place of them
#define LONGEST_WAIT_NS 1000000LL
#include "../../packaging/old_glibc.c"
#undef dlsym

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                        \
  do {                                                           \
    if (!(condition)) {                                          \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);    \
      exit(1);                                                   \
    }                                                            \
  } while (0)

static void an_event_is_returned_and_a_wait_ends(void) {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  const int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = 42}, got[4];
  EXPECT(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
  const struct timespec short_wait = {0, 2000000}, long_wait = {60, 0};
  EXPECT(old_epoll_pwait2(epoll, got, 4, &short_wait, NULL) == 0);
  EXPECT(write(ends[1], "x", 1) == 1);
  EXPECT(old_epoll_pwait2(epoll, got, 4, &long_wait, NULL) == 1);
  EXPECT(got[0].data.u64 == 42);
  EXPECT(old_epoll_pwait2(-1, got, 4, &short_wait, NULL) != 1);
}

static void a_condition_waits_no_longer_than_it_was_told(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  EXPECT(old_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
  // A far instant: woken before it, as if by chance.
  until.tv_sec += 3600;
  EXPECT(old_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until) == 0);
  pthread_mutex_unlock(&mutex);
}

static void an_address_has_the_tables_that_the_c_library_says(void) {
  typedef int (*Find)(void*, struct Found*);
  const Find theirs = (Find)real_dlsym("_dl_find_object");
  EXPECT(theirs != NULL);
  void* const here = (void*)&an_address_has_the_tables_that_the_c_library_says;
  void* const there = real_dlsym("qsort");
  for (int i = 0; i < 2; ++i) {
    struct Found ours = {0}, wanted = {0};
    EXPECT(old_find_object(i == 0 ? here : there, &ours) == 0);
    EXPECT(theirs(i == 0 ? here : there, &wanted) == 0);
    EXPECT(ours.eh_frame == wanted.eh_frame);
    EXPECT(ours.start == wanted.start);
  }
  struct Found none;
  EXPECT(old_find_object((void*)16, &none) == -1);
}

int main(void) {
  an_event_is_returned_and_a_wait_ends();
  a_condition_waits_no_longer_than_it_was_told();
  an_address_has_the_tables_that_the_c_library_says();
  return 0;
}
