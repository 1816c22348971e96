#include <signal.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "endpoint/endpoint.h"
#include "plan/described_api.h"
#include "sim/live_cluster.h"

namespace assay::cli {
namespace {

// The flags as typed, before parsing.
struct TypedEndpoint {
  std::int64_t port = 8000;
  std::string ttft = "0";
  std::string itl = "0";
  std::string osl = "64";
  std::int64_t tokens_per_event = 1;
  std::int64_t concurrency = 0;
  std::int64_t threads = 1;
  std::int64_t events_per_write = 1;
  std::string tools = "asked";
  std::string truth_log{};
  std::string certificate{};
  std::string answers{};
  std::vector<std::string> faults{};
  std::vector<std::string> quirks{};
  std::string scenario{};
  std::vector<std::string> catalogue{};
  std::optional<double> speedup{};
  bool strict_model = false;
  bool always_usage = false;
  bool quiet = false;
  bool json = false;
  std::string kind{};
};

void add_address_flags(Flags& flags, TypedEndpoint& typed, endpoint::EndpointOptions& options) {
  flags.add("--host", &options.host, "the address to listen on").value("ADDRESS");
  flags.add("--port", &typed.port, "the port; 0 takes one that is free").value("N");
  flags.add("--uds", &options.unix_path, "listen on a Unix socket instead").value("PATH");
  flags.add("--tls", &options.tls, "HTTPS, with a certificate made now and signed by itself");
  flags.add("--certificate", &typed.certificate, "write that certificate there").value("FILE");
}

void add_modelled_flags(Flags& flags, TypedEndpoint& typed) {
  const std::string_view modelled = "A modelled serving system, in place of the timing above";
  flags.add("--scenario", &typed.scenario, "what serves: docs/formats/scenario.md")
      .value("FILE")
      .group(modelled);
  flags.add("--speedup", &typed.speedup, "the modelled system runs so many times as fast")
      .value("N")
      .group(modelled);
  flags.add("--catalogue", &typed.catalogue, "a file or folder with hardware and models of yours")
      .value("PATH")
      .group(modelled);
}

void add_flags(Flags& flags, TypedEndpoint& typed, endpoint::EndpointOptions& options) {
  add_address_flags(flags, typed, options);
  flags.add("--threads", &typed.threads, "serving threads, which share the port").value("N");
  flags.add("--model", &options.model, "the model's name").value("NAME");
  flags.add("--strict-model", &typed.strict_model, "404 for any other model");
  flags.add("--api-key", &options.api_key, "401 for requests without it").value("KEY");
  flags.add("--kind", &typed.kind, "speak the kind of API that this file describes, too")
      .value("FILE");

  const std::string_view timing = "Timing and length";
  flags.add("--ttft", &typed.ttft, "time to the first token: 50ms, normal:50ms,5ms, …")
      .value("DELAY")
      .group(timing);
  flags.add("--itl", &typed.itl, "time between events, the same way").value("DELAY").group(timing);
  flags.add("--osl", &typed.osl, "output tokens: 64, uniform:10-100, …; max: the request's limit")
      .value("LENGTH")
      .group(timing);
  flags.add("--tokens-per-event", &typed.tokens_per_event, "tokens in each event")
      .value("N")
      .group(timing);
  flags.add("--concurrency", &typed.concurrency, "requests that run at once; 0: no limit")
      .value("N")
      .group(timing);
  flags.add("--events-per-write", &typed.events_per_write, "events that leave together")
      .value("N")
      .group(timing);
  flags.add("--reasoning", &options.reasoning, "share of a chat's output that is reasoning")
      .value("SHARE")
      .group(timing);
  flags.add("--tools", &typed.tools, "whether tools that a request brings are called")
      .choices({"asked", "never"})
      .group(timing);
  flags
      .add("--answers", &typed.answers,
           "a dataset's file with prompts and, in the column `answer`, the replies to them; "
           "FILE,right=0.8: to that share of them")
      .value("FILE")
      .group(timing);
  flags.add("--seed", &options.seed, "what lengths, delays, texts and faults are drawn from")
      .value("N")
      .group(timing);

  add_modelled_flags(flags, typed);

  const std::string_view testing = "To test a client";
  flags
      .add("--fault", &typed.faults,
           "reset=0.05, truncate, http500, http429, error, garbage, stall")
      .value("NAME=P")
      .group(testing);
  flags.add("--quirk", &typed.quirks, "what real servers do; `help` lists all")
      .value("NAME")
      .group(testing);
  flags.add("--always-usage", &typed.always_usage, "short for --quirk always-usage").group(testing);
  flags.add("--stall", &options.stall, "how long the quirk `stall` waits")
      .value("TIME")
      .group(testing);
  flags.add("--truth-log", &typed.truth_log, "record when each token was handed to the kernel")
      .value("FILE")
      .group(testing);
  flags.add("--quiet", &typed.quiet, "print the URL and nothing else");
  flags.add("--json", &typed.json, "print the summary at the end as JSON");
  flags.example("assay endpoint --port 0 --ttft 50ms --itl 10ms --osl 64");
  flags.example("assay endpoint --scenario 8xh200.yaml --osl max");
  flags.example("assay endpoint --fault reset=0.05,http500=0.05 --quirk role-first");
}

Result<std::uint32_t> whole(std::string_view flag, std::int64_t value, std::int64_t max) {
  if (value < 0 || value > max) return invalid(format("{}: must be from 0 to {}", flag, max));
  return static_cast<std::uint32_t>(value);
}

Result<void> understand(const TypedEndpoint& typed, endpoint::EndpointOptions& options) {
  constexpr std::int64_t kMax = 1'000'000'000;
  const auto delay = [](std::string_view flag, const std::string& text) {
    auto parsed = sim::parse_delay(text);
    return parsed ? parsed : Result<sim::Delay>(parsed.error().within(flag));
  };
  if (!typed.certificate.empty() && !options.tls) {
    return invalid("--certificate: there is one with --tls alone");
  }
  if (typed.scenario.empty() && (typed.speedup || !typed.catalogue.empty())) {
    return invalid("--speedup, --catalogue: are about a modelled system: --scenario FILE");
  }
  if (!typed.kind.empty()) {
    ASSIGN_OR_RETURN(DescribedKind kind, plan::load_described_kind(typed.kind));
    options.described = std::make_shared<const DescribedKind>(std::move(kind));
  }
  ASSIGN_OR_RETURN(const std::uint32_t port, whole("--port", typed.port, 65535));
  options.port = static_cast<std::uint16_t>(port);
  ASSIGN_OR_RETURN(options.ttft, delay("--ttft", typed.ttft));
  ASSIGN_OR_RETURN(options.itl, delay("--itl", typed.itl));
  if (const auto osl = set_osl(options, typed.osl); !osl) return osl.error().within("--osl");
  ASSIGN_OR_RETURN(options.tokens_per_event,
                   whole("--tokens-per-event", typed.tokens_per_event, kMax));
  ASSIGN_OR_RETURN(options.concurrency, whole("--concurrency", typed.concurrency, kMax));
  ASSIGN_OR_RETURN(options.threads, whole("--threads", typed.threads, kMax));
  ASSIGN_OR_RETURN(options.events_per_write,
                   whole("--events-per-write", typed.events_per_write, kMax));
  options.tools =
      typed.tools == "never" ? endpoint::ToolPolicy::never : endpoint::ToolPolicy::asked;
  options.any_model = !typed.strict_model;
  if (!typed.answers.empty()) {
    auto answers = endpoint::read_answers(typed.answers, options.seed);
    if (!answers) return answers.error().within("--answers");
    options.answers = *std::move(answers);
  }
  options.truth_log = typed.truth_log;
  for (const std::string& fault : typed.faults) {
    if (const auto added = options.faults.add(fault); !added)
      return added.error().within("--fault");
  }
  for (const std::string& name : typed.quirks) {
    ASSIGN_OR_RETURN(const endpoint::Quirk quirk, endpoint::parse_quirk(name));
    options.quirks.add(quirk);
  }
  if (typed.always_usage) options.quirks.add(endpoint::Quirk::always_usage);
  return {};
}

// A modelled cluster replaces the timing flags.
Result<void> use_scenario(const TypedEndpoint& typed, bool timed,
                          endpoint::EndpointOptions& options) {
  if (timed) return invalid("--scenario: takes the place of --ttft, --itl and --concurrency");
  if (options.threads != 1) {
    return invalid("--scenario: one thread drives a modelled system; leave out --threads");
  }
  ASSIGN_OR_RETURN(sim::Scenario scenario, sim::read_scenario_file(typed.scenario));
  if (typed.speedup) scenario.speedup = *typed.speedup;
  if (!(scenario.speedup > 0)) return invalid("--speedup: must be above 0");
  sim::Catalogue catalogue = sim::Catalogue::builtin();
  for (const std::string& path : typed.catalogue) TRY(catalogue.add(path));
  ASSIGN_OR_RETURN(const sim::ClusterSpec spec, sim::make_cluster_spec(catalogue, scenario));
  if (!typed.quiet) say(format("modelled: {}", sim::describe(spec)));
  if (options.model == endpoint::EndpointOptions{}.model) options.model = scenario.model;
  if (scenario.prefix_cache) {
    options.prefix_block_tokens = sim::LiveCluster(spec, scenario).cluster().prefix_block_tokens();
  }
  options.make_engine = [spec, scenario](std::uint32_t, std::uint32_t) {
    return std::make_unique<sim::LiveCluster>(spec, scenario);
  };
  return {};
}

Json served_json(const endpoint::EndpointSummary& sum) {
  Json faults = Json::object();
  for (const auto& [name, count] : sum.faults) faults.set(name, count);
  return Json::object()
      .set("requests", sum.requests)
      .set("served", sum.served)
      .set("gone", sum.gone)
      .set("rejected", sum.rejected)
      .set("faulted", sum.faulted)
      .set("faults", faults)
      .set("prompt_tokens", sum.prompt_tokens)
      .set("output_tokens", sum.output_tokens)
      .set("events", sum.events)
      .set("late_us_p50", sum.late_us_p50)
      .set("late_us_p99", sum.late_us_p99)
      .set("kept_up", !sum.late)
      .set("truth_blocks_dropped", sum.truth_blocks_dropped);
}

}  // namespace

Result<int> cmd_endpoint(Args args) {
  TypedEndpoint typed;
  endpoint::EndpointOptions options;
  Flags flags("endpoint", "an OpenAI-compatible endpoint whose truth is known");
  add_flags(flags, typed, options);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  for (const std::string& name : typed.quirks) {
    if (name != "help") continue;
    print(endpoint::quirk_help());
    return exit_code(ExitCode::done);
  }
  TRY(understand(typed, options));
  if (!typed.scenario.empty()) {
    const bool timed =
        flags.given("--ttft") || flags.given("--itl") || flags.given("--concurrency");
    TRY(use_scenario(typed, timed, options));
  }

  // Blocked before any thread starts, so that only sigwait() below gets them.
  const sigset_t ends = block_ending_signals();

  const auto opened = endpoint::Endpoint::open(options);
  if (!opened) return with_free_port(opened.error());
  const auto& server = *opened;
  if (!typed.certificate.empty()) {
    TRY(write_file_atomic(typed.certificate, server->certificate_pem()));
  }
  server->start();
  print(server->url() + "\n");
  std::fflush(stdout);
  if (!typed.quiet) say(format("assay endpoint: {} is ready; Ctrl-C ends it", options.model));
  int signal = 0;
  sigwait(&ends, &signal);
  server->stop();
  const endpoint::EndpointSummary sum = server->summary();
  if (typed.json) print(served_json(sum).dump(2) + "\n");
  if (!typed.quiet && !typed.json) say(to_string(sum));
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
