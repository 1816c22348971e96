#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/shared_flags.h"
#include "desk/client_course.h"

namespace assay::cli {
namespace {

void add_asked_flags(Flags& flags, desk::DeskOptions& options) {
  flags.add("CONFIG", &options.config,
            "a config of MLPerf Client; without one, stand-in prompts of its lengths");
  flags.group("What is asked");
  flags.add("--scenario=NAME", &options.scenario, "which scenario of the config");
  flags.add("--prompts=DIR", &options.prompts, "where the config's prompt files are");
  flags.add("--tools=DIR", &options.tools,
            "run an agent's recorded tool calls on a copy of this folder, tools_sandbox; "
            "needs --allow-code");
  flags.add("--set", &options.set, "the prompts to ask").choices({"base", "extended", "both"});
  flags.add("--agentic", &options.agentic, "without a config: the agents' conversations");
  flags.add("--iterations=N", &options.iterations, "measured inferences of each prompt (3)");
  flags.add("--warmups=N", &options.warmups, "inferences of each prompt before them (1)");
  flags.add("--delay=TIME", &options.delay,
            "pause before each inference (the config's, else none)");
  flags.add("--no-salt", &options.no_salt, "send prompts unchanged: a server may cache them");
  flags.group("");
}

void add_desk_flags(Flags& flags, desk::DeskOptions& options) {
  flags.group("Server");
  flags.add("--endpoint=URL", &options.endpoint,
            "the server; without it, one on this machine is found");
  flags.add("--model=NAME", &options.model,
            "the model; of a server that was found, the first it lists");
  flags.add("--list", &options.list, "print the servers on this machine, and ask nothing");
  flags.add("--port=N", &options.ports, "look at this port instead of the usual ones; repeatable");
  flags.add("--api-key-env=NAME", &options.api_key_env, "environment variable that holds the key");
  flags.add("--header='K: V'", &options.headers, "a further header; repeatable");
  flags.group("Meters");
  flags.add("--meter=KIND", &options.meters, "read beside the run: rapl, nvml, host; repeatable");
  flags.add("--meter-command=COMMAND", &options.meter_command,
            "a command that prints a meter's values");
  flags.group("Output");
  flags.add("--tokenizer=DIR", &options.tokenizer,
            "count tokens with it instead of the server's usage");
  flags.add("--report-dir=DIR", &options.folder, "the folder for results");
  flags.add("--json", &options.json, "print the result as JSON");
  flags.add("--page=PORT", &options.page,
            "a page to look at while it runs, on this machine; 0: any port");
  flags.add("--quiet", &options.quiet, "no talk while it runs");
  flags.example("assay client --list");
  flags.example("assay client");
  flags.example("assay client NVIDIA_llamacpp-CUDA_GPU.json --prompts data/prompts/llama_3_1_8b");
  flags.group("");
}

}  // namespace

Result<int> cmd_client(Args args) {
  desk::DeskOptions options;
  Flags flags("client", "MLPerf Client's prompts and figures, of a server on this machine");
  add_asked_flags(flags, options);
  add_desk_flags(flags, options);
  add_client_flags(flags, options.client);
  PARSE_OR_RETURN(flags, args);
  return desk::run_client(options, args, console());
}

}  // namespace assay::cli
