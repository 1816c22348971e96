// The request part of codec.h. Bodies are built as a Json and written once per sample, before the
// run, so clarity matters more than speed here. Keys are in the reference client's order
// (docs/decisions/0005).
#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

constexpr std::string_view kRequestIdHeader = "x-request-id";
constexpr std::string_view kRequestIdHole = "00000000000000000000000000000000";
static_assert(kRequestIdHole.size() == kRequestIdDigits);
constexpr std::int64_t kChoicesMax = 128;

std::string_view route(Api api) {
  switch (api) {
    case Api::openai:
      return "/v1/chat/completions";
    case Api::openai_completions:
      return "/v1/completions";
    case Api::sglang:
      return "/generate";
    case Api::videogen:
      return "/v1/videos/generations";
  }
  CHECK(false && "no such Api");
  return "";
}

template <typename T>
void set_if(Json& body, std::string_view key, const std::optional<T>& value) {
  if (value) body.set(key, Json(*value));
}

// RFC 7396: objects are merged, a null removes, anything else replaces.
void merge_patch(Json& target, const Json& patch) {
  for (const auto& [key, value] : patch.members()) {
    if (value.is_null()) {
      target.erase(key);
    } else if (value.is_object()) {
      Json* member = target.find(key);
      if (member == nullptr || !member->is_object()) {
        target.set(key, Json::object());
        member = target.find(key);
      }
      merge_patch(*member, value);
    } else {
      target.set(key, value);
    }
  }
}

// The row's own columns, at the reference's places. A generation setting for the same column was
// set before and wins.
void set_from_row(Json& body, const Sample& sample, std::string_view key) {
  const Json& value = sample.body[key];
  if (!value.is_null() && body.find(key) == nullptr) body.set(key, value);
}

void set_rest_of_row(Json& body, const Sample& sample) {
  for (const auto& [key, value] : sample.body.members()) {
    if (key == "name" || value.is_null() || body.find(key) != nullptr) continue;
    body.set(key, value);
  }
}

std::int64_t output_tokens_max(const Generation& generation, const Sample& sample) {
  return sample.output_tokens_max > 0 ? sample.output_tokens_max : generation.max_new_tokens;
}

void set_limit(Json& body, std::string_view own, const Generation& generation,
               const Sample& sample) {
  const std::int64_t limit = output_tokens_max(generation, sample);
  if (limit > 0) body.set(generation.limit_field.empty() ? own : generation.limit_field, limit);
}

void set_usage_wish(Json& body, const Generation& generation) {
  if (!generation.stream || !generation.include_usage) return;
  body.set("stream_options", Json::object().set("include_usage", true));
}

std::string salt_text(char filler) { return "[" + std::string(kSaltDigits, filler) + "] "; }

// Prompt with the salt's hole filled with `filler`.
std::string prompt_of(const Sample& sample, char filler) {
  return filler == 0 ? sample.prompt : salt_text(filler) + sample.prompt;
}

// Whether the message can be salted.
bool has_content(const Json& message) {
  const Json& content = message["content"];
  return message["role"].as_string() == "user" && (content.is_string() || content.is_array());
}

// Puts the salt before the first text of these parts; adds a text if there is none.
void salt_parts(Json& parts, char filler) {
  for (Json& part : parts.make_array()) {
    if (part["text"].is_string()) {
      part.set("text", salt_text(filler) + std::string(part["text"].as_string()));
      return;
    }
  }
  Json::Array& list = parts.make_array();
  list.insert(list.begin(), Json::object().set("type", "text").set("text", salt_text(filler)));
}

// Salts the first user text.
Json salted_messages(Json messages, char filler) {
  for (Json& message : messages.make_array()) {
    if (!has_content(message)) continue;
    Json* const content = message.find("content");
    if (content->is_array()) {
      salt_parts(*content, filler);
    } else {
      *content = Json(salt_text(filler) + std::string(content->as_string()));
    }
    break;
  }
  return messages;
}

Json chat_messages(const Sample& sample, char filler) {
  if (!sample.messages.is_null()) {
    Json messages = sample.messages.json();
    return filler == 0 ? messages : salted_messages(std::move(messages), filler);
  }
  Json messages = Json::array();
  if (!sample.system.empty()) {
    messages.push_back(Json::object().set("role", "system").set("content", sample.system));
  }
  Json user = Json::object();
  user.set("role", "user");
  if (sample.content_parts.is_null()) {
    user.set("content", prompt_of(sample, filler));
  } else {
    Json parts = sample.content_parts;
    if (filler != 0) salt_parts(parts, filler);
    user.set("content", std::move(parts));
  }
  if (sample.body["name"].is_string()) user.set("name", sample.body["name"]);
  messages.push_back(std::move(user));
  return messages;
}

Json chat_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("messages", chat_messages(sample, filler));
  set_if(body, "temperature", generation.temperature);
  set_limit(body, own_limit_field(Api::openai), generation, sample);
  if (generation.stream) body.set("stream", true);
  set_if(body, "seed", generation.seed);
  set_if(body, "top_p", generation.top_p);
  set_if(body, "top_k", generation.top_k);
  set_if(body, "repetition_penalty", generation.repetition_penalty);
  set_from_row(body, sample, "n");
  set_from_row(body, sample, "stop");
  set_if(body, "presence_penalty", generation.presence_penalty);
  set_if(body, "frequency_penalty", generation.frequency_penalty);
  set_from_row(body, sample, "logit_bias");
  set_from_row(body, sample, "user");
  set_from_row(body, sample, "chat_template");
  if (generation.chat_template_kwargs.size() > 0) {
    body.set("chat_template_kwargs", generation.chat_template_kwargs);
  }
  set_from_row(body, sample, "chat_template_kwargs");
  if (!sample.tools.is_null()) body.set("tools", sample.tools);
  if (!sample.tool_choice.is_null()) body.set("tool_choice", sample.tool_choice);
  // Beyond the reference, which never sends it.
  set_usage_wish(body, generation);
  if (generation.min_new_tokens > 1) body.set("min_tokens", generation.min_new_tokens);
  set_if(body, "ignore_eos", generation.ignore_eos);
  return body;
}

// Index for the marker tokens: after the vocabulary's begin of text, unless the sample gives one.
std::size_t salt_position(const Sample& sample) {
  if (sample.salt_position < 0) return std::min<std::size_t>(1, sample.input_tokens.size());
  return std::min(static_cast<std::size_t>(sample.salt_position), sample.input_tokens.size());
}

Json token_array(const Sample& sample, char filler) {
  Json::Array ids;
  ids.reserve(sample.input_tokens.size() + kSaltIds);
  const std::size_t hole = salt_position(sample);
  for (std::size_t i = 0; i <= sample.input_tokens.size(); ++i) {
    if (filler != 0 && i == hole) {
      // 1111 or 2222: an id of four times the filler's digit.
      for (std::size_t k = 0; k < kSaltIds; ++k) ids.emplace_back((filler - '0' + 1) * 1111);
    }
    if (i < sample.input_tokens.size()) ids.emplace_back(sample.input_tokens[i]);
  }
  return ids;
}

Json completions_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("prompt", sample.input_tokens.empty() ? Json(prompt_of(sample, filler))
                                                 : token_array(sample, filler));
  set_if(body, "temperature", generation.temperature);
  set_limit(body, own_limit_field(Api::openai_completions), generation, sample);
  body.set("min_tokens", generation.min_new_tokens);
  body.set("skip_special_tokens", generation.skip_special_tokens);
  body.set("stream", generation.stream);
  set_if(body, "top_p", generation.top_p);
  set_if(body, "top_k", generation.top_k);
  set_if(body, "repetition_penalty", generation.repetition_penalty);
  set_from_row(body, sample, "n");
  set_from_row(body, sample, "stop");
  set_if(body, "presence_penalty", generation.presence_penalty);
  set_if(body, "frequency_penalty", generation.frequency_penalty);
  set_if(body, "seed", generation.seed);
  set_usage_wish(body, generation);
  set_if(body, "ignore_eos", generation.ignore_eos);
  return body;
}

// A seed is not sent: /generate refused it until recently. extra_body
// {"sampling_params": {"sampling_seed": 1}} sends it.
Json sglang_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (sample.input_tokens.empty()) {
    body.set("text", prompt_of(sample, filler));
  } else {
    body.set("input_ids", token_array(sample, filler));
  }
  Json sampling = Json::object();
  if (const std::int64_t limit = output_tokens_max(generation, sample); limit > 0) {
    sampling.set("max_new_tokens", limit);
  }
  set_if(sampling, "temperature", generation.temperature);
  if (generation.top_k && *generation.top_k != -1) sampling.set("top_k", *generation.top_k);
  set_if(sampling, "top_p", generation.top_p);
  set_if(sampling, "repetition_penalty", generation.repetition_penalty);
  set_if(sampling, "presence_penalty", generation.presence_penalty);
  set_if(sampling, "frequency_penalty", generation.frequency_penalty);
  if (generation.min_new_tokens > 1) sampling.set("min_new_tokens", generation.min_new_tokens);
  set_if(sampling, "ignore_eos", generation.ignore_eos);
  if (!generation.skip_special_tokens) sampling.set("skip_special_tokens", false);
  set_from_row(sampling, sample, "stop");
  body.set("sampling_params", std::move(sampling));
  body.set("stream", generation.stream);
  return body;
}

Json plain_body(Api api, const Generation& generation, const Sample& sample, char filler) {
  Json body = api == Api::openai               ? chat_body(generation, sample, filler)
              : api == Api::openai_completions ? completions_body(generation, sample, filler)
                                               : sglang_body(generation, sample, filler);
  set_rest_of_row(body, sample);
  if (api == Api::sglang) body.erase("stop");
  merge_patch(body, generation.extra_body);
  merge_patch(body, sample.overrides);
  return body;
}

// Refuses what this API cannot express. The reference client finds some of these only when the
// query is sent, and then never ends (spec/endpoints_client.md, 7.3).
Result<void> check_sample(Api api, const Sample& sample) {
  if (api == Api::videogen) {
    return Error{Code::unsupported,
                 "api_type videogen: not spoken yet; use openai, "
                 "openai_completions or sglang"};
  }
  const bool structured = !sample.messages.is_null() || !sample.content_parts.is_null();
  if (api == Api::openai) {
    if (!structured && sample.prompt.empty()) {
      return invalid(sample.input_tokens.empty()
                         ? "sample: no prompt, messages or content parts; map a column to 'prompt'"
                         : "sample: input_tokens: chat takes text, not token ids; use api_type "
                           "openai_completions or sglang, or map a column to 'prompt'");
    }
    if (!sample.messages.is_null() && sample.messages.size() == 0) {
      return invalid("sample: messages: must be an array with at least one message");
    }
    return {};
  }
  const std::string_view name = to_string(api);
  if (sample.input_tokens.empty() && sample.prompt.empty()) {
    return invalid(format("sample: {} needs 'prompt' or 'input_tokens'{}", name,
                          structured ? "; messages and content parts need api_type openai" : ""));
  }
  if (!sample.system.empty() && sample.input_tokens.empty()) {
    return invalid(
        format("sample: system: {} has no system prompt; write it into the prompt as "
               "the model's template has it, or use api_type openai",
               name));
  }
  if (!sample.tools.is_null()) {
    return invalid(format("sample: tools: {} has no tools; use api_type openai", name));
  }
  return {};
}

Result<void> check_salt(Api api, const Sample& sample) {
  if (api != Api::openai || sample.messages.is_null()) return {};
  for (std::size_t i = 0; i < sample.messages.size(); ++i) {
    if (has_content(sample.messages[i])) return {};
  }
  return invalid("sample: messages: no message of a user has content to salt; turn salting off");
}

Result<void> check_body(const Generation& generation, const Json& body) {
  const bool streams = body["stream"].as_bool(false);
  if (streams != generation.stream) {
    return invalid(format("extra_body.stream: {} against streaming {}; set streaming instead",
                          streams, generation.stream ? "on" : "off"));
  }
  const Json& n = body["n"];
  if (!n.is_null() && (!n.is_integer() || n.as_int() < 1 || n.as_int() > kChoicesMax)) {
    return invalid(format("n: must be a whole number from 1 to {}, is {}", kChoicesMax, n.dump()));
  }
  return {};
}

// What the sent body asks for, with the values of rows and extra_body. A server takes one of
// several names for the limit: the largest value counts.
Asked asked_of(const Json& body) {
  Asked out{.stream = body["stream"].as_bool(false)};
  const Json& sampling = body["sampling_params"];
  std::int64_t limit = -1;
  for (const Json* const asked :
       {&body["max_completion_tokens"], &body["max_tokens"], &sampling["max_new_tokens"]}) {
    if (asked->is_number()) limit = std::max(limit, asked->as_int());
  }
  if (limit > 0 && limit < std::numeric_limits<std::int32_t>::max()) {
    out.tokens_max = static_cast<std::int32_t>(limit);
  }
  const std::int64_t n = std::max(body["n"].as_int(1), sampling["n"].as_int(1));
  out.choices = static_cast<std::uint16_t>(std::clamp<std::int64_t>(n, 1, kChoicesMax));
  return out;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// The message never shows the value: it may be a secret.
Result<void> check_header(const Header& header) {
  if (!is_token(header.first)) {
    return invalid(format("header '{}': not a header name", header.first));
  }
  for (const char c : header.second) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) {
      return invalid(
          format("header '{}': its value holds a control byte, such as a line end", header.first));
    }
  }
  const std::string name = lower(header.first);
  for (const std::string_view ours :
       {"content-length", "transfer-encoding", "expect", "te", "upgrade", "trailer"}) {
    if (name == ours) return invalid(format("header '{}': is ours to set", header.first));
  }
  if (name == "accept-encoding" && lower(trim(header.second)) != "identity") {
    return invalid(
        "header 'accept-encoding': a compressed stream hides when each token came; leave it out");
  }
  return {};
}

void put(std::vector<Header>& headers, Header header) {
  const std::string name = lower(header.first);
  for (Header& present : headers) {
    if (lower(present.first) == name) {
      present = std::move(header);
      return;
    }
  }
  headers.push_back(std::move(header));
}

bool names(const std::vector<Header>& headers, std::string_view lower_name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const Header& h) { return lower(h.first) == lower_name; });
}

}  // namespace

void write_hex16(char* out, std::uint64_t value) {
  for (int i = 15; i >= 0; --i) {
    out[i] = "0123456789abcdef"[value & 15];
    value >>= 4;
  }
}

void write_salt(char* out, SaltForm form, std::uint64_t value) {
  if (form == SaltForm::hex) {
    write_hex16(out, value);
    return;
  }
  for (std::size_t i = 0; i < kSaltIds; ++i) {
    auto id = static_cast<std::uint32_t>(kSaltFirstId) +
              static_cast<std::uint32_t>(value >> (8 * (kSaltIds - 1 - i)) & 255);
    for (std::size_t digit = 4; digit-- > 0; id /= 10) {
      out[i * 5 + digit] = static_cast<char>('0' + id % 10);
    }
  }
}

std::string request_target(const net::Url& url, Api api) {
  std::string path = url.path;
  while (!path.empty() && path.back() == '/') path.pop_back();
  std::string_view below = route(api);
  const std::string_view tail = below.starts_with("/v1/") ? below.substr(3) : below;
  if (!std::string_view(path).ends_with(tail)) {
    if (path.ends_with("/v1")) below = tail;
    path += below;
  }
  if (!url.query.empty()) path += "?" + url.query;
  return path;
}

Result<std::vector<Header>> request_headers(const Endpoints& endpoints, bool stream,
                                            const std::string& session) {
  std::vector<Header> headers;
  if (!endpoints.api_key.empty()) {
    headers.emplace_back("Authorization", "Bearer " + endpoints.api_key);
  }
  headers.emplace_back("Content-Type", "application/json");
  headers.emplace_back("Accept", stream ? "text/event-stream" : "application/json");
  for (const Header& header : endpoints.headers) put(headers, header);
  if (!session.empty()) {
    for (const std::string& name : endpoints.session_headers) put(headers, {name, session});
  }
  if (endpoints.request_ids && !names(headers, kRequestIdHeader)) {
    headers.emplace_back(kRequestIdHeader, kRequestIdHole);
  }
  for (const Header& header : headers) TRY(check_header(header));
  return headers;
}

std::string request_head(const net::Url& url, std::string_view target,
                         const std::vector<Header>& headers, std::size_t body_bytes) {
  std::string head = format("POST {} HTTP/1.1\r\n", target);
  if (!names(headers, "host")) head += format("Host: {}\r\n", net::host_header(url));
  for (const auto& [name, value] : headers) head += format("{}: {}\r\n", name, value);
  head += format("Content-Length: {}\r\n\r\n", body_bytes);
  return head;
}

std::size_t request_id_offset(const Endpoints& endpoints, std::string_view head) {
  if (!endpoints.request_ids || names(endpoints.headers, kRequestIdHeader)) return kNoHole;
  const std::string line = format("\r\n{}: {}\r\n", kRequestIdHeader, kRequestIdHole);
  const std::size_t at = head.find(line);
  return at == std::string_view::npos ? kNoHole : at + 2 + kRequestIdHeader.size() + 2;
}

Result<RequestBody> make_body(Api api, const Generation& generation, const Sample& sample,
                              bool salted) {
  TRY(check_sample(api, sample));
  if (!generation.extra_body.is_null() && !generation.extra_body.is_object()) {
    return invalid("extra_body: must be an object");
  }
  if (salted) TRY(check_salt(api, sample));
  const Json body = plain_body(api, generation, sample, salted ? '0' : '\0');
  TRY(check_body(generation, body));
  RequestBody out;
  out.bytes = body.dump();
  out.asked = asked_of(body);
  if (!salted) return out;
  // The hole is where two different fillings differ.
  const std::string other = plain_body(api, generation, sample, '1').dump();
  CHECK(other.size() == out.bytes.size());
  const auto [at, ignored] = std::mismatch(out.bytes.begin(), out.bytes.end(), other.begin());
  if (at == out.bytes.end()) {
    return invalid("extra_body: replaces the prompt, so it cannot be salted; turn salting off");
  }
  out.salt_offset = static_cast<std::size_t>(at - out.bytes.begin());
  const bool text = api == Api::openai || sample.input_tokens.empty();
  out.salt_form = text ? SaltForm::hex : SaltForm::ids;
  const std::string hole =
      text ? std::string(kSaltDigits, '0') : "1111,1111,1111,1111,1111,1111,1111,1111";
  CHECK(out.bytes.compare(out.salt_offset, hole.size(), hole) == 0);
  return out;
}

Result<RequestTemplate> make_request(const Endpoints& endpoints, std::size_t endpoint,
                                     const Generation& generation, const Sample& sample,
                                     bool salted) {
  CHECK(endpoint < endpoints.urls.size());
  ASSIGN_OR_RETURN(const net::Url url, net::parse_url(endpoints.urls[endpoint]));
  ASSIGN_OR_RETURN(RequestBody body, make_body(endpoints.api, generation, sample, salted));
  ASSIGN_OR_RETURN(const std::vector<Header> headers,
                   request_headers(endpoints, generation.stream, sample.session));
  RequestTemplate out;
  out.head = request_head(url, request_target(url, endpoints.api), headers, body.bytes.size());
  out.body = std::move(body.bytes);
  out.salt_offset = body.salt_offset;
  out.salt_form = body.salt_form;
  out.request_id_offset = request_id_offset(endpoints, out.head);
  return out;
}

}  // namespace assay::protocol
