#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "task/show_task.h"

namespace assay::cli {

Result<int> cmd_tasks(Args args) {
  task::ShownTask options;
  bool list = false;
  Flags flags("tasks", "tasks: prompt, examples, extraction and metric in one file");
  flags.add("NAME", &options.name, "one of them, or a FILE.yaml: it is read and checked");
  flags.add("--list", &list, "the ready ones, a line each; the same without NAME");
  flags.add("--yaml", &options.yaml, "print the file, to copy and change");
  flags.add("--sample=DIR", &options.sample,
            "write its few made-up rows below a folder, for a first try");
  flags.add("--json", &options.json, "print it as JSON");
  flags.example("assay tasks");
  flags.example("assay tasks gsm8k --yaml > mine.yaml");
  flags.example("assay tasks gsm8k --sample datasets");
  PARSE_OR_RETURN(flags, args);
  return task::show_tasks(options, console());
}

}  // namespace assay::cli
