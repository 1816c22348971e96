#include <signal.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "base/ending_signals.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "endpoint/endpoint.h"
#include "endpoint/typed_options.h"
#include "plan/described_api.h"

namespace assay::cli {
namespace {

void add_address_flags(Flags& flags, endpoint::TypedEndpoint& typed,
                       endpoint::EndpointOptions& options) {
  flags.add("--host=ADDRESS", &options.host, "the address to listen on");
  flags.add("--port=N", &typed.port, "the port; 0 takes one that is free");
  flags.add("--uds=PATH", &options.unix_path, "listen on a Unix socket instead");
  flags.add("--tls", &options.tls, "HTTPS, with a certificate made now and signed by itself");
  flags.add("--certificate=FILE", &typed.certificate, "write that certificate there");
}

void add_modelled_flags(Flags& flags, endpoint::TypedEndpoint& typed) {
  flags.group("A modelled serving system, in place of the timing above");
  flags.add("--scenario=FILE", &typed.scenario, "what serves: docs/formats/scenario.md");
  flags.add("--speedup=N", &typed.speedup, "the modelled system runs so many times as fast");
  flags.add("--catalogue=PATH", &typed.catalogue,
            "a file or folder with hardware and models of yours");
  flags.group("");
}

void add_flags(Flags& flags, endpoint::TypedEndpoint& typed, endpoint::EndpointOptions& options) {
  add_address_flags(flags, typed, options);
  flags.add("--threads=N", &typed.threads, "serving threads, which share the port");
  flags.add("--model=NAME", &options.model, "the model's name");
  flags.add("--strict-model", &typed.strict_model, "404 for any other model");
  flags.add("--api-key=KEY", &options.api_key, "401 for requests without it");
  flags.add("--kind=FILE", &typed.kind, "speak the kind of API that this file describes, too");

  flags.group("Timing and length");
  flags.add("--ttft=DELAY", &typed.ttft, "time to the first token: 50ms, normal:50ms,5ms, …");
  flags.add("--itl=DELAY", &typed.itl, "time between events, the same way");
  flags.add("--osl=LENGTH", &typed.osl,
            "output tokens: 64, uniform:10-100, …; max: the request's limit");
  flags.add("--tokens-per-event=N", &typed.tokens_per_event, "tokens in each event");
  flags.add("--concurrency=N", &typed.concurrency, "requests that run at once; 0: no limit");
  flags.add("--events-per-write=N", &typed.events_per_write, "events that leave together");
  flags.add("--reasoning=SHARE", &options.reasoning, "share of a chat's output that is reasoning");
  flags.add("--tools", &typed.tools, "whether tools that a request brings are called")
      .choices({"asked", "never"});
  flags.add("--answers=FILE", &typed.answers,
            "a dataset's file with prompts and, in the column `answer`, the replies to them; "
            "FILE,right=0.8: to that share of them");
  flags.add("--seed=N", &options.seed, "what lengths, delays, texts and faults are drawn from");

  flags.group("");
  add_modelled_flags(flags, typed);

  flags.group("To test a client");
  flags.add("--fault=NAME=P", &typed.faults,
            "reset=0.05, truncate, http500, http429, error, garbage, stall");
  flags.add("--quirk=NAME", &typed.quirks, "what real servers do; `help` lists all");
  flags.add("--always-usage", &typed.always_usage, "short for --quirk always-usage");
  flags.add("--stall=TIME", &options.stall, "how long the quirk `stall` waits");
  flags.add("--truth-log=FILE", &typed.truth_log,
            "record when each token was handed to the kernel");
  flags.add("--truth-holds", &options.truth_holds,
            "with --truth-log: also the writes that took longer than 0.1 ms");
  flags.group("");
  flags.add("--quiet", &typed.quiet, "print the URL and nothing else");
  flags.add("--json", &typed.json, "print the summary at the end as JSON");
  flags.example("assay endpoint --port 0 --ttft 50ms --itl 10ms --osl 64");
  flags.example("assay endpoint --scenario 8xh200.yaml --osl max");
  flags.example("assay endpoint --fault reset=0.05,http500=0.05 --quirk role-first");
}

}  // namespace

Result<int> cmd_endpoint(Args args) {
  endpoint::TypedEndpoint typed;
  endpoint::EndpointOptions options;
  Flags flags("endpoint", "an OpenAI-compatible endpoint whose truth is known");
  add_flags(flags, typed, options);
  PARSE_OR_RETURN(flags, args);
  for (const std::string& name : typed.quirks) {
    if (name != "help") continue;
    print(endpoint::quirk_help());
    return exit_code(ExitCode::done);
  }
  if (!typed.kind.empty()) {
    ASSIGN_OR_RETURN(DescribedKind kind, plan::load_described_kind(typed.kind));
    options.described = std::make_shared<const DescribedKind>(std::move(kind));
  }
  TRY(understand(typed, options));
  if (!typed.scenario.empty()) {
    const bool timed =
        flags.given("--ttft") || flags.given("--itl") || flags.given("--concurrency");
    TRY(use_scenario(typed, timed, options, console()));
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
  if (typed.json) print(to_json(sum).dump(2) + "\n");
  if (!typed.quiet && !typed.json) say(to_string(sum));
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
