#include "protocol/kind/kind.h"

#include <array>

#include "protocol/kind/request_parts.h"

namespace assay::protocol {
namespace {

Result<void> check_completions(const Sample& sample) {
  return check_prompt(Api::openai_completions, sample);
}

Result<void> check_sglang(const Sample& sample) { return check_prompt(Api::sglang, sample); }

// Servers mix the shapes of these replies, so one grammar reads them all.
constexpr Kind older(Kind kind) {
  kind.read_event = kind.read_reply = read_reply;
  return kind;
}

constexpr Kind of_ollama(Kind kind) {
  kind.limit_name = "options.num_predict";
  kind.lines = kind.ends_itself = true;
  kind.end_name = "a line that is done";
  kind.varying = {R"("created_at")"};
  kind.read_event = kind.read_reply = read_ollama_line;
  return kind;
}

constexpr Kind of_vectors(Kind kind) {
  kind.read_event = kind.read_reply = read_vectors;
  return kind;
}

constexpr Kind of_tensors(Kind kind) {
  kind.route = "/v2/models/{model}/infer";
  kind.units = one_unit;
  kind.read_event = kind.read_reply = read_tensors;
  return kind;
}

constexpr Kind of_sound(Api api, std::string_view route) {
  return {.api = api,
          .route = route,
          .content_type = kFormType,
          .check = check_sound,
          .body = sound_body,
          .encode = encode_sound,
          .read_event = read_transcript_event,
          .read_reply = read_transcript};
}

constexpr Kind kResponses{.api = Api::openai_responses,
                          .route = "/v1/responses",
                          .limit_name = "max_output_tokens",
                          .ends_itself = true,
                          .end_name = "response.completed",
                          .check = check_messages,
                          .body = responses_body,
                          .varying = {R"("sequence_number")", R"("obfuscation")"},
                          .read_event = read_responses_event,
                          .read_reply = read_responses_reply};

constexpr Kind kMessages{.api = Api::anthropic_messages,
                         .route = "/v1/messages",
                         .limit_name = "max_tokens",
                         .ends_itself = true,
                         .end_name = "message_stop",
                         .key_header = "x-api-key",
                         .header = "anthropic-version",
                         .header_value = "2023-06-01",
                         .check = check_messages,
                         .body = messages_body,
                         .read_event = read_messages_event,
                         .read_reply = read_messages_reply};

constexpr Kind kVideos{.api = Api::videogen,
                       .route = "/v1/videos/generations",
                       .check = check_picture,
                       .body = videos_body,
                       .units = one_unit,
                       .all_units = true,
                       .read_event = read_video,
                       .read_reply = read_video};

constexpr Kind kTensorsGrpc{.api = Api::kserve_grpc,
                            .route = "/inference.GRPCInferenceService/ModelInfer",
                            .accept = "application/grpc",
                            .content_type = "application/grpc",
                            .check = check_tensors_grpc,
                            .body = tensors_grpc_body,
                            .encode = encode_tensors_grpc,
                            .units = one_unit,
                            .read_event = read_tensors_grpc,
                            .read_reply = read_tensors_grpc};

constexpr Kind kSpeech{.api = Api::openai_speech,
                       .route = "/v1/audio/speech",
                       .ends_itself = true,
                       .end_name = "speech.audio.done",
                       .accept = "application/octet-stream",
                       .check = check_picture,
                       .body = speech_body,
                       .encode = encode_speech,
                       .units = one_unit,
                       .sound_rate = rate_of_speech,
                       .raw_sound = true,
                       .read_event = read_speech,
                       .read_reply = read_no_speech};

constexpr Kind kRealtime{.api = Api::realtime,
                         .route = "/v1/realtime",
                         .limit_name = "max_output_tokens",
                         .ends_itself = true,
                         .end_name = "response.done",
                         .check = check_turn,
                         .body = realtime_body,
                         .encode = encode_turn,
                         .sound_rate = rate_of_turn,
                         .socket = true,
                         .beside = beside_the_turn,
                         .varying = {R"("event_id")"},
                         .read_event = read_turn_event,
                         .read_reply = read_no_speech};

constexpr Kind kImageEdits{.api = Api::openai_image_edits,
                           .route = "/v1/images/edits",
                           .content_type = kFormType,
                           .check = check_picture_edit,
                           .body = pictures_body,
                           .encode = encode_plain_form,
                           .units = units_of_pictures,
                           .all_units = true,
                           .read_event = read_vectors,
                           .read_reply = read_vectors};

constexpr Kind kVideoJobs{.api = Api::openai_videos,
                          .route = "/v1/videos",
                          .content_type = kFormType,
                          .check = check_picture,
                          .body = video_job_body,
                          .encode = encode_plain_form,
                          .units = one_unit,
                          .all_units = true,
                          .job = true,
                          .read_event = read_video_job,
                          .read_reply = read_video_job};

constexpr Kind kClassify = of_vectors({.api = Api::classify,
                                       .route = "/classify",
                                       .check = check_inputs,
                                       .body = embeddings_body,
                                       .units = units_of_inputs,
                                       .all_units = true});

constexpr Kind kImages = of_vectors({.api = Api::openai_images,
                                     .route = "/v1/images/generations",
                                     .check = check_picture,
                                     .body = pictures_body,
                                     .units = units_of_pictures,
                                     .all_units = true});

// In the order of the enumeration.
constexpr std::array<Kind, kApis.size()> kKinds{{
    older({.api = Api::openai,
           .route = "/v1/chat/completions",
           .limit_name = "max_completion_tokens",
           .check = check_messages,
           .body = chat_body}),
    older({.api = Api::openai_completions,
           .route = "/v1/completions",
           .limit_name = "max_tokens",
           .check = check_completions,
           .body = completions_body}),
    older({.api = Api::sglang,
           .route = "/generate",
           .limit_name = "max_new_tokens",
           .check = check_sglang,
           .body = sglang_body}),
    kVideos,
    kResponses,
    kMessages,
    of_ollama({.api = Api::ollama_chat,
               .route = "/api/chat",
               .check = check_ollama_chat,
               .body = ollama_chat_body}),
    of_ollama({.api = Api::ollama_generate,
               .route = "/api/generate",
               .check = check_ollama_generate,
               .body = ollama_generate_body}),
    of_vectors({.api = Api::openai_embeddings,
                .route = "/v1/embeddings",
                .check = check_inputs,
                .body = embeddings_body,
                .units = units_of_inputs,
                .all_units = true}),
    of_vectors({.api = Api::rerank,
                .route = "/v1/rerank",
                .check = check_documents,
                .body = rerank_body,
                .units = units_of_documents}),
    of_vectors({.api = Api::score,
                .route = "/v1/score",
                .check = check_documents,
                .body = score_body,
                .units = units_of_documents,
                .all_units = true}),
    kClassify,
    kImages,
    of_tensors({.api = Api::kserve,
                .check = check_tensors,
                .body = tensors_body,
                .encode = encode_tensors}),
    of_tensors({.api = Api::kserve_json, .check = check_tensors_json, .body = tensors_json_body}),
    kTensorsGrpc,
    of_sound(Api::openai_transcriptions, "/v1/audio/transcriptions"),
    of_sound(Api::openai_translations, "/v1/audio/translations"),
    kSpeech,
    kRealtime,
    kImageEdits,
    kVideoJobs,
    {.api = Api::described},
}};

// The rows of described kinds, by what of a row their replies need.
constexpr Kind of_file(bool lines, bool ends_itself, bool all_units) {
  return {.api = Api::described,
          .lines = lines,
          .ends_itself = ends_itself,
          .end_name = "the end that its kind's file describes",
          .all_units = all_units};
}
constexpr std::array<Kind, 8> kOfFiles{of_file(false, false, false), of_file(true, false, false),
                                       of_file(false, true, false),  of_file(true, true, false),
                                       of_file(false, false, true),  of_file(true, false, true),
                                       of_file(false, true, true),   of_file(true, true, true)};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (static_cast<std::size_t>(kKinds[i].api) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

const Kind& kind_of_file(const DescribedKind& own) {
  const bool lines = own.stream == KindStream::lines;
  const bool ends_itself = own.event.end.place >= 0;
  const bool all_units = !own.unit.empty() && own.whole.units >= 0;
  return kOfFiles[(lines ? 1u : 0u) | (ends_itself ? 2u : 0u) | (all_units ? 4u : 0u)];
}

const Kind& kind_of(Api api) { return kKinds[static_cast<std::size_t>(api)]; }

}  // namespace assay::protocol
