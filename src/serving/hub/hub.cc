#include "hub/hub.h"

#include <array>
#include <optional>

#include "base/clock.h"
#include "base/format.h"
#include "explorer/page.h"
#include "hub/answer.h"
#include "net/http_server.h"
#include "net/whole_reply.h"
#include "store/open_store.h"

namespace assay::hub {
namespace {

constexpr std::size_t kHeadMax = 16U << 10;

class HubService final : public net::HttpService {
 public:
  explicit HubService(store::Store& store) : store_(store), ledger_(store) {}
  void set_server(net::HttpServer* server) { server_ = server; }

  void on_request(net::ConnectionId connection, const net::RequestHead& head,
                  std::string_view body) override {
    const Reply reply = answer(store_, ledger_, head, body, rfc3339(wall_now()));
    static constexpr std::string_view kNothing = "default-src 'none'; frame-ancestors 'none'";
    const std::array<net::HttpHeader, 6> headers{
        {{"Cache-Control", "no-store"},
         {"X-Content-Type-Options", "nosniff"},
         {"Content-Security-Policy", reply.page ? explorer::kPagePolicy : kNothing},
         {"Referrer-Policy", "no-referrer"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Cross-Origin-Opener-Policy", "same-origin"}}};
    net::send_whole(
        *server_, connection, head,
        {.status = reply.status, .content_type = reply.content_type, .headers = headers},
        reply.body);
  }
  void on_gone(net::ConnectionId) override {}
  void on_progress(net::ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant now) override { return now + 500_ms; }

 private:
  store::Store& store_;
  Ledger ledger_;
  net::HttpServer* server_ = nullptr;
};

}  // namespace

struct Hub::State {
  OsClock clock{};
  std::optional<net::TlsContext> tls{};
  std::unique_ptr<store::Store> store{};
  std::unique_ptr<HubService> service{};
  std::unique_ptr<net::HttpServer> server{};
  std::string address{};
};

Hub::Hub(std::unique_ptr<State> state) : state_(std::move(state)) {}
Hub::~Hub() = default;

Result<std::unique_ptr<Hub>> Hub::open(const HubOptions& options) {
  auto state = std::make_unique<State>();
  ASSIGN_OR_RETURN(state->store, store::open_store(options.store));
  TRY(Ledger(*state->store).refresh());
  ASSIGN_OR_RETURN(const auto addresses, net::resolve(options.host, options.port));
  if (options.certificate_file.empty() && !addresses.front().is_loopback()) {
    return invalid(
        "--host: tokens and releases would go over the network unencrypted\n"
        "  give --certificate and --certificate-key, or listen on 127.0.0.1 behind a proxy with "
        "TLS");
  }
  ASSIGN_OR_RETURN(net::Fd listener, net::listen_on(addresses.front(), {}));
  ASSIGN_OR_RETURN(const net::Address bound, net::local_address(listener));
  net::HttpServerOptions limits{
      .limits = {.head_bytes_max = kHeadMax, .body_bytes_max = sites::kActBytesMax}};
  if (!options.certificate_file.empty()) {
    ASSIGN_OR_RETURN(net::TlsContext tls,
                     net::TlsContext::server(options.certificate_file, options.key_file, false));
    state->tls.emplace(std::move(tls));
    limits.tls = &*state->tls;
  }
  state->address = format("{}://{}", state->tls ? "https" : "http", bound.to_string());
  state->service = std::make_unique<HubService>(*state->store);
  ASSIGN_OR_RETURN(state->server, net::HttpServer::open(std::move(listener), limits,
                                                        *state->service, state->clock));
  state->service->set_server(state->server.get());
  return std::unique_ptr<Hub>(new Hub(std::move(state)));
}

std::string Hub::url() const { return state_->address; }
void Hub::run() { state_->server->run(); }
void Hub::stop() { state_->server->stop(); }

}  // namespace assay::hub
