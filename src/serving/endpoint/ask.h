// Ask: the contents of a request's body, for every API. ApiError: the refusal.
//
// Prompt tokens are an estimate where the prompt is text, because the endpoint has no tokenizer:
// one token for each 4 bytes of JSON text, rounded up; for a chat 4 more a message and 3 at the
// end, about what chat templates add. A prompt of token ids is counted exactly. /tokenize returns
// the same. One AskReader a thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/described_kind.h"

namespace assay::endpoint {

enum class Route : std::uint8_t {
  chat,
  completions,
  generate,
  responses,
  messages,
  ollama_chat,
  ollama_generate,
  embeddings,
  rerank,
  score,
  classify,
  images,
  kserve,
  videos,
  transcriptions,
  translations,
  described,        // of a kind that a file describes
  described_units,  // the same, where its replies have no tokens
  speech,
  realtime,  // a turn of a session (realtime_session.h), read in the form of Responses
  kserve_grpc,
  image_edits,
  video_jobs
};
inline constexpr std::size_t kRoutes = 23;
// Whether a route answers with vectors, scores, pictures, videos or tensors, and no tokens.
constexpr bool is_of_vectors(Route route) {
  return (route >= Route::embeddings && route <= Route::videos) ||
         route == Route::described_units || route >= Route::kserve_grpc;
}
constexpr bool is_described(Route route) {
  return route == Route::described || route == Route::described_units;
}
constexpr bool is_of_sound(Route route) {
  return route == Route::transcriptions || route == Route::translations;
}

// Whether a request may be a form (multipart/form-data).
constexpr bool takes_form(Route route) {
  return is_of_sound(route) || route == Route::image_edits || route == Route::video_jobs;
}

// What a request for vectors or scores is about.
struct VectorAsk {
  std::vector<std::uint64_t> inputs{};  // a hash of each input, or of query and document
  std::vector<std::string> documents{};
  std::uint32_t dimensions = 16;
  std::uint32_t top_n = 0;  // 0: all
  bool base64 = false;
  bool addresses = false;  // of pictures, instead of the pictures
};
inline constexpr std::uint32_t kDimensionsMax = 65'536;
inline constexpr std::size_t kInputsMax = 2048;

// What a request for tensors wants back; `vectors.inputs` has one hash of all its inputs.
struct TensorOutput {
  std::string name{};
  bool binary = false;  // bytes behind the JSON, or raw over gRPC
};
struct TensorAsk {
  std::string id{};
  std::uint32_t rows = 0;  // the batch
  std::vector<TensorOutput> outputs{};
};

enum class SpeechForm : std::uint8_t { pcm, wav, mp3 };
struct SpeechAsk {
  SpeechForm form = SpeechForm::mp3;
  bool events = false;  // server-sent events, instead of the sound's bytes
  std::uint32_t sample_rate = 24'000;
};

struct VideoAsk {
  std::string size = "720x1280";
  std::string seconds = "4";
};

enum class Wish : std::uint8_t { unsaid, yes, no };

struct Ask {
  Route route = Route::chat;
  bool stream = false;
  bool include_usage = false;
  bool continuous_usage = false;  // vLLM's stream_options.continuous_usage_stats
  bool ignore_eos = false;
  bool has_seed = false;
  bool wants_tool = false;
  Wish reasoning = Wish::unsaid;
  std::uint32_t prompt_tokens = 1;
  std::uint32_t choices = 1;
  std::int64_t tokens_max = -1;  // -1: the endpoint chooses
  std::int64_t tokens_min = 0;
  std::uint64_t seed = 0;
  std::string model{};
  std::string tool_name{};
  std::string tool_arguments{};  // JSON text that fits the tool's schema
  std::string asked{};  // the last message's or the prompt's text, if the reader keeps it; a
                        // sound's file name
  VectorAsk vectors{};
  TensorAsk tensors{};
  SpeechAsk speech{};
  VideoAsk video{};
  std::string boundary{};      // of a form's parts
  std::size_t json_bytes = 0;  // of a body with bytes behind its JSON; 0: it is all JSON
};

struct ApiError {
  int status = 400;
  std::string message{};
  std::string type = "invalid_request_error";
  std::string param{};  // "" is null
  std::string code{};   // "" is null
};
// {"error":{"message":…,"type":…,"param":…,"code":…}}
std::string error_body(const ApiError& error);
// The same in the form of a route's own API.
std::string error_body(Route route, const ApiError& error);

inline constexpr std::uint32_t kChoicesMax = 16;

// Readable bytes that must follow a body, of any value (simdjson reads beyond the end).
inline constexpr std::size_t kAskPadding = 64;

class AskReader {
 public:
  // With `keeps_text`, an ask has its last text.
  // `described`: the kind of the described routes; it must outlive the reader. Null: there is none.
  explicit AskReader(bool keeps_text = false, const DescribedKind* described = nullptr);
  AskReader(AskReader&&) noexcept;
  ~AskReader();
  // After an error, `ask` holds the fields read so far.
  std::variant<std::monostate, ApiError> read(Route route, std::string_view body, Ask& ask);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The estimate above, for a text of `bytes` bytes.
constexpr std::uint32_t estimate_tokens(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + 3) / 4);
}

}  // namespace assay::endpoint
