// The content of requests and where they go: plan/ reads these from a config, protocol/ turns them
// into bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "domain/api.h"
#include "domain/described_kind.h"

namespace assay {

// Sampling and limits; a field left empty is not sent. Names are the reference client's
// model_params.
struct Generation {
  std::string model{};
  bool stream = true;
  std::optional<double> temperature{};
  std::optional<std::int64_t> seed{};
  std::optional<std::int64_t> top_k{};
  std::optional<double> top_p{};
  std::optional<double> repetition_penalty{};
  std::optional<double> presence_penalty{};
  std::optional<double> frequency_penalty{};
  std::int64_t max_new_tokens = 1024;
  // The field for max_new_tokens in chat and completions; "": the API's own, max_completion_tokens
  // and max_tokens.
  std::string limit_field{};
  std::int64_t min_new_tokens = 1;
  bool skip_special_tokens = true;
  bool include_usage = true;  // stream_options.include_usage, where the API has it
  std::optional<bool> ignore_eos{};
  Json chat_template_kwargs{};  // an object, or null
  Json extra_body{};            // merged into each body last; an object, or null
};

enum class HttpVersion : std::uint8_t { automatic, http1, http2 };

struct Endpoints {
  // http://host:port/path · https://… · http+unix:///path/of.sock:/path. The path may end in /v1; a
  // query string is kept.
  std::vector<std::string> urls{};
  Api api = Api::openai;
  // The kind of Api::described; shared, because bodies and replies refer to it while a run lasts.
  std::shared_ptr<const DescribedKind> described{};
  std::string api_key{};                                       // secret: never written to a file
  std::vector<std::pair<std::string, std::string>> headers{};  // extra, sent unchanged
  std::vector<std::string> session_headers{};  // each set to the sample's session id, if it has one
  // Send each query's uuid as x-request-id, so that a server's log can be joined to ours.
  bool request_ids = true;
  bool insecure = false;  // no certificate checks; recorded in the result
  HttpVersion http = HttpVersion::automatic;
  std::uint32_t connections_max = 0;  // 0: as many as descriptors and ports allow
  Duration connect_timeout{10'000'000'000};
  Duration query_timeout = Duration::max();     // from sent to done
  Duration idle_connection_max{4'000'000'000};  // an idle connection older than this is not reused
  // For jobs (is_job): how long after an answer the client asks again, and whether it fetches what
  // a completed job made.
  Duration poll_interval{1'000'000'000};
  bool fetch_artefacts = true;

  Spoken spoken() const { return {api, described.get()}; }
  HttpVersion http_version() const { return is_grpc(api) ? HttpVersion::http2 : http; }
};

}  // namespace assay
