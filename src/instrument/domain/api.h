// Api: the kinds of API that Assay speaks, one row each: what a config calls them, what a row of a
// dataset may hold for them, and what their replies are. How a request and a reply look in bytes:
// protocol/kind/.
//
// Pure data; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace assay {

enum class Api : std::uint8_t {
  openai,                 // POST /v1/chat/completions
  openai_completions,     // POST /v1/completions
  sglang,                 // POST /generate
  videogen,               // POST /v1/videos/generations
  openai_responses,       // POST /v1/responses
  anthropic_messages,     // POST /v1/messages
  ollama_chat,            // POST /api/chat
  ollama_generate,        // POST /api/generate
  openai_embeddings,      // POST /v1/embeddings
  rerank,                 // POST /v1/rerank
  score,                  // POST /v1/score
  classify,               // POST /classify
  openai_images,          // POST /v1/images/generations
  kserve,                 // POST /v2/models/MODEL/infer, tensors as bytes behind the JSON
  kserve_json,            // the same, tensors as numbers in the JSON
  kserve_grpc,            // ModelInfer of inference.GRPCInferenceService, over gRPC
  openai_transcriptions,  // POST /v1/audio/transcriptions
  openai_translations,    // POST /v1/audio/translations
  openai_speech,          // POST /v1/audio/speech
  realtime,               // a turn on the WebSocket of /v1/realtime
  openai_image_edits,     // POST /v1/images/edits
  openai_videos,          // POST /v1/videos: a job, which is polled until its video is there
  described,              // a kind that a file describes (described_kind.h)
};

// The unit of sound: not what a query asks for, but what its reply brings. Units are one word.
inline constexpr std::string_view kAudioSecond = "audiosecond";

struct ApiRow {
  Api api = Api::openai;
  std::string_view name{};  // in configs, flags and records
  std::string_view what{};  // in the words of help and guide
  // What a row of a dataset may hold: messages, content parts and tools; or token ids. All take a
  // prompt.
  bool takes_messages = false;
  bool takes_token_ids = false;
  bool streams = true;
  // What a reply is made of, where that is not tokens: the measured unit, in the singular; else "".
  // A query asks for as many as it has inputs (Event::choices_asked).
  std::string_view unit{};
  // Columns of a dataset's row that go into the request under their own names, beside those that
  // all kinds send (dataset.h).
  std::span<const std::string_view> columns{};
  // The field for the token limit of a reply, for APIs whose servers know two such fields; else "".
  std::string_view limit_field{};
};
// Whether a kind is spoken over gRPC, and so over HTTP/2 alone.
constexpr bool is_grpc(Api api) { return api == Api::kserve_grpc; }
// Whether a query is a job, whose state the client polls.
constexpr bool is_job(Api api) { return api == Api::openai_videos; }

inline constexpr std::array<std::string_view, 3> kEmbeddingsColumns{"input", "dimensions",
                                                                    "encoding_format"};
inline constexpr std::array<std::string_view, 1> kInputColumns{"input"};
inline constexpr std::array<std::string_view, 2> kRerankColumns{"documents", "top_n"};
inline constexpr std::array<std::string_view, 1> kScoreColumns{"documents"};
inline constexpr std::array<std::string_view, 9> kImagesColumns{
    "size",  "quality", "response_format", "output_format",      "background",
    "style", "seed",    "negative_prompt", "num_inference_steps"};

inline constexpr std::array<std::string_view, 11> kImageEditsColumns{"image",
                                                                     "mask",
                                                                     "size",
                                                                     "quality",
                                                                     "response_format",
                                                                     "output_format",
                                                                     "background",
                                                                     "input_fidelity",
                                                                     "seed",
                                                                     "negative_prompt",
                                                                     "num_inference_steps"};
inline constexpr std::array<std::string_view, 9> kVideoJobColumns{
    "input_reference",     "seconds",       "size", "fps", "num_frames", "seed", "negative_prompt",
    "num_inference_steps", "guidance_scale"};

inline constexpr std::array<std::string_view, 3> kTensorColumns{"inputs", "outputs", "parameters"};

inline constexpr std::array<std::string_view, 1> kSoundColumns{"audio"};
inline constexpr std::array<std::string_view, 6> kSpeechColumns{
    "voice", "response_format", "speed", "instructions", "stream_format", "sample_rate"};
inline constexpr std::array<std::string_view, 5> kRealtimeColumns{
    "audio", "voice", "pace", "sample_rate", "output_modalities"};
inline constexpr std::array<std::string_view, 13> kVideoColumns{
    "negative_prompt", "size",          "seconds",        "fps",         "num_inference_steps",
    "guidance_scale",  "seed",          "num_frames",     "latent_path", "guidance_scale_2",
    "boundary_ratio",  "output_format", "response_format"};

// In the order of the enumeration.
inline constexpr std::array<ApiRow, 23> kApis{{
    {.api = Api::openai,
     .name = "openai",
     .what = "chat completions",
     .takes_messages = true,
     .limit_field = "max_completion_tokens"},
    {.api = Api::openai_completions,
     .name = "openai_completions",
     .what = "completions",
     .takes_token_ids = true,
     .limit_field = "max_tokens"},
    {.api = Api::sglang, .name = "sglang", .what = "SGLang's /generate", .takes_token_ids = true},
    {.api = Api::videogen,
     .name = "videogen",
     .what = "videos, as the reference client asks for them",
     .streams = false,
     .unit = "video",
     .columns = kVideoColumns},
    {.api = Api::openai_responses,
     .name = "openai_responses",
     .what = "OpenAI's Responses",
     .takes_messages = true},
    {.api = Api::anthropic_messages,
     .name = "anthropic_messages",
     .what = "Anthropic's Messages",
     .takes_messages = true},
    {.api = Api::ollama_chat,
     .name = "ollama_chat",
     .what = "Ollama's /api/chat",
     .takes_messages = true},
    {.api = Api::ollama_generate, .name = "ollama_generate", .what = "Ollama's /api/generate"},
    {.api = Api::openai_embeddings,
     .name = "openai_embeddings",
     .what = "embeddings",
     .streams = false,
     .unit = "embedding",
     .columns = kEmbeddingsColumns},
    {.api = Api::rerank,
     .name = "rerank",
     .what = "reranking",
     .streams = false,
     .unit = "document",
     .columns = kRerankColumns},
    {.api = Api::score,
     .name = "score",
     .what = "scores of pairs",
     .streams = false,
     .unit = "pair",
     .columns = kScoreColumns},
    {.api = Api::classify,
     .name = "classify",
     .what = "classification",
     .streams = false,
     .unit = "input",
     .columns = kInputColumns},
    {.api = Api::openai_images,
     .name = "openai_images",
     .what = "pictures",
     .streams = false,
     .unit = "image",
     .columns = kImagesColumns},
    {.api = Api::kserve,
     .name = "kserve",
     .what = "KServe's inference, tensors in bytes",
     .streams = false,
     .unit = "inference",
     .columns = kTensorColumns},
    {.api = Api::kserve_json,
     .name = "kserve_json",
     .what = "KServe's inference, tensors in JSON",
     .streams = false,
     .unit = "inference",
     .columns = kTensorColumns},
    {.api = Api::kserve_grpc,
     .name = "kserve_grpc",
     .what = "KServe's inference over gRPC",
     .streams = false,
     .unit = "inference",
     .columns = kTensorColumns},
    {.api = Api::openai_transcriptions,
     .name = "openai_transcriptions",
     .what = "speech to text",
     .columns = kSoundColumns},
    {.api = Api::openai_translations,
     .name = "openai_translations",
     .what = "speech to English text",
     .columns = kSoundColumns},
    {.api = Api::openai_speech,
     .name = "openai_speech",
     .what = "text to speech",
     .unit = kAudioSecond,
     .columns = kSpeechColumns},
    {.api = Api::realtime,
     .name = "realtime",
     .what = "speech and text over a WebSocket",
     .takes_messages = true,
     .columns = kRealtimeColumns},
    {.api = Api::openai_image_edits,
     .name = "openai_image_edits",
     .what = "pictures from pictures",
     .streams = false,
     .unit = "image",
     .columns = kImageEditsColumns},
    {.api = Api::openai_videos,
     .name = "openai_videos",
     .what = "videos as jobs that are polled",
     .streams = false,
     .unit = "video",
     .columns = kVideoJobColumns},
    {.api = Api::described, .name = "described", .what = "a kind that a file describes (--kind)"},
}};

constexpr const ApiRow& row_of(Api api) { return kApis[static_cast<std::size_t>(api)]; }
constexpr std::string_view to_string(Api api) { return row_of(api).name; }
std::optional<Api> api_from(std::string_view text);

constexpr std::string_view own_limit_field(Api api) { return row_of(api).limit_field; }

}  // namespace assay
