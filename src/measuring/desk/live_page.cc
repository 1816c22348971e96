#include "desk/live_page.h"

#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/secret.h"
#include "base/signals_blocked.h"
#include "base/text.h"
#include "desk/live_page_files.h"
#include "net/http_reply.h"
#include "net/http_server.h"

namespace assay::desk {
namespace {

constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

struct PageReply {
  int status = 200;
  std::string_view type = "text/plain; charset=utf-8";
  std::string body{};
  std::string cookie{};    // "": none
  std::string location{};  // "": no redirect
};

class LivePageService final : public net::HttpService {
 public:
  LivePageService(Series series, Json facts)
      : token_(random_secret()), series_(std::move(series)), facts_(std::move(facts)) {}

  void bind(net::HttpServer* server, std::uint16_t port) {
    server_ = server;
    port_ = port;
  }
  std::string url() const { return format("http://127.0.0.1:{}/?token={}", port_, token_); }

  void show(std::function<metrics::LiveSnapshot()> snapshot) {
    const Lock lock(mutex_);
    snapshot_ = std::move(snapshot);
  }

  void on_request(net::ConnectionId connection, const net::RequestHead& head,
                  std::string_view) override {
    send(connection, head, reply_to(head));
  }
  void on_gone(net::ConnectionId) override {}
  void on_progress(net::ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant) override { return Instant::max(); }

 private:
  std::string cookie_name() const { return format("assay_client_{}=", port_); }

  // By digests, so that the time does not reveal how much of a token was right.
  bool is_token(std::string_view text) const { return sha256_hex(text) == sha256_hex(token_); }

  bool has_token(const net::RequestHead& head) const {
    const std::string name = cookie_name();
    for (const std::string_view part : split(head.find("cookie"), ';')) {
      if (trim(part).starts_with(name)) return is_token(trim(part).substr(name.size()));
    }
    return false;
  }

  bool host_is_ours(std::string_view host) const {
    return host == format("127.0.0.1:{}", port_) || lower(host) == format("localhost:{}", port_);
  }

  PageReply reply_to(const net::RequestHead& head) {
    constexpr std::string_view kOpen = "/?token=";
    if (!host_is_ours(head.find("host"))) return {.status = 403, .body = "another host's page\n"};
    if (head.method != "GET" && head.method != "HEAD") return {.status = 405, .body = "GET it\n"};
    if (head.target.starts_with(kOpen)) {
      if (!is_token(std::string_view(head.target).substr(kOpen.size()))) return refused();
      return {.status = 303,
              .cookie = format("{}{}; Path=/; HttpOnly; SameSite=Strict", cookie_name(), token_),
              .location = "/"};
    }
    if (!has_token(head)) return refused();
    const std::string_view path = head.path();
    if (path == "/") {
      return {.type = "text/html; charset=utf-8", .body = std::string(kLiveHtml)};
    }
    if (path == "/live.css") return {.type = "text/css", .body = std::string(kLiveCss)};
    if (path == "/live.js") return {.type = "text/javascript", .body = std::string(kLiveJs)};
    if (path == "/favicon.ico") return {.status = 204};  // a browser asks unasked
    if (path == "/figures") return {.type = "application/json", .body = figures()};
    return {.status = 404, .body = "no such page\n"};
  }

  static PageReply refused() {
    return {.status = 401, .body = "open the page by the address that was printed\n"};
  }

  std::string figures() {
    const Lock lock(mutex_);
    const metrics::LiveSnapshot snapshot = snapshot_ ? snapshot_() : metrics::LiveSnapshot();
    return live_page_json(series_, facts_, snapshot).set("running", snapshot_ != nullptr).dump();
  }

  void send(net::ConnectionId connection, const net::RequestHead& head, const PageReply& reply) {
    std::vector<net::HttpHeader> headers{{"Content-Security-Policy", kPagePolicy},
                                         {"X-Content-Type-Options", "nosniff"},
                                         {"Referrer-Policy", "no-referrer"},
                                         {"Cache-Control", "no-store"}};
    if (!reply.cookie.empty()) headers.push_back({"Set-Cookie", reply.cookie});
    if (!reply.location.empty()) headers.push_back({"Location", reply.location});
    std::string bytes;
    net::append_head(bytes, {.status = reply.status,
                             .content_type = reply.type,
                             .length = reply.body.size(),
                             .keep_alive = head.keep_alive,
                             .minor_version = head.minor_version,
                             .headers = headers});
    if (head.method != "HEAD") bytes += reply.body;
    server_->send(connection, bytes);
    server_->finish(connection, head.keep_alive);
  }

  const std::string token_;
  const Series series_;
  const Json facts_;
  net::HttpServer* server_ = nullptr;
  std::uint16_t port_ = 0;
  Mutex mutex_{};
  std::function<metrics::LiveSnapshot()> snapshot_ GUARDED_BY(mutex_){};
};

Json median_ms(const metrics::LivePercentiles& values) {
  return values.count == 0 ? Json() : Json(values.p50.ms());
}

}  // namespace

Json live_page_json(const Series& series, const Json& facts,
                    const metrics::LiveSnapshot& snapshot) {
  Json out = facts;
  const std::uint64_t done = snapshot.completed + snapshot.failed;
  std::string category;
  if (done < series.inferences.size() && snapshot.sent > 0) {
    const Inference& now = series.inferences[done];
    category = series.items[now.item].category + (now.warmup ? " (warm-up)" : "");
  }
  const double tpot_ms = snapshot.tpot.p50.ms();
  const bool rated = snapshot.tpot.count > 0 && tpot_ms > 0;
  return out.set("category", category)
      .set("done", done)
      .set("planned", series.inferences.size())
      .set("failed", snapshot.failed)
      .set("ttft_ms", median_ms(snapshot.ttft))
      .set("tokens_per_s", rated ? Json(1000 / tpot_ms) : Json());
}

struct LivePage::State {
  State(Series series, Json facts) : service(std::move(series), std::move(facts)) {}
  OsClock clock{};
  LivePageService service;
  std::unique_ptr<net::HttpServer> server{};
  std::thread thread{};
};

LivePage::LivePage(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<LivePage>> LivePage::open(std::uint16_t port, Series series, Json facts) {
  ASSIGN_OR_RETURN(const net::Address wanted, net::Address::numeric("127.0.0.1", port));
  auto listener = net::listen_on(wanted, {.backlog = 16});
  if (!listener) return listener.error().within(format("--page {}", port));
  ASSIGN_OR_RETURN(const net::Address bound, net::local_address(*listener));
  auto state = std::make_unique<State>(std::move(series), std::move(facts));
  ASSIGN_OR_RETURN(state->server,
                   net::HttpServer::open(std::move(*listener), {}, state->service, state->clock));
  state->service.bind(state->server.get(), bound.port());
  const SignalsBlocked blocked;
  state->thread = std::thread([server = state->server.get()] { server->run(); });
  return std::unique_ptr<LivePage>(new LivePage(std::move(state)));
}

LivePage::~LivePage() {
  state_->server->stop();
  state_->thread.join();
}

std::string LivePage::url() const { return state_->service.url(); }

void LivePage::show(std::function<metrics::LiveSnapshot()> snapshot) {
  state_->service.show(std::move(snapshot));
}

void LivePage::hide() { state_->service.show(nullptr); }

}  // namespace assay::desk
