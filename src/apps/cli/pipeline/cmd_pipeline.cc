#include <string>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "pipeline/pipeline.h"
#include "pipeline/plan_text.h"

namespace assay::cli {
namespace {

struct PipelineOptions {
  std::string act{};
  std::string file{};
  std::string site{};
  bool json = false;
};

constexpr std::size_t kPipelineBytesMax = std::size_t{16} << 20;

Result<pipeline::Pipeline> load_pipeline(const PipelineOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, read_file(options.file, kPipelineBytesMax));
  ASSIGN_OR_RETURN(pipeline::Pipeline pipeline, pipeline::read_pipeline(text, options.file));
  if (options.site.empty()) return pipeline;
  ASSIGN_OR_RETURN(const std::string site, read_file(options.site, kPipelineBytesMax));
  return pipeline::with_site(std::move(pipeline), site, options.site);
}

Result<int> show_plan(const PipelineOptions& options) {
  ASSIGN_OR_RETURN(const pipeline::Pipeline pipeline, load_pipeline(options));
  print(options.json ? pipeline::plan_json(pipeline).dump(2) + "\n"
                     : pipeline::plan_text(pipeline));
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> cmd_pipeline(Args args) {
  PipelineOptions options;
  Flags flags("pipeline", "steps that prepare data, from a YAML file; MedPerf's are read too");
  flags.add("ACT", &options.act, "plan: check the file, print its steps in their order")
      .required()
      .choices({"plan"});
  flags.add("FILE", &options.file, "the pipeline (docs/formats/pipeline.md)").required();
  flags.add("--site", &options.site, "inputs, stand-ins, conditions and partitions of this site")
      .value("FILE");
  flags.add("--json", &options.json, "print it as JSON");
  flags.example("assay pipeline plan workflow.yaml");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  return show_plan(options);
}

}  // namespace assay::cli
