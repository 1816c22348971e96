#include "apps/cli/commands.h"
#include "apps/cli/console.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/flags.h"
#include "apps/cli/measure/run_folder.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/version.h"
#include "record/foreign/foreign_run.h"
#include "report/terminal.h"

namespace assay::cli {
namespace {

Result<record::ForeignFormat> format_of(const std::string& wanted, const std::string& text,
                                        const std::string& file) {
  const auto format =
      wanted == "auto" ? record::guess_foreign_format(text) : record::foreign_format_from(wanted);
  if (!format && text.find("\"aiperf_version\"") != std::string::npos) {
    return invalid(
        file +
        ": AIPerf's figures, without its requests\n  convert profile_export.jsonl, which "
        "it wrote beside them; figures alone go into a store: assay import");
  }
  if (!format) {
    return invalid(file + ": not a file of vLLM bench, AIPerf or genai-perf\n  say which: --from");
  }
  return *format;
}

}  // namespace

Result<int> cmd_convert(Args args) {
  std::string file;
  std::string folder;
  std::string from = "auto";
  bool json = false;
  Flags flags("convert", "another tool's results as a run: to report, compare and draw");
  flags.add("FILE", &file, "vLLM bench JSON, AIPerf profile_export.jsonl, genai-perf profile")
      .required();
  flags.add("RUN", &folder, "the run folder to make").required();
  flags.add("--from", &from, "what it is")
      .value("FORMAT")
      .choices({"auto", "vllm", "aiperf", "genai-perf"});
  flags.add("--json", &json, "print the figures as JSON");
  flags.example("assay convert vllm.json runs/vllm && assay compare runs/vllm runs/mine");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  ASSIGN_OR_RETURN(const record::ForeignFormat kind, format_of(from, text, file));
  const std::filesystem::path log = log_folder(folder) / "events-0.alog";
  if (std::filesystem::exists(log)) {
    return invalid(format("RUN: '{}' holds a run already\n  name another folder", folder));
  }
  auto run = record::read_foreign_run(kind, text);
  if (!run) return run.error().within(file);
  run->info.version = version();
  run->info.plan_digest = sha256_hex(text);
  run->info.run_id = run->info.plan_digest.substr(0, 32);
  run->info.run_key = xxh3(run->info.run_id);
  if (run->info.started.ns == 0) run->info.started = wall_now();
  TRY(make_folders(log_folder(folder)));
  TRY(record::write_foreign_run(std::move(*run), log));
  TRY(write_file_atomic(std::filesystem::path(folder) / kImportedFile, text));
  PublishOptions how;
  how.command = {"assay", "convert"};
  how.command.insert(how.command.end(), args.begin(), args.end());
  ASSIGN_OR_RETURN(const LoadedRun loaded, publish(folder, how));
  print(json ? summary_json(loaded).dump(2) + "\n"
             : report::terminal_report(loaded.point, report_context(loaded),
                                       report::terminal_style(1)));
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
