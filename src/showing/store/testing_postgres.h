// For tests: a private PostgreSQL, in a folder of its own, reached by a Unix socket there, ended
// with the test program. PostgreSQL refuses to run as root, so a root test runs it as kNobody.
// Debian package: postgresql.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"

namespace assay::store {

class TestPostgres {
 public:
  // Started by the first call.
  static TestPostgres& shared() {
    static TestPostgres server;
    return server;
  }

  // An empty database.
  std::string fresh_url() {
    const std::string name = format("t{}", ++databases_);
    run(format("{}/createdb -h {} -U assay {}", bin_, socket_, name));
    return format("postgresql://assay@/{}?host={}", name, socket_);
  }

  ~TestPostgres() { run(format("{}/pg_ctl -D {} -m immediate stop", bin_, data_)); }
  TestPostgres(const TestPostgres&) = delete;
  TestPostgres& operator=(const TestPostgres&) = delete;

 private:
  static constexpr unsigned kNobody = 65534;

  TestPostgres() : bin_(find_bin()) {
    socket_ = folder_.path().string();
    data_ = socket_ + "/data";
    if (::geteuid() == 0) CHECK(::chown(socket_.c_str(), kNobody, kNobody) == 0);
    run(format("{}/initdb -D {} -U assay -A trust -E UTF8 --locale=C --no-sync", bin_, data_));
    run(format("{}/pg_ctl -D {} -w -l {}/log -o \"-k {} -h '' -c fsync=off\" start", bin_, data_,
               data_, socket_));
  }

  static std::string find_bin() {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql")) {
      const std::string bin = (entry.path() / "bin").string();
      if (std::filesystem::exists(bin + "/initdb") && bin > newest) newest = bin;
    }
    CHECK(!newest.empty());
    return newest;
  }

  static void run(const std::string& command) {
    const std::string as =
        ::geteuid() == 0 ? format("setpriv --reuid={0} --regid={0} --clear-groups ", kNobody) : "";
    const std::string line = format("cd / && {}{} >/dev/null 2>&1", as, command);
    CHECK(std::system(line.c_str()) == 0);
  }

  TempFolder folder_{};
  std::string bin_;
  std::string socket_{};
  std::string data_{};
  int databases_ = 0;
};

}  // namespace assay::store
