#include "explorer/explorer.h"

#include <thread>

#include "base/clock.h"
#include "base/format.h"
#include "base/secret.h"
#include "base/signals_blocked.h"
#include "explorer/service.h"
#include "net/http_server.h"
#include "store/open_store.h"

namespace assay::explorer {
namespace {

constexpr std::size_t kHeadMax = 16U << 10;
constexpr std::size_t kBodyMax = 256U << 10;

bool is_loopback(const std::string& host) {
  return host == "127.0.0.1" || host == "::1" || host == "localhost" || host.starts_with("127.");
}

}  // namespace

struct Explorer::State {
  OsClock clock{};
  std::unique_ptr<Access> access{};
  LiveRuns live{};
  std::vector<std::unique_ptr<store::Store>> stores{};
  std::vector<std::unique_ptr<Service>> services{};
  std::vector<std::unique_ptr<net::HttpServer>> servers{};
  std::vector<std::thread> threads{};
  ExplorerOptions options{};
  std::string token{};
  std::string address{};
  bool stopped = false;
};

Explorer::Explorer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Explorer::~Explorer() { stop(); }

Result<std::unique_ptr<Explorer>> Explorer::open(const ExplorerOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  if (options.token) state->token = random_secret();
  net::raise_descriptor_limit();
  ASSIGN_OR_RETURN(const auto addresses, net::resolve(options.host, options.port));
  net::Address address = addresses.front();
  std::vector<net::Fd> listeners;
  for (unsigned i = 0; i < options.threads; ++i) {
    ASSIGN_OR_RETURN(net::Fd fd, net::listen_on(address, {.reuse_port = options.threads > 1}));
    ASSIGN_OR_RETURN(const net::Address bound, net::local_address(fd));
    address.set_port(bound.port());
    listeners.push_back(std::move(fd));
  }
  state->address = address.to_string();
  state->access = std::make_unique<Access>(AccessOptions{.launch_token = state->token,
                                                         .port = address.port(),
                                                         .loopback = is_loopback(options.host),
                                                         .writable = options.writable});
  const net::HttpServerOptions limits{
      .limits = {.head_bytes_max = kHeadMax, .body_bytes_max = kBodyMax}};
  for (net::Fd& listener : listeners) {
    ASSIGN_OR_RETURN(auto store, store::open_store(options.store));
    auto service =
        std::make_unique<Service>(*state->access, *store, state->live, state->options.holidays,
                                  state->options.head, state->options.pairs);
    ASSIGN_OR_RETURN(auto server,
                     net::HttpServer::open(std::move(listener), limits, *service, state->clock));
    service->set_server(server.get());
    state->stores.push_back(std::move(store));
    state->services.push_back(std::move(service));
    state->servers.push_back(std::move(server));
  }
  return std::unique_ptr<Explorer>(new Explorer(std::move(state)));
}

std::string Explorer::url() const {
  const std::string base = format("http://{}/", state_->address);
  return state_->token.empty() ? base : format("{}?token={}", base, state_->token);
}

std::string Explorer::api_url() const { return format("http://{}{}", state_->address, Api::kRoot); }

const std::string& Explorer::token() const { return state_->token; }

void Explorer::start() {
  const SignalsBlocked blocked;
  for (const auto& server : state_->servers) {
    state_->threads.emplace_back([&server] { server->run(); });
  }
  if (!state_->options.watched.empty()) {
    if (auto store = store::open_store(state_->options.store)) {
      state_->live.open({.folders = state_->options.watched,
                         .import = state_->options.import,
                         .began = state_->options.watched_since},
                        std::move(*store));
      state_->live.start(state_->clock);
    }
  }
}

void Explorer::stop() {
  if (state_ == nullptr || std::exchange(state_->stopped, true)) return;
  for (const auto& server : state_->servers) server->stop();
  for (std::thread& thread : state_->threads) thread.join();
  state_->servers.clear();
}

}  // namespace assay::explorer
