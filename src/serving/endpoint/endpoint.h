// Endpoint: the built-in OpenAI-compatible server, as a library. `assay endpoint` runs one; tests
// and `assay calibrate` run their own and learn from its truth log when each token was sent.
//
// open() binds, so that url() is known and connections can queue; start() serves on threads of its
// own; stop() ends them. One thread calls these functions.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "endpoint/options.h"

namespace assay::endpoint {

// The counters of an endpoint. Exact after stop().
struct EndpointSummary {
  std::uint64_t requests = 0;  // for tokens: served + gone + rejected + faulted
  std::uint64_t served = 0;
  std::uint64_t gone = 0;  // the client left, or the endpoint stopped, before the end
  std::uint64_t rejected = 0;
  std::uint64_t faulted = 0;
  std::vector<std::pair<std::string, std::uint64_t>> faults{};  // by name, in the plan's order
  std::uint64_t prompt_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t events = 0;
  // Delay from an event's planned instant to its handover to the kernel.
  double late_us_p50 = 0;
  double late_us_p99 = 0;
  // More than one event in a hundred was over a millisecond late: the configured timing was not
  // kept. Always false for an endpoint without configured timing.
  bool late = false;
  std::uint64_t truth_blocks_dropped = 0;
};

class Endpoint {
 public:
  static Result<std::unique_ptr<Endpoint>> open(const EndpointOptions& options);
  ~Endpoint();

  // http://127.0.0.1:8000 · http+unix:///path/of.sock
  std::string url() const;
  // The certificate that clients may trust, in PEM; "" without TLS.
  const std::string& certificate_pem() const;

  void start();
  // Ends the threads and completes the truth log. May be called twice.
  void stop();
  EndpointSummary summary() const;

 private:
  struct State;
  explicit Endpoint(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The summary for a person, several lines.
std::string to_string(const EndpointSummary& summary);

}  // namespace assay::endpoint
