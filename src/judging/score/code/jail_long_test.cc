// The escape suite: what a model's code may try against this machine. Every attempt runs as an
// ordinary user and, if the test is root, as root too. An attempt prints ESCAPED when it succeeded;
// the test checks from outside for traces. Attempts marked `works` also run without a jail and must
// succeed there: they are real.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/testing_temp_folder.h"
#include "score/code/sandbox.h"
#include "score/code/testing_jail.h"
#include "score/code/testing_jail_attempts.h"

namespace assay::score {
namespace {

namespace fs = std::filesystem;

std::vector<unsigned> users() {
  if (::geteuid() == 0) return {0, kOrdinary};
  return {::geteuid()};
}

// A user's folder with a file that code wants, and a listening socket.
class Victim {
 public:
  explicit Victim(unsigned user) {
    ::chmod(folder_.path().c_str(), 0777);
    fs::create_directory(folder_.path() / ".ssh");
    for (const char* name : {"data.jsonl", ".ssh/id_rsa"}) {
      std::ofstream(folder_.path() / name) << "SECRET-OF-THE-USER";
      ::chmod((folder_.path() / name).c_str(), 0666);
      if (::geteuid() == 0) {
        EXPECT_EQ(::chown((folder_.path() / name).c_str(), user, user), 0);
      }
    }
    before_ = state();
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof(any));
    ::listen(listener_, 8);
    socklen_t size = sizeof(any);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&any), &size);
    port_ = ntohs(any.sin_port);
  }
  ~Victim() { ::close(listener_); }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  std::string file() const { return (folder_.path() / "data.jsonl").string(); }
  bool untouched() const { return state() == before_; }

  // Defines names for the attempts.
  std::string preamble() const {
    return format(
        "import ctypes, errno, os, resource, signal, socket, struct, sys, time\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def call(*args):\n"
        "    return libc.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in args))\n"
        "def got(yes=True):\n"
        "    if yes: os.write(1, b'ESCAPED\\n')\n"
        "VICTIM, FOLDER, PORT, HOST = '{}', '{}', {}, {}\n",
        file(), folder_.path().string(), port_, ::getpid());
  }

 private:
  // Everything that an attempt could change: content, mode, times, attributes, names beside it.
  std::string state() const {
    std::string out;
    for (const fs::path& path : {folder_.path() / "data.jsonl", folder_.path() / ".ssh/id_rsa"}) {
      struct stat about {};
      if (::stat(path.c_str(), &about) != 0) return "gone";
      std::array<char, 256> names{};
      const ssize_t attributes = ::listxattr(path.c_str(), names.data(), names.size());
      out += format("{} {:o} {} {} {} {};", read_file(path).value_or(""), about.st_mode,
                    about.st_uid, about.st_nlink, about.st_mtime, attributes);
    }
    return out;
  }

  TempFolder folder_{};
  std::string before_{};
  int listener_ = -1;
  int port_ = 0;
};

// Runs all attempts in one jail, each in its own process; names those that escaped.
std::string batch(const std::vector<Attempt>& attempts) {
  std::string out;
  for (const Attempt& attempt : attempts) {
    out += format(
        "if os.fork() == 0:\n"
        "    try: exec({})\n"
        "    except BaseException: pass\n"
        "    os._exit(0)\n"
        "try: os.wait()\n"
        "except ChildProcessError: pass\n"
        "os.write(1, b'{} was tried\\n')\n",
        Json(attempt.code).dump(), attempt.name);
  }
  return out;
}

void try_in_jail(unsigned user, const std::vector<Attempt>& attempts) {
  const Victim victim(user);
  const bool alone = attempts.size() == 1;
  const std::string code = victim.preamble() + (alone ? attempts.front().code : batch(attempts));
  const std::string said = as_user(user, [&] {
    const auto end = run_program(attempt_of(code));
    return end ? end->out + format("[{} {}]", end->exit_code, end->signal) : end.error().message;
  });
  EXPECT_EQ(said.find("ESCAPED"), std::string::npos) << "user " << user << "\n" << said;
  EXPECT_TRUE(said.ends_with("]")) << said;
  EXPECT_TRUE(alone || said.find(attempts.back().name + " was tried") != std::string::npos) << said;
  EXPECT_TRUE(victim.untouched()) << "user " << user << "\n" << said;
}

void try_without_jail(const Attempt& attempt) {
  const Victim victim(::geteuid());
  Program free = attempt_of(victim.preamble() + attempt.code);
  free.jail.reset();
  const TempFolder folder;
  free.folder = folder.path();
  const auto end = run_program(free);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_NE(end->out.find("ESCAPED"), std::string::npos)
      << attempt.name << " is not an attempt: " << end->err;
}

void try_all(const std::vector<Attempt>& attempts) {
  ::setenv("ASSAY_TEST_SECRET", "x", 1);
  std::vector<Attempt> together;
  for (const Attempt& attempt : attempts) {
    if (attempt.works) try_without_jail(attempt);
    if (!attempt.alone) together.push_back(attempt);
  }
  for (const unsigned user : users()) {
    try_in_jail(user, together);
    for (const Attempt& attempt : attempts) {
      if (attempt.alone) try_in_jail(user, {attempt});
    }
  }
}

TEST(Jail, no_way_to_the_users_files) { try_all(attempts_on_files()); }
TEST(Jail, no_way_by_the_kernel) { try_all(attempts_on_the_kernel()); }
TEST(Jail, no_way_to_others) { try_all(attempts_on_others()); }
TEST(Jail, no_way_by_rarer_calls) { try_all(attempts_by_rarer_calls()); }
TEST(Jail, no_way_by_rarer_parts_of_the_kernel) {
  try_all(attempts_by_rarer_parts_of_the_kernel());
}

}  // namespace
}  // namespace assay::score
