#include "cli/simulate/system_flags.h"

namespace assay::cli {

void add_system_flags(Flags& flags, simulate::SystemWords& system) {
  flags.add("--model=NAME", &system.scenario.model,
            "what is served: a name of --list models, or the path of a config.json");
  flags.add("--hardware=NAME", &system.scenario.hardware,
            "on which accelerator; simulate takes a list");
  flags.add("--scenario=FILE", &system.file,
            "a file that says all of it: docs/formats/scenario.md");
  flags.add("--backend=NAME", &system.scenario.backend, "vllm, sglang or tensorrt-llm");
  flags.add("--backend-version=RELEASE", &system.scenario.backend_version,
            "the backend's release, as 1.2.0rc6.post3: where it is known, what its recipes set and "
            "how its steps differ");
  flags.add("--precision=WORD", &system.scenario.precision,
            "bf16, fp8, nvfp4, mxfp4 or int4; else as the checkpoint, or the card's usual");
  flags.add("--gpus=N", &system.gpus, "accelerators in all; else one worker's").without_default();
  flags.add("--parallel=LAYOUT", &system.scenario.parallel,
            "one worker's layout: tp=8,dp=1,ep=1,pp=1");
  flags.add("--disagg=SPLIT", &system.scenario.disagg,
            "prefill and decode apart: 4P+1D, or with layouts 4P:tp=4+1D:dp=32,ep=32");
  flags
      .add("--decode-batch=N", &system.decode_batch,
           "with --disagg: sequences of one rank of a decode worker; else as the recipes")
      .without_default();
  flags.add("--router=WORD", &system.scenario.router,
            "round_robin, random, least_loaded, power_of_two or kv_aware");
  flags.add("--software=NAME", &system.scenario.software,
            "a generation of serving stacks of --list software; else those that were measured");
  flags.add("--mtp=N", &system.mtp,
            "drafts of multi-token prediction; else as the measured recipe");
  flags.add("--acceptance=LIST", &system.acceptance,
            "chance of each draft, given the one before: 0.8,0.6");
  flags
      .add("--isl=LENGTH", &system.isl,
           "prompt tokens: 1024, uniform:819-1024, normal:512,64; else as the runs of a twin, or "
           "1024")
      .without_default();
  flags.add("--osl=LENGTH", &system.osl, "output tokens, in the same form").without_default();
  flags.add("--shared-prefix=TREE", &system.prefixes,
            "what prompts share, as --shared-prefix of `assay run`: 1000x4,200x8 (tokens x "
            "branches), part of --isl");
  flags.add("--seed=N", &system.seed,
            "of lengths, as --run-seed of `assay run`, and of a system given by flags");
  flags.add("--no-prefix-cache", &system.no_prefix_cache, "never reuse the KV of a common prefix");
  flags.add("--catalogue=PATH", &system.catalogue,
            "a file or folder with hardware, models, backends of yours");
}

}  // namespace assay::cli
