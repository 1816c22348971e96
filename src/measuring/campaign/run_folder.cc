#include "campaign/run_folder.h"

#include <algorithm>

#include "base/display.h"
#include "base/files.h"
#include "base/format.h"
#include "campaign/loadgen_logs.h"
#include "domain/tee.h"
#include "interchange/report_text.h"
#include "interchange/sample_index.h"
#include "metrics/class_fold.h"
#include "metrics/result_json.h"
#include "observe/observed.h"
#include "record/file_list.h"
#include "record/manifest.h"
#include "report/html.h"

namespace assay::campaign {
namespace {

std::string about_file(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kAbout[] = {
      {"config.yaml", "what was asked, resolved, without secrets"},
      {"report.html", "this report as a page"},
      {"report.txt", "the figures in the reference client's layout"},
      {"performance/result_summary.json", "every figure, for programs"},
      {"performance/mlperf_log_summary.txt", "the test in LoadGen's layout; no MLPerf result"},
      {"performance/mlperf_log_detail.txt", "its settings and figures, as LoadGen logs them"},
      {"performance/mlperf_log_accuracy.json", "the answers that its settings log"},
      {"accuracy/mlperf_log_accuracy.json", "every answer of the accuracy phases, as LoadGen logs"},
      {"accuracy/accuracy.txt", "the scores in the words of the suite's scripts"},
      {"metrics/final_snapshot.json", "counters and series, for programs"},
      {"accuracy/accuracy_results.json", "the scores and their intervals"},
      {"accuracy/sample_scores.jsonl", "what each sample added to each score"},
      {"accuracy/judged_replies.json", "judged replies, as the page shows them"},
      {"sample_idx_map.json", "which row of the dataset each query used"},
      {"events.jsonl", "every event, in the reference client's form"},
      {"assay/clocks.json", "the ranks' clocks against rank 0's"},
      {"assay/client.json", "what the client measured about itself"},
      {"power.json", "energy of the measured phase, in the reference client's form"},
      {"assay/telemetry.jsonl", "what was read beside the load"},
      {"assay/chaos.jsonl", "what was done to the server, and when"},
      {"assay/prefix_reuse.json", "what reuse of prompts was offered and delivered"},
      {"assay/run.json", "the manifest: every file's digest"}};
  for (const auto& [known, about] : kAbout) {
    if (name == known) return std::string(about);
  }
  return name.ends_with(".alog") ? "every event, as it happened" : "";
}

// The files that a person looks for; with `digests` every file, read and hashed.
std::vector<report::ReportFile> list_files(const std::filesystem::path& folder, bool digests) {
  std::vector<report::ReportFile> files;
  if (digests) {
    const auto listed = record::files_below(folder);
    if (!listed) return files;
    for (const record::ListedFile& file : *listed) {
      // The list is part of report.html, and the manifest is written after it.
      if (file.name == "report.html" || file.name == record::kManifestName) continue;
      files.push_back({.path = (folder / file.name).string(),
                       .about = about_file(file.name),
                       .bytes = file.bytes,
                       .sha256 = file.sha256});
    }
    return files;
  }
  for (const char* name :
       {"config.yaml", "report.html", "performance/result_summary.json", "assay/events-0.alog"}) {
    std::error_code error;
    const std::uint64_t bytes = std::filesystem::file_size(folder / name, error);
    if (error) continue;
    files.push_back({.path = (folder / name).string(), .about = about_file(name), .bytes = bytes});
  }
  return files;
}

// report.txt, with the judgement on a suite's test at its head.
std::string text_report(const LoadedRun& run) {
  std::string out;
  if (run.test) {
    for (const auto& [name, text] : run.test->lines()) {
      out += format("{}: {}\n", name, printable(text));
    }
    out += "\n";
  }
  return out + interchange::report_text(run.point, run.accuracy);
}

// The run's load against this client's certificate; "" if there is none.
std::string calibration_text(const LoadedRun& run) {
  if (!run.certificate) return {};
  const auto citation = audit::cite(*run.certificate, run.point);
  return citation ? audit::citation_text(*run.certificate, *citation) : std::string();
}

Json calibration_json(const audit::Certificate& certificate, const audit::Citation& citation) {
  const auto ns = [](const std::optional<Duration>& d) { return d ? Json(d->ns) : Json(nullptr); };
  return Json()
      .set("made", rfc3339(certificate.made))
      .set("streams", certificate.streams)
      .set("ceiling_events_per_second", certificate.events_per_second)
      .set("ceiling_queries_per_second", certificate.qps)
      .set("used", citation.used)
      .set("ttft_error_p99_ns", ns(citation.ttft_error_p99))
      .set("itl_error_p99_ns", ns(citation.itl_error_p99));
}

}  // namespace

namespace {

std::string hosts_text(const LoadedRun& run) {
  if (run.ranks) return audit::ranks_text(*run.ranks);
  const Json& rank = run.point.run.facts["rank"];
  if (rank.is_null()) return {};
  return format("rank {} of {}: the share of one process; assay merge makes the whole run",
                rank["index"].as_uint(), rank["of"].as_uint());
}

}  // namespace

std::vector<report::Fact> observed_facts(const LoadedRun& run) {
  std::vector<report::Fact> observed;
  if (run.classes) {
    for (const auto& [name, text] : metrics::class_lines(*run.classes)) {
      observed.push_back({name, printable(text)});
    }
  }
  for (const auto& [name, text] : metrics::axis_lines(run.axes)) {
    observed.push_back({name, printable(text)});
  }
  if (run.trajectories) {
    for (const auto& [name, text] : metrics::trajectory_lines(*run.trajectories)) {
      observed.push_back({name, printable(text)});
    }
  }
  if (run.observed) {
    for (const auto& [name, text] : observe::observed_lines(*run.observed)) {
      observed.push_back({name, printable(text)});
    }
  }
  if (run.impact) {
    for (const auto& [name, text] : observe::impact_lines(*run.impact)) {
      observed.push_back({printable(name), printable(text)});
    }
  }
  if (run.reuse) {
    const observe::Observed* beside = run.observed ? &*run.observed : nullptr;
    for (const auto& [name, text] : observe::reuse_lines(*run.reuse, beside)) {
      observed.push_back({name, printable(text)});
    }
  }
  return observed;
}

report::RunContext report_context(const LoadedRun& run, bool digests) {
  std::vector<report::Fact> test;
  if (run.test) {
    for (const auto& [name, text] : run.test->lines()) test.push_back({name, text});
  }
  return {.folder = run.folder.string(),
          .files = list_files(run.folder, digests),
          .config_yaml = run.config_yaml,
          .environment = audit::environment_json(run),
          .accuracy = run.accuracy,
          .judged = digests ? audit::judged_replies(run.folder) : Json(),
          .log_note = audit::log_note(run),
          .audit = run.audit,
          .innocence = run.innocence,
          .calibration = calibration_text(run),
          .test = std::move(test),
          .observed = observed_facts(run),
          .ranks = hosts_text(run)};
}

Json summary_json(const LoadedRun& run) {
  Json summary = metrics::result_summary(run.point);
  const Json& preflight = run.point.run.facts["preflight"];
  if (!preflight.is_null()) summary.set("preflight", preflight);
  if (run.innocence) summary.set("client", audit::innocence_json(*run.innocence));
  if (run.ranks) summary.set("ranks", audit::to_json(*run.ranks));
  if (run.test) summary.set("loadgen", run.test->to_json());
  if (run.classes) summary.set("classes", metrics::to_json(*run.classes));
  if (!run.axes.empty()) summary.set("axes", metrics::to_json(run.axes));
  if (run.impact) summary.set("chaos", observe::to_json(*run.impact));
  if (run.trajectories) summary.set("trajectories", metrics::to_json(*run.trajectories));
  if (run.reuse) summary.set("prefix_reuse", observe::to_json(*run.reuse));
  if (run.observed) summary.set("observed", observe::to_json(*run.observed));
  if (run.certificate) {
    if (const auto citation = audit::cite(*run.certificate, run.point)) {
      summary.set("calibration", calibration_json(*run.certificate, *citation));
    }
  }
  return summary;
}

Result<LoadedRun> publish(const std::filesystem::path& folder, const PublishOptions& options) {
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  interchange::SampleIndex index(info);
  std::optional<interchange::EventsJsonl> jsonl;
  if (options.events_jsonl) {
    ASSIGN_OR_RETURN(
        auto file, interchange::EventsJsonl::create(folder / "events.jsonl", info, options.asked));
    jsonl.emplace(std::move(file));
  }
  ASSIGN_OR_RETURN(const auto loadgen_logs, LoadgenLogs::open(folder, info));
  Tee also({&index, jsonl ? &*jsonl : nullptr, loadgen_logs.get()});
  ASSIGN_OR_RETURN(LoadedRun run, load_run(folder, {.also = &also}));
  if (jsonl) TRY(jsonl->close(run.replay.end.end));
  TRY(index.write(folder / "sample_idx_map.json"));
  TRY(write_file_atomic(folder / "performance/result_summary.json",
                        summary_json(run).dump(2) + "\n"));
  if (loadgen_logs) TRY(loadgen_logs->finish(run));
  if (run.observed) {
    const Json power = observe::power_json(*run.observed, run.point);
    if (!power.is_null()) TRY(write_file_atomic(folder / "power.json", power.dump(2) + "\n"));
  }
  TRY(write_file_atomic(folder / "metrics/final_snapshot.json",
                        metrics::final_snapshot(run.point).dump(2) + "\n"));
  TRY(write_file_atomic(folder / "report.txt", text_report(run)));
  report::RunContext context = report_context(run, true);
  if (!options.shown_as.empty()) context.folder = options.shown_as.string();
  TRY(write_file_atomic(folder / "report.html", report::html_report(run.point, context)));
  TRY(record::write_manifest(folder, run.replay, record::redact_command(options.command)));
  return run;
}

Result<void> publish_again(const std::filesystem::path& folder) {
  std::vector<std::string> command;
  if (const auto text = read_file(folder / record::kManifestName)) {
    if (const auto manifest = Json::parse(*text)) {
      for (const Json& word : (*manifest)["command"].items())
        command.emplace_back(word.as_string());
    }
  }
  ASSIGN_OR_RETURN(const LoadedRun run, load_run(folder));
  TRY(write_file_atomic(folder / "report.txt", text_report(run)));
  TRY(write_file_atomic(folder / "report.html",
                        report::html_report(run.point, report_context(run, true))));
  return record::write_manifest(folder, run.replay, command);
}

}  // namespace assay::campaign
