#include "proxy/proxy.h"

#include <pthread.h>
#include <sched.h>

#include <cstring>
#include <thread>

#include "base/format.h"
#include "base/secret.h"
#include "base/signals_blocked.h"

namespace assay::proxy {

struct Proxy::State {
  OsClock clock{};
  net::Address address;
  std::optional<net::TlsContext> tls{};
  std::unique_ptr<Recorder> recorder{};
  std::unique_ptr<Relay> relay{};
  std::unique_ptr<net::HttpServer> server{};
  bool realtime = false;
  std::thread thread{};
};

namespace {

Result<net::Url> server_url(const std::string& text) {
  ASSIGN_OR_RETURN(net::Url url, net::parse_url(text));
  if (url.path != "/" || !url.query.empty()) {
    return invalid(
        format("'{}' names a path\n  clients name the paths; give the server alone: "
               "http://HOST:PORT",
               text));
  }
  return url;
}

Result<std::vector<net::Address>> addresses_of(const net::Url& url) {
  if (url.unix_path.empty()) return net::resolve(url.host, url.port);
  ASSIGN_OR_RETURN(const net::Address address, net::Address::unix_path(url.unix_path));
  return std::vector<net::Address>{address};
}

}  // namespace

Proxy::Proxy(std::unique_ptr<State> state) : state_(std::move(state)) {}

Proxy::~Proxy() { [[maybe_unused]] const Result<void> stopped = stop(); }

Result<std::unique_ptr<Proxy>> Proxy::open(const ProxyOptions& options) {
  if (options.spin && options.realtime) {
    return invalid("--realtime: not with --spin, which would keep a core from all other programs");
  }
  ASSIGN_OR_RETURN(net::Url url, server_url(options.server));
  RelayOptions relay{.server = url};
  relay.spin = options.spin;
  ASSIGN_OR_RETURN(relay.addresses, addresses_of(url));
  auto listen = net::Address::numeric(options.host, options.port);
  if (!listen) return listen.error().within("--host");
  TraceOptions trace{.block = options.block,
                     .secret = random_secret() + random_secret(),
                     .start = OsClock().now()};
  if (!options.tokenizer.empty()) {
    ASSIGN_OR_RETURN(trace.tokenizer, text::load_tokenizer(options.tokenizer));
  }
  ASSIGN_OR_RETURN(net::Fd listener, net::listen_on(*listen, {}));
  ASSIGN_OR_RETURN(const net::Address bound, net::local_address(listener));
  auto state = std::make_unique<State>(State{.address = bound});
  state->realtime = options.realtime;
  if (url.tls) {
    ASSIGN_OR_RETURN(state->tls, net::TlsContext::client(
                                     {.insecure = options.insecure, .ca_file = options.ca_file}));
    relay.tls = &*state->tls;
  }
  net::raise_descriptor_limit();
  ASSIGN_OR_RETURN(state->recorder, Recorder::open(options.record, std::move(trace)));
  state->relay = std::make_unique<Relay>(std::move(relay), *state->recorder, state->clock);
  ASSIGN_OR_RETURN(state->server,
                   net::HttpServer::open(std::move(listener), {}, *state->relay, state->clock));
  state->relay->use(*state->server);
  return std::unique_ptr<Proxy>(new Proxy(std::move(state)));
}

std::string Proxy::url() const { return format("http://{}", state_->address.to_string()); }

bool Proxy::loopback() const { return state_->address.is_loopback(); }

const std::filesystem::path& Proxy::trace() const { return state_->recorder->file(); }

Result<void> Proxy::start() {
  const SignalsBlocked blocked;
  state_->thread = std::thread([this] { state_->server->run(); });
  if (!state_->realtime) return {};
  // A woken thread of this class runs at once: no other program's time slice stands before an
  // event. The system's limit of such threads (sched_rt_runtime_us) still holds.
  const sched_param lowest{.sched_priority = 1};
  const int refused = ::pthread_setschedparam(state_->thread.native_handle(), SCHED_FIFO, &lowest);
  if (refused == 0) return {};
  TRY(stop());
  return invalid(format("--realtime: {}\n  it needs CAP_SYS_NICE, or ulimit -r 1; leave it out",
                        std::strerror(refused)));
}

Result<void> Proxy::stop() {
  if (state_->thread.joinable()) {
    state_->server->stop();
    state_->thread.join();
    state_->relay->end();
  }
  return state_->recorder->stop();
}

Json Proxy::summary() const {
  const RelayCounts& counts = state_->relay->counts();
  const Histogram& added = state_->relay->added();
  return Json()
      .set("requests", counts.requests)
      .set("whole", counts.whole)
      .set("broken", counts.broken)
      .set("gone", counts.gone)
      .set("unreached", counts.unreached)
      .set("stopped", counts.stopped)
      .set("added_ns", Json()
                           .set("count", added.count())
                           .set("p50", added.percentile(50))
                           .set("p99", added.percentile(99))
                           .set("p99.9", added.percentile(99.9)))
      .set("trace", state_->recorder->about());
}

}  // namespace assay::proxy
