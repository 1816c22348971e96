#include <utility>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/calibrate/report_truth.h"
#include "campaign/curve/curve_load.h"
#include "campaign/curve/curve_view.h"
#include "campaign/run_folder.h"
#include "campaign/token_counting.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/gate.h"
#include "cli/safety_gate.h"
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

namespace assay::cli {
namespace {

struct ReportOptions {
  std::string folder{};
  std::string given{};  // as the user named it
  std::string html{};
  std::string events_jsonl{};
  std::string definitions{};
  std::string format{};
  std::string table = "events";
  std::string out{};
  std::string truth{};
  std::string tokenizer{};
  bool json = false;
  bool why = false;
  bool publish = false;
  bool markdown = false;
  std::optional<double> price{};
  std::string power{};
  std::string slo{};
};

Result<void> write_events(const ReportOptions& options) {
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(campaign::log_folder(options.folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  ASSIGN_OR_RETURN(auto file, interchange::EventsJsonl::create(options.events_jsonl, info));
  ASSIGN_OR_RETURN(const auto replay,
                   record::replay_run(campaign::log_folder(options.folder), file));
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
Result<std::optional<metrics::TokenCounts>> wanted_counts(const ReportOptions& options) {
  if (options.tokenizer.empty()) return std::optional<metrics::TokenCounts>();
  ASSIGN_OR_RETURN(metrics::TokenCounts counts,
                   campaign::recount_tokens(options.folder, options.tokenizer));
  if (counts.source["input"].is_string()) {
    say(format("note: {}", counts.source["input"].as_string()));
  }
  return std::optional(std::move(counts));
}

// Reports the run by other tools' definitions, instead of the report.
Result<int> report_definitions(const ReportOptions& options) {
  ASSIGN_OR_RETURN(auto wanted, wanted_definitions(options.definitions));
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(campaign::log_folder(options.folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  metrics::DefinitionFold fold(info, std::move(wanted));
  audit::LoadOptions how{.replies = &fold};
  ASSIGN_OR_RETURN(how.counts, wanted_counts(options));
  TRY(campaign::load_run(options.folder, std::move(how)));
  const auto points = fold.finish();
  print(options.json ? metrics::definitions_json(points).dump(2) + "\n"
                     : report::definitions_report(points, report::terminal_style(1)));
  for (const metrics::DefinedPoint& point : points) {
    if (!point.loadgen_window) continue;
    say(
        format("note: {}: of a Poisson run its window is LoadGen's, from the first send to the end "
               "of the query that was sent last",
               point.definition->name));
  }
  return exit_code(ExitCode::done);
}

// Compares the run with the endpoint's truth log.
Result<int> report_truth(const ReportOptions& options) {
  ASSIGN_OR_RETURN(const Json errors,
                   campaign::errors_against_truth(options.folder, options.truth));
  print(options.json ? errors.dump(2) + "\n" : campaign::truth_text(errors));
  return exit_code(ExitCode::done);
}

bool is_table(std::string_view format) { return format == "parquet" || format == "arrow"; }

// Writes a table of the run, a row a query or an event of a stream.
Result<int> report_table(const ReportOptions& options) {
  if (options.out.empty()) {
    return invalid(format("--format {}: is no text; name its file by --out FILE", options.format));
  }
  ASSIGN_OR_RETURN(const interchange::LoadedColumns run, interchange::load_columns(options.folder));
  const auto& table = options.table == "fragments" ? run.fragments : run.events;
  TRY(write_file_atomic(options.out, options.format == "arrow"
                                         ? interchange::write_arrow(*table)
                                         : interchange::write_parquet(*table)));
  say(format("wrote {}, {} rows", options.out, table->rows()));
  return exit_code(ExitCode::done);
}

// Writes the run in another tool's format.
Result<int> report_format(const ReportOptions& options) {
  if (is_table(options.format)) return report_table(options);
  const auto format = interchange::export_format_from(options.format);
  if (!format) return invalid("--format: no format \"" + options.format + "\"");
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(campaign::log_folder(options.folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  const auto exporter = interchange::make_exporter(*format, info);
  if (info.facts["imported"]["format"].as_string() == options.format) {
    if (const auto source =
            read_file(std::filesystem::path(options.folder) / campaign::kImportedFile)) {
      exporter->take_source(*source);
    }
  }
  audit::LoadOptions how{.replies = exporter.get()};
  ASSIGN_OR_RETURN(how.counts, wanted_counts(options));
  ASSIGN_OR_RETURN(const campaign::LoadedRun run,
                   campaign::load_run(options.folder, std::move(how)));
  const std::string text = exporter->finish(run.point);
  if (options.out.empty()) {
    print(text);
  } else {
    TRY(write_file_atomic(options.out, text));
    say("wrote " + options.out);
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

Result<int> report_curve(const ReportOptions& options, Gate& gate, SafetyGate& safety) {
  for (const auto& [flag, value] : {std::pair{"--events-jsonl", &options.events_jsonl},
                                    {"--definitions", &options.definitions},
                                    {"--format", &options.format}}) {
    if (value->empty()) continue;
    return invalid(format("{}: is of one run; name a point's: {}/points/…", flag, options.folder));
  }
  ASSIGN_OR_RETURN(const campaign::CurveView view, campaign::CurveView::open(options.folder));
  const campaign::CurveFolder& folder = view.curve();
  ASSIGN_OR_RETURN(metrics::Curve curve, campaign::load_curve(folder));
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
    say("wrote " + options.html);
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
    print(result.dump(2) + "\n");
  } else if (options.markdown) {
    print(report::curve_markdown(curve, how));
  } else if (options.html.empty()) {
    print(report::curve_terminal(curve, how, report::terminal_style(1)));
  }
  if (!options.json) print(gate.text() + safety.text());
  return ending.code();
}

Result<int> report_derating(const ReportOptions& options, const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  auto json = Json::parse(text);
  if (!json) return json.error().within(file.string());
  if (!options.html.empty()) {
    ASSIGN_OR_RETURN(const std::string page, report::derating_html(*json));
    TRY(write_file_atomic(options.html, page));
    say("wrote " + options.html);
    return exit_code(ExitCode::done);
  }
  ASSIGN_OR_RETURN(const std::string said, options.markdown ? report::derating_markdown(*json)
                                                            : report::derating_text(*json));
  print(options.json ? json->dump(2) + "\n" : said);
  return exit_code(ExitCode::done);
}

void add_flags(Flags& flags, ReportOptions& options) {
  flags.add("RUN", &options.folder, "the folder of a run, of a curve or of --derate").required();
  flags.add("--json", &options.json, "the figures of result_summary.json");
  flags.add("--why", &options.why,
            "why the slowest queries were slow, as far as the recording shows it");
  flags.add("--publish", &options.publish,
            "write the derived files of a folder that has its events alone, for `assay verify`");
  flags.add("--markdown", &options.markdown, "as markdown");
  flags.add("--html", &options.html, "write the page to FILE").value("FILE");
  flags.add("--events-jsonl", &options.events_jsonl, "write the reference client's event file")
      .value("FILE");
  flags
      .add("--definitions", &options.definitions,
           "the figures as other tools define them: vllm, sglang, aiperf, guidellm, "
           "inference-perf, genai-perf, otel, endpoints, assay or all")
      .value("LIST");
  flags.add("--format", &options.format, "as another tool's file, or as a table")
      .value("FORMAT")
      .choices({"vllm", "aiperf", "otlp", "prometheus", "hdr", "csv", "parquet", "arrow"});
  flags
      .add("--table", &options.table,
           "of parquet and arrow: a row a query, or an event of a stream")
      .value("TABLE")
      .choices({"events", "fragments"});
  flags.add("--out", &options.out, "where --format writes; standard output without it")
      .value("FILE");
  flags
      .add("--truth", &options.truth,
           "how far the recorded instants are from those in the endpoint's --truth-log")
      .value("FILE");
  flags
      .add("--tokenizer", &options.tokenizer,
           "count the recorded replies by this tokenizer; the folder is left as it is")
      .value("DIR");
  flags.add("--price", &options.price, "of an hour of the whole system, for $ a million tokens")
      .value("DOLLARS");
  flags
      .add("--power", &options.power,
           "of a curve: the system's provisioned watts, or its system_power.json, for J a token")
      .value("WATTS|FILE");
  flags
      .add("--slo", &options.slo,
           "of a curve: limits (ttft_p90<=2s,tpot_p90<=50ms), for how many users they are kept")
      .value("LIMITS");
}

}  // namespace

namespace {

// A LoadGen test and a killed run leave recorded files without those that follow from them.
Result<void> publish_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / record::kManifestName, ignored)) {
    return invalid(format("--publish: '{}' has its derived files", folder.string()));
  }
  ASSIGN_OR_RETURN(const auto claim, record::FolderClaim::take(folder));
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(campaign::log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  campaign::PublishOptions how;
  for (const Json& word : info.command.items()) how.command.emplace_back(word.as_string());
  TRY(campaign::publish(folder, how));
  say("wrote the derived files of " + folder.string());
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
  const std::filesystem::path file = campaign::log_folder(folder) / observe::kTelemetryName;
  std::vector<observe::Signal> signals;
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    ASSIGN_OR_RETURN(const observe::Telemetry telemetry, observe::read_telemetry(file));
    signals = observe::signals_of(telemetry);
  }
  return why.tail.finish(why.load.finish(), signals);
}

Result<int> report_run(const ReportOptions& options, Gate& gate) {
  audit::LoadOptions how;
  ASSIGN_OR_RETURN(how.counts, wanted_counts(options));
  std::optional<WhyFolds> why;
  if (options.why) {
    ASSIGN_OR_RETURN(const auto logs,
                     record::find_event_logs(campaign::log_folder(options.folder)));
    ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
    why.emplace(info);
    how.replies = &why->tail;
    how.also = &why->load;
  }
  ASSIGN_OR_RETURN(campaign::LoadedRun run, campaign::load_run(options.folder, std::move(how)));
  run.folder = options.given;
  const bool digests = options.markdown || !options.html.empty();
  const report::RunContext context = campaign::report_context(run, digests);
  if (!options.html.empty()) {
    TRY(write_file_atomic(options.html, report::html_report(run.point, context)));
    say("wrote " + options.html);
  }
  if (!options.events_jsonl.empty()) {
    TRY(write_events(options));
    say("wrote " + options.events_jsonl);
  }
  Ending ending;
  Json result = campaign::summary_json(run);
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
    print(result.dump(2) + "\n");
  } else if (options.markdown) {
    print(report::markdown_report(run.point, context));
  } else if (options.html.empty() && options.events_jsonl.empty()) {
    print(report::terminal_report(run.point, context, report::terminal_style(1)));
    print(interchange::accuracy_text(run.accuracy));
  }
  if (!options.json) print(why_text + gate.text());
  return ending.code();
}

}  // namespace

Result<int> cmd_report(Args args) {
  ReportOptions options;
  Flags flags(
      "report",
      "a run again, from its event log, or a curve; also one that was interrupted or killed");
  add_flags(flags, options);
  Gate gate(flags);
  SafetyGate safety(flags);
  flags.example("assay report runs/20261120_144822 --html report.html");
  flags.example("assay report runs/20261120_144822 --definitions all");
  flags.example("assay report runs/20261120_144822 --tokenizer models/m");
  flags.example("assay report curves/m --price 98.32 --power 13050 --slo 'ttft_p90<=2s'");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  TRY(gate.understand());
  TRY(safety.understand());
  if (options.json && options.markdown) {
    return invalid("--json, --markdown: standard output takes one of them");
  }
  const auto ladder = std::filesystem::path(options.folder) / report::kDeratingName;
  if (std::error_code ignored; std::filesystem::exists(ladder, ignored)) {
    return report_derating(options, ladder);
  }
  const bool curve = campaign::CurveView::is_curve(options.folder);
  const bool other = !options.truth.empty() || curve;
  if (other && !options.tokenizer.empty()) {
    return invalid("--tokenizer: is about the report of one run");
  }
  const bool figures =
      options.truth.empty() && options.format.empty() && options.definitions.empty();
  if (gate.asked() && !figures) {
    return invalid(
        "--require: is of the report's own figures; leave out --truth, --format and --definitions");
  }
  ASSIGN_OR_RETURN(const interchange::RunView view, open_view(options));
  if (!options.truth.empty()) return report_truth(options);
  if (!options.out.empty() && options.format.empty()) {
    return invalid("--out: is where --format writes; a page is written by --html FILE");
  }
  if (options.table != "events" && !is_table(options.format)) {
    return invalid("--table: is of --format parquet or arrow");
  }
  if (options.price && !(*options.price > 0)) return invalid("--price: must be above 0");
  if (curve) {
    return report_curve(options, gate, safety);
  }
  if (safety.asked()) {
    return invalid(
        format("--safety-min: of a curve with safety runs, and '{}' is none; a safety "
               "run's own: assay check FOLDER --safety-min GRADE",
               options.given));
  }
  if (options.why && (!options.format.empty() || !options.definitions.empty())) {
    return invalid("--why: is of the report's own figures");
  }
  if (!options.power.empty() || !options.slo.empty()) {
    return invalid(format("--power, --slo: of a curve, and '{}' is none", options.given));
  }
  if (!options.format.empty()) return report_format(options);
  if (!options.definitions.empty()) return report_definitions(options);
  if (options.publish) TRY(publish_folder(options.folder));
  return report_run(options, gate);
}

}  // namespace assay::cli
