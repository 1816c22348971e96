#include "campaign/convert.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/staged.h"
#include "base/version.h"
#include "campaign/curve/curve_load.h"
#include "campaign/curve/curve_view.h"
#include "campaign/reference_copy.h"
#include "campaign/run_folder.h"
#include "campaign/run_talk.h"
#include "interchange/read/foreign_facts.h"
#include "interchange/read/foreign_run.h"
#include "interchange/read/reference_events.h"
#include "report/curve_text.h"
#include "report/terminal.h"

namespace assay::campaign {
namespace {

constexpr std::size_t kFirstLineMax = std::size_t{64} << 10;

std::filesystem::path converted_log(const std::filesystem::path& run_folder) {
  return log_folder(run_folder) / "events-0.alog";
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
    return invalid(
        file +
        ": not a file of vLLM bench, AIPerf or genai-perf\n  --from FORMAT says which it is");
  }
  return *format;
}

// AIPerf keeps the settings in its file of figures, beside the requests.
Result<void> add_sibling(const std::filesystem::path& file, RunInfo& info) {
  const std::filesystem::path figures =
      file.parent_path() / (file.stem().string() + "_aiperf.json");
  if (!std::filesystem::exists(figures)) return {};
  ASSIGN_OR_RETURN(const std::string text, read_file(figures));
  auto facts = interchange::read_aiperf_facts(text);
  if (!facts) return facts.error().within(figures.string());
  interchange::add_facts(info, *facts);
  return {};
}

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
                          const interchange::ForeignFacts& facts,
                          const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  ASSIGN_OR_RETURN(const interchange::ForeignFormat kind, format_of(from, text, file));
  auto run = interchange::read_foreign_run(kind, text);
  if (!run) return run.error().within(file);
  if (kind == interchange::ForeignFormat::aiperf) TRY(add_sibling(file, run->info));
  finish_info(facts, run->info, sha256_hex(text));
  TRY(interchange::write_foreign_run(std::move(*run), converted_log(folder)));
  return write_file_atomic(folder / kImportedFile, text);
}

// Runs of the reference client as one curve: a folder that holds them, or their folders.
Result<int> convert_to_curve(const std::vector<std::string>& given, const std::string& to,
                             std::span<const std::string> args, bool json, const Talk& talk) {
  std::vector<std::string> runs = given;
  if (given.size() == 1) runs = reference_runs_in(given.front());
  ASSIGN_OR_RETURN(StagedFolder made, StagedFolder::create(to));
  TRY(collect_curve(runs, made.path(), command_of("convert", args)));
  TRY(made.commit());
  ASSIGN_OR_RETURN(const CurveFolder folder, CurveFolder::read(to));
  ASSIGN_OR_RETURN(const metrics::Curve curve, load_curve(folder));
  TRY(publish_curve(folder, curve));
  talk.print(json ? metrics::curve_json(curve).dump(2) + "\n"
                  : report::curve_terminal(curve, {}, report::terminal_style(1)));
  return exit_code(ExitCode::done);
}

// True where `path` is the reference client's, by --from or by its first line.
bool is_reference(const std::string& path, const std::string& from) {
  if (from != "auto") return from == "endpoints";
  if (std::filesystem::is_directory(path)) return true;
  std::ifstream in(path);
  std::string line(kFirstLineMax, ' ');
  in.getline(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return interchange::is_reference_event(std::string_view(line).substr(0, line.find('\0')));
}

Result<interchange::ForeignFacts> told_facts(const ConvertOptions& told) {
  if (told.rate && told.concurrency)
    return invalid("--rate, --concurrency: give one of them, not both");
  if (told.rate && !(*told.rate > 0)) return invalid("--rate: must be above 0");
  if (told.concurrency == 0U) return invalid("--concurrency: at least 1");
  interchange::ForeignFacts out{
      .model = told.model, .api = told.api, .rate = told.rate, .pattern = "poisson"};
  if (told.concurrency) out.concurrency = static_cast<double>(*told.concurrency);
  return out;
}

}  // namespace

Result<int> convert(ConvertOptions options, std::span<const std::string> args, const Talk& talk) {
  ASSIGN_OR_RETURN(const interchange::ForeignFacts facts, told_facts(options));
  if (options.files.size() < 2) return invalid("RUN: is missing: name the folder to make last");
  const std::string folder = options.files.back();
  options.files.pop_back();
  const std::string& file = options.files.front();
  if (options.files.size() > 1 || !reference_runs_in(file).empty()) {
    if (facts.concurrency || facts.rate || !facts.model.empty() || !facts.api.empty()) {
      return invalid(
          "--model, --api-type, --concurrency, --rate: apply to one run, not to a curve");
    }
    return convert_to_curve(options.files, folder, args, options.json, talk);
  }
  if (std::filesystem::exists(converted_log(folder))) {
    return invalid(format("RUN: '{}' holds a run already\n  name another folder", folder));
  }
  ASSIGN_OR_RETURN(StagedFolder made, StagedFolder::create(folder));
  TRY(make_folders(log_folder(made.path())));
  TRY(is_reference(file, options.from) ? copy_reference_run(file, facts, made.path())
                                       : convert_file(file, options.from, facts, made.path()));
  PublishOptions how{.shown_as = folder};
  how.command = command_of("convert", args);
  ASSIGN_OR_RETURN(LoadedRun loaded, publish(made.path(), how));
  TRY(made.commit());
  loaded.folder = folder;
  talk.print(options.json ? summary_json(loaded).dump(2) + "\n"
                          : report::terminal_report(loaded.point, report_context(loaded),
                                                    report::terminal_style(1)));
  return exit_code(ExitCode::done);
}

}  // namespace assay::campaign
