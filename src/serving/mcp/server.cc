#include "mcp/server.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kOutMax = 4u << 20;
constexpr std::size_t kMessagesMax = 32u << 10;  // the last of them are kept
constexpr Duration kPatience = 10_s;             // from one request to end to the next, harder one
constexpr Duration kLook = 100_ms;               // a process may end after its pipes

struct Running {
  std::uint64_t number = 0;
  bool service = false;
  bool is_ready = false;  // a service that has said its first line
  Child child;
  std::string out{};
  std::string messages{};
  std::size_t told = 0;  // bytes of `messages` that went out as progress
  bool out_too_long = false;
  int asked_to_end = 0;
  Instant ask_again{};
};

class Server {
 public:
  Server(const ServerOptions& options, Clock& clock)
      : options_(options), clock_(clock), session_(options.tools, options.rights) {}

  Result<void> run() {
    while (open_) {
      wait();
      for (Running& one : running_) hear(one);
      read_requests();
      look_after();
    }
    end_all();
    return {};
  }

 private:
  void wait() {
    std::vector<pollfd> fds{{.fd = options_.in, .events = POLLIN, .revents = 0}};
    bool closing = false;  // no descriptor wakes poll() at the end of a process
    for (const Running& one : running_) {
      for (const int fd : {one.child.out_fd(), one.child.messages_fd()}) {
        if (fd >= 0) fds.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      }
      closing = closing || one.child.out_fd() < 0 || one.asked_to_end > 0;
    }
    const int ms = closing ? static_cast<int>(kLook.ns / 1'000'000) : -1;
    ::poll(fds.data(), fds.size(), ms);
  }

  void send(std::string line) {
    if (line.empty()) return;
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t sent = ::write(options_.out, rest.data(), rest.size());
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) {
        pollfd out{.fd = options_.out, .events = POLLOUT, .revents = 0};
        ::poll(&out, 1, -1);
        continue;
      }
      if (sent <= 0) {
        open_ = false;
        return;
      }
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  void read_requests() {
    // The descriptor stays as it was given: others may share it.
    std::array<char, 65'536> bytes{};
    pollfd in{.fd = options_.in, .events = POLLIN, .revents = 0};
    while (open_ && ::poll(&in, 1, 0) > 0) {
      const ssize_t size = ::read(options_.in, bytes.data(), bytes.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) {
        open_ = false;
        return;
      }
      in_.append(bytes.data(), static_cast<std::size_t>(size));
      take_lines();
    }
  }

  void take_lines() {
    std::size_t from = 0;
    for (;;) {
      const std::size_t end = in_.find('\n', from);
      if (end == std::string::npos) break;
      const std::string_view line = std::string_view(in_).substr(from, end - from);
      if (!std::exchange(skipping_, false)) obey(session_.receive(line));
      from = end + 1;
    }
    in_.erase(0, from);
    if (in_.size() <= kLineMax) return;
    // Answered once, as what it is; the rest of the line is thrown away.
    if (!skipping_) obey(session_.receive("a line longer than 4 MiB"));
    skipping_ = true;
    in_.clear();
  }

  void obey(Session::Step step) {
    for (std::string& reply : step.replies) send(std::move(reply));
    if (step.start) start(*step.start);
    if (step.cancel) {
      if (Running* const one = find(*step.cancel)) ask_to_end(*one);
    }
    if (step.stop) {
      Running* const one = find(*step.stop);
      const bool is_there = one != nullptr && one->service && one->is_ready;
      if (is_there) ask_to_end(*one);
      send(session_.stopped(*step.stop, is_there));
    }
    if (step.list_services) {
      std::vector<Service> services;
      for (const Running& one : running_) {
        if (one.is_ready && one.asked_to_end == 0) services.push_back(service_of(one));
      }
      send(session_.services(services));
    }
  }

  static Service service_of(const Running& one) {
    return {.number = one.number, .first_line = one.out.substr(0, one.out.find('\n'))};
  }

  Running* find(std::uint64_t number) {
    const auto at =
        std::ranges::find_if(running_, [&](const Running& one) { return one.number == number; });
    return at == running_.end() ? nullptr : &*at;
  }

  void start(const Call& call) {
    if (running_.size() >= options_.at_once_max) {
      send(session_.ended(call.number, {.trouble = format("{} commands are running already; wait "
                                                          "for one or stop it",
                                                          running_.size())}));
      return;
    }
    auto child = Child::start(options_.program, call.command, options_.fence);
    if (!child) {
      send(session_.ended(call.number, {.trouble = child.error().message}));
      return;
    }
    running_.push_back(
        {.number = call.number, .service = call.tool->effects.service, .child = std::move(*child)});
  }

  void hear(Running& one) {
    one.child.read_out(one.out);
    if (one.out.size() > kOutMax) {
      one.out_too_long = one.out_too_long || !one.service;
      one.out.resize(one.service ? kMessagesMax : 0);
    }
    one.child.read_messages(one.messages);
    tell_progress(one);
    if (one.messages.size() > kMessagesMax) {
      const std::size_t cut = one.messages.size() - kMessagesMax;
      one.messages.erase(0, cut);
      one.told -= std::min(one.told, cut);
    }
    if (one.service && !one.is_ready && one.out.find('\n') != std::string::npos) {
      one.is_ready = true;
      send(session_.ready(service_of(one)));
    }
  }

  void tell_progress(Running& one) {
    for (;;) {
      const std::size_t end = one.messages.find('\n', one.told);
      if (end == std::string::npos) return;
      const std::string_view line =
          trim(std::string_view(one.messages).substr(one.told, end - one.told));
      one.told = end + 1;
      if (!line.empty()) send(session_.progress(one.number, line));
    }
  }

  void ask_to_end(Running& one) {
    // A run drains at the first request and stops at the second.
    if (one.asked_to_end < 2) {
      one.child.interrupt();
    } else {
      one.child.kill();
    }
    ++one.asked_to_end;
    one.ask_again = clock_.now() + kPatience;
  }

  void look_after() {
    for (auto at = running_.begin(); at != running_.end();) {
      int status = 0;
      if (!at->child.has_ended(&status)) {
        if (at->asked_to_end > 0 && clock_.now() >= at->ask_again) ask_to_end(*at);
        ++at;
        continue;
      }
      hear(*at);
      const bool told = at->service && at->is_ready;
      if (!told) send(session_.ended(at->number, outcome_of(*at, status)));
      at = running_.erase(at);
    }
  }

  static Outcome outcome_of(Running& one, int status) {
    Outcome out{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                .out = std::move(one.out),
                .messages = std::move(one.messages),
                .out_too_long = one.out_too_long};
    return out;
  }

  void end_all() {
    for (Running& one : running_) ask_to_end(one);
    const Instant limit = clock_.now() + kPatience;
    while (!running_.empty() && clock_.now() < limit) {
      wait();
      std::erase_if(running_, [](Running& one) {
        int status = 0;
        one.child.read_out(one.out);
        one.child.read_messages(one.messages);
        return one.child.has_ended(&status);
      });
    }
    running_.clear();  // kills the rest
  }

  const ServerOptions& options_;
  Clock& clock_;
  Session session_;
  std::list<Running> running_{};
  std::string in_{};
  bool skipping_ = false;  // the rest of a line that was too long
  bool open_ = true;
};

}  // namespace

Result<void> serve(const ServerOptions& options, Clock& clock) {
  return Server(options, clock).run();
}

}  // namespace assay::mcp
