// Hub: the server behind `assay hub serve`: a listener and answer.h on one thread. Sites are behind
// NAT and firewalls, so the hub never connects to anybody: agents ask it.
//
// open() binds, so that url() is known; run() serves until stop(), which any thread may call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace assay::hub {

struct HubOptions {
  std::string store{};  // as for store::open_store
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string certificate_file{};  // PEM; "": HTTP, for loopback or behind a proxy with TLS
  std::string key_file{};
};

class Hub {
 public:
  static Result<std::unique_ptr<Hub>> open(const HubOptions& options);
  ~Hub();

  std::string url() const;  // http://127.0.0.1:8643
  void run();
  void stop();

 private:
  struct State;
  explicit Hub(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::hub
