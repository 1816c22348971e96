// Endpoint: the built-in OpenAI-compatible server, as a library. `assay endpoint` runs one; tests
// and `assay calibrate` run one in their own process and know from its truth log when each token
// was sent.
//
// open() binds, so that url() is known and connections wait in line; start() begins to serve on
// threads of its own; stop() ends them. One thread calls these.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "endpoint/options.h"

namespace assay::endpoint {

// What an endpoint has done. Exact once it is stopped.
struct EndpointSummary {
  std::uint64_t requests = 0;  // for tokens: served + gone + rejected + faulted
  std::uint64_t served = 0;
  std::uint64_t gone = 0;  // the client left, or the endpoint was stopped, before the end
  std::uint64_t rejected = 0;
  std::uint64_t faulted = 0;
  std::vector<std::pair<std::string, std::uint64_t>> faults{};  // by name, as the plan lists them
  std::uint64_t prompt_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t events = 0;
  // From when the engine wanted an event out to when it was handed to the kernel.
  double late_us_p50 = 0;
  double late_us_p99 = 0;
  // One event in a hundred left later than a millisecond: the timing was not the one asked for.
  // Never so of an endpoint that was asked for none.
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

// The summary as a person reads it, several lines.
std::string to_string(const EndpointSummary& summary);

}  // namespace assay::endpoint
