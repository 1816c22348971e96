// What an endpoint reports about itself beside its replies: its models, its version, its metrics
// and the Server header. For the record of a curve and for a submission's system_desc.json.
//
// capture_endpoint() sends four GETs, blocking, one after another, and never fails: it notes those
// without a reply. endpoint_facts() is pure: it reads the replies. It copies only the server
// settings that it names, because such pages may hold keys. Any thread.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "protocol/probe.h"

namespace assay::protocol {

inline constexpr std::size_t kCapturedBytesMax = std::size_t{1} << 20;  // of one reply

struct CapturedReply {
  int status = 0;        // 0: no reply
  std::string server{};  // the Server header
  std::string body{};    // of a 200; cut to kCapturedBytesMax
};

struct EndpointReplies {
  std::string trouble{};  // why no request was possible; else ""
  CapturedReply models{};
  CapturedReply version{};      // /version: vLLM, TensorRT-LLM, this program's endpoint
  CapturedReply server_info{};  // /get_server_info: SGLang
  CapturedReply metrics{};      // /metrics, as Prometheus reads it
};

// Uses only the question's URL, key, headers and TLS settings.
EndpointReplies capture_endpoint(const ProbeQuestion& question, const Clock& clock);

// PageReader reads one page of a server again and again over a kept connection, for metrics beside
// a load. Blocking: a read takes at most the question's timeout, twice where it must connect. The
// page is the question's URL, path included. The clock must outlive it. One thread.
class PageReader {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{16} << 20;

  static Result<PageReader> open(const ProbeQuestion& question, const Clock& clock);
  PageReader(PageReader&&) noexcept;
  PageReader& operator=(PageReader&&) noexcept;
  ~PageReader();

  // An error where no reply came; a status other than 200 is data, without a body.
  Result<CapturedReply> read();

 private:
  struct State;
  explicit PageReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A call of vLLM's profiler: an empty POST to /start_profile or /stop_profile, beside the /v1 of
// the question's URL. Blocking.
struct ProfilerReply {
  std::string url{};      // that was asked, without its query
  int status = 0;         // 0: no reply
  std::string trouble{};  // why there is none; else ""
};
ProfilerReply call_profiler(const ProbeQuestion& question, bool start, const Clock& clock);

// {framework, version, server, models: [{id, max_model_len, owned_by}], settings: {tensor_parallel,
// …}, metrics: {series, names}, status: {…}}; leaves out unknown values.
Json endpoint_facts(const EndpointReplies& replies);

}  // namespace assay::protocol
