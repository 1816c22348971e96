// OpenAI's realtime API, one turn: a session over a WebSocket is set up, hears a text or a sound,
// and is asked for a response. What is sent is a script, a line an event, in order:
//
//   {"type":"session.update",…}
//   {"type":"conversation.item.create",…}              each message of the row
//   @100000 {"type":"input_audio_buffer.append",…}     a sound in pieces
//   {"type":"input_audio_buffer.commit"}
//   {"type":"response.create"}
//
// @N: not before N microseconds after the turn began. A microphone gives a piece when it has heard
// all of it, so a sound at the pace of life ends when its length is over; `pace: at_once` sends it
// as fast as the wire takes it. The body is the session, with a few fields of our own beside it:
// items, response, pace, voice, sample_rate, and how long the session lives: `session` is turn, or
// conversation. Then the turns of a conversation follow one another in one session, which keeps
// every word, and a turn sends what comes behind the last words of the assistant. A turn whose
// session is gone begins another with all of its script, the recorded history in it.
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/base64.h"
#include "base/format.h"
#include "protocol/kind/chat_parts.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {
namespace {

constexpr std::int64_t kTurnRate = 24'000;
constexpr std::int64_t kTurnRateMax = 1'000'000;
constexpr std::uint32_t kTurnSampleBytes = 2;
constexpr std::uint32_t kLawRate = 8'000;  // of G.711: a byte a sample
constexpr std::uint64_t kPiecesPerSecond = 10;
constexpr std::array<std::string_view, 7> kNotOfTheSession = {
    "model", "items", "response", "pace", "voice", "sample_rate", "session"};

Json format_of(std::int64_t rate) {
  return Json::object().set("type", "audio/pcm").set("rate", rate);
}

// A message's content is a list of parts here, and each item has a type.
Json realtime_item(const Json& item) {
  if (item["role"].is_null()) return item;
  Json out = Json::object().set("type", "message");
  const bool by_assistant = item["role"].as_string() == "assistant";
  for (const auto& [key, value] : item.members()) {
    if (key != "content" || value.is_array()) {
      out.set(key, value);
      continue;
    }
    const Json part =
        Json::object().set("type", by_assistant ? "output_text" : "input_text").set("text", value);
    out.set(key, Json::array().push_back(part));
  }
  return out;
}

Json realtime_items(const Sample& sample, char filler) {
  Json items = Json::array();
  if (sample.prompt.empty() && sample.messages.is_null() && sample.content_parts.is_null()) {
    return items;
  }
  Json messages = chat_messages(sample, filler);
  // A system prompt beside a prompt is the session's instructions.
  Json::Array& list = messages.make_array();
  if (sample.messages.is_null() && !sample.system.empty()) list.erase(list.begin());
  const Json asked = input_items(messages);
  for (const Json& item : asked.items()) items.push_back(realtime_item(item));
  return items;
}

// The session as it is sent.
Json session_of(const Json& body) {
  Json session = Json::object().set("type", "realtime");
  for (const auto& [key, value] : body.members()) {
    if (std::ranges::find(kNotOfTheSession, key) == kNotOfTheSession.end()) session.set(key, value);
  }
  Json* const audio = session.find("audio");
  Json* const output = audio == nullptr ? nullptr : audio->find("output");
  if (output == nullptr) return session;
  if (const Json& voice = body["voice"]; !voice.is_null()) output->set("voice", voice);
  if (const Json& rate = body["sample_rate"]; rate.is_integer()) {
    output->set("format", format_of(rate.as_int()));
  }
  return session;
}

struct Samples {
  std::string_view bytes{};
  std::int64_t rate = 0;  // 0: not said
};

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t out = 0;
  for (std::size_t i = size; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

// The samples of a WAV file of 16 bits and one channel; a file without its head is samples.
Result<Samples> samples_of(std::string_view file) {
  if (!file.starts_with("RIFF")) return Samples{.bytes = file};
  const auto refuse = [] {
    return invalid(
        "audio: a realtime session takes samples of 16 bits, one channel: convert the file to such "
        "a WAV");
  };
  Samples out;
  for (std::size_t at = 12; at + 8 <= file.size();) {
    const std::string_view name = file.substr(at, 4);
    const std::size_t size =
        std::min<std::size_t>(number_at(file, at + 4, 4), file.size() - at - 8);
    at += 8;
    if (name == "fmt ") {
      if (size < 16) return refuse();
      const std::uint32_t form = number_at(file, at, 2);
      const bool fits = (form == 1 || form == 0xfffe) && number_at(file, at + 2, 2) == 1 &&
                        number_at(file, at + 14, 2) == 16;
      if (!fits) return refuse();
      out.rate = number_at(file, at + 4, 4);
    } else if (name == "data") {
      out.bytes = file.substr(at, size);
      break;
    }
    at += size + size % 2;
  }
  if (out.rate == 0 || out.bytes.empty()) return refuse();
  return out;
}

Result<std::string_view> heard(const Attachment& sound, const Json& wanted) {
  const bool compressed = sound.type.starts_with("audio/") && sound.type != "audio/wav";
  if (compressed) {
    return invalid(
        format("audio: {} is {}: a realtime session takes samples of 16 bits, one "
               "channel: convert it to such a WAV",
               sound.file, sound.type));
  }
  if (wanted["type"].as_string() != "audio/pcm") {
    return invalid("audio.input.format: a sound of the data set is sent as audio/pcm");
  }
  ASSIGN_OR_RETURN(const Samples samples, samples_of(sound.bytes));
  const std::int64_t rate = wanted["rate"].as_int(kTurnRate);
  if (samples.rate != 0 && samples.rate != rate) {
    return invalid(
        format("audio: {} has {} samples a second, and the session hears {}: resample it, or set "
               "audio.input.format.rate if the server takes another",
               sound.file, samples.rate, rate));
  }
  return samples.bytes;
}

void add_line(std::string& script, const Json& event) {
  script += event.dump();
  script += '\n';
}

void add_sound(std::string& script, std::string_view bytes, std::uint64_t rate, bool paced) {
  const std::uint64_t second = rate * kTurnSampleBytes;
  const std::size_t step = static_cast<std::size_t>(
      std::max<std::uint64_t>(rate / kPiecesPerSecond, 1) * kTurnSampleBytes);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const std::string_view piece = bytes.substr(at, step);
    if (paced) script += format("@{} ", (at + piece.size()) * 1'000'000 / second);
    script +=
        format(R"({{"type":"input_audio_buffer.append","audio":"{}"}})", encode_base64(piece));
    script += '\n';
  }
  add_line(script, Json::object().set("type", "input_audio_buffer.commit"));
}

// Where the items begin that a session lacks which has heard its own replies.
Result<std::size_t> first_new_item(const Json& items) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool ours = items[i]["role"].as_string() == "assistant" ||
                      items[i]["type"].as_string() == "function_call";
    if (ours) out = i + 1;
  }
  if (items[out]["type"].as_string() == "function_call_output") {
    return invalid(
        "session: a recorded result of a tool answers a recorded call, and the session has made "
        "another: leave \"session\": \"conversation\" out for conversations with tools");
  }
  return out;
}

Result<void> check_session(const Json& session) {
  const Json& modalities = session["output_modalities"];
  const std::string_view one = modalities[std::size_t{0}].as_string();
  if (!modalities.is_array() || modalities.size() != 1 || (one != "audio" && one != "text")) {
    return invalid(
        format("output_modalities: must be [\"audio\"] or [\"text\"], is {}", modalities.dump()));
  }
  if (!session["audio"]["input"]["turn_detection"].is_null()) {
    return invalid(
        "audio.input.turn_detection: must be null: the turn begins when the client says so, and "
        "its time is measured from there");
  }
  const Json& rate = session["audio"]["input"]["format"]["rate"];
  if (!rate.is_null() &&
      (!rate.is_integer() || rate.as_int() < 1 || rate.as_int() > kTurnRateMax)) {
    return invalid(format("audio.input.format.rate: must be a whole number from 1 to {}, is {}",
                          kTurnRateMax, rate.dump()));
  }
  return {};
}

}  // namespace

Result<void> check_turn(const Sample& sample) {
  if (sample.attachments.size() > 1) return invalid("sample: a turn has at most one sound");
  if (sample.attachments.size() == 1) return {};
  if (!sample.input_tokens.empty() && sample.prompt.empty()) {
    return invalid("sample: input_tokens: realtime takes text or a sound, not token ids");
  }
  return check_messages(sample);
}

Json realtime_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  set_from_row(body, sample, "output_modalities");
  if (body.find("output_modalities") == nullptr) {
    body.set("output_modalities", Json::array().push_back("audio"));
  }
  if (!sample.system.empty()) body.set("instructions", sample.system);
  const Json input =
      Json::object().set("format", format_of(kTurnRate)).set("turn_detection", Json());
  const Json output = Json::object().set("format", format_of(kTurnRate)).set("voice", "alloy");
  body.set("audio", Json::object().set("input", input).set("output", output));
  if (!sample.tools.is_null()) body.set("tools", flat_tools(sample.tools));
  if (!sample.tool_choice.is_null()) body.set("tool_choice", flat_tool(sample.tool_choice));
  set_if(body, "temperature", generation.temperature);
  if (const std::int64_t limit = output_tokens_max(generation, sample); limit > 0) {
    body.set("max_output_tokens", limit);
  }
  set_rest_of_row(body, sample);
  if (Json items = realtime_items(sample, filler); items.size() > 0) {
    body.set("items", std::move(items));
  }
  return body;
}

Result<void> encode_turn(const Json& body, const Sample& sample, RequestBody& out) {
  const Json session = session_of(body);
  TRY(check_session(session));
  const std::string_view pace = body["pace"].as_string("realtime");
  if ((!body["pace"].is_null() && !body["pace"].is_string()) ||
      (pace != "realtime" && pace != "at_once")) {
    return invalid(format("pace: must be realtime or at_once, is {}", body["pace"].dump()));
  }
  const Json& rate = body["sample_rate"];
  if (!rate.is_null() &&
      (!rate.is_integer() || rate.as_int() < 1 || rate.as_int() > kTurnRateMax)) {
    return invalid(format("sample_rate: must be a whole number from 1 to {}, is {}", kTurnRateMax,
                          rate.dump()));
  }
  const std::string_view life = body["session"].as_string("turn");
  if ((!body["session"].is_null() && !body["session"].is_string()) ||
      (life != "turn" && life != "conversation")) {
    return invalid(format("session: must be turn or conversation, is {}", body["session"].dump()));
  }
  const Json& items = body["items"];
  std::size_t fresh = items.size() + 1;
  if (life == "conversation") {
    ASSIGN_OR_RETURN(fresh, first_new_item(items));
  }
  out.bytes.clear();
  add_line(out.bytes, Json::object().set("type", "session.update").set("session", session));
  for (std::size_t i = 0; i <= items.size(); ++i) {
    if (i == fresh) out.goes_on_at = out.bytes.size();
    if (i == items.size()) break;
    add_line(out.bytes,
             Json::object().set("type", "conversation.item.create").set("item", items[i]));
  }
  if (!sample.attachments.empty()) {
    const Json& wanted = session["audio"]["input"]["format"];
    ASSIGN_OR_RETURN(const std::string_view samples, heard(sample.attachments[0], wanted));
    const auto input_rate = static_cast<std::uint64_t>(wanted["rate"].as_int(kTurnRate));
    add_sound(out.bytes, samples, input_rate, pace == "realtime");
  }
  Json create = Json::object().set("type", "response.create");
  if (const Json& response = body["response"]; response.is_object())
    create.set("response", response);
  add_line(out.bytes, create);
  return {};
}

std::uint32_t rate_of_turn(const Json& body) {
  const Json session = session_of(body);
  const Json& form = session["audio"]["output"]["format"];
  const std::string_view type = form["type"].as_string();
  if (type == "audio/pcmu" || type == "audio/pcma") return kLawRate;
  if (type != "audio/pcm") return 0;
  const std::int64_t rate = form["rate"].as_int(kTurnRate);
  return rate < 1 || rate > kTurnRateMax ? 0 : static_cast<std::uint32_t>(rate) * kTurnSampleBytes;
}

}  // namespace assay::protocol
