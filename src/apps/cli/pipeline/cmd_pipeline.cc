#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "pipeline/course.h"

namespace assay::cli {

Result<int> cmd_pipeline(Args args) {
  pipeline::PipelineOptions options;
  Flags flags("pipeline", "steps that prepare data, from a YAML file; MedPerf's are read too");
  flags
      .add("ACT", &options.act,
           "plan: check the file, print its steps in their order; run: to its end, or from where "
           "it was; status; approve, reject, restart: a step by its name; logs: what a step said")
      .required()
      .choices({"plan", "run", "status", "approve", "reject", "restart", "logs"});
  flags.add("FILE", &options.file, "the pipeline (docs/formats/pipeline.md)").required();
  flags.add("STEP", &options.step, "of approve, reject, restart and logs");
  flags.add("--site=FILE", &options.site,
            "inputs, stand-ins, conditions and partitions of this site");
  flags.add("--input=NAME=PATH", &options.inputs, "where an input is; may be repeated");
  flags.add("--parameter=NAME=TEXT", &options.parameters, "a parameter's text; may be repeated");
  flags.add("--work=DIR", &options.work, "journal, logs and outputs; FILE's name with .work");
  flags.add("--jobs=N", &options.jobs, "instances that run at one time");
  flags
      .add("--engine", &options.engine,
           "what runs containers: the first of podman and docker, or none")
      .choices({"auto", "podman", "docker", "none"});
  flags.add("--no-wait", &options.no_wait, "end when only people or files are waited for");
  flags
      .add("--export", &options.exported,
           "plan: print what another engine runs: an Airflow 3 DAG, with this machine's paths")
      .choices({"airflow"});
  flags.add("--watch", &options.watch, "run: how far it is, on standard error while it runs");
  flags.add("--allow-code", &options.allow_code,
            "run: conditions and partitions in Python of the pipeline's author, in a jail");
  flags.add("--partition=NAME", &options.partition, "only this one, of the acts on a step");
  flags.add("--following", &options.following, "restart: all steps after it too");
  flags.add("--by=NAME", &options.by, "approve, reject: who decides ($USER)");
  flags.add("--json", &options.json, "print it as JSON");
  flags.example("assay pipeline plan workflow.yaml");
  flags.example("assay pipeline run workflow.yaml --input data_path=raw");
  flags.example("assay pipeline approve workflow.yaml final_confirmation");
  PARSE_OR_RETURN(flags, args);
  return pipeline::act_on_pipeline(options, console());
}

}  // namespace assay::cli
