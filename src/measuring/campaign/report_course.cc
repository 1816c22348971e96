#include "campaign/report_course.h"

#include <utility>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "campaign/calibrate/report_truth.h"
#include "campaign/curve/curve_load.h"
#include "campaign/curve/curve_view.h"
#include "campaign/run_folder.h"
#include "campaign/token_counting.h"
#include "decide/terms.h"
#include "interchange/accuracy_text.h"
#include "interchange/events_jsonl.h"
#include "interchange/read/run_view.h"
#include "interchange/write/arrow_file.h"
#include "interchange/write/exporter.h"
#include "interchange/write/parquet_file.h"
#include "interchange/write/run_columns.h"
#include "metrics/definitions/definition_fold.h"
#include "observe/tail.h"
#include "observe/telemetry.h"
#include "record/event_log.h"
#include "record/folder_claim.h"
#include "record/manifest.h"
#include "report/curve_html.h"
#include "report/curve_text.h"
#include "report/definitions.h"
#include "report/derating.h"
#include "report/html.h"
#include "report/markdown.h"
#include "report/terminal.h"
#include "rulebook/power.h"

namespace assay::campaign {
namespace {

Result<void> write_events(const ReportOptions& options) {
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(options.folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  ASSIGN_OR_RETURN(auto file, interchange::EventsJsonl::create(options.events_jsonl, info));
  ASSIGN_OR_RETURN(const auto replay, record::replay_run(log_folder(options.folder), file));
  return file.close(replay.end.end);
}

// Parses "vllm,aiperf" or "all".
Result<std::vector<const metrics::Definition*>> wanted_definitions(const std::string& list) {
  const auto all = metrics::definitions();
  if (list == "all") return std::vector<const metrics::Definition*>(all.begin(), all.end());
  std::vector<const metrics::Definition*> out;
  for (const std::string_view name : split(list, ',')) {
    const metrics::Definition* const found = metrics::find_definition(trim(name));
    if (found == nullptr) {
      std::vector<std::string_view> names{"all"};
      std::string known = "all";
      for (const metrics::Definition* definition : all) {
        names.push_back(definition->name);
        known += format(", {}", definition->name);
      }
      const std::string_view near = nearest(trim(name), names);
      return invalid(format("--definitions: no definition \"{}\"{}\n  there are {}", name,
                            near.empty() ? "" : format("\n  did you mean \"{}\"?", near), known));
    }
    out.push_back(found);
  }
  return out;
}

// Counts by --tokenizer; nullopt without it: the run's own count.
Result<std::optional<metrics::TokenCounts>> wanted_counts(const ReportOptions& options,
                                                          const Talk& talk) {
  if (options.tokenizer.empty()) return std::optional<metrics::TokenCounts>();
  ASSIGN_OR_RETURN(metrics::TokenCounts counts, recount_tokens(options.folder, options.tokenizer));
  if (counts.source["input"].is_string()) {
    talk.say(format("note: {}", counts.source["input"].as_string()));
  }
  return std::optional(std::move(counts));
}

// Reports the run by other tools' definitions, instead of the report.
Result<int> report_definitions(const ReportOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(auto wanted, wanted_definitions(options.definitions));
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(options.folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  metrics::DefinitionFold fold(info, std::move(wanted));
  audit::LoadOptions how{.replies = &fold};
  ASSIGN_OR_RETURN(how.counts, wanted_counts(options, talk));
  TRY(load_run(options.folder, std::move(how)));
  const auto points = fold.finish();
  talk.print(options.json ? metrics::definitions_json(points).dump(2) + "\n"
                          : report::definitions_report(points, report::terminal_style(1)));
  for (const metrics::DefinedPoint& point : points) {
    if (!point.loadgen_window) continue;
    talk.say(
        format("note: {}: of a Poisson run its window is LoadGen's, from the first send to the end "
               "of the query that was sent last",
               point.definition->name));
  }
  return exit_code(ExitCode::done);
}

// Compares the run with the endpoint's truth log.
Result<int> report_truth(const ReportOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const Json errors, errors_against_truth(options.folder, options.truth));
  talk.print(options.json ? errors.dump(2) + "\n" : truth_text(errors));
  return exit_code(ExitCode::done);
}

bool is_table(std::string_view format) { return format == "parquet" || format == "arrow"; }

// Writes a table of the run, a row a query or an event of a stream.
Result<int> report_table(const ReportOptions& options, const Talk& talk) {
  if (options.out.empty()) {
    return invalid(format("--format {}: is not text; name its file by --out FILE", options.format));
  }
  ASSIGN_OR_RETURN(const interchange::LoadedColumns run, interchange::load_columns(options.folder));
  const auto& table = options.table == "fragments" ? run.fragments : run.events;
  TRY(write_file_atomic(options.out, options.format == "arrow"
                                         ? interchange::write_arrow(*table)
                                         : interchange::write_parquet(*table)));
  talk.say(format("wrote {}, {} rows", options.out, table->rows()));
  return exit_code(ExitCode::done);
}

// Writes the run in another tool's format.
Result<int> report_format(const ReportOptions& options, const Talk& talk) {
  if (is_table(options.format)) return report_table(options, talk);
  const auto format = interchange::export_format_from(options.format);
  if (!format) return invalid("--format: no format \"" + options.format + "\"");
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(options.folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  const auto exporter = interchange::make_exporter(*format, info);
  if (info.facts["imported"]["format"].as_string() == options.format) {
    if (const auto source = read_file(std::filesystem::path(options.folder) / kImportedFile)) {
      exporter->take_source(*source);
    }
  }
  audit::LoadOptions how{.replies = exporter.get()};
  ASSIGN_OR_RETURN(how.counts, wanted_counts(options, talk));
  ASSIGN_OR_RETURN(const LoadedRun run, load_run(options.folder, std::move(how)));
  const std::string text = exporter->finish(run.point);
  if (options.out.empty()) {
    talk.print(text);
  } else {
    TRY(write_file_atomic(options.out, text));
    talk.say("wrote " + options.out);
  }
  return exit_code(ExitCode::done);
}

// The provisioned power in kW: a number of watts, or a system_power.json.
Result<double> power_kw(const std::string& given) {
  if (const auto watts = parse_double(given)) {
    if (*watts > 0 && *watts < 1e12) return *watts / 1000;
    return invalid("--power: watts must be above 0");
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(given));
  auto json = Json::parse(text);
  if (!json) return json.error().within(given);
  // The description's name does not affect the sum.
  if (json->is_object() && (*json)["system_desc_id"].as_string().empty()) {
    json->set("system_desc_id", "system");
  }
  const rulebook::Power power = rulebook::compute_power(*json, Json());
  if (!power.good()) {
    const rulebook::PowerIssue& first = power.errors.front();
    return invalid(
        format("--power: {}{}: {}; {}", given, first.pointer, first.found, first.expected));
  }
  return power.provisioned_kw();
}

Result<int> report_curve(const ReportOptions& options, Gate& gate, SafetyGate& safety,
                         const Talk& talk) {
  for (const auto& [flag, value] : {std::pair{"--events-jsonl", &options.events_jsonl},
                                    {"--definitions", &options.definitions},
                                    {"--format", &options.format}}) {
    if (value->empty()) continue;
    return invalid(
        format("{}: applies to one run; name a point's: {}/points/…", flag, options.folder));
  }
  ASSIGN_OR_RETURN(const CurveView view, CurveView::open(options.folder));
  const CurveFolder& folder = view.curve();
  ASSIGN_OR_RETURN(metrics::Curve curve, load_curve(folder));
  report::CurveOptions how{.price_per_hour = options.price};
  if (!options.slo.empty()) {
    ASSIGN_OR_RETURN(how.limits, decide::parse_limits(options.slo));
    TRY(decide::check_curve_limits(how.limits));
  }
  if (!options.power.empty()) {
    ASSIGN_OR_RETURN(const double kw, power_kw(options.power));
    for (metrics::CurvePoint& point : curve.points) point.power_kw = kw;
  }
  if (!options.html.empty()) {
    TRY(write_file_atomic(options.html, report::curve_html(curve, how)));
    talk.say("wrote " + options.html);
  }
  Ending ending;
  Json result = decide::curve_json(curve, how);
  TRY(gate.judge_points(folder));
  TRY(gate.finish("assay report", ending, &result));
  if (safety.asked()) {
    TRY(safety.judge(options.folder));
    safety.finish(false, ending, &result);
  }
  if (options.json) {
    talk.print(result.dump(2) + "\n");
  } else if (options.markdown) {
    talk.print(report::curve_markdown(curve, how));
  } else if (options.html.empty()) {
    talk.print(report::curve_terminal(curve, how, report::terminal_style(1)));
  }
  if (!options.json) talk.print(gate.text() + safety.text());
  return ending.code();
}

Result<int> report_derating(const ReportOptions& options, const std::filesystem::path& file,
                            const Talk& talk) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  auto json = Json::parse(text);
  if (!json) return json.error().within(file.string());
  if (!options.html.empty()) {
    ASSIGN_OR_RETURN(const std::string page, report::derating_html(*json));
    TRY(write_file_atomic(options.html, page));
    talk.say("wrote " + options.html);
    return exit_code(ExitCode::done);
  }
  ASSIGN_OR_RETURN(const std::string said, options.markdown ? report::derating_markdown(*json)
                                                            : report::derating_text(*json));
  talk.print(options.json ? json->dump(2) + "\n" : said);
  return exit_code(ExitCode::done);
}

// A LoadGen test and a killed run leave recorded files without those that follow from them.
Result<void> publish_folder(const std::filesystem::path& folder, const Talk& talk) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / record::kManifestName, ignored)) {
    return invalid(format("--publish: '{}' has its derived files", folder.string()));
  }
  ASSIGN_OR_RETURN(const auto claim, record::FolderClaim::take(folder));
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  PublishOptions how;
  for (const Json& word : info.command.items()) how.command.emplace_back(word.as_string());
  TRY(publish(folder, how));
  talk.say("wrote the derived files of " + folder.string());
  return {};
}

// The run as it is read. The reference client's folder is left as it is.
Result<interchange::RunView> open_view(ReportOptions& options) {
  ASSIGN_OR_RETURN(interchange::RunView view, interchange::RunView::open(options.folder));
  if (view.is_reference() && !options.events_jsonl.empty()) {
    return invalid(format("--events-jsonl: '{}' has this file already", options.folder));
  }
  if (view.is_reference() && options.publish) {
    return invalid(
        format("--publish: '{}' is the reference client's, and is left as it is; assay "
               "convert makes a run of it",
               options.folder));
  }
  options.given = std::exchange(options.folder, view.folder());
  return view;
}

// What --why needs beside the run's own folds.
struct WhyFolds {
  observe::TailFold tail;
  observe::LoadFold load{};
  explicit WhyFolds(const RunInfo& info) : tail(info) {}
};

Result<observe::Tail> tail_of(WhyFolds& why, const std::filesystem::path& folder) {
  const std::filesystem::path file = log_folder(folder) / observe::kTelemetryName;
  std::vector<observe::Signal> signals;
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    ASSIGN_OR_RETURN(const observe::Telemetry telemetry, observe::read_telemetry(file));
    signals = observe::signals_of(telemetry);
  }
  return why.tail.finish(why.load.finish(), signals);
}

Result<int> report_run(const ReportOptions& options, Gate& gate, const Talk& talk) {
  audit::LoadOptions how;
  ASSIGN_OR_RETURN(how.counts, wanted_counts(options, talk));
  std::optional<WhyFolds> why;
  if (options.why) {
    ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(options.folder)));
    ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
    why.emplace(info);
    how.replies = &why->tail;
    how.also = &why->load;
  }
  ASSIGN_OR_RETURN(LoadedRun run, load_run(options.folder, std::move(how)));
  run.folder = options.given;
  const bool digests = options.markdown || !options.html.empty();
  const report::RunContext context = report_context(run, digests);
  if (!options.html.empty()) {
    TRY(write_file_atomic(options.html, report::html_report(run.point, context)));
    talk.say("wrote " + options.html);
  }
  if (!options.events_jsonl.empty()) {
    TRY(write_events(options));
    talk.say("wrote " + options.events_jsonl);
  }
  Ending ending;
  Json result = summary_json(run);
  std::string why_text;
  if (why) {
    ASSIGN_OR_RETURN(const observe::Tail tail, tail_of(*why, options.folder));
    result.set("tail", observe::to_json(tail));
    for (const auto& [name, text] : observe::tail_lines(tail)) {
      why_text += format("  {}: {}\n", name, text);
    }
  }
  gate.judge(options.given, run.point);
  TRY(gate.finish("assay report", ending, &result));
  if (options.json) {
    talk.print(result.dump(2) + "\n");
  } else if (options.markdown) {
    talk.print(report::markdown_report(run.point, context));
  } else if (options.html.empty() && options.events_jsonl.empty()) {
    talk.print(report::terminal_report(run.point, context, report::terminal_style(1)));
    talk.print(interchange::accuracy_text(run.accuracy));
  }
  if (!options.json) talk.print(why_text + gate.text());
  return ending.code();
}

}  // namespace

Result<int> show_report(ReportOptions options, Gate& gate, SafetyGate& safety, const Talk& talk) {
  if (options.json && options.markdown) {
    return invalid("--json, --markdown: standard output takes one of them");
  }
  const auto ladder = std::filesystem::path(options.folder) / report::kDeratingName;
  if (std::error_code ignored; std::filesystem::exists(ladder, ignored)) {
    return report_derating(options, ladder, talk);
  }
  const bool curve = CurveView::is_curve(options.folder);
  const bool other = !options.truth.empty() || curve;
  if (other && !options.tokenizer.empty()) {
    return invalid("--tokenizer: applies only to the report of one run");
  }
  const bool figures =
      options.truth.empty() && options.format.empty() && options.definitions.empty();
  if (gate.asked() && !figures) {
    return invalid(
        "--require: checks the report's own figures; leave out --truth, --format and "
        "--definitions");
  }
  ASSIGN_OR_RETURN(const interchange::RunView view, open_view(options));
  if (!options.truth.empty()) return report_truth(options, talk);
  if (!options.out.empty() && options.format.empty()) {
    return invalid("--out: is where --format writes; a page is written by --html FILE");
  }
  if (options.table != "events" && !is_table(options.format)) {
    return invalid("--table: works only with --format parquet or arrow");
  }
  if (options.price && !(*options.price > 0)) return invalid("--price: must be above 0");
  if (curve) {
    return report_curve(options, gate, safety, talk);
  }
  if (safety.asked()) {
    return invalid(
        format("--safety-min: applies to a curve with safety runs, and '{}' is none; for a "
               "safety run: assay check FOLDER --safety-min GRADE",
               options.given));
  }
  if (options.why && (!options.format.empty() || !options.definitions.empty())) {
    return invalid(
        "--why: explains the report's own figures; leave out --format and --definitions");
  }
  if (!options.power.empty() || !options.slo.empty()) {
    return invalid(
        format("--power, --slo: apply only to a curve, and '{}' is none", options.given));
  }
  if (!options.format.empty()) return report_format(options, talk);
  if (!options.definitions.empty()) return report_definitions(options, talk);
  if (options.publish) TRY(publish_folder(options.folder, talk));
  return report_run(options, gate, talk);
}

}  // namespace assay::campaign
