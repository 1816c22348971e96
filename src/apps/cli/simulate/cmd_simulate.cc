#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/simulate/system_flags.h"
#include "simulate/simulate_course.h"

namespace assay::cli {
namespace {

void add_flags(Flags& flags, simulate::SimulationOptions& o) {
  add_system_flags(flags, o.system);
  flags.add("--load=FILE", &o.load,
            "the load of a config of `assay run`, in place of lengths and levels: a trace, "
            "conversations, classes, shared prefixes");
  flags.add("--concurrency=LIST", &o.concurrency, "a list (4,16,64), or sweep");
  flags.add("--rate=QPS", &o.rate, "queries a second, Poisson, in place of concurrency");
  flags.add(
      "--queries=N", &o.queries,
      "queries for each unit of concurrency, once, with the lengths of `assay run --samples`; else "
      "10, and again with others up to 400 in all, workers that are alike computed once");
  flags.add("--turn-around=TIME", &o.turn_around,
            "of the client, from a reply's end to the next query of its place");
  flags.group("A suite's scenario");
  flags.add("--workload=NAME", &o.suite.workload,
            "a workload of `assay workloads`; --scenario is then offline, server, interactive or "
            "single_stream, with its lengths and P99 limits");
  flags.add("--edition=NAME", &o.suite.edition, "whose limits; else the workload's newest");
  flags.add("--explain=A..B", &o.suite.explain,
            "what each lever gives between two software generations: v5.1..v6.0");
  flags.group("");
  flags.add("--html=FILE", &o.html, "the curve as one page, with a measured curve's charts");
  flags.add("--list=WHAT", &o.list,
            "print the names that are known: hardware, models, backends or software");
  flags.add("--json", &o.json, "print the result as JSON, which `assay import` reads");
  flags.group("To size a deployment");
  flags.add("--plan=LIMITS", &o.plan,
            "limits that --rate must meet: ttft_p99=2s,tpot_p99=80ms; P90 if none is named");
  flags.add("--price=DOLLARS", &o.price,
            "of an accelerator-hour, for $ a million tokens, here and in --html");
  flags.group("To compare");
  flags.add("--compare=FILE", &o.compare, "a scenario file to set beside the flags' system");
  flags.example(
      "assay simulate --model deepseek-r1 --hardware h200-sxm --backend sglang "
      "--precision fp8 --parallel tp=8 --concurrency 4,16,64");
  flags.example(
      "assay simulate --model llama3.1-70b --hardware h100-sxm,h200-sxm,mi300x --precision fp8 "
      "--parallel tp=8 --concurrency 16,64 --price 3");
  flags.example(
      "assay simulate --model llama3.1-70b --hardware h200-sxm --parallel tp=4 --load trace.yaml");
  flags.example(
      "assay simulate --model gpt-oss-120b --hardware b200-sxm --rate 200 --plan "
      "ttft_p99=1s,tpot_p99=20ms --price 4");
  flags.group("");
}

}  // namespace

Result<int> cmd_simulate(Args args) {
  simulate::SimulationOptions o;
  Flags flags("simulate", "what a serving system would do, from a model of it: a curve in seconds");
  add_flags(flags, o);
  PARSE_OR_RETURN(flags, args);
  for (const char* const name :
       {"--concurrency", "--rate", "--queries", "--isl", "--osl", "--shared-prefix", "--plan",
        "--compare", "--html", "--turn-around", "--price", "--workload", "--explain"}) {
    if (flags.given(name)) o.given.insert(name);
  }
  return simulate::run_simulation(o, console());
}

}  // namespace assay::cli
