#include <signal.h>

#include <cmath>
#include <cstdio>

#include "base/ending_signals.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "proxy/proxy.h"
#include "text/chat_template.h"

namespace assay::cli {
namespace {

void say_summary(const Json& summary) {
  const Json& trace = summary["trace"];
  const Json& added = summary["added_ns"];
  if (added["count"].as_uint() > 0) {
    say(format("passing an event on took {} at P50 and {} at P99, from its arrival at this host",
               human_duration(Duration{std::llround(added["p50"].as_double())}),
               human_duration(Duration{std::llround(added["p99"].as_double())})));
  }
  say(format(
      "{} requests passed: {} whole, {} broken by the service, {} left by the client, {} "
      "without a connection, {} under way at the end; {} rows, {} not recorded",
      summary["requests"].as_uint(), summary["whole"].as_uint(), summary["broken"].as_uint(),
      summary["gone"].as_uint(), summary["unreached"].as_uint(), summary["stopped"].as_uint(),
      trace["rows"].as_uint(), trace["not_recorded"].as_uint()));
}

}  // namespace

Result<int> cmd_proxy(Args args) {
  proxy::ProxyOptions options;
  std::string record;
  std::string tokenizer;
  std::int64_t port = 0;
  bool quiet = false;
  bool json = false;
  Flags flags("proxy", "stands before a live service and records an anonymous trace to replay");
  flags.add("URL", &options.server, "the service: http://HOST:PORT or https://HOST").required();
  flags
      .add("--record=PATH", &record,
           "the trace: a .jsonl file, or a folder; nothing is overwritten")
      .required();
  flags.add("--port=N", &port, "the port to listen on; 0 takes one that is free");
  flags.add("--host=ADDRESS", &options.host,
            "the address to listen on; any but loopback lets other machines use the service");
  flags.add("--block=TOKENS", &options.block, "tokens of a block of prompt whose reuse is kept");
  flags.add("--tokenizer=NAME", &tokenizer,
            "count and cut prompts by it: a folder or a cached model; else by the server's counts");
  flags.add("--spin", &options.spin, "never sleep while a request is under way: takes a core");
  flags.add("--realtime", &options.realtime,
            "forward before all ordinary programs (SCHED_FIFO): less delay on a machine that is "
            "not idle; needs the right to");
  flags.add("--insecure", &options.insecure, "do not verify the service's certificate");
  flags.add("--ca-file=FILE", &options.ca_file, "trust the certificates in this file");
  flags.add("--quiet", &quiet, "print the URL and nothing else");
  flags.add("--json", &json, "print the summary at the end as JSON");
  flags.example("assay proxy http://127.0.0.1:8000 --record trace.jsonl --port 9000");
  PARSE_OR_RETURN(flags, args);
  if (port < 0 || port > 65535) return invalid("--port: must be from 0 to 65535");
  if (options.block < 1 || options.block > 65536) {
    return invalid("--block: must be from 1 to 65536");
  }
  options.port = static_cast<std::uint16_t>(port);
  options.record = record;
  if (!tokenizer.empty()) {
    ASSIGN_OR_RETURN(options.tokenizer, text::find_tokenizer(tokenizer));
  }
  // Blocked before any thread starts, so that only sigwait() below gets them.
  const sigset_t ends = block_ending_signals();
  const auto opened = proxy::Proxy::open(options);
  if (!opened) return with_free_port(opened.error());
  proxy::Proxy& server = **opened;
  TRY(server.start());
  print(server.url() + "\n");
  std::fflush(stdout);
  if (!quiet) {
    if (!server.loopback()) say("assay proxy: other machines can reach the service through it");
    say(format("assay proxy: {} is recorded in {}; Ctrl-C ends it", options.server,
               server.trace().string()));
  }
  int signal = 0;
  sigwait(&ends, &signal);
  TRY(server.stop());
  const Json summary = server.summary();
  if (json) print(summary.dump(2) + "\n");
  if (!quiet && !json) say_summary(summary);
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
