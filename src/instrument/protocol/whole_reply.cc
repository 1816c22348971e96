// Replies off the measuring path, and the text of a server's refusal.
#include <span>

#include "base/display.h"
#include "base/format.h"
#include "base/json.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

constexpr std::size_t kErrorTextBytesMax = 300;

// The words of an error in the shapes that servers use: {"error": {"message"}}, {"error": ""},
// {"message"}, {"detail": ""}, {"detail": [{"msg", "loc"}]}.
std::string words_of(const Json& json) {
  const Json& error = json["error"];
  for (const Json* words : {&error["message"], &error, &json["message"], &json["detail"]}) {
    if (words->is_string()) return std::string(words->as_string());
  }
  const Json& first = json["detail"][0];
  std::string where;
  for (const Json& step : first["loc"].items()) {
    if (!where.empty()) where += '.';
    where += step.is_string() ? std::string(step.as_string()) : step.dump();
  }
  const std::string_view words = first["msg"].as_string();
  if (words.empty()) return "";
  return where.empty() ? std::string(words) : format("{}: {}", where, words);
}

}  // namespace

std::string_view connect_door(std::string_view why) {
  const auto says = [&](std::string_view words) {
    return why.find(words) != std::string_view::npos;
  };
  if (says("certificate:")) {
    return "\n  trust its issuer by --ca-file FILE, or do not check it: --insecure";
  }
  // OpenSSL's errors for an answer without TLS.
  if (says("wrong version number") || says("packet length too long")) {
    return "\n  it does not speak TLS there: http:// in place of https://";
  }
  if (says("Connection refused")) return "\n  is the server running, and is this where it listens?";
  return {};
}

std::string error_text(std::string_view body) {
  std::string words;
  if (const auto json = Json::parse(body)) words = words_of(*json);
  if (words.empty()) words = std::string(body.substr(0, 2 * kErrorTextBytesMax));
  // One line: blanks and line ends become one blank.
  std::string line;
  for (const char c : words) {
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  line = printable(line);
  if (line.size() > kErrorTextBytesMax) {
    std::size_t end = kErrorTextBytesMax;
    while ((static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
    line.resize(end);
    line += "…";
  }
  return line;
}

void take_as_error(std::string_view data, std::string& words, DecodedEvent& event) {
  if (event.category != Category::error) {
    words = error_text(data);
    if (words.empty()) words = "an event named error, without words";
    event = DecodedEvent{};
    event.error = words;
  }
  event.category = Category::error;
}

Result<DecodedReply> decode_whole(std::string_view body, Spoken api) {
  std::string padded(body);
  padded.append(kDecodePadding, '\0');
  ReplyDecoder decoder;
  DecodedEvent event;
  decoder.decode_reply(api, {padded.data(), body.size()}, event);
  if (event.malformed) {
    return Error{Code::corrupt, body.empty()
                                    ? "the reply is empty"
                                    : format("the reply is not JSON: {}", error_text(body))};
  }
  if (!event.has_choice && event.category != Category::error) {
    return Error{Code::corrupt, format("the reply has no choices: {}", error_text(body))};
  }
  DecodedReply reply;
  for (const Fragment& fragment : std::span(event.fragments).first(event.fragment_count)) {
    if (!is_fragment(fragment.category)) continue;
    std::string& words = fragment.category == Category::text        ? reply.text
                         : fragment.category == Category::reasoning ? reply.reasoning
                                                                    : reply.tool_calls;
    words = std::string(fragment.text);
  }
  reply.finish = event.finish;
  reply.usage = event.usage;
  reply.error = std::string(event.error);
  return reply;
}

}  // namespace assay::protocol
