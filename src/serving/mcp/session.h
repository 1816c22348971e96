// Session: the Model Context Protocol's server side without sockets or processes: lines in, lines
// out (JSON-RPC 2.0, one message a line; revisions 2024-11-05 to 2025-11-25, which begin with a
// handshake, and 2026-07-28, whose requests each name it). It answers what it can by itself; a call
// of a tool comes out as a Call, whose end the owner reports. One thread.
//
// Source: the protocol's public specification, "Base protocol", "Lifecycle", "Tools", "Progress",
// "Cancellation".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/tool.h"

namespace assay::mcp {

// Longest line that is read; a longer one is no request of an agent.
inline constexpr std::size_t kLineMax = 4u << 20;

struct Call {
  std::uint64_t number = 0;  // counts the calls of a session, from 1
  const Tool* tool = nullptr;
  std::vector<std::string> command{};  // from the command's name on
};

// How a command ended.
struct Outcome {
  int exit_code = 0;
  int signal = 0;          // that ended it; 0: none
  std::string out{};       // its standard output
  std::string messages{};  // its standard error
  bool out_too_long = false;
  std::string trouble{};  // why it could not be started; else empty
};

// A command that goes on: serve, endpoint.
struct Service {
  std::uint64_t number = 0;  // of its call
  std::string first_line{};  // what it said when it was ready
};

class Session {
 public:
  // `tools`: all commands; those that `rights` does not allow are left out.
  Session(std::vector<Tool> tools, Rights rights);

  struct Step {
    std::vector<std::string> replies{};     // lines, without line ends
    std::optional<Call> start{};            // to be started
    std::optional<std::uint64_t> cancel{};  // the call to be ended; it gets no reply
    std::optional<std::uint64_t> stop{};    // the service to be ended; stopped() replies
    bool list_services = false;             // services() replies
  };
  Step receive(std::string_view line);

  // The replies of a call, each at most once; an empty text where the agent has cancelled it.
  std::string ended(std::uint64_t call, const Outcome& outcome);
  std::string ready(const Service& service);
  std::string stopped(std::uint64_t service, bool was_there);
  std::string services(const std::vector<Service>& running);
  // A notification, or an empty text where the agent asked for none.
  std::string progress(std::uint64_t call, std::string_view text);

 private:
  struct Open {
    Json id{};
    Json progress_token{};
    std::uint64_t steps = 0;
    bool modern = false;  // 2026-07-28
  };

  void answer(const Json& message, Step& step);
  Json initialize(const Json& params) const;
  Json discover() const;
  Json list() const;
  std::string instructions() const;
  void call(Open open, const Json& params, Step& step);
  void cancel(const Json& params, Step& step);
  void builtin_call(Open open, std::string_view name, const Json& arguments, Step& step);
  std::optional<Open> take(std::uint64_t call);

  std::vector<Tool> tools_;
  Rights rights_;
  std::uint64_t calls_ = 0;
  std::map<std::uint64_t, Open> open_{};
  std::vector<Open> waiting_{};  // calls that the owner answers next
};

}  // namespace assay::mcp
