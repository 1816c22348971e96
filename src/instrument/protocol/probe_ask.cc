// The asking part of probe.h and endpoint_capture.h: a blocking connection, and its requests.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/format.h"
#include "domain/query.h"
#include "net/poller.h"
#include "net/receive.h"
#include "net/tls.h"
#include "net/url.h"
#include "net/wait_connected.h"
#include "protocol/codec.h"
#include "protocol/endpoint_capture.h"
#include "protocol/kind/kind.h"
#include "protocol/probe.h"
#include "protocol/probe_socket.h"
#include "protocol/secrets.h"

namespace assay::protocol {
namespace {

constexpr Duration kKindTimeout = 5_s;
constexpr std::size_t kReplyBytesMax = std::size_t{64} << 20;

// One connection. Belongs to ask_endpoint(); waits for as long as its deadlines say.
class ProbeConnection {
 public:
  ProbeConnection(net::Fd fd, net::Poller poller, const Clock& clock)
      : fd_(std::move(fd)), poller_(std::move(poller)), clock_(clock) {}

  Result<void> shake_hands(const net::TlsContext& context, const std::string& host,
                           Instant deadline) {
    tls_.emplace(context, host);
    for (;;) {
      const net::TlsSession::Step step = tls_->handshake();
      if (!send_tls(deadline)) return Error{Code::refused, "the connection closed during TLS"};
      if (step == net::TlsSession::Step::done) return {};
      if (step == net::TlsSession::Step::failed) return Error{Code::refused, tls_->error()};
      std::string bytes;
      const Recording::Ending ending = receive(deadline, bytes);
      if (ending == Recording::Ending::timed_out) {
        return Error{Code::timed_out, "no end of the TLS handshake in time"};
      }
      if (ending != Recording::Ending::open) {
        return Error{Code::refused, "the connection closed during TLS"};
      }
      tls_->feed(bytes);
    }
  }

  std::string tls_version() const { return tls_ ? std::string(tls_->version()) : ""; }

  // `turn`: what comes is of a WebSocket.
  Recording ask(std::string_view request, Duration timeout, ProbeTurn* turn = nullptr) {
    Recording out;
    // Read the clock before the send: a server on this machine may answer before we run again.
    out.sent = clock_.now();
    const Instant deadline = out.sent + timeout;
    if (!send(request, deadline)) {
      out.ending = Recording::Ending::reset;
      out.ended = clock_.now();
      usable_ = false;
      return out;
    }
    net::ResponseParser parser;
    std::size_t total = 0;
    while (out.ending == Recording::Ending::open && total < kReplyBytesMax) {
      RecordedRead read;
      out.ending = receive(deadline, read.bytes);
      read.at = clock_.now();
      if (out.ending == Recording::Ending::open && tls_) decrypt(read.bytes);
      if (turn != nullptr) {
        std::string answer;
        turn->take(read.bytes, answer);
        if (out.reads.empty() && !answer.empty()) out.sent = clock_.now();
        if (!answer.empty()) send(answer, deadline);
      }
      total += read.bytes.size();
      std::string_view rest = read.bytes;
      parser.feed(
          rest, [](const net::ResponseHead&) {}, [](std::string_view) {});
      if (!read.bytes.empty()) out.reads.push_back(std::move(read));
      if (tls_ && tls_->closed()) out.ending = Recording::Ending::closed;
      const auto state = parser.state();
      if (state == net::ResponseParser::State::complete) break;
      if (state == net::ResponseParser::State::failed) break;
    }
    out.ended = clock_.now();
    usable_ = turn == nullptr && out.ending == Recording::Ending::open &&
              parser.state() == net::ResponseParser::State::complete && parser.head().keep_alive;
    return out;
  }

  // Whether the peer accepts another query, as far as we can see.
  bool usable() {
    if (!usable_) return false;
    std::array<char, 1> byte{};
    const ssize_t n = ::recv(fd_.get(), byte.data(), byte.size(), MSG_PEEK | MSG_DONTWAIT);
    // TLS may have sent a session ticket; other bytes would be taken for the next reply.
    return n < 0 ? errno == EAGAIN : n > 0 && tls_.has_value();
  }

 private:
  bool wait(Instant deadline) {
    const Instant now = clock_.now();
    if (now >= deadline) return false;
    poller_.wait(deadline - now);
    return true;
  }

  bool send_raw(std::string_view& bytes, Instant deadline) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
      } else if (errno != EAGAIN || !wait(deadline)) {
        return false;
      }
    }
    return true;
  }

  bool send_tls(Instant deadline) {
    std::string_view bytes = tls_->output();
    const std::size_t size = bytes.size();
    const bool sent = send_raw(bytes, deadline);
    tls_->consume(size);  // what could not be sent ends with its connection
    return sent;
  }

  bool send(std::string_view bytes, Instant deadline) {
    if (!tls_) return send_raw(bytes, deadline);
    return tls_->write(bytes) && send_tls(deadline);
  }

  // One read; ciphertext under TLS.
  Recording::Ending receive(Instant deadline, std::string& out) {
    for (;;) {
      const net::Received got = net::receive(fd_, buffer_.data(), buffer_.size());
      if (got.bytes > 0) {
        out.assign(buffer_.data(), static_cast<std::size_t>(got.bytes));
        return Recording::Ending::open;
      }
      if (got.bytes == 0) return Recording::Ending::closed;
      if (got.error != EAGAIN) return Recording::Ending::reset;
      if (!wait(deadline)) return Recording::Ending::timed_out;
    }
  }

  void decrypt(std::string& bytes) {
    tls_->feed(bytes);
    bytes.clear();
    for (;;) {
      const std::ptrdiff_t n = tls_->read(buffer_.data(), buffer_.size());
      if (n <= 0) return;
      bytes.append(buffer_.data(), static_cast<std::size_t>(n));
    }
  }

  net::Fd fd_;
  net::Poller poller_;
  const Clock& clock_;
  std::optional<net::TlsSession> tls_{};
  std::array<char, 64 * 1024> buffer_{};
  bool usable_ = false;  // until a reply came whole: a handshake may have failed
};

// The state shared by all connections and requests.
class Asker {
 public:
  Asker(const ProbeQuestion& question, net::Url url, const Clock& clock)
      : question_(question),
        url_(std::move(url)),
        base_(base_of(url_, {question.api, question.described.get()})),
        clock_(clock) {}

  Result<ProbeAnswers> run() {
    TRY(prepare());
    ASSIGN_OR_RETURN(const std::string models_request, get(sibling("/models")));
    answers_.tokens_max = question_.tokens_max;
    answers_.api = question_.api;
    answers_.described = question_.described;
    TRY(connect());
    answers_.models_asked = true;
    read_models(connection_->ask(models_request, question_.timeout));
    answers_.model = question_.model;
    if (answers_.model.empty() && !answers_.models.empty()) answers_.model = answers_.models[0];

    if (row_of(question_.api).streams) {
      TRY(ask_both());
    } else {
      answers_.plain_asked = true;
      ASSIGN_OR_RETURN(answers_.plain, is_tensors(question_.api) ? ask_metadata() : ask(false));
    }
    if (question_.kinds) TRY(ask_kinds());
    return std::move(answers_);
  }

  Result<EndpointReplies> capture() {
    TRY(prepare());
    EndpointReplies out;
    const std::string base = base_path();
    ASSIGN_OR_RETURN(out.models, captured(sibling("/models")));
    ASSIGN_OR_RETURN(out.version, captured(base + "/version"));
    ASSIGN_OR_RETURN(out.server_info, captured(base + "/get_server_info"));
    ASSIGN_OR_RETURN(out.metrics, captured(base + "/metrics"));
    return out;
  }

  // The URL's own page, and not one beside its API.
  Result<CapturedReply> page(std::size_t bytes_max) {
    if (addresses_.empty()) TRY(prepare());
    return captured(url_.query.empty() ? url_.path : url_.path + "?" + url_.query, bytes_max);
  }

  Result<ProfilerReply> profile(bool start) {
    TRY(prepare());
    const std::string target = base_path() + (start ? "/start_profile" : "/stop_profile");
    ASSIGN_OR_RETURN(const std::string request, bodiless("POST", target));
    TRY(connect());
    const ReplyFacts facts = read_recording(connection_->ask(request, question_.timeout));
    ProfilerReply out{
        .url = format("{}://{}{}", url_.tls ? "https" : "http", net::host_header(url_), target),
        .status = facts.head.status};
    if (out.status == 0) out.trouble = "no reply";
    return out;
  }

 private:
  Result<void> ask_both() {
    ASSIGN_OR_RETURN(answers_.streamed, ask(true));
    note_refused_usage();
    if (answers_.usage_refused) {
      ASSIGN_OR_RETURN(answers_.streamed, ask(true));
    }
    answers_.plain_on_same_connection = connection_->usable();
    answers_.plain_asked = !kind_of(Spoken(question_.api, question_.described.get())).socket;
    if (answers_.plain_asked) {
      ASSIGN_OR_RETURN(answers_.plain, ask(false));
    }
    return {};
  }

  // What a model takes; without a name, what the server is.
  Result<Recording> ask_metadata() {
    std::string target = request_target(base_, question_.api, answers_.model);
    target.resize(answers_.model.empty() ? target.find("/models/") : target.rfind("/infer"));
    ASSIGN_OR_RETURN(const std::string request, get(target));
    if (!connection_->usable()) TRY(connect());
    return connection_->ask(request, question_.timeout);
  }

  Result<void> prepare() {
    if (url_.tls) {
      ASSIGN_OR_RETURN(context_, tls_context());
    }
    if (!url_.unix_path.empty()) {
      ASSIGN_OR_RETURN(const net::Address address, net::Address::unix_path(url_.unix_path));
      addresses_.push_back(address);
      return {};
    }
    ASSIGN_OR_RETURN(addresses_, net::resolve(url_.host, url_.port));
    return {};
  }

  Result<std::optional<net::TlsContext>> tls_context() {
    net::TlsClientOptions options;
    options.insecure = question_.insecure;
    options.ca_file = question_.ca_file;
    ASSIGN_OR_RETURN(net::TlsContext context, net::TlsContext::client(options));
    return std::optional<net::TlsContext>(std::move(context));
  }

  // Tries the addresses in turn, as a client does.
  Result<void> connect() {
    Error last{Code::refused, "no address"};
    for (const net::Address& address : addresses_) {
      const auto done = connect_to(address);
      if (done) return {};
      last = done.error().within(address.to_string());
    }
    const std::string_view door = connect_door(last.message);
    last.message +=
        door.empty() ? "\n  is the server running, and is this where it listens?" : door;
    return last;
  }

  Result<void> connect_to(const net::Address& address) {
    const Instant began = clock_.now();
    const Instant deadline = began + question_.timeout;
    ASSIGN_OR_RETURN(net::Fd fd, net::start_connect(address));
    ASSIGN_OR_RETURN(net::Poller poller, net::wait_connected(fd, clock_, deadline));
    if (address.is_unix() || net::set_no_delay(fd)) {
      connection_.emplace(std::move(fd), std::move(poller), clock_);
    } else {
      return errno_error("TCP_NODELAY");
    }
    if (context_) TRY(connection_->shake_hands(*context_, url_.host, deadline));
    answers_.address = address.to_string();
    answers_.tls_version = connection_->tls_version();
    answers_.connect_time = clock_.now() - began;
    return {};
  }

  Endpoints endpoints() const {
    Endpoints out;
    out.urls = {question_.url};
    out.api = question_.api;
    out.described = question_.described;
    out.api_key = question_.api_key;
    out.headers = question_.headers;
    return out;
  }

  // The target beside /chat/completions: /v1/models, behind any prefix of the URL.
  std::string sibling(std::string_view route) const {
    std::string target = request_target(base_, Api::openai);
    const std::size_t query = std::min(target.find('?'), target.size());
    constexpr std::string_view kRoute = "/chat/completions";
    target.replace(query - kRoute.size(), kRoute.size(), route);
    return target;
  }

  // Servers have pages of their own at their root, for any path before /v1.
  std::string base_path() const {
    std::string root = sibling("");
    root.resize(std::min(root.find('?'), root.size()));
    return root.ends_with("/v1") ? root.substr(0, root.size() - 3) : "";
  }

  Result<std::string> get(std::string_view target) const { return bodiless("GET", target); }

  Result<std::string> bodiless(std::string_view method, std::string_view target) const {
    ASSIGN_OR_RETURN(const std::vector<Header> headers, request_headers(endpoints(), false, ""));
    std::string out =
        format("{} {} HTTP/1.1\r\nHost: {}\r\n", method, target, net::host_header(url_));
    if (method == "POST") out += "Content-Length: 0\r\n";
    for (const auto& [name, value] : headers) {
      if (name != "Content-Type" && name != "Content-Length" && name != "x-request-id" &&
          name != "Host") {
        out += format("{}: {}\r\n", name, value);
      }
    }
    return out + "\r\n";
  }

  // One GET of a capture; opens a new connection if the old one is closed.
  Result<CapturedReply> captured(const std::string& target,
                                 std::size_t bytes_max = kCapturedBytesMax) {
    ASSIGN_OR_RETURN(const std::string request, get(target));
    if (!connection_ || !connection_->usable()) TRY(connect());
    const ReplyFacts facts = read_recording(connection_->ask(request, question_.timeout));
    CapturedReply out{.status = facts.head.status, .server = header_of(facts, "server")};
    if (out.status == 200) out.body = facts.body.substr(0, bytes_max);
    return out;
  }

  void read_models(const Recording& recording) {
    const ReplyFacts facts = read_recording(recording);
    answers_.models_status = facts.head.status;
    if (facts.head.status != 200) return;
    const Json json = Json::parse(facts.body).value_or(Json());
    for (const Json& model : json["data"].items()) {
      if (model["id"].is_string()) answers_.models.emplace_back(model["id"].as_string());
    }
  }

  Result<Recording> ask(bool stream) {
    Generation generation;
    generation.model = answers_.model;
    generation.stream = stream;
    generation.include_usage = !answers_.usage_refused;
    generation.max_new_tokens = question_.tokens_max;
    const Kind& kind = kind_of(Spoken(question_.api, question_.described.get()));
    if (kind.raw_sound && !stream) {
      generation.extra_body = Json::object().set("stream_format", "sse");
    }
    const Sample sample =
        probe_sample({question_.api, question_.described.get()}, question_.prompt);
    if (kind.sound_rate != nullptr) {
      ASSIGN_OR_RETURN(RequestBody body,
                       make_body(endpoints().spoken(), generation, sample, false));
      answers_.sound_rate = body.asked.sound_rate;
      if (kind.socket) return ask_socket(kind.api, std::move(body.bytes), question_.timeout);
    }
    ASSIGN_OR_RETURN(RequestTemplate request,
                     make_request(endpoints(), 0, generation, sample, false));
    if (request.request_id_offset != kNoHole) {
      const QueryUuid id = query_uuid(static_cast<std::uint64_t>(wall_now().ns), 0, asked_++);
      std::copy(id.begin(), id.end(),
                request.head.begin() + static_cast<std::ptrdiff_t>(request.request_id_offset));
    }
    const bool reused = connection_->usable();
    if (!reused) TRY(connect());
    const std::string bytes = request.head + request.body;
    Recording recording = connection_->ask(bytes, question_.timeout);
    const bool turned_away =
        recording.reads.empty() && recording.ending != Recording::Ending::timed_out;
    if (!reused || !turned_away) return recording;
    // Closed just as we asked: that concerns keep-alive, not the reply.
    answers_.plain_on_same_connection = false;
    TRY(connect());
    return connection_->ask(bytes, question_.timeout);
  }

  Result<Recording> ask_socket(Api api, std::string script, Duration timeout) {
    Endpoints to = endpoints();
    to.api = api;
    to.described = nullptr;
    ASSIGN_OR_RETURN(const std::vector<Header> headers, request_headers(to, true, ""));
    ProbeTurn turn(std::move(script), beside_the_turn, ends_the_turn);
    TRY(connect());
    const std::string target = request_target(base_, api, answers_.model);
    return connection_->ask(turn.opening(socket_head(url_, target, headers)), timeout, &turn);
  }

  // An empty object holds none of the fields that any of them needs, so no server works for it.
  Result<void> ask_kinds() {
    Endpoints to = endpoints();
    for (const ApiRow& row : kApis) {
      if (row.api == Api::described) continue;
      if (is_grpc(row.api)) {
        answers_.kinds.push_back({row.api, speaks_grpc() ? 200 : 404});
        continue;
      }
      if (kind_of(row.api).socket) {
        ASSIGN_OR_RETURN(const Recording opened, ask_socket(row.api, "", kKindTimeout));
        answers_.kinds.push_back({row.api, read_recording(opened).head.status});
        continue;
      }
      to.api = row.api;
      to.described = nullptr;
      ASSIGN_OR_RETURN(const std::vector<Header> headers, request_headers(to, false, ""));
      std::string request = "{}";
      request.insert(0, request_head(url_, request_target(base_, row.api, answers_.model), headers,
                                     request.size()));
      const bool reused = connection_->usable();
      if (!reused) TRY(connect());
      ReplyFacts facts = read_recording(connection_->ask(request, kKindTimeout));
      if (reused && !facts.has_head) {  // closed just as we asked
        TRY(connect());
        facts = read_recording(connection_->ask(request, kKindTimeout));
      }
      answers_.kinds.push_back({row.api, facts.head.status});
    }
    return {};
  }

  // Over HTTP/2 on the same port; some servers have gRPC on another one.
  bool speaks_grpc() const {
    ProbeQuestion of_server = question_;
    of_server.url = net::to_string(base_);
    of_server.model.clear();
    of_server.timeout = kKindTimeout;
    const auto report = probe_grpc(of_server, clock_);
    return report && report->answers;
  }

  void note_refused_usage() {
    const ReplyFacts facts = read_recording(answers_.streamed);
    const bool refused = facts.head.status == 400 || facts.head.status == 422;
    if (!refused || question_.api == Api::sglang) return;
    if (facts.body.find("stream_options") == std::string::npos &&
        facts.body.find("include_usage") == std::string::npos) {
      return;
    }
    answers_.usage_refused = true;
    answers_.usage_refusal = format("HTTP {}: {}", facts.head.status, error_text(facts.body));
  }

  // The URL without the route of the kind asked, where it names it.
  static net::Url base_of(net::Url url, const Spoken& api) {
    const std::string_view route =
        api.described != nullptr ? std::string_view(api.described->route) : kind_of(api).route;
    while (url.path.ends_with('/')) url.path.pop_back();
    if (url.path.ends_with(route)) url.path.resize(url.path.size() - route.size());
    return url;
  }

  const ProbeQuestion& question_;
  net::Url url_;
  net::Url base_;
  const Clock& clock_;
  std::vector<net::Address> addresses_{};
  std::optional<net::TlsContext> context_{};
  std::optional<ProbeConnection> connection_{};
  ProbeAnswers answers_{};
  std::uint32_t asked_ = 0;
};

Redactor redactor_for(const ProbeQuestion& question) {
  return protocol::redactor_of(
      Endpoints{.urls = {question.url}, .api_key = question.api_key, .headers = question.headers});
}

// Replaces byte for byte, so that lengths and reads in the recording stay true.
void redact(Recording& recording, const Redactor& redactor) {
  Redactor::State state = 0;
  std::string scratch;
  for (RecordedRead& read : recording.reads) {
    read.bytes = std::string(redactor.piece(read.bytes, state, scratch));
  }
}

void redact(ProbeAnswers& answers, const Redactor& redactor) {
  redact(answers.streamed, redactor);
  redact(answers.plain, redactor);
  answers.model = redactor.text(answers.model);
  for (std::string& model : answers.models) model = redactor.text(model);
  answers.usage_refusal = redactor.text(answers.usage_refusal);
}

}  // namespace

Result<ProbeAnswers> ask_endpoint(const ProbeQuestion& question, const Clock& clock) {
  ASSIGN_OR_RETURN(net::Url url, net::parse_url(question.url));
  auto answers = Asker(question, std::move(url), clock).run();
  const Redactor redactor = redactor_for(question);
  if (!answers) {
    Error error = answers.error().within(format("probe {}", question.url));
    error.message = redactor.text(error.message);
    return error;
  }
  redact(*answers, redactor);
  return answers;
}

struct PageReader::State {
  State(ProbeQuestion asked, net::Url url, const Clock& clock)
      : question(std::move(asked)),
        asker(question, std::move(url), clock),
        redactor(redactor_for(question)) {}

  ProbeQuestion question;
  Asker asker;
  Redactor redactor;
};

PageReader::PageReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
PageReader::PageReader(PageReader&&) noexcept = default;
PageReader& PageReader::operator=(PageReader&&) noexcept = default;
PageReader::~PageReader() = default;

Result<PageReader> PageReader::open(const ProbeQuestion& question, const Clock& clock) {
  ASSIGN_OR_RETURN(net::Url url, net::parse_url(question.url));
  return PageReader(std::make_unique<State>(question, std::move(url), clock));
}

Result<CapturedReply> PageReader::read() {
  auto reply = state_->asker.page(kBytesMax);
  if (!reply) return Error{reply.error().code, state_->redactor.text(reply.error().message)};
  if (reply->status == 0) return Error{Code::timed_out, "no whole reply in time"};
  return reply;
}

ProfilerReply call_profiler(const ProbeQuestion& question, bool start, const Clock& clock) {
  auto url = net::parse_url(question.url);
  if (!url) return {.trouble = url.error().message};
  auto reply = Asker(question, *std::move(url), clock).profile(start);
  const Redactor redactor = redactor_for(question);
  if (!reply) return {.trouble = redactor.text(reply.error().message)};
  reply->url = redactor.text(reply->url);
  return *std::move(reply);
}

EndpointReplies capture_endpoint(const ProbeQuestion& question, const Clock& clock) {
  auto url = net::parse_url(question.url);
  if (!url) return {.trouble = url.error().message};
  auto replies = Asker(question, *std::move(url), clock).capture();
  const Redactor redactor = redactor_for(question);
  if (!replies) return {.trouble = redactor.text(replies.error().message)};
  replies->trouble = redactor.text(replies->trouble);
  for (CapturedReply* const one :
       {&replies->models, &replies->version, &replies->server_info, &replies->metrics}) {
    one->server = redactor.text(one->server);
    one->body = redactor.text(one->body);
  }
  return *std::move(replies);
}

}  // namespace assay::protocol
