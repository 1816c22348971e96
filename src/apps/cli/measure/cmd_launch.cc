#include <utility>

#include "base/flags.h"
#include "campaign/launch.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "ranks/launch.h"

namespace assay::cli {
namespace {

void add_launch_flags(Flags& flags, campaign::LaunchOptions& options) {
  ranks::LaunchSpec& spec = options.spec;
  flags.add("--engine", &spec.engine, "what starts the ranks")
      .choices({"mpi", "slurm", "k8s", "ssh"})
      .required();
  flags.add("--hosts=A,B,…", &options.hosts, "with mpi and ssh: the ranks' hosts, rank 0's first");
  flags.add("--ranks=N", &options.ranks, "processes; without it one a host");
  flags.add("--port=PORT", &options.port, "where rank 0 listens, with mpi, k8s and ssh");
  flags.add("--name=NAME", &spec.name, "the job's name");
  flags.add("--program=PATH", &spec.program, "assay's path on the hosts or in the image");
  flags.add("--image=IMAGE", &spec.image, "with k8s: the image that has assay");
  flags.add("--claim=NAME", &spec.claim, "with k8s: the volume claim that holds the report dir");
  flags.add("--secret=NAME", &spec.secret, "with k8s: a Secret whose entries become variables");
  flags.add(
      "--engine-arg=WORD", &spec.engine_words,
      "one more word for mpirun, sbatch (as an #SBATCH line), kubectl or ssh; again for more");
  flags.add("--levels=LIST", &options.levels,
            "a curve: the run at each of these concurrencies in turn, below r<level> of its report "
            "dir; what is there already is kept");
  flags.add("--dry-run", &options.dry_run, "print the files and the commands; start nothing");
  flags.add("--json", &options.json, "print them, or the merged result, as JSON");
  flags.example("assay launch --engine ssh --hosts node1,node2 -- --config c.yaml \\");
  flags.example("          --report-dir runs/big");
  flags.example(
      "assay launch --engine k8s --ranks 8 --image registry/assay:0.1 --claim results \\");
  flags.example("          --dry-run -- --config /results/c.yaml --report-dir /results/big");
}

}  // namespace

Result<int> cmd_launch(Args args) {
  campaign::LaunchOptions options;
  options.spec.name = "assay";
  options.spec.program = "assay";
  Flags flags("launch", "start the ranks of one run on many hosts, by an engine that is there");
  add_launch_flags(flags, options);
  flags.add("RUN", &options.spec.run, "the words of `assay run`, after --").required();
  PARSE_OR_RETURN(flags, args);
  return campaign::launch_ranks(std::move(options), console());
}

}  // namespace assay::cli
