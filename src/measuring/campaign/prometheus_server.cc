#include "campaign/prometheus_server.h"

#include <thread>

#include "base/clock.h"
#include "base/format.h"
#include "base/mutex.h"
#include "base/signals_blocked.h"
#include "base/text.h"
#include "interchange/write/prometheus_text.h"
#include "net/http_reply.h"
#include "net/http_server.h"

namespace assay::campaign {
namespace {

constexpr std::string_view kType = "text/plain; version=0.0.4; charset=utf-8";

class Service final : public net::HttpService {
 public:
  void set_server(net::HttpServer* server) { server_ = server; }

  void show(Json facts, std::function<metrics::LiveSnapshot()> snapshot) {
    const Lock lock(mutex_);
    facts_ = std::move(facts);
    snapshot_ = std::move(snapshot);
  }
  void hide() {
    const Lock lock(mutex_);
    snapshot_ = nullptr;
  }

  void on_request(net::ConnectionId connection, const net::RequestHead& head,
                  std::string_view) override {
    const std::string_view path = head.path();
    if (path != "/metrics" && path != "/") {
      answer(connection, head, 404, "text/plain", "try /metrics\n");
    } else if (head.method != "GET" && head.method != "HEAD") {
      answer(connection, head, 405, "text/plain", "GET it\n");
    } else if (const std::string text = metrics_text(); text.empty()) {
      answer(connection, head, 503, "text/plain", "nothing is running yet\n");
    } else {
      answer(connection, head, 200, kType, text);
    }
  }
  void on_gone(net::ConnectionId) override {}
  void on_progress(net::ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant) override { return Instant::max(); }

 private:
  std::string metrics_text() {
    const Lock lock(mutex_);
    return snapshot_ ? interchange::prometheus_text(snapshot_(), facts_) : std::string();
  }

  void answer(net::ConnectionId connection, const net::RequestHead& head, int status,
              std::string_view type, std::string_view body) {
    std::string reply;
    net::append_head(reply, {.status = status,
                             .content_type = type,
                             .length = body.size(),
                             .keep_alive = head.keep_alive,
                             .minor_version = head.minor_version});
    if (head.method != "HEAD") reply += body;
    server_->send(connection, reply);
    server_->finish(connection, head.keep_alive);
  }

  net::HttpServer* server_ = nullptr;
  Mutex mutex_{};
  Json facts_ GUARDED_BY(mutex_){};
  std::function<metrics::LiveSnapshot()> snapshot_ GUARDED_BY(mutex_){};
};

Result<net::Address> address_of(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  const std::string host = colon == std::string::npos ? "127.0.0.1" : where.substr(0, colon);
  const auto port =
      parse_uint(colon == std::string::npos ? where : std::string_view(where).substr(colon + 1));
  if (!port || *port > 65535) {
    return invalid(format("--prometheus: '{}' is neither PORT nor HOST:PORT", where));
  }
  auto address = net::Address::numeric(host, static_cast<std::uint16_t>(*port));
  if (!address) return address.error().within("--prometheus");
  return address;
}

}  // namespace

struct PrometheusServer::State {
  OsClock clock{};
  Service service{};
  std::unique_ptr<net::HttpServer> server{};
  std::string address{};
  std::thread thread{};
};

PrometheusServer::PrometheusServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<PrometheusServer>> PrometheusServer::open(const std::string& where) {
  ASSIGN_OR_RETURN(const net::Address wanted, address_of(where));
  auto listener = net::listen_on(wanted, {.backlog = 16});
  if (!listener) return listener.error().within("--prometheus " + where);
  ASSIGN_OR_RETURN(const net::Address bound, net::local_address(*listener));
  auto state = std::make_unique<State>();
  state->address = bound.to_string();
  ASSIGN_OR_RETURN(state->server,
                   net::HttpServer::open(std::move(*listener), {}, state->service, state->clock));
  state->service.set_server(state->server.get());
  const SignalsBlocked blocked;
  state->thread = std::thread([server = state->server.get()] { server->run(); });
  return std::unique_ptr<PrometheusServer>(new PrometheusServer(std::move(state)));
}

PrometheusServer::~PrometheusServer() {
  state_->server->stop();
  state_->thread.join();
}

std::string PrometheusServer::url() const { return format("http://{}/metrics", state_->address); }

void PrometheusServer::show(Json facts, std::function<metrics::LiveSnapshot()> snapshot) {
  state_->service.show(std::move(facts), std::move(snapshot));
}

void PrometheusServer::hide() { state_->service.hide(); }

}  // namespace assay::campaign
