#include "explorer/import_course.h"

#include "base/display.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "explorer/import.h"
#include "record/event_log.h"
#include "rules/calendar.h"
#include "store/open_store.h"

namespace assay::explorer {
namespace {

std::string import_sentence(const ImportCounts& counts) {
  const std::string sheets =
      counts.datasheets == 0 ? "" : ", " + counted(counts.datasheets, "dataset description");
  return format("{} ({} new), {} ({} new, {} changed){}\n", counted(counts.curves, "curve"),
                counts.curves_new, counted(counts.points, "point"), counts.points_new,
                counts.points_changed, sheets);
}

void say_derived(const Imported& found, const Talk& talk) {
  for (const auto& [name, id] : found.derived_ids) {
    talk.say(format(
        "note: '{}' is not a plain id: the submission is called {} (--submission ID names it)",
        printable(name), id));
  }
}

}  // namespace

Result<void> check_store(const std::string& where) {
  if (where.empty()) return {};
  if (auto opened = store::open_store(where); !opened) return opened.error().within("--store");
  return {};
}

Result<void> put_in_store(const std::filesystem::path& folder, const std::string& where,
                          const Talk& talk) {
  ASSIGN_OR_RETURN(const auto found, read_results(folder, {}));
  auto store = store::open_store(where);
  const Result<void> put = store ? Result<void>() : Result<void>(store.error());
  const auto counts =
      put ? put_all(**store, found.curves, found.datasheets) : Result<ImportCounts>(put.error());
  if (!counts) {
    Error error = counts.error();
    error.message +=
        format("\n  the results are kept; once the store is there: assay import {} --store {}",
               folder.string(), store::shown_store(where));
    return error;
  }
  for (const std::string& note : found.notes) talk.say("note: " + note);
  say_derived(found, talk);
  talk.say("in the store; `assay serve` shows it");
  return {};
}

Result<void> check_import(const ImportOptions& o) {
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
    return invalid(format("--published: '{}' is not a day; write it as 2026-04-01", o.published));
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

Result<int> import_all(const ImportAsked& asked, const Talk& talk) {
  TRY(check_import(asked.options));
  // Reads everything first: a missing path must not leave a partial import.
  std::vector<store::CurveRecord> curves;
  std::vector<store::DatasheetRecord> sheets;
  std::size_t notes = 0;
  Json derived = Json::object();
  for (const std::string& path : asked.paths) {
    ASSIGN_OR_RETURN(auto found, read_results(path, asked.options));
    for (const std::string& note : found.notes) talk.say("note: " + note);
    for (const std::string& run : found.cut_short) talk.say("note: " + run);
    say_derived(found, talk);
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
  ASSIGN_OR_RETURN(const auto store, store::open_store(asked.store));
  ASSIGN_OR_RETURN(const ImportCounts counts, put_all(*store, curves, sheets));
  if (asked.json) {
    Json out = Json()
                   .set("curves", counts.curves)
                   .set("curves_new", counts.curves_new)
                   .set("points", counts.points)
                   .set("points_new", counts.points_new)
                   .set("points_changed", counts.points_changed)
                   .set("datasheets", counts.datasheets)
                   .set("notes", notes);
    if (derived.size() > 0) out.set("derived_ids", std::move(derived));
    talk.print(out.dump(2) + "\n");
  } else {
    talk.print(import_sentence(counts));
  }
  return exit_code(notes > 0 ? ExitCode::findings : ExitCode::done);
}

}  // namespace assay::explorer
