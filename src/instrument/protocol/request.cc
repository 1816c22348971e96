// The request part of codec.h, the same for every kind of API; what differs is in kind/. Bodies are
// built as a Json and written once per sample, before the run, so clarity matters more than speed
// here.
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "protocol/codec.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {
namespace {

constexpr std::string_view kRequestIdHeader = "x-request-id";
constexpr std::string_view kRequestIdHole = "00000000000000000000000000000000";
static_assert(kRequestIdHole.size() == kRequestIdDigits);
constexpr std::int64_t kChoicesMax = 128;

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

Json default_body(const Spoken& api, const Generation& generation, const Sample& sample,
                  char filler) {
  Json body = api.described != nullptr ? described_body(*api.described, generation, sample, filler)
                                       : kind_of(api).body(generation, sample, filler);
  merge_patch(body, generation.extra_body);
  merge_patch(body, sample.overrides);
  return body;
}

Result<void> check_body(const Spoken& api, const Generation& generation, const Json& body) {
  if (api.described != nullptr) return check_described_body(*api.described, generation, body);
  if (kind_of(api).socket) return {};  // a turn always streams, and has one response
  const bool streams = body["stream"].as_bool(kind_of(api).raw_sound && generation.stream);
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
Asked asked_of(const Spoken& api, const Json& body) {
  const Kind& kind = kind_of(api);
  Asked out{.api = api, .stream = body["stream"].as_bool(false)};
  const Json& sampling = body["sampling_params"];
  std::int64_t limit = -1;
  for (const Json* const asked :
       {&body["max_completion_tokens"], &body["max_tokens"], &body["max_output_tokens"],
        &sampling["max_new_tokens"], &body["options"]["num_predict"]}) {
    if (asked->is_number()) limit = std::max(limit, asked->as_int());
  }
  if (limit > 0 && limit < std::numeric_limits<std::int32_t>::max()) {
    out.tokens_max = static_cast<std::int32_t>(limit);
  }
  if (api.described != nullptr) {
    out.choices = units_of_described(*api.described, body);
    return out;
  }
  if (kind.sound_rate != nullptr) out.sound_rate = kind.sound_rate(body);
  if (kind.units != nullptr) {
    out.tokens_max = -1;
    out.choices = kind.units(body);
    return out;
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
       {"content-length", "transfer-encoding", "expect", "te", "upgrade", "trailer",
        "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions",
        "sec-websocket-protocol"}) {
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

// What a call of gRPC says beside its content: a server may give up what we would not wait for.
void put_grpc(const Endpoints& endpoints, std::vector<Header>& headers) {
  headers.emplace_back("te", "trailers");
  constexpr std::int64_t kDigitsMax = 99'999'999;
  const std::int64_t ms = endpoints.query_timeout.ns / 1'000'000;
  if (ms / 1000 > kDigitsMax) return;  // none, or as good as none
  headers.emplace_back("grpc-timeout",
                       ms <= kDigitsMax ? format("{}m", ms) : format("{}S", ms / 1000));
}

// The route of a kind, with the model's name where it stands.
std::string route_with(std::string_view route, std::string_view model) {
  constexpr std::string_view kHole = "{model}";
  const std::size_t at = route.find(kHole);
  if (at == std::string_view::npos) return std::string(route);
  std::string out(route.substr(0, at));
  for (const char c : model) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out.append(route.substr(at + kHole.size()));
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

std::string request_target(const net::Url& url, Spoken api, std::string_view model) {
  std::string path = url.path;
  while (!path.empty() && path.back() == '/') path.pop_back();
  std::string_view below =
      api.described != nullptr ? std::string_view(api.described->route) : kind_of(api).route;
  const std::string with_model = route_with(below, model);
  constexpr std::string_view kModelHole = "{model}";
  const std::size_t hole = below.find(kModelHole);
  // The URL may name a model, and a version of it.
  const bool named = hole != std::string_view::npos &&
                     path.ends_with(below.substr(hole + kModelHole.size())) &&
                     path.find(below.substr(0, hole)) != std::string::npos;
  below = named ? std::string_view{} : std::string_view(with_model);
  const std::string_view tail = below.starts_with("/v1/") ? below.substr(3) : below;
  if (!std::string_view(path).ends_with(tail)) {
    // Routes without /v1 stand beside it. One from a file stands below the URL as it is.
    const bool beside = below.starts_with("/v1/") || api.described == nullptr;
    if (beside && path.ends_with("/v1")) path.resize(path.size() - 3);
    path += below;
  }
  std::string query = url.query;
  // A session's model is chosen when it is opened.
  const bool named_there = query.starts_with("model=") || query.find("&model=") != query.npos;
  if (api.described == nullptr && kind_of(api).socket && !model.empty() && !named_there) {
    query += (query.empty() ? "" : "&") + route_with("model={model}", model);
  }
  if (!query.empty()) path += "?" + query;
  return path;
}

Result<std::vector<Header>> request_headers(const Endpoints& endpoints, bool stream,
                                            const std::string& session,
                                            const std::vector<Header>& of_body) {
  std::vector<Header> headers;
  const Kind& kind = kind_of(endpoints.spoken());
  const DescribedKind* const described = endpoints.described.get();
  const std::string_view key_header =
      described != nullptr ? std::string_view(described->key_header) : kind.key_header;
  if (!endpoints.api_key.empty() && key_header.empty()) {
    headers.emplace_back("Authorization", "Bearer " + endpoints.api_key);
  } else if (!endpoints.api_key.empty()) {
    headers.emplace_back(key_header, endpoints.api_key);
  }
  if (!kind.header.empty()) headers.emplace_back(kind.header, kind.header_value);
  if (described != nullptr) {
    headers.insert(headers.end(), described->headers.begin(), described->headers.end());
  }
  headers.emplace_back("Content-Type", kind.content_type);
  const std::string_view streamed = kind.lines ? "application/x-ndjson" : "text/event-stream";
  headers.emplace_back("Accept", !kind.accept.empty() ? kind.accept
                                 : stream             ? streamed
                                                      : "application/json");
  for (const Header& header : of_body) put(headers, header);
  for (const Header& header : endpoints.headers) put(headers, header);
  if (!session.empty()) {
    for (const std::string& name : endpoints.session_headers) put(headers, {name, session});
  }
  for (const Header& header : headers) TRY(check_header(header));
  if (is_grpc(endpoints.api)) put_grpc(endpoints, headers);
  if (endpoints.request_ids && !names(headers, kRequestIdHeader)) {
    headers.emplace_back(kRequestIdHeader, kRequestIdHole);
  }
  return headers;
}

std::string socket_head(const net::Url& url, std::string_view target,
                        const std::vector<Header>& headers) {
  std::string head = format("GET {} HTTP/1.1\r\n", target);
  if (!names(headers, "host")) head += format("Host: {}\r\n", net::host_header(url));
  for (const auto& [name, value] : headers) {
    // It has no body, and its id is of no query: each turn has its own.
    const std::string known = lower(name);
    if (known == "content-type" || known == "accept" || value == kRequestIdHole) continue;
    head += format("{}: {}\r\n", name, value);
  }
  return head;
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

Result<RequestBody> make_body(Spoken api, const Generation& generation, const Sample& sample,
                              bool salted) {
  CHECK((api.api == Api::described) == (api.described != nullptr));
  const Kind& kind = kind_of(api);
  TRY(api.described != nullptr ? check_described(*api.described, sample) : kind.check(sample));
  if (salted && !sample.attachments.empty() && sample.prompt.empty()) {
    return invalid(format("sample: {} has no text to salt; turn salting off", name_of(api)));
  }
  if (!generation.extra_body.is_null() && !generation.extra_body.is_object()) {
    return invalid("extra_body: must be an object");
  }
  if (salted && takes_messages(api)) TRY(check_message_salt(sample));
  const Json body = default_body(api, generation, sample, salted ? '0' : '\0');
  TRY(check_body(api, generation, body));
  RequestBody out;
  if (kind.encode != nullptr) {
    TRY(kind.encode(body, sample, out));
  } else {
    out.bytes = body.dump();
  }
  out.asked = asked_of(api, body);
  if (kind.raw_sound || kind.socket) out.asked.stream = generation.stream || kind.socket;
  if (api.described != nullptr) {
    // No field of a described body says these for sure.
    out.asked.stream = generation.stream;
    const std::int64_t limit = output_tokens_max(generation, sample);
    const bool fits = limit > 0 && limit < std::numeric_limits<std::int32_t>::max();
    out.asked.tokens_max =
        fits && api.described->limits_tokens ? static_cast<std::int32_t>(limit) : -1;
  }
  if (!salted) return out;
  // The hole is where two different fillings differ.
  RequestBody twin;
  const Json filled = default_body(api, generation, sample, '1');
  if (kind.encode != nullptr) {
    TRY(kind.encode(filled, sample, twin));
  } else {
    twin.bytes = filled.dump();
  }
  const std::string& other = twin.bytes;
  CHECK(other.size() == out.bytes.size());
  const auto [at, ignored] = std::mismatch(out.bytes.begin(), out.bytes.end(), other.begin());
  if (at == out.bytes.end()) {
    if (generation.extra_body.size() == 0 && sample.overrides.size() == 0) {
      return invalid(format("sample: {} has no text to salt; turn salting off", name_of(api)));
    }
    return invalid("extra_body: replaces the prompt, so it cannot be salted; turn salting off");
  }
  out.salt_offset = static_cast<std::size_t>(at - out.bytes.begin());
  const bool text = !row_of(api.api).takes_token_ids || sample.input_tokens.empty();
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
  ASSIGN_OR_RETURN(RequestBody body, make_body(endpoints.spoken(), generation, sample, salted));
  ASSIGN_OR_RETURN(const std::vector<Header> headers,
                   request_headers(endpoints, generation.stream, sample.session, body.headers));
  RequestTemplate out;
  out.head = request_head(url, request_target(url, endpoints.spoken(), generation.model), headers,
                          body.bytes.size());
  out.body = std::move(body.bytes);
  out.salt_offset = body.salt_offset;
  out.salt_form = body.salt_form;
  out.request_id_offset = request_id_offset(endpoints, out.head);
  return out;
}

}  // namespace assay::protocol
