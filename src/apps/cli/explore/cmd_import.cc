#include "base/display.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/store_flags.h"
#include "explorer/import.h"
#include "record/event_log.h"
#include "rules/calendar.h"
#include "store/open_store.h"

namespace assay::cli {
namespace {

std::string sentence(const explorer::ImportCounts& counts) {
  const std::string sheets = counts.datasheets == 0
                                 ? ""
                                 : format(", {} dataset description{}", counts.datasheets,
                                          counts.datasheets == 1 ? "" : "s");
  return format("{} curve{} ({} new), {} point{} ({} new, {} changed){}\n", counts.curves,
                counts.curves == 1 ? "" : "s", counts.curves_new, counts.points,
                counts.points == 1 ? "" : "s", counts.points_new, counts.points_changed, sheets);
}

void say_derived(const explorer::Imported& found) {
  for (const auto& [name, id] : found.derived_ids) {
    say(format("note: '{}' is no plain id: the submission is called {} (--submission ID names it)",
               printable(name), id));
  }
}

}  // namespace

Result<void> check_store(const std::string& where) {
  if (where.empty()) return {};
  if (auto opened = store::open_store(where); !opened) return opened.error().within("--store");
  return {};
}

Result<void> put_in_store(const std::filesystem::path& folder, const std::string& where) {
  ASSIGN_OR_RETURN(const auto found, explorer::read_results(folder, {}));
  auto store = store::open_store(where);
  const Result<void> put = store ? Result<void>() : Result<void>(store.error());
  const auto counts = put ? explorer::put_all(**store, found.curves, found.datasheets)
                          : Result<explorer::ImportCounts>(put.error());
  if (!counts) {
    Error error = counts.error();
    error.message +=
        format("\n  the results are kept; once the store is there: assay import {} --store {}",
               folder.string(), store::shown_store(where));
    return error;
  }
  for (const std::string& note : found.notes) say("note: " + note);
  say_derived(found);
  say("in the store; `assay serve` shows it");
  return {};
}

void add_import_flags(Flags& flags, explorer::ImportOptions& o) {
  static constexpr const char* kSaid = "What the files do not say, or say otherwise";
  flags.add("--system", &o.system, "the system's name").value("NAME").group(kSaid);
  flags.add("--system-desc", &o.description, "a system_desc.json for runs that have none")
      .value("FILE")
      .group(kSaid);
  flags.add("--model", &o.model, "the model").value("NAME").group(kSaid);
  flags.add("--dataset", &o.dataset, "the dataset").value("NAME").group(kSaid);
  flags.add("--organisation", &o.organisation, "whose system it is").value("NAME").group(kSaid);
  flags.add("--division", &o.division, "the division")
      .value("WORD")
      .choices({"Standardized", "Serviced", "RDI"})
      .group(kSaid);
  flags.add("--availability", &o.availability, "whether it can be bought")
      .value("WORD")
      .choices({"Available", "Preview", "RDI"})
      .group(kSaid);
  flags.add("--accelerator", &o.accelerator, "the accelerator").value("NAME").group(kSaid);
  flags.add("--accelerators", &o.accelerators, "how many of them")
      .value("N")
      .without_default()
      .group(kSaid);
  flags.add("--software", &o.software, "the serving framework").value("NAME").group(kSaid);
  flags.add("--submission", &o.submission, "the submission's id").value("ID").group(kSaid);
  flags.add("--published", &o.published, "the day on which the results were published")
      .value("YYYY-MM-DD")
      .group(kSaid);
  flags.add("--power-kw", &o.power_kw, "provisioned power of the system")
      .value("KW")
      .without_default()
      .group(kSaid);
  flags
      .add("--max-concurrency", &o.concurrency_max,
           "the highest concurrency that the system supports: gives single runs their region")
      .value("N")
      .without_default()
      .group(kSaid);
  flags
      .add("--twin-of", &o.twin_of,
           "of what is simulated: the measured curve that it stands beside, by its id")
      .value("CURVE")
      .group(kSaid);
  flags.add("--price", &o.price_per_hour, "what the system costs an hour")
      .value("DOLLARS")
      .without_default()
      .group(kSaid);
}

Result<void> check_import(const explorer::ImportOptions& o) {
  for (const auto& [flag, bad] : {std::pair{"--accelerators", o.accelerators < 0},
                                  {"--max-concurrency", o.concurrency_max < 0},
                                  {"--power-kw", o.power_kw < 0},
                                  {"--price", o.price_per_hour < 0}}) {
    if (bad) return invalid(format("{}: must not be below 0", flag));
  }
  if (!o.submission.empty() && !is_plain_id(o.submission)) {
    return invalid(format("--submission: {}", kPlainId));
  }
  if (!o.published.empty() && (o.published.size() != 10 || !rules::Day::parse(o.published))) {
    return invalid(format("--published: '{}' is no day; write it as 2026-04-01", o.published));
  }
  if (o.description.empty()) return {};
  const auto text = read_file(o.description, std::size_t{16} << 20);
  if (!text) return text.error().within("--system-desc");
  const auto json = Json::parse(*text);
  if (!json) return json.error().within(format("--system-desc: {}", o.description));
  if (!json->is_object()) {
    return invalid(format("--system-desc: {}: must be an object", o.description));
  }
  return {};
}

Result<int> cmd_import(Args args) {
  std::vector<std::string> paths;
  std::string where;
  bool json = false;
  explorer::ImportOptions options;
  Flags flags("import", "results of any kind into the store that `assay serve` shows");
  flags
      .add("PATH", &paths,
           "run folders, curve folders, submission trees, folders of LoadGen's logs, result files "
           "and tables, Croissant files")
      .required();
  flags.add("--store", &where, "a file, or postgresql://…; else ~/.local/share/assay/store.db")
      .value("STORE");
  flags.add("--json", &json, "print what was put as JSON");
  add_import_flags(flags, options);
  flags.example("assay import runs/20261120_144822 --system \"8 x H200, vLLM 0.14\"");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  TRY(check_import(options));
  // Reads everything first: a missing path must not leave a partial import.
  std::vector<store::CurveRecord> curves;
  std::vector<store::DatasheetRecord> sheets;
  std::size_t notes = 0;
  Json derived = Json::object();
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(auto found, explorer::read_results(path, options));
    for (const std::string& note : found.notes) say("note: " + note);
    for (const std::string& run : found.cut_short) say("note: " + run);
    say_derived(found);
    for (const auto& [name, id] : found.derived_ids) derived.set(name, id);
    notes += found.notes.size();
    if (found.curves.empty() && found.datasheets.empty() && found.notes.empty()) {
      // For a run's folder without a run, the message of find_event_logs.
      const auto logs = record::find_event_logs(path);
      if (!logs && std::filesystem::exists(std::filesystem::path(path) / "config.yaml")) {
        return logs.error();
      }
      return invalid(
          format("'{}' holds no result\n  a run folder has assay/events-0.alog or "
                 "performance/result_summary.json in it",
                 path));
    }
    for (store::CurveRecord& curve : found.curves) curves.push_back(std::move(curve));
    for (store::DatasheetRecord& sheet : found.datasheets) sheets.push_back(std::move(sheet));
  }
  ASSIGN_OR_RETURN(const auto store, store::open_store(where));
  ASSIGN_OR_RETURN(const explorer::ImportCounts counts, explorer::put_all(*store, curves, sheets));
  if (json) {
    Json out = Json()
                   .set("curves", counts.curves)
                   .set("curves_new", counts.curves_new)
                   .set("points", counts.points)
                   .set("points_new", counts.points_new)
                   .set("points_changed", counts.points_changed)
                   .set("datasheets", counts.datasheets)
                   .set("notes", notes);
    if (derived.size() > 0) out.set("derived_ids", std::move(derived));
    print(out.dump(2) + "\n");
  } else {
    print(sentence(counts));
  }
  return exit_code(notes > 0 ? ExitCode::findings : ExitCode::done);
}

}  // namespace assay::cli
