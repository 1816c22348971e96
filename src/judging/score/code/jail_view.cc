// Chooses the tree of files for a jailed program, and finds the program in it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "score/code/jail.h"

namespace assay::score {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSystem = {"usr",   "bin",    "sbin",      "lib",      "lib32",
                                "lib64", "libx32", "nix/store", "gnu/store"};
// The files of /etc that the loader and the languages need; no accounts.
constexpr std::array kEtc = {"etc/alternatives", "etc/ld.so.cache", "etc/php"};
constexpr std::array kDevices = {"dev/null", "dev/zero", "dev/full", "dev/random", "dev/urandom"};
// The parts of a language's folder outside the system: programs and libraries only.
constexpr std::array kPrefixParts = {"bin", "lib", "lib64", "libexec", "include"};

bool is_system(const fs::path& path) {
  return std::any_of(kSystem.begin(), kSystem.end(), [&path](const char* folder) {
    return path.string().starts_with(format("/{}/", folder));
  });
}

// The launchers of pyenv, rbenv and asdf are shell scripts that find a program by the user's own
// files, which a jail does not show.
bool is_launcher(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.starts_with("#!") && line.find("sh") != std::string::npos;
}

std::string places() {
  const char* const path = std::getenv("PATH");
  return path == nullptr || *path == '\0' ? "/usr/local/bin:/usr/bin:/bin" : path;
}

class View {
 public:
  explicit View(const Program& program) : program_(program), jail_(*program.jail) {}

  Result<JailView> make() {
    if (jail_.view == Jail::View::disk) {
      whole_disk();
    } else {
      programs_only();
    }
    for (const auto& command : program_.commands) TRY(find(command.front()));
    if (jail_.view == Jail::View::programs) {
      hide_ourselves();
      if (made_.count("tmp") == 0) out_.links.emplace_back("/jail", "tmp");
      out_.search_path = (own_path_.empty() ? "" : own_path_ + ":") +
                         "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
    }
    return std::move(out_);
  }

 private:
  void add_folder(const fs::path& at) {
    fs::path path;
    for (const fs::path& part : at.relative_path()) {
      path /= part;
      if (made_.insert(path.string()).second) out_.folders.push_back(path.string());
    }
  }
  void add_bind(const fs::path& from, const fs::path& at, bool devices = false) {
    std::error_code error;
    const bool folder = fs::is_directory(from, error);
    if (!made_.insert(at.relative_path().string()).second) return;
    if (at.has_parent_path()) add_folder(at.parent_path());
    out_.binds.push_back({.from = from.string(),
                          .at = at.relative_path().string(),
                          .folder = folder,
                          .devices = devices});
  }

  void whole_disk() {
    out_.whole_disk = true;
    out_.search_path = places();
    std::vector<fs::path> writable = jail_.writable;
    if (!program_.folder.empty()) writable.push_back(program_.folder);
    for (const fs::path& path : writable) {
      const std::string real = fs::absolute(path).lexically_normal().string();
      out_.binds.push_back({.from = real, .at = real.substr(1), .writable = true});
      out_.writable.push_back(real);
    }
    out_.writable.emplace_back("/dev");
  }

  void programs_only() {
    std::error_code error;
    for (const char* name : kSystem) {
      const fs::path path = fs::path("/") / name;
      if (fs::is_symlink(path, error)) {
        out_.links.emplace_back(fs::read_symlink(path, error).string(), name);
      } else if (fs::is_directory(path, error)) {
        add_bind(path, name);
      }
    }
    for (const char* name : kEtc) {
      if (fs::exists(fs::path("/") / name, error)) add_bind(fs::path("/") / name, name);
    }
    for (const char* name : kDevices) add_bind(fs::path("/") / name, name, true);
    out_.links.emplace_back("/jail/stdin", "dev/stdin");
    out_.links.emplace_back("/jail/stdout", "dev/stdout");
    out_.writable.emplace_back(kJailWork);
    add_folder("jail");
  }

  // If Assay is installed among the system's programs, an empty file hides it.
  void hide_ourselves() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) return;
    const bool seen = std::any_of(out_.binds.begin(), out_.binds.end(), [&self](const auto& bind) {
      return self.string().starts_with("/" + bind.at + "/");
    });
    if (!seen) return;
    out_.binds.push_back({.from = "/dev/null",
                          .at = self.relative_path().string(),
                          .folder = false,
                          .devices = true});
  }

  Result<void> find(const std::string& name) {
    const bool own = jail_.view == Jail::View::programs && name.starts_with("./");
    if (own || (jail_.view == Jail::View::disk && name.find('/') != std::string::npos)) {
      out_.programs.push_back(own ? name : fs::absolute(name).string());
      return {};
    }
    if (name.find('/') != std::string::npos) {
      if (::access(name.c_str(), X_OK) != 0) {
        return Error{Code::not_found, format("no program '{}'", name)};
      }
      return show(fs::absolute(name).lexically_normal());
    }
    const std::string all = places();
    for (const std::string_view place : split(all, ':')) {
      const fs::path path = fs::path(place) / name;
      std::error_code error;
      if (!fs::is_regular_file(path, error) || ::access(path.c_str(), X_OK) != 0) continue;
      const bool seen = jail_.view == Jail::View::disk || is_system(fs::canonical(path, error));
      if (!seen && is_launcher(path)) continue;
      return show(fs::absolute(path).lexically_normal());
    }
    return Error{Code::not_found, format("no program '{}' in PATH", name)};
  }

  // Shows the program at its own path, and the language that it belongs to.
  Result<void> show(const fs::path& path) {
    out_.programs.push_back(path.string());
    if (jail_.view == Jail::View::disk) return {};
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) return Error{Code::not_found, format("no program '{}'", path.string())};
    for (const fs::path& one : {path, real}) {
      if (is_system(one)) continue;
      const fs::path prefix = one.parent_path().parent_path();
      if (one.parent_path().filename() != "bin" || prefix == prefix.root_path()) {
        add_bind(one, one);
        continue;
      }
      for (const char* part : kPrefixParts) {
        if (fs::is_directory(prefix / part, error)) add_bind(prefix / part, prefix / part);
      }
      own_path_ += (own_path_.empty() ? "" : ":") + one.parent_path().string();
    }
    return {};
  }

  const Program& program_;
  const Jail& jail_;
  JailView out_{};
  std::set<std::string> made_{};
  std::string own_path_{};
};

}  // namespace

Result<JailView> jail_view(const Program& program) {
  for (const auto& command : program.commands) {
    if (command.empty()) return invalid("no program to run");
  }
  return View(program).make();
}

}  // namespace assay::score
