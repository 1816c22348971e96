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
#include "campaign/curve/curve_load.h"
#include "campaign/curve/curve_view.h"
#include "campaign/reference_copy.h"
#include "campaign/run_folder.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "interchange/read/foreign_facts.h"
#include "interchange/read/foreign_run.h"
#include "interchange/read/reference_events.h"
#include "report/curve_text.h"
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

// Runs of the reference client as one curve: a folder that holds them, or their folders.
Result<int> convert_to_curve(const std::vector<std::string>& given, const std::string& to,
                             const std::vector<std::string>& args, bool json) {
  std::vector<std::string> runs = given;
  if (given.size() == 1) runs = campaign::reference_runs_in(given.front());
  std::vector<std::string> command = {"assay", "convert"};
  command.insert(command.end(), args.begin(), args.end());
  ASSIGN_OR_RETURN(StagedFolder made, StagedFolder::create(to));
  TRY(campaign::collect_curve(runs, made.path(), command));
  TRY(made.commit());
  ASSIGN_OR_RETURN(const campaign::CurveFolder folder, campaign::CurveFolder::read(to));
  ASSIGN_OR_RETURN(const metrics::Curve curve, campaign::load_curve(folder));
  TRY(campaign::publish_curve(folder, curve));
  print(json ? metrics::curve_json(curve).dump(2) + "\n"
             : report::curve_terminal(curve, {}, report::terminal_style(1)));
  return exit_code(ExitCode::done);
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
  std::vector<std::string> files;
  std::string from = "auto";
  bool json = false;
  Told told;
  Flags flags("convert", "another tool's results as a run: to report, compare and draw");
  flags
      .add("FILE", &files,
           "vLLM bench JSON, AIPerf profile_export.jsonl, genai-perf profile, or a run folder of "
           "the reference client for endpoints; last the run folder to make. Several runs of that "
           "client, or a folder that holds them, become one curve")
      .required();
  flags.add("--from", &from, "what it is")
      .value("FORMAT")
      .choices({"auto", "vllm", "aiperf", "genai-perf", "endpoints"});
  told.add_to(flags);
  flags.add("--json", &json, "print the figures as JSON");
  flags.example("assay convert theirs/c1 theirs/c8 theirs/c64 curves/theirs");
  flags.example("assay convert vllm.json runs/vllm && assay compare runs/vllm runs/mine");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  ASSIGN_OR_RETURN(const interchange::ForeignFacts facts, told.facts());
  if (files.size() < 2) return invalid("RUN: is missing: name the folder to make last");
  const std::string folder = files.back();
  files.pop_back();
  const std::string& file = files.front();
  if (files.size() > 1 || !campaign::reference_runs_in(file).empty()) {
    if (facts.concurrency || facts.rate || !facts.model.empty() || !facts.api.empty()) {
      return invalid(
          "--model, --api-type, --concurrency, --rate: are of one run, not of a curve's");
    }
    return convert_to_curve(files, folder, {args.begin(), args.end()}, json);
  }
  if (fs::exists(log_of(folder))) {
    return invalid(format("RUN: '{}' holds a run already\n  name another folder", folder));
  }
  ASSIGN_OR_RETURN(StagedFolder made, StagedFolder::create(folder));
  TRY(make_folders(campaign::log_folder(made.path())));
  TRY(is_reference(file, from) ? campaign::copy_reference_run(file, facts, made.path())
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
