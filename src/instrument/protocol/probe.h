// Probe: is the endpoint up, what does it speak, is its stream valid? It sends one streamed and one
// plain query, and describes the replies in plain words, with the consequences for a measurement. A
// kind without streams gets the plain query alone. A server of tensors is asked what its model
// takes, because only the model's owner knows which tensors mean something.
//
// find() derives the findings from the recordings alone, so every quirk of a server is a test case
// of a few lines; ask_endpoint() sends the queries, blocking and one after another. Numbers in a
// finding come from one query: they are examples, no measurement.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "domain/request_spec.h"
#include "protocol/recording.h"

namespace assay::protocol {

enum class Verdict : std::uint8_t { good, note, bad };
std::string_view to_string(Verdict verdict);

struct ProbeFinding {
  Verdict verdict = Verdict::good;
  std::string topic{};  // one or two words
  std::string text{};   // one sentence
};

struct ProbeQuestion {
  std::string url{};
  Api api = Api::openai;
  std::shared_ptr<const DescribedKind> described{};  // shared with the answers
  std::string model{};                               // "": the first that the endpoint lists
  std::string api_key{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string prompt = "Count from one to one hundred in words.";
  std::int64_t tokens_max = 32;
  bool insecure = false;
  std::string ca_file{};
  Duration timeout = 60_s;  // of connecting, and of each query
  bool kinds = false;       // ask which kinds of API the server has, too
};

// Whether a query's inputs are tensors over HTTP.
constexpr bool is_tensors(Api api) { return api == Api::kserve || api == Api::kserve_json; }

// Whether a server has the route of a kind, by its reply to an empty object: 404 and 405 say no.
// 401 and 403 say nothing of the route.
struct KindAnswer {
  Api api = Api::openai;
  int status = 0;  // 0: no reply

  bool closed() const { return status == 401 || status == 403; }
  bool there() const { return status != 0 && !closed() && status != 404 && status != 405; }
};

// What was asked, and the replies.
struct ProbeAnswers {
  std::string model{};
  std::string address{};      // the one that accepted the connection
  std::string tls_version{};  // "" without TLS
  Duration connect_time{};    // TLS included
  std::int64_t tokens_max = 0;
  Api api = Api::openai;
  std::shared_ptr<const DescribedKind> described{};

  Spoken spoken() const { return {api, described.get()}; }

  bool models_asked = false;
  int models_status = 0;  // 0: no reply
  std::vector<std::string> models{};

  std::vector<KindAnswer> kinds{};  // all, where they were asked

  bool usage_refused = false;  // stream_options was refused; the query was asked again without
  std::string usage_refusal{};
  Recording streamed{};
  Recording plain{};  // of a kind that answers with sound: asked with stream_format sse
  bool plain_asked = false;
  bool plain_on_same_connection = false;
  std::uint32_t sound_rate = 0;  // as in Asked
};

struct ProbeReport {
  std::string url{};
  std::string model{};
  std::vector<std::string> models{};
  std::vector<std::string> kinds{};      // of API that the server has, where they were asked
  bool answers = false;                  // both queries got a usable reply
  std::vector<ProbeFinding> findings{};  // bad, then note, then good; else in the order found
  ReplyFacts streamed{};
  ReplyFacts plain{};
  Instant streamed_sent{};
  Instant plain_sent{};
};

// Fails only when the endpoint cannot be reached or the question is invalid; the endpoint's faults
// are in the answers.
Result<ProbeAnswers> ask_endpoint(const ProbeQuestion& question, const Clock& clock);

// A server of tensors over gRPC (Api::kserve_grpc): whether it and its model are ready, and what
// the model takes. Fails where no reply came.
Result<ProbeReport> probe_grpc(const ProbeQuestion& question, const Clock& clock);

ProbeReport find(const ProbeQuestion& question, const ProbeAnswers& answers);

// The report as text of a hundred columns, and as JSON for programs.
std::string to_text(const ProbeReport& report);
Json to_json(const ProbeReport& report);

}  // namespace assay::protocol
