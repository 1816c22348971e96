#include "endpoint/realtime_session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/base64.h"
#include "base/format.h"

namespace assay::endpoint {
namespace {

// A sound of 15 MiB in one event is OpenAI's limit; base64 and the event's other members are more.
constexpr std::size_t kMessageMax = std::size_t{32} << 20;
constexpr std::size_t kItemsMax = 10'000;
constexpr std::array<std::int64_t, 4> kRates = {8'000, 16'000, 24'000, 48'000};
constexpr std::int64_t kDefaultRate = 24'000;
constexpr std::uint64_t kHeardTokensPerSecond = 10;
constexpr std::uint64_t kBytesOfASample = 2;

Json pcm(std::int64_t rate) { return Json::object().set("type", "audio/pcm").set("rate", rate); }

void merge(Json& target, const Json& patch) {
  for (const auto& [key, value] : patch.members()) {
    Json* const member = target.find(key);
    if (value.is_object() && member != nullptr && member->is_object()) {
      merge(*member, value);
    } else {
      target.set(key, value);
    }
  }
}

bool known_format(const Json& form) {
  return form["type"].as_string() == "audio/pcm" &&
         std::ranges::find(kRates, form["rate"].as_int(kDefaultRate)) != kRates.end();
}

ApiError wrong(std::string_view param, std::string_view why) {
  return {.message = format("{}: {}", param, why),
          .param = std::string(param),
          .code = "invalid_value"};
}

const Json& one_modality(const Json& session) {
  return session["output_modalities"][std::size_t{0}];
}

// What is wrong with a session; an empty message: nothing.
ApiError fault_of_session(const Json& session) {
  const std::string_view modality = one_modality(session).as_string();
  if (session["output_modalities"].size() != 1 || (modality != "audio" && modality != "text")) {
    return wrong("session.output_modalities", "must be [\"audio\"] or [\"text\"]");
  }
  const Json& audio = session["audio"];
  if (!audio["input"]["turn_detection"].is_null()) {
    return wrong("session.audio.input.turn_detection", "this endpoint detects no turns; use null");
  }
  for (const std::string_view side : {"input", "output"}) {
    if (known_format(audio[side]["format"])) continue;
    return wrong(format("session.audio.{}.format", side),
                 "this endpoint has audio/pcm of 8000, 16000, 24000 or 48000");
  }
  return {.message = ""};
}

}  // namespace

RealtimeSession::RealtimeSession(std::uint64_t number, std::string_view model)
    : number_(number), model_(model), reader_(net::WebSocketSide::server, nullptr, kMessageMax) {
  const Json input = Json::object().set("format", pcm(kDefaultRate)).set("turn_detection", Json());
  const Json output = Json::object().set("format", pcm(kDefaultRate)).set("voice", "alloy");
  session_ = Json::object()
                 .set("type", "realtime")
                 .set("object", "realtime.session")
                 .set("id", next_id("sess"))
                 .set("model", model_)
                 .set("output_modalities", Json::array().push_back("audio"))
                 .set("audio", Json::object().set("input", input).set("output", output))
                 .set("max_output_tokens", "inf");
  say("session.created", Json::object().set("session", session_));
}

std::string RealtimeSession::next_id(std::string_view prefix) {
  return format("{}_{:012x}_{}", prefix, number_, ids_++);
}

std::string RealtimeSession::take_output() { return std::exchange(out_, {}); }

void RealtimeSession::feed(std::string_view bytes) {
  if (closing_) return;
  if (!reader_.feed(bytes, *this)) close(reader_.close_code(), reader_.error());
}

void RealtimeSession::close(std::uint16_t code, std::string_view reason) {
  if (closing_) return;
  closing_ = true;
  writer_.close(out_, code, reason);
}

void RealtimeSession::say(std::string_view type, Json members) {
  Json event = Json::object().set("type", type).set("event_id", next_id("event"));
  for (const auto& [key, value] : members.members()) event.set(key, value);
  writer_.text(out_, event.dump());
}

void RealtimeSession::error(const ApiError& error) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  const Json about = Json::object()
                         .set("type", error.type)
                         .set("code", or_null(error.code))
                         .set("message", error.message)
                         .set("param", or_null(error.param))
                         .set("event_id", or_null(asked_by_));
  say("error", Json::object().set("error", about));
}

void RealtimeSession::on_ping(std::string_view payload) {
  writer_.frame(out_, net::FrameType::pong, payload);
}

void RealtimeSession::on_close(std::uint16_t code, std::string_view) { close(code, ""); }

void RealtimeSession::on_message(bool text, std::string_view data, std::size_t) {
  constexpr std::uint16_t kCannotTake = 1003;
  if (closing_) return;
  if (!text) return close(kCannotTake, "events are text");
  const auto event = Json::parse(data);
  asked_by_.clear();
  if (!event || !event->is_object()) {
    return error({.message = "The event is not a JSON object.", .code = "invalid_json"});
  }
  asked_by_ = (*event)["event_id"].as_string();
  on_event(*event);
}

void RealtimeSession::on_event(const Json& event) {
  const std::string_view type = event["type"].as_string();
  if (type == "session.update") return update(event);
  if (type == "input_audio_buffer.append") return append(event);
  if (type == "input_audio_buffer.commit") return commit();
  if (type == "input_audio_buffer.clear") {
    heard_bytes_ = 0;
    return say("input_audio_buffer.cleared", Json::object());
  }
  if (type == "conversation.item.create") return add_item(event);
  if (type == "response.create") return create(event);
  if (type == "response.cancel") {
    return error({.message = "This endpoint finishes each response that it began.",
                  .code = "response_cancel_not_supported"});
  }
  error({.message = format("Unknown event type: '{}'.", type),
         .param = "type",
         .code = "invalid_value"});
}

void RealtimeSession::update(const Json& event) {
  const Json& wanted = event["session"];
  if (!wanted.is_object()) return error(wrong("session", "must be an object"));
  if (wanted["type"].as_string() != "realtime") {
    return error(wrong("session.type", "this endpoint has sessions of the type realtime"));
  }
  Json next = session_;
  merge(next, wanted);
  const ApiError fault = fault_of_session(next);
  if (!fault.message.empty()) return error(fault);
  session_ = std::move(next);
  say("session.updated", Json::object().set("session", session_));
}

void RealtimeSession::append(const Json& event) {
  const auto bytes = decode_base64(event["audio"].as_string());
  if (!event["audio"].is_string() || !bytes) {
    return error(wrong("audio", "must be samples in base64"));
  }
  heard_bytes_ += bytes->size();
}

void RealtimeSession::said_item(Json item) {
  if (items_.size() >= kItemsMax) return error(wrong("item", "the conversation is too long"));
  if (item["id"].is_null()) item.set("id", next_id("item"));
  const Json about = Json::object().set("previous_item_id", Json()).set("item", item);
  items_.push_back(std::move(item));
  say("conversation.item.added", about);
  say("conversation.item.done", about);
}

void RealtimeSession::commit() {
  if (heard_bytes_ < kBytesOfASample) {
    return error(
        {.message = "The buffer of sound is empty.", .code = "input_audio_buffer_commit_empty"});
  }
  sound_bytes_ += std::exchange(heard_bytes_, 0);
  const std::string id = next_id("item");
  say("input_audio_buffer.committed",
      Json::object().set("previous_item_id", Json()).set("item_id", id));
  const Json part = Json::object().set("type", "input_audio").set("transcript", Json());
  said_item(Json::object()
                .set("id", id)
                .set("type", "message")
                .set("role", "user")
                .set("content", Json::array().push_back(part)));
}

void RealtimeSession::add_item(const Json& event) {
  const Json& item = event["item"];
  const std::string_view type = item["type"].as_string();
  const bool message = type == "message" && item["content"].is_array() && item["role"].is_string();
  if (!message && type != "function_call" && type != "function_call_output") {
    return error(wrong("item", "must be a message with a role and parts, or a call's"));
  }
  said_item(item);
}

// The turn in the form of Responses, which the endpoint can read.
void RealtimeSession::create(const Json& event) {
  if (busy_ || asked_) {
    return error({.message = "The conversation has a response in progress.",
                  .code = "conversation_already_has_active_response"});
  }
  const Json& own = event["response"];
  Json session = session_;
  if (own.is_object()) merge(session, own);
  if (session["output_modalities"].size() != 1) {
    return error(wrong("response.output_modalities", "must be [\"audio\"] or [\"text\"]"));
  }
  spoken_ = one_modality(session).as_string() == "audio";
  Json body = Json::object().set("model", model_).set("stream", true);
  for (const std::string_view key : {"instructions", "tools", "tool_choice"}) {
    if (!session[key].is_null()) body.set(key, session[key]);
  }
  if (session["max_output_tokens"].is_integer()) {
    body.set("max_output_tokens", session["max_output_tokens"]);
  }
  Json input = Json::array();
  for (const Json& item : items_.items()) {
    // Sound has no words, and is counted by its length.
    if (item["content"][std::size_t{0}]["type"].as_string() == "input_audio") continue;
    input.push_back(item);
  }
  if (input.size() == 0) {
    input.push_back(Json::object().set("role", "user").set("content", ""));
  }
  body.set("input", std::move(input));
  turn_body_ = body.dump();
  turn_body_.reserve(turn_body_.size() + kAskPadding);
  turn_id_ = asked_by_;
  asked_ = true;
}

void RealtimeSession::complete(Ask& ask) const {
  const auto rate = [this](std::string_view side) {
    return static_cast<std::uint64_t>(
        session_["audio"][side]["format"]["rate"].as_int(kDefaultRate));
  };
  ask.speech = {.form = SpeechForm::pcm,
                .events = spoken_,
                .sample_rate = static_cast<std::uint32_t>(rate("output"))};
  const std::uint64_t second = rate("input") * kBytesOfASample;
  ask.prompt_tokens +=
      static_cast<std::uint32_t>((sound_bytes_ * kHeardTokensPerSecond + second - 1) / second);
}

void RealtimeSession::begin_turn() {
  asked_ = false;
  busy_ = true;
}

}  // namespace assay::endpoint
