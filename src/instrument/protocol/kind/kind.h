// Kind: one kind of API as a row of functions, and the table of all kinds: what its request is made
// of, where its reply's facts stand, and how its stream ends. To add a kind: a file in this folder
// for its request and its reply, a row in kind.cc, and one in domain/api.h.
//
// A reply's function fills ReplyFields, the same for all kinds; reply_decoder.cc makes facts from
// them. It is called once an event, through a pointer, and only where the learned template does not
// fit the event.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "domain/request_spec.h"
#include "domain/sample.h"
#include "net/http1_response.h"
#include "protocol/codec.h"
#include "protocol/reply_fields.h"

namespace assay::protocol {

struct Kind {
  Api api = Api::openai;
  std::string_view route{};       // of its POST; "{model}" stands for the model's name
  std::string_view limit_name{};  // of the token limit's field, for a person
  // How a streamed reply is framed: server-sent events, or lines of JSON.
  bool lines = false;
  // An event of the kind ends the stream: without it the reply was cut, and [DONE] means nothing.
  // Else [DONE] or a finish reason ends it.
  bool ends_itself = false;
  std::string_view end_name{};  // of that event, for a person
  // How a key is sent: as a bearer token, or unchanged in this header.
  std::string_view key_header{};
  // What it accepts, where that is neither JSON nor a stream of it.
  std::string_view accept{};
  std::string_view content_type = "application/json";  // of its request
  // A header that the API asks for, unless the user sets it.
  std::string_view header{};
  std::string_view header_value{};
  // Refuses what this API cannot express.
  Result<void> (*check)(const Sample& sample) = nullptr;
  // The body before extra_body and the row's overrides. `filler`: as in request_parts.h.
  Json (*body)(const Generation& generation, const Sample& sample, char filler) = nullptr;
  // The bytes of a body that are more than its JSON, and their headers; null: the JSON alone.
  Result<void> (*encode)(const Json& body, const Sample& sample, RequestBody& out) = nullptr;
  // For kinds with a unit: how many a body asks for, and whether a reply must hold as many.
  std::uint16_t (*units)(const Json& body) = nullptr;
  bool all_units = false;
  // For kinds that answer with sound: the bytes of one second of a sound without a head, which
  // follow from what the body asks for; 0: not known.
  std::uint32_t (*sound_rate)(const Json& body) = nullptr;
  // A reply's body may be the bytes of a sound, and whether it streams is not in the request.
  bool raw_sound = false;
  // A query is a turn on a WebSocket: its body is a script, a line an event (kind/realtime.cc), and
  // each message is an event of the reply, but for those that are beside the turn. `beside` gets a
  // text that is padded as JsonCursor needs.
  bool socket = false;
  bool (*beside)(std::string_view text) = nullptr;
  // A query is a job: its POST is answered with the job's state, which the client polls, and the
  // reply is the bytes that the job made (job_transport.cc).
  bool job = false;
  // Members of an event that its reader skips and whose values change with each event.
  VaryingNames varying{};
  // One event's data, and a whole reply. False where the text is no JSON object.
  bool (*read_event)(std::string_view text, ReplyFields& out) = nullptr;
  bool (*read_reply)(std::string_view text, ReplyFields& out) = nullptr;
};

const Kind& kind_of(Api api);
const Kind& kind_of_file(const DescribedKind& own);
// REQUIRES: there is a description, if and only if the kind is Api::described.
inline const Kind& kind_of(const Spoken& api) {
  return __builtin_expect(api.described != nullptr, 0) ? kind_of_file(*api.described)
                                                       : kind_of(api.api);
}

// Whether the body behind this head is a stream of lines. A whole reply looks like one line; it was
// not asked as a stream, or has a length, which no stream has.
inline bool streams_lines(const Kind& kind, bool stream_asked, const net::ResponseHead& head) {
  return kind.lines && stream_asked && !head.has_length;
}

// The requests.
Json chat_body(const Generation& generation, const Sample& sample, char filler);
Json completions_body(const Generation& generation, const Sample& sample, char filler);
Json sglang_body(const Generation& generation, const Sample& sample, char filler);
Json responses_body(const Generation& generation, const Sample& sample, char filler);
Json messages_body(const Generation& generation, const Sample& sample, char filler);
Json ollama_chat_body(const Generation& generation, const Sample& sample, char filler);
Json ollama_generate_body(const Generation& generation, const Sample& sample, char filler);
Result<void> check_ollama_chat(const Sample& sample);
Result<void> check_ollama_generate(const Sample& sample);
Json embeddings_body(const Generation& generation, const Sample& sample, char filler);
Json rerank_body(const Generation& generation, const Sample& sample, char filler);
Json score_body(const Generation& generation, const Sample& sample, char filler);
Result<void> check_inputs(const Sample& sample);
Result<void> check_documents(const Sample& sample);
std::uint16_t units_of_inputs(const Json& body);
std::uint16_t units_of_documents(const Json& body);
Json pictures_body(const Generation& generation, const Sample& sample, char filler);
Result<void> check_picture(const Sample& sample);
Result<void> check_picture_edit(const Sample& sample);
std::uint16_t units_of_pictures(const Json& body);
// KServe's tensors, in bytes behind the JSON or as numbers in it.
Json tensors_body(const Generation& generation, const Sample& sample, char filler);
Json tensors_json_body(const Generation& generation, const Sample& sample, char filler);
Result<void> check_tensors(const Sample& sample);
Result<void> check_tensors_json(const Sample& sample);
Result<void> encode_tensors(const Json& body, const Sample& sample, RequestBody& out);
std::uint16_t one_unit(const Json& body);
// The same over gRPC.
Json tensors_grpc_body(const Generation& generation, const Sample& sample, char filler);
Result<void> check_tensors_grpc(const Sample& sample);
Result<void> encode_tensors_grpc(const Json& body, const Sample& sample, RequestBody& out);
Json videos_body(const Generation& generation, const Sample& sample, char filler);
// A job that makes a video.
enum class JobStanding : std::uint8_t { unknown, running, completed, failed };
struct JobAnswer {
  std::string id{};
  JobStanding standing = JobStanding::unknown;  // also where the text is no job's state
};
JobAnswer read_job(std::string_view text);
Json video_job_body(const Generation& generation, const Sample& sample, char filler);
// A form; its type, unless a sample holds the boundary.
inline constexpr std::string_view kFormType =
    "multipart/form-data; boundary=----assay-form-7d81f0c2";
void encode_form(const Json& body, const Sample& sample, RequestBody& out);
Result<void> encode_plain_form(const Json& body, const Sample& sample, RequestBody& out);
// A sound in a form.
Json sound_body(const Generation& generation, const Sample& sample, char filler);
Result<void> check_sound(const Sample& sample);
Result<void> encode_sound(const Json& body, const Sample& sample, RequestBody& out);
// Speech.
Json speech_body(const Generation& generation, const Sample& sample, char filler);
Result<void> encode_speech(const Json& body, const Sample& sample, RequestBody& out);
std::uint32_t rate_of_speech(const Json& body);
// A turn of a realtime session.
Result<void> check_turn(const Sample& sample);
Json realtime_body(const Generation& generation, const Sample& sample, char filler);
Result<void> encode_turn(const Json& body, const Sample& sample, RequestBody& out);
std::uint32_t rate_of_turn(const Json& body);
// What a probe asks with.
Sample probe_sample(const Spoken& api, std::string_view prompt);
// A kind that a file describes.
Result<void> check_described(const DescribedKind& kind, const Sample& sample);
Json described_body(const DescribedKind& kind, const Generation& generation, const Sample& sample,
                    char filler);
Result<void> check_described_body(const DescribedKind& kind, const Generation& generation,
                                  const Json& body);
std::uint16_t units_of_described(const DescribedKind& kind, const Json& body);
bool read_described(const DescribedKind& kind, bool whole, std::string_view text, ReplyFields& out);

// The replies. read_reply() of reply_fields.h is that of the three older kinds.
bool read_responses_event(std::string_view text, ReplyFields& out);
bool read_responses_reply(std::string_view text, ReplyFields& out);
bool read_messages_event(std::string_view text, ReplyFields& out);
bool read_messages_reply(std::string_view text, ReplyFields& out);
bool read_ollama_line(std::string_view text, ReplyFields& out);
bool read_vectors(std::string_view text, ReplyFields& out);
// The JSON of a reply, with the bytes of its tensors behind it.
bool read_tensors(std::string_view text, ReplyFields& out);
bool read_tensors_grpc(std::string_view text, ReplyFields& out);
bool read_video(std::string_view text, ReplyFields& out);
bool read_video_job(std::string_view text, ReplyFields& out);
bool read_transcript_event(std::string_view text, ReplyFields& out);
bool read_transcript(std::string_view text, ReplyFields& out);
bool read_speech(std::string_view text, ReplyFields& out);
bool read_no_speech(std::string_view text, ReplyFields& out);
bool read_turn_event(std::string_view text, ReplyFields& out);
// Says something of the session, and nothing of the response.
bool beside_the_turn(std::string_view text);
bool ends_the_turn(std::string_view text);  // or is an error

}  // namespace assay::protocol
