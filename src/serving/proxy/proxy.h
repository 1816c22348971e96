// Proxy: `assay proxy` as a library. It listens, forwards to one server (relay.h) and records a
// trace of what passed (recorder.h). open() binds, so that url() is known and connections can
// queue; start() serves on a thread of its own; stop() ends it and completes the trace. One thread
// calls these functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "proxy/recorder.h"
#include "proxy/relay.h"

namespace assay::proxy {

struct ProxyOptions {
  std::string server{};  // http:// or https:// and nothing behind the port
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::filesystem::path record{};
  std::int64_t block = 64;
  std::filesystem::path tokenizer{};  // empty: none
  bool insecure = false;
  bool spin = false;      // never sleep while a request is under way
  bool realtime = false;  // the forwarding thread goes before all ordinary ones
  std::string ca_file{};
};

class Proxy {
 public:
  static Result<std::unique_ptr<Proxy>> open(const ProxyOptions& options);
  ~Proxy();

  std::string url() const;
  bool loopback() const;  // no other machine reaches it
  const std::filesystem::path& trace() const;

  // Fails where the system refuses the real-time class; then nothing is served.
  Result<void> start();
  // May be called twice. Fails where the trace could not be written.
  Result<void> stop();
  // After stop(): {"requests", "whole", "broken", "gone", "unreached", "stopped",
  // "added_ns", "trace": about.json}. The requests are the sum of the five.
  Json summary() const;

 private:
  struct State;
  explicit Proxy(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::proxy
