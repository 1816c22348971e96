#include <utility>

#include "base/flags.h"
#include "campaign/convert.h"
#include "cli/commands.h"
#include "cli/console.h"

namespace assay::cli {

Result<int> cmd_convert(Args args) {
  campaign::ConvertOptions o;
  Flags flags("convert", "another tool's results as a run: to report, compare and draw");
  flags
      .add("FILE", &o.files,
           "vLLM bench JSON, AIPerf profile_export.jsonl, genai-perf profile, or a run folder of "
           "the reference client for endpoints; last the run folder to make. Several runs of that "
           "client, or a folder that holds them, become one curve")
      .required();
  flags.add("--from=FORMAT", &o.from, "what it is")
      .choices({"auto", "vllm", "aiperf", "genai-perf", "endpoints"});
  flags.group("Where the file does not say, or says it wrong");
  flags.add("--model=NAME", &o.model, "the model that was asked");
  flags.add("--api-type=NAME", &o.api, "openai, openai_completions, …");
  flags.add("--concurrency=N", &o.concurrency, "requests in flight");
  flags.add("--rate=N", &o.rate, "requests a second (poisson)");
  flags.group("");
  flags.add("--json", &o.json, "print the figures as JSON");
  flags.example("assay convert theirs/c1 theirs/c8 theirs/c64 curves/theirs");
  flags.example("assay convert vllm.json runs/vllm && assay compare runs/vllm runs/mine");
  PARSE_OR_RETURN(flags, args);
  return campaign::convert(std::move(o), args, console());
}

}  // namespace assay::cli
