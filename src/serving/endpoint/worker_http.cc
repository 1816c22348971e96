// The worker's immediate replies, refusals, and replies without streaming.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "endpoint/described_ask.h"
#include "endpoint/tensor_ask.h"
#include "endpoint/worker.h"
#include "net/grpc.h"
#include "net/whole_reply.h"

namespace assay::endpoint {
namespace {

constexpr std::int64_t kModelLengthMax = 1 << 20;
constexpr std::string_view kJson = "application/json";

struct PathRoute {
  std::string_view path{};
  Route route = Route::chat;
};
constexpr std::array<PathRoute, 18> kAnswered = {
    {{"/v1/videos/generations", Route::videos},
     {"/v1/videos", Route::video_jobs},
     {"/v1/images/edits", Route::image_edits},
     {"/v1/audio/transcriptions", Route::transcriptions},
     {"/v1/audio/speech", Route::speech},
     {"/v1/audio/translations", Route::translations},
     {"/v1/chat/completions", Route::chat},
     {"/v1/completions", Route::completions},
     {"/generate", Route::generate},
     {"/v1/responses", Route::responses},
     {"/v1/messages", Route::messages},
     {"/api/chat", Route::ollama_chat},
     {"/api/generate", Route::ollama_generate},
     {"/v1/embeddings", Route::embeddings},
     {"/v1/rerank", Route::rerank},
     {"/v1/score", Route::score},
     {"/classify", Route::classify},
     {"/v1/images/generations", Route::images}}};
constexpr std::array<std::string_view, 8> kGets = {"/health",   "/ping",       "/metrics",
                                                   "/version",  "/v1/models",  "/get_model_info",
                                                   "/api/tags", "/api/version"};

// The route whose API says errors at this path.
Route form_of(std::string_view path) {
  if (path.starts_with("/v1/messages")) return Route::messages;
  if (path == "/v2" || path.starts_with("/v2/")) return Route::kserve;
  return path.starts_with("/api/") ? Route::ollama_chat : Route::chat;
}

Json model_entry(std::string_view name) {
  return Json::object()
      .set("id", name)
      .set("object", "model")
      .set("created", wall_now().ns / 1'000'000'000)
      .set("owned_by", "assay")
      .set("root", name)
      .set("parent", nullptr)
      .set("max_model_len", kModelLengthMax);
}

// What a tensor server says of a model: any inputs, and scores out.
Json tensor_model(std::string_view name) {
  const Json scores = Json::object()
                          .set("name", "scores")
                          .set("datatype", "FP32")
                          .set("shape", Json::array().push_back(-1).push_back(10));
  return Json::object()
      .set("name", name)
      .set("versions", Json::array().push_back("1"))
      .set("platform", "assay")
      .set("inputs", Json::array())
      .set("outputs", Json::array().push_back(scores));
}

// The text of a prompt, or of all messages, as one string, for /tokenize.
std::string text_of_prompt(const Json& body) {
  if (body["prompt"].is_string()) return std::string(body["prompt"].as_string());
  std::string text;
  for (const Json& message : body["messages"].items()) {
    text += message["content"].as_string();
    for (const Json& part : message["content"].items()) text += part["text"].as_string();
  }
  return text;
}

}  // namespace

void Worker::respond(net::ConnectionId connection, const net::RequestHead& head, int status,
                     std::string_view content_type, std::string_view body,
                     std::string_view extra_header) {
  const std::size_t colon = extra_header.find(": ");
  const net::HttpHeader extra{extra_header.substr(0, colon), colon == std::string_view::npos
                                                                 ? std::string_view{}
                                                                 : extra_header.substr(colon + 2)};
  net::send_whole(*server_, connection, head,
                  {.status = status,
                   .content_type = content_type,
                   .headers = {&extra, extra_header.empty() ? 0u : 1u}},
                  body);
}

void Worker::respond_error(net::ConnectionId connection, const net::RequestHead& head,
                           const ApiError& error, std::string_view extra_header) {
  if (head.path().starts_with(kGrpcService)) {
    return refuse_grpc(connection, net::grpc_status_of(error.status), error.message);
  }
  respond(connection, head, error.status, kJson, error_body(form_of(head.path()), error),
          extra_header);
}

bool Worker::authorized(const net::RequestHead& head) const {
  if (options_.api_key.empty()) return true;
  // Anthropic's header, and Azure's.
  for (const std::string_view name : {"x-api-key", "api-key"}) {
    if (head.find(name) == options_.api_key) return true;
  }
  if (options_.described != nullptr && !options_.described->key_header.empty() &&
      head.find(lower(options_.described->key_header)) == options_.api_key) {
    return true;
  }
  const std::string_view given = head.find("authorization");
  constexpr std::string_view kBearer = "Bearer ";
  return given.starts_with(kBearer) && given.substr(kBearer.size()) == options_.api_key;
}

void Worker::on_request(net::ConnectionId connection, const net::RequestHead& head,
                        std::string_view body) {
  const std::string_view path = head.path();
  std::string_view own_model;
  const bool is_own =
      options_.described != nullptr && is_route_of(*options_.described, path, own_model);
  const bool needs_key = is_own || path.starts_with("/v1/") || path.starts_with("/v2/models/") ||
                         path.starts_with(kGrpcService) || path == "/generate" ||
                         path == "/tokenize" || path == "/classify";
  if (needs_key && !authorized(head)) {
    return respond_error(
        connection, head,
        {.status = 401, .message = "Incorrect API key provided.", .code = "invalid_api_key"});
  }
  if (path == "/v1/realtime") return open_session(connection, head);
  const bool post = head.method == "POST";
  for (const PathRoute& entry : kAnswered) {
    if (path != entry.path) continue;
    if (post) return answer(connection, head, body, entry.route);
    return respond_error(connection, head, {.status = 405, .message = "Use POST."}, "Allow: POST");
  }
  if (is_own) {
    if (post) {
      const bool units = !options_.described->unit.empty();
      return answer(connection, head, body, units ? Route::described_units : Route::described,
                    own_model);
    }
    return respond_error(connection, head, {.status = 405, .message = "Use POST."}, "Allow: POST");
  }
  if (path.starts_with("/v1/videos/")) return answer_job(connection, head);
  if (path == "/v2" || path.starts_with("/v2/")) return answer_tensors(connection, head, body);
  if (path.starts_with(kGrpcService)) return answer_grpc(connection, head, body);
  if (path == "/tokenize" && post) return tokenize(connection, head, body);
  if (answer_get(connection, head)) return;
  respond_error(connection, head,
                {.status = 404,
                 .message = format("No route {} {}.", head.method, path),
                 .code = "not_found"});
}

// The routes of a tensor server.
void Worker::answer_tensors(net::ConnectionId connection, const net::RequestHead& head,
                            std::string_view body) {
  const std::string_view path = head.path();
  TensorPath of_model;
  const bool model = read_tensor_path(path, of_model);
  if (model && of_model.what == "infer" && head.method == "POST") {
    return answer(connection, head, body, Route::kserve, of_model.model);
  }
  const auto not_found = [&](std::string message) {
    respond_error(connection, head, {.status = 404, .message = std::move(message)});
  };
  const bool live = path == "/v2/health/live" || path == "/v2/health/ready";
  const bool known =
      path == "/v2" || live || (model && (of_model.what.empty() || of_model.what == "ready"));
  const bool get = head.method == "GET" || head.method == "HEAD";
  if (!known && !(model && of_model.what == "infer")) {
    return not_found(format("No route {} {}.", head.method, path));
  }
  if (!known || !get) {
    const std::string_view wanted = known ? "GET" : "POST";
    return respond_error(connection, head, {.status = 405, .message = format("Use {}.", wanted)},
                         known ? "Allow: GET, HEAD" : "Allow: POST");
  }
  if (live) return respond(connection, head, 200, kJson, "");
  if (path == "/v2") {
    const Json about = Json::object()
                           .set("name", "assay")
                           .set("version", version())
                           .set("extensions", Json::array().push_back("binary_tensor_data"));
    return respond(connection, head, 200, kJson, about.dump());
  }
  if (!options_.any_model && of_model.model != options_.model) {
    return not_found(format("Request for unknown model: '{}' is not found", of_model.model));
  }
  if (of_model.what == "ready") return respond(connection, head, 200, kJson, "");
  respond(connection, head, 200, kJson, tensor_model(of_model.model).dump());
}

bool Worker::answer_get(net::ConnectionId connection, const net::RequestHead& head) {
  const std::string_view path = head.path();
  constexpr std::string_view kOneModel = "/v1/models/";
  const bool one_model = path.starts_with(kOneModel);
  if (!one_model && std::find(kGets.begin(), kGets.end(), path) == kGets.end()) return false;
  if (head.method != "GET" && head.method != "HEAD") {
    respond_error(connection, head, {.status = 405, .message = "Use GET."}, "Allow: GET, HEAD");
  } else if (path == "/health" || path == "/ping") {
    respond(connection, head, 200, kJson, "");
  } else if (path == "/api/tags") {
    const Json model = Json::object().set("name", options_.model).set("model", options_.model);
    const Json list = Json::object().set("models", Json::array().push_back(model));
    respond(connection, head, 200, kJson, list.dump());
  } else if (path == "/version" || path == "/api/version") {
    respond(connection, head, 200, kJson, Json::object().set("version", version()).dump());
  } else if (path == "/metrics") {
    respond(connection, head, 200, "text/plain; version=0.0.4; charset=utf-8",
            metrics_page(all_, options_.model));
  } else if (path == "/get_model_info") {
    const Json info = Json::object().set("model_path", options_.model).set("is_generation", true);
    respond(connection, head, 200, kJson, info.dump());
  } else if (!one_model) {
    const Json list = Json::object()
                          .set("object", "list")
                          .set("data", Json::array().push_back(model_entry(options_.model)));
    respond(connection, head, 200, kJson, list.dump());
  } else if (path.substr(kOneModel.size()) == options_.model) {
    respond(connection, head, 200, kJson, model_entry(options_.model).dump());
  } else {
    respond_error(
        connection, head,
        {.status = 404,
         .message = format("The model `{}` does not exist.", path.substr(kOneModel.size())),
         .type = "NotFoundError",
         .param = "model",
         .code = "model_not_found"});
  }
  return true;
}

// vLLM's API: a prompt's token count and ids. The count is the estimate of ask.h; ids are hashes.
void Worker::tokenize(net::ConnectionId connection, const net::RequestHead& head,
                      std::string_view body) {
  const auto parsed = Json::parse(body);
  if (!parsed || !((*parsed)["prompt"].is_string() || (*parsed)["messages"].is_array())) {
    return respond_error(connection, head,
                         {.message = "The body must be a JSON object with a prompt or messages.",
                          .param = "prompt"});
  }
  const std::string text = text_of_prompt(*parsed);
  const std::string in_json = json_quote(text);
  const std::string_view inner = std::string_view(in_json).substr(1, in_json.size() - 2);
  std::size_t count = estimate_tokens(inner.size());
  const std::size_t messages = (*parsed)["messages"].size();
  if (messages > 0) count += 4 * messages + 3;
  count = std::max<std::size_t>(count, 1);
  Json ids = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view piece = i * 4 < inner.size() ? inner.substr(i * 4, 4) : "";
    ids.push_back(xxh3(piece) % 100'000);
  }
  const Json reply = Json::object()
                         .set("count", count)
                         .set("max_model_len", kModelLengthMax)
                         .set("tokens", std::move(ids))
                         .set("token_strs", nullptr);
  respond(connection, head, 200, kJson, reply.dump());
}

void Worker::reject(Stream& stream, const net::RequestHead& head, const ApiError& error) {
  record_request(stream, head);
  stream.out.last_handed = clock_.now();
  if (stream.out.socket) {
    refuse_turn(stream, error);
  } else {
    respond_error(stream.out.connection, head, error);
  }
  end_stream(stream, TruthOutcome::rejected, error.status);
}

void Worker::http_fault(Stream& stream, const net::RequestHead& head) {
  const int status = stream.fault.status;
  const bool later = status == 429 || status == 503;
  const bool limited = status == 429;
  ApiError error{.status = status,
                 .message = limited ? "Rate limit reached. Please try again in 1s."
                                    : "The server had an error while processing your request.",
                 .type = limited ? "requests" : "server_error",
                 .code = limited ? "rate_limit_exceeded" : ""};
  count_fault(stream.fault);
  stream.fault_done = true;
  stream.out.last_handed = clock_.now();
  if (stream.out.socket) {
    refuse_turn(stream, error);
  } else {
    respond_error(stream.out.connection, head, error, later ? "Retry-After: 1" : "");
  }
  end_stream(stream, TruthOutcome::faulted, status);
}

void Worker::emit_plain(Stream& stream) {
  stream.reply.state.latency_s = (clock_.now() - stream.arrived).seconds();
  body_.clear();
  writer_.plain(body_, stream.reply);
  const Reply& reply = stream.reply;
  const std::size_t behind = reply.dialect == nullptr ? 0 : reply.dialect->bytes_behind(*reply.own);
  if (behind > 0 && stream.fault.kind != FaultKind::error) {
    stream.head += format("Inference-Header-Content-Length: {}\r\n", body_.view().size() - behind);
  }
  if (stream.fault.kind != FaultKind::none) return inject_plain(stream, body_.view());
  if (reply.route == Route::kserve_grpc) return send_grpc(stream, body_.view());
  if (!is_of_vectors(stream.reply.route)) stats_.output_tokens.add(stream.reply.script.tokens);
  send_plain(stream, body_.view());
}

void Worker::send_plain(Stream& stream, std::string_view body) {
  const Quirks& quirks = options_.quirks;
  const EventMark mark{.tokens = stream.reply.script.tokens, .category = Category::text};
  ByteBuffer encoded;
  head_.clear();
  BodyCoder* const coder = stream.out.extra != nullptr ? stream.out.extra->coder.get() : nullptr;
  const bool chunked = quirks.has(Quirk::chunked_plain) && !quirks.has(Quirk::close_delimited);
  if (coder != nullptr || chunked) {
    BodyCoder clean(chunked ? BodyCoder::Framing::chunks : BodyCoder::Framing::none, false);
    // Compressed and not chunked: Content-Length is the compressed body's, so it has no chunks.
    BodyCoder plain_gzip(BodyCoder::Framing::none, stream.gzip);
    BodyCoder& used = !chunked ? plain_gzip : coder != nullptr ? *coder : clean;
    used.put(encoded, body);
    used.end(encoded);
    body = encoded.view();
  }
  if (!chunked && !quirks.has(Quirk::close_delimited)) {
    head_.put("Content-Length: ");
    head_.put_decimal(body.size());
    head_.put("\r\n");
  }
  head_.put("\r\n");
  const std::array<std::string_view, 3> parts = {stream.head, head_.view(), body};
  const auto status = outlet_.send_raw(stream.out, parts, mark, Then::finish);
  if (status != Outlet::Status::gone) {
    stats_.latency.observe(stream.out.last_handed - stream.arrived);
  }
  settle(stream, status);
}

void Worker::inject_plain(Stream& stream, std::string_view body) {
  count_fault(stream.fault);
  stream.fault_done = true;
  const auto cut = [this, &stream, body](Then then) {
    const std::string rest = format("Content-Length: {}\r\n\r\n", body.size());
    const std::array<std::string_view, 3> parts = {stream.head, rest,
                                                   body.substr(0, body.size() / 2)};
    settle(stream, outlet_.send_raw(stream.out, parts, {}, then));
  };
  switch (fault_of(stream)) {
    case FaultKind::none:
    case FaultKind::http:
      CHECK(false && "no fault that strikes a plain reply");
    case FaultKind::reset:
      return cut(Then::reset);
    case FaultKind::truncate:
      return cut(Then::close);
    case FaultKind::error:
      if (stream.reply.route == Route::kserve_grpc) {
        stream.out.last_handed = clock_.now();
        refuse_grpc(stream.out.connection, net::grpc_status_of(500),
                    "The request was aborted by the server.");
        return end_stream(stream, TruthOutcome::faulted);
      }
      return send_plain(stream, error_body(stream.reply.route,
                                           {.status = 500,
                                            .message = "The request was aborted by the server.",
                                            .type = "internal_server_error",
                                            .code = "internal_error"}));
    case FaultKind::garbage:
      if (stream.reply.route == Route::kserve_grpc) return send_grpc(stream, "\x01\x02\x03");
      return send_plain(stream, R"({"id":"chatcmpl-0","object":"chat.comp)");
    case FaultKind::stall:
      return;  // until the client leaves
  }
}

}  // namespace assay::endpoint
