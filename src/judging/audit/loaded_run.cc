#include "audit/loaded_run.h"

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "domain/tee.h"
#include "loadgen/measured_fold.h"
#include "metrics/point_fold.h"
#include "record/client_audit_json.h"
#include "record/run_info_json.h"

namespace assay::audit {
namespace {

JudgeOptions judge_options(const metrics::Point& point) {
  const Json& pattern = point.run.facts["run_config"]["load_pattern"];
  return {.all_at_once = pattern["type"].as_string() == "max_throughput",
          .spinning = point.run.facts["spin"].as_bool()};
}

Result<std::optional<Certificate>> load_certificate(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return std::optional<Certificate>{};
  const auto json = Json::parse(*text);
  if (!json) return json.error().within(path.string());
  const auto certificate = certificate_from_json(*json);
  if (!certificate) return certificate.error().within(path.string());
  return std::optional(*certificate);
}

// Null if there is no such file, and if it is no JSON.
Json json_or_null(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return {};
  auto json = Json::parse(*text);
  return json ? *std::move(json) : Json();
}

Result<std::optional<observe::PrefixReuse>> load_reuse(const std::filesystem::path& folder) {
  const std::filesystem::path path = log_folder(folder) / observe::kPrefixReuseName;
  const auto text = read_file(path);
  if (!text) return std::optional<observe::PrefixReuse>{};
  const auto json = Json::parse(*text);
  if (!json) return json.error().within(path.string());
  auto reuse = observe::prefix_reuse_from(*json);
  if (!reuse) return reuse.error().within(path.string());
  return std::optional(*std::move(reuse));
}

// Reads the client's own record; null in the folder of a killed run.
Result<Json> client_json(const std::filesystem::path& folder) {
  const std::filesystem::path path = log_folder(folder) / "client.json";
  const auto text = read_file(path);
  if (!text) return Json();
  auto json = Json::parse(*text);
  if (!json) return json.error().within(path.string());
  return *std::move(json);
}

// A full disk may have had room for client.json, but not for the logs' ends.
void take_end(const Json& client, record::LogEnd& end) {
  end.lost_records = std::max(end.lost_records, client["lost_records"].as_uint());
  if (end.end.state != RunState::crashed) return;
  auto said = record::run_end_from(client["end"]);
  // A damaged log reports this itself, whatever its client had seen.
  if (said && (end.trouble.empty() || said->out_of_space)) end.end = *std::move(said);
}

// The folds over parts of a run that its facts name.
class PartFolds {
 public:
  Result<void> open(const RunInfo& info, const metrics::TokenCounts* counts) {
    ASSIGN_OR_RETURN(TrafficMix mix, mix_from_facts(info.facts));
    if (!mix.empty()) classes_.emplace(info, std::move(mix)).use_counts(counts);
    ASSIGN_OR_RETURN(RowAxes rows, axes_from_facts(info.facts));
    if (!rows.axes.empty()) axes_.emplace(info, std::move(rows)).use_counts(counts);
    ASSIGN_OR_RETURN(Trajectories traced, trajectories_from(info.facts));
    if (!traced.all.empty()) trajectories_.emplace(info, std::move(traced)).use_counts(counts);
    return {};
  }
  EventSink* classes() { return classes_ ? &*classes_ : nullptr; }
  EventSink* axes() { return axes_ ? &*axes_ : nullptr; }
  EventSink* trajectories() { return trajectories_ ? &*trajectories_ : nullptr; }
  void finish(LoadedRun& run) {
    if (classes_) run.classes = classes_->finish();
    if (axes_) run.axes = axes_->finish();
    if (trajectories_) run.trajectories = trajectories_->finish();
  }

 private:
  std::optional<metrics::ClassFold> classes_{};
  std::optional<metrics::AxisFold> axes_{};
  std::optional<metrics::TrajectoryFold> trajectories_{};
};

}  // namespace

std::filesystem::path log_folder(const std::filesystem::path& run_folder) {
  return run_folder / "assay";
}

std::filesystem::path token_counts_file(const std::filesystem::path& run_folder) {
  return log_folder(run_folder) / "token_counts.jsonl";
}

Json accuracy_results(const std::filesystem::path& run_folder) {
  return json_or_null(run_folder / "accuracy/accuracy_results.json");
}

std::filesystem::path judged_replies_file(const std::filesystem::path& run_folder) {
  return run_folder / "accuracy/judged_replies.json";
}

Json judged_replies(const std::filesystem::path& run_folder) {
  return json_or_null(judged_replies_file(run_folder));
}

Result<LoadedRun> load_run(const std::filesystem::path& folder, LoadOptions options) {
  LoadedRun run{.folder = folder};
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  metrics::FoldOptions how;
  std::error_code ignored;
  if (options.counts) {
    run.token_counts = *std::move(options.counts);
    how.counts = &run.token_counts;
  } else if (std::filesystem::exists(token_counts_file(folder), ignored)) {
    ASSIGN_OR_RETURN(run.token_counts, metrics::TokenCounts::read(token_counts_file(folder)));
    how.counts = &run.token_counts;
  }
  metrics::PointFold fold(info, how);
  if (options.replies != nullptr) options.replies->use_counts(how.counts);
  std::optional<loadgen::MeasuredFold> test;
  if (loadgen::has_performance_test(info)) test.emplace(info).use_counts(how.counts);
  PartFolds parts;
  TRY(parts.open(info, how.counts));
  const std::filesystem::path telemetry = log_folder(folder) / observe::kTelemetryName;
  const bool observed = std::filesystem::exists(telemetry, ignored);
  observe::LoadFold load;
  const std::filesystem::path chaos = log_folder(folder) / observe::kChaosName;
  std::optional<observe::ImpactFold> impact;
  if (std::filesystem::exists(chaos, ignored)) impact.emplace(info);
  Tee all({&fold, options.also, options.replies, test ? &*test : nullptr,
           observed ? &load : nullptr, parts.classes(), impact ? &*impact : nullptr,
           parts.trajectories(), parts.axes()});
  ASSIGN_OR_RETURN(run.replay, record::replay_run(log_folder(folder), all));
  if (options.replies != nullptr) options.replies->use_counts(nullptr);  // they move away
  Json client;
  if (options.client != nullptr) {
    client = *options.client;
  } else {
    ASSIGN_OR_RETURN(client, client_json(folder));
  }
  if (!client.is_null()) take_end(client, run.replay.end);
  run.point = fold.finish(run.replay.end.end, run.replay.end.lost_records);
  parts.finish(run);
  if (observed) {
    ASSIGN_OR_RETURN(const observe::Telemetry said, observe::read_telemetry(telemetry));
    run.observed = observe::observe_run(said, load.finish(), run.point);
  }
  if (impact) {
    ASSIGN_OR_RETURN(const observe::ChaosLog acts, observe::read_chaos_log(chaos));
    run.impact = impact->finish(acts);
  }
  ASSIGN_OR_RETURN(run.reuse, load_reuse(folder));
  if (test) {
    ASSIGN_OR_RETURN(run.test, loadgen::judge(info, *test, run.replay.end.end));
  }
  if (const auto text = read_file(folder / "config.yaml")) run.config_yaml = *text;
  run.accuracy = accuracy_results(folder);
  if (!client.is_null()) {
    run.audit = record::client_audit_from_json(client);
    run.innocence = judge_client(*run.audit, run.point, judge_options(run.point));
  }
  if (!run.replay.ranks.empty()) {
    ASSIGN_OR_RETURN(run.ranks, read_ranks(log_folder(folder), run.replay, run.point, client,
                                           judge_options(run.point)));
    run.innocence = judge_ranks(*run.ranks);
  }
  ASSIGN_OR_RETURN(run.certificate, load_certificate(log_folder(folder) / "certificate.json"));
  return run;
}

std::string log_note(const LoadedRun& run) {
  const record::LogEnd& end = run.replay.end;
  if (end.whole()) return {};
  const auto count = [](std::uint64_t n) { return with_thousands(static_cast<std::int64_t>(n)); };
  std::string note;
  if (end.end.state == RunState::crashed) {
    note = "the run was cut off";
    if (end.last.known() && run.point.began.known()) {
      note += format(" {} after its first event", human_duration(end.last - run.point.began));
    }
    note += format(
        " (killed, or its machine stopped): its event log ends with record {} at byte {} of {}",
        count(end.records), count(end.bytes_read), count(end.bytes));
    if (run.point.counts.unfinished > 0) {
      note += format("; {} queries were in flight", count(run.point.counts.unfinished));
    }
  }
  if (!end.trouble.empty()) note += (note.empty() ? "" : "; ") + end.trouble;
  if (end.lost_records > 0 && !end.end.out_of_space) {
    note += format("{}{} records were lost to a slow disk", note.empty() ? "" : "; ",
                   count(end.lost_records));
  }
  return note;
}

Json environment_json(const LoadedRun& run) {
  Json out = Json::object();
  out.set("assay", run.point.run.version);
  const Json& machine = run.point.run.facts["machine"];
  for (const auto& [key, value] : machine.members()) out.set(key, value);
  return out;
}

}  // namespace assay::audit
