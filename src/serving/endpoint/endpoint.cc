#include "endpoint/endpoint.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/check.h"
#include "base/format.h"
#include "base/latency_profile.h"
#include "base/signals_blocked.h"
#include "base/text.h"
#include "endpoint/worker.h"
#include "net/tls.h"
#include "sim/fixed_engine.h"

namespace assay::endpoint {
namespace {

// One thread's part of `total`; the first threads get the remainder.
std::uint32_t share(std::uint32_t total, std::uint32_t thread, std::uint32_t threads) {
  return total / threads + (thread < total % threads ? 1 : 0);
}

std::unique_ptr<sim::Engine> make_engine(const EndpointOptions& options, std::uint32_t thread) {
  if (options.make_engine) return options.make_engine(thread, options.threads);
  sim::FixedEngineOptions fixed{
      .ttft = options.ttft,
      .itl = options.itl,
      .tokens_per_event = options.tokens_per_event,
      .kv_tokens = std::max<std::uint64_t>(1, options.kv_tokens / options.threads),
      .seed = mix(options.seed, 1000 + thread)};
  if (options.concurrency > 0) {
    fixed.running_max = share(options.concurrency, thread, options.threads);
  }
  return std::make_unique<sim::FixedEngine>(fixed);
}

Result<net::Address> address_of(const EndpointOptions& options) {
  if (!options.unix_path.empty()) return net::Address::unix_path(options.unix_path);
  ASSIGN_OR_RETURN(const auto addresses, net::resolve(options.host, options.port));
  return addresses.front();
}

// The listeners, one a thread. A Unix socket can't be bound twice, so its threads share one.
Result<std::vector<net::Fd>> listen_all(const EndpointOptions& options, net::Address address) {
  std::vector<net::Fd> listeners;
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    if (i > 0 && address.is_unix()) {
      listeners.emplace_back(::dup(listeners.front().get()));
      if (!listeners.back().open()) return errno_error("cannot share a listener");
      continue;
    }
    ASSIGN_OR_RETURN(net::Fd fd, net::listen_on(address, {.reuse_port = options.threads > 1}));
    ASSIGN_OR_RETURN(const net::Address bound, net::local_address(fd));
    address.set_port(bound.port());  // if it was 0, the others take the same port
    listeners.push_back(std::move(fd));
  }
  return listeners;
}

// Quirks that fail every request are faults of probability one.
FaultPlan faults_of(const EndpointOptions& options) {
  FaultPlan plan = options.faults;
  const auto always = [&](Quirk quirk, Fault fault) {
    if (options.quirks.has(quirk)) plan.add_always(fault);
  };
  always(Quirk::cut_reset, {FaultKind::reset, 0});
  always(Quirk::cut_close, {FaultKind::truncate, 0});
  always(Quirk::error_in_stream, {FaultKind::error, 0});
  always(Quirk::http429, {FaultKind::http, 429});
  always(Quirk::http500, {FaultKind::http, 500});
  return plan;
}

}  // namespace

struct Endpoint::State {
  EndpointOptions options{};
  OsClock clock{};
  std::string certificate{};
  std::optional<net::TlsContext> tls{};
  std::unique_ptr<TruthLog> truth{};
  JobBook jobs{};
  std::vector<std::unique_ptr<Worker>> workers{};
  std::vector<const WorkerStats*> stats{};
  std::vector<std::unique_ptr<net::HttpServer>> servers{};
  std::vector<std::thread> threads{};
  std::string url{};
  std::uint64_t truth_dropped = 0;
  bool stopped = false;
};

Endpoint::Endpoint(std::unique_ptr<State> state) : state_(std::move(state)) {}

Endpoint::~Endpoint() { stop(); }

Result<std::unique_ptr<Endpoint>> Endpoint::open(const EndpointOptions& options) {
  TRY(check(options));
  auto state = std::make_unique<State>();
  state->options = options;
  state->options.faults = faults_of(options);
  net::raise_descriptor_limit();
  ASSIGN_OR_RETURN(const net::Address wanted, address_of(options));
  ASSIGN_OR_RETURN(std::vector<net::Fd> listeners, listen_all(options, wanted));
  ASSIGN_OR_RETURN(const net::Address bound, net::local_address(listeners.front()));
  if (options.tls) {
    // Quirks are of HTTP/1.1: a client that could choose would never meet some of them.
    const bool offer_http2 = !options.quirks.any();
    ASSIGN_OR_RETURN(net::TlsContext context,
                     net::TlsContext::self_signed_server(&state->certificate, offer_http2));
    state->tls.emplace(std::move(context));
  }
  if (!options.truth_log.empty()) {
    ASSIGN_OR_RETURN(state->truth, TruthLog::create(options.truth_log, options.truth_holds
                                                                           ? TruthHolds::recorded
                                                                           : TruthHolds::left_out));
  }
  const net::HttpServerOptions server_options{
      .idle_max = options.keep_alive,
      .tls = state->tls.has_value() ? &*state->tls : nullptr,
      .http2 = true};
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    auto worker = std::make_unique<Worker>(state->options, i, make_engine(state->options, i),
                                           state->truth.get(), state->jobs, state->clock);
    ASSIGN_OR_RETURN(auto server, net::HttpServer::open(std::move(listeners[i]), server_options,
                                                        *worker, state->clock));
    worker->set_server(server.get());
    state->stats.push_back(&worker->stats());
    state->workers.push_back(std::move(worker));
    state->servers.push_back(std::move(server));
  }
  for (const auto& worker : state->workers) worker->set_all(state->stats);
  state->url = bound.is_unix()
                   ? format("http+unix://{}", options.unix_path)
                   : format("{}://{}", options.tls ? "https" : "http", bound.to_string());
  return std::unique_ptr<Endpoint>(new Endpoint(std::move(state)));
}

std::string Endpoint::url() const { return state_->url; }

const std::string& Endpoint::certificate_pem() const { return state_->certificate; }

void Endpoint::start() {
  CHECK(state_->threads.empty() && !state_->stopped);
  const SignalsBlocked blocked;
  for (const auto& server : state_->servers) {
    state_->threads.emplace_back([&server] {
      ask_short_slice();  // so that tokens leave when they are due
      server->run();
    });
  }
}

void Endpoint::stop() {
  State& state = *state_;
  if (std::exchange(state.stopped, true)) return;
  for (const auto& server : state.servers) server->stop();
  for (std::thread& thread : state.threads) thread.join();
  for (const auto& worker : state.workers) worker->end();
  if (state.truth != nullptr) {
    state.truth->close();
    state.truth_dropped = state.truth->dropped_blocks();
  }
  if (!state.options.unix_path.empty()) ::unlink(state.options.unix_path.c_str());
  state.servers.clear();
}

EndpointSummary Endpoint::summary() const {
  EndpointSummary sum;
  const auto& rates = state_->options.faults.rates();
  Histogram late;
  for (const FaultRate& rate : rates) sum.faults.emplace_back(to_string(rate.fault), 0);
  for (const WorkerStats* stats : state_->stats) {
    sum.requests += stats->requests.get();
    sum.served += stats->served.get();
    sum.gone += stats->gone.get();
    sum.rejected += stats->rejected.get();
    sum.prompt_tokens += stats->prompt_tokens.get();
    sum.output_tokens += stats->output_tokens.get();
    sum.events += stats->events.get();
    for (std::size_t i = 0; i < rates.size(); ++i) {
      sum.faults[i].second += stats->faults[i].get();
      sum.faulted += stats->faults[i].get();
    }
    late.add(stats->lateness_ns);
  }
  sum.late_us_p50 = late.percentile(50) * 1e-3;
  sum.late_us_p99 = late.percentile(99) * 1e-3;
  const EndpointOptions& asked = state_->options;
  const bool timed = asked.make_engine || asked.ttft != sim::Delay{} || asked.itl != sim::Delay{};
  constexpr double kLateUsMax = 1000;
  sum.late = timed && sum.late_us_p99 > kLateUsMax;
  sum.truth_blocks_dropped = state_->truth_dropped;
  return sum;
}

std::string to_string(const EndpointSummary& sum) {
  const auto number = [](std::uint64_t n) { return with_thousands(static_cast<std::int64_t>(n)); };
  std::string text = format("requests {}   served {}   client left {}   rejected {}   faulted {}\n",
                            number(sum.requests), number(sum.served), number(sum.gone),
                            number(sum.rejected), number(sum.faulted));
  text += format("tokens   {} out in {} events, {} in\n", number(sum.output_tokens),
                 number(sum.events), number(sum.prompt_tokens));
  if (sum.late_us_p99 > 0) {
    text += format("timing   events left {} µs after they were due (P50), {} µs (P99)\n",
                   three_digits(sum.late_us_p50), three_digits(sum.late_us_p99));
  }
  if (sum.late) {
    text +=
        "warning: this machine did not keep up: tokens left later than the model has them; take "
        "fewer streams, fewer tokens a second or a faster machine\n";
  }
  if (!sum.faults.empty()) {
    text += "faults  ";
    for (const auto& [name, count] : sum.faults) text += format(" {} {}", name, number(count));
    text += '\n';
  }
  if (sum.truth_blocks_dropped > 0) {
    text += format("warning: {} blocks of the truth log were lost: the disk was too slow or full\n",
                   sum.truth_blocks_dropped);
  }
  return text;
}

}  // namespace assay::endpoint
