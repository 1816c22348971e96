#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/staged.h"
#include "base/version.h"
#include "campaign/run_folder.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "interchange/read/foreign_facts.h"
#include "interchange/read/foreign_run.h"
#include "interchange/read/reference_events.h"
#include "interchange/read/reference_run.h"
#include "report/terminal.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFirstLineMax = std::size_t{64} << 10;

fs::path log_of(const fs::path& run_folder) {
  return campaign::log_folder(run_folder) / "events-0.alog";
}

Result<interchange::ForeignFormat> format_of(const std::string& wanted, const std::string& text,
                                             const std::string& file) {
  const auto format = wanted == "auto" ? interchange::guess_foreign_format(text)
                                       : interchange::foreign_format_from(wanted);
  if (!format && text.find("\"aiperf_version\"") != std::string::npos) {
    return invalid(
        file +
        ": AIPerf's figures, without its requests\n  convert profile_export.jsonl, which "
        "it wrote beside them; figures alone go into a store: assay import");
  }
  if (!format && text.size() > interchange::kForeignDocumentMax) {
    return invalid(file + ": no lines of AIPerf's, and " +
                   interchange::too_long_document(text.size()));
  }
  if (!format) {
    return invalid(file + ": not a file of vLLM bench, AIPerf or genai-perf\n  say which: --from");
  }
  return *format;
}

// AIPerf keeps the settings in its file of figures, beside the requests.
Result<void> add_sibling(const fs::path& file, RunInfo& info) {
  const fs::path figures = file.parent_path() / (file.stem().string() + "_aiperf.json");
  if (!fs::exists(figures)) return {};
  ASSIGN_OR_RETURN(const std::string text, read_file(figures));
  auto facts = interchange::read_aiperf_facts(text);
  if (!facts) return facts.error().within(figures.string());
  interchange::add_facts(info, *facts);
  return {};
}

// Facts from the user that the file lacks.
struct Told {
  std::string model{};
  std::string api{};
  std::optional<double> rate{};
  std::optional<std::uint64_t> concurrency{};

  void add_to(Flags& flags) {
    const std::string_view group = "Where the file does not say, or says it wrong";
    flags.add("--model", &model, "the model that was asked").value("NAME").group(group);
    flags.add("--api-type", &api, "openai, openai_completions, …").value("NAME").group(group);
    flags.add("--concurrency", &concurrency, "requests in flight").value("N").group(group);
    flags.add("--rate", &rate, "requests a second (poisson)").value("N").group(group);
  }
  Result<interchange::ForeignFacts> facts() const {
    if (rate && concurrency) return invalid("--rate: or --concurrency, not both");
    if (rate && !(*rate > 0)) return invalid("--rate: must be above 0");
    if (concurrency == 0U) return invalid("--concurrency: at least 1");
    interchange::ForeignFacts out{.model = model, .api = api, .rate = rate, .pattern = "poisson"};
    if (concurrency) out.concurrency = static_cast<double>(*concurrency);
    return out;
  }
};

// The user's facts, where the file lacks them or has them wrong, and who the run is.
void finish_info(const interchange::ForeignFacts& facts, RunInfo& info, const std::string& digest) {
  interchange::add_facts(info, facts);
  info.version = version();
  info.plan_digest = digest;
  info.run_id = digest.substr(0, 32);
  info.run_key = xxh3(info.run_id);
  if (info.started.ns == 0) info.started = wall_now();
}

// A file of the three formats: it is read whole, and kept beside the log.
Result<void> convert_file(const std::string& file, const std::string& from,
                          const interchange::ForeignFacts& facts, const fs::path& folder) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  ASSIGN_OR_RETURN(const interchange::ForeignFormat kind, format_of(from, text, file));
  auto run = interchange::read_foreign_run(kind, text);
  if (!run) return run.error().within(file);
  if (kind == interchange::ForeignFormat::aiperf) TRY(add_sibling(file, run->info));
  finish_info(facts, run->info, sha256_hex(text));
  TRY(interchange::write_foreign_run(std::move(*run), log_of(folder)));
  return write_file_atomic(folder / campaign::kImportedFile, text);
}

// The reference client's folder or its event file. Its own config and scores come along; its
// events, which may be larger than memory, stay where they are.
Result<void> convert_reference(const std::string& path, const interchange::ForeignFacts& facts,
                               const fs::path& folder) {
  const bool is_folder = fs::is_directory(path);
  ASSIGN_OR_RETURN(interchange::ReferenceRun run, interchange::read_reference_run(path));
  interchange::add_facts(run.info, facts);
  if (run.info.started.ns == 0) run.info.started = wall_now();
  TRY(interchange::write_reference_log(run, log_of(folder)));
  const fs::path beside = is_folder ? fs::path(path) : fs::path(path).parent_path();
  for (const char* const name : {"config.yaml", "accuracy/accuracy_results.json"}) {
    if (!fs::exists(beside / name)) continue;
    ASSIGN_OR_RETURN(const std::string text, read_file(beside / name));
    TRY(write_file_atomic(folder / name, text));
  }
  return {};
}

// True where `path` is the reference client's, by --from or by its first line.
bool is_reference(const std::string& path, const std::string& from) {
  if (from != "auto") return from == "endpoints";
  if (fs::is_directory(path)) return true;
  std::ifstream in(path);
  std::string line(kFirstLineMax, ' ');
  in.getline(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return interchange::is_reference_event(std::string_view(line).substr(0, line.find('\0')));
}

}  // namespace

Result<int> cmd_convert(Args args) {
  std::string file;
  std::string folder;
  std::string from = "auto";
  bool json = false;
  Told told;
  Flags flags("convert", "another tool's results as a run: to report, compare and draw");
  flags
      .add("FILE", &file,
           "vLLM bench JSON, AIPerf profile_export.jsonl, genai-perf profile, or a run folder of "
           "the "
           "reference client for endpoints")
      .required();
  flags.add("RUN", &folder, "the run folder to make").required();
  flags.add("--from", &from, "what it is")
      .value("FORMAT")
      .choices({"auto", "vllm", "aiperf", "genai-perf", "endpoints"});
  told.add_to(flags);
  flags.add("--json", &json, "print the figures as JSON");
  flags.example("assay convert vllm.json runs/vllm && assay compare runs/vllm runs/mine");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  ASSIGN_OR_RETURN(const interchange::ForeignFacts facts, told.facts());
  if (fs::exists(log_of(folder))) {
    return invalid(format("RUN: '{}' holds a run already\n  name another folder", folder));
  }
  ASSIGN_OR_RETURN(StagedFolder made, StagedFolder::create(folder));
  TRY(make_folders(campaign::log_folder(made.path())));
  TRY(is_reference(file, from) ? convert_reference(file, facts, made.path())
                               : convert_file(file, from, facts, made.path()));
  campaign::PublishOptions how{.shown_as = folder};
  how.command = {"assay", "convert"};
  how.command.insert(how.command.end(), args.begin(), args.end());
  ASSIGN_OR_RETURN(campaign::LoadedRun loaded, campaign::publish(made.path(), how));
  TRY(made.commit());
  loaded.folder = folder;
  print(json ? campaign::summary_json(loaded).dump(2) + "\n"
             : report::terminal_report(loaded.point, campaign::report_context(loaded),
                                       report::terminal_style(1)));
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
