#include "campaign/recorded_run.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json_list.h"
#include "base/machine.h"
#include "base/version.h"
#include "campaign/accuracy.h"
#include "campaign/calibrate/calibration.h"
#include "campaign/chaos/chaos_runner.h"
#include "campaign/prefix_reuse.h"
#include "campaign/profiler.h"
#include "campaign/telemetry.h"
#include "campaign/token_counting.h"
#include "dataset/croissant_fact.h"
#include "domain/row_axes.h"
#include "domain/tee.h"
#include "domain/traffic_class.h"
#include "domain/trajectories.h"
#include "metrics/failed_share.h"
#include "plan/saved_config.h"
#include "plan/unasked_fields.h"
#include "protocol/artefacts.h"
#include "record/client_audit_json.h"
#include "record/folder_claim.h"
#include "record/manifest.h"
#include "record/run_info_json.h"
#include "report/content.h"

namespace assay::campaign {
namespace {

// The number of streams to find a certificate for, in an open loop.
constexpr std::int64_t kStreamsUnknown = 100;

Json machine_json() {
  const Machine machine = this_machine();
  return Json()
      .set("host", machine.host)
      .set("system", machine.system)
      .set("kernel", machine.kernel)
      .set("cpu", machine.cpu)
      .set("cores", machine.cores)
      .set("memory_bytes", machine.memory_bytes)
      .set("virtualisation", machine.virtualisation);
}

// The config's facts for result files, under the reference client's names.
Json facts_of(const plan::Config& config, const plan::PlanBundle& bundle,
              const ClientOptions& client) {
  const Json saved = plan::config_to_json(config);
  const Json& settings = saved["settings"];
  Json pattern = settings["load_pattern"];
  for (const char* key : {"target_qps", "target_concurrency"}) {
    if (pattern.find(key) == nullptr) pattern.set(key, nullptr);
  }
  // As the reference client has it: with what was not given, and in its order.
  Json warmup;
  warmup.set("enabled", settings["warmup"]["enabled"])
      .set("n_requests", settings["warmup"]["n_requests"]);
  for (const auto& [key, value] : settings["warmup"].members()) warmup.set(key, value);
  Json run_config;
  run_config.set("load_pattern", std::move(pattern)).set("warmup", std::move(warmup));
  for (const char* key : {"scheduler_random_seed", "dataloader_random_seed"}) {
    run_config.set(key, settings["runtime"][key]);
  }
  Json facts = Json::object();
  facts.set("model", config.model_params.name)
      .set("endpoints", json_list(bundle.endpoints.urls, plan::redact_url))
      .set("api", name_of(bundle.endpoints.spoken()))
      .set("insecure", bundle.endpoints.insecure)
      .set("streaming", bundle.datasets.empty() || bundle.datasets[0].generation.stream)
      .set("spin", client.spin)
      .set("threads", client.threads)
      .set("run_config", std::move(run_config))
      .set("machine", machine_json());
  if (!config.workload.is_null()) facts.set("workload", config.workload);
  if (bundle.endpoints.described != nullptr) {
    const DescribedKind& kind = *bundle.endpoints.described;
    facts.set("api_unit", kind.unit).set("api_sha256", sha256_hex(kind.source.dump()));
  }
  return facts;
}

// The input of the steady-state detector: fixed concurrency over a known dataset, and the minimum
// time that the rules require.
Json steady_facts(const plan::PlanBundle& bundle) {
  constexpr std::uint32_t kUltraLow = 32;
  // Blocks drain one by one, so they have no steady part.
  const auto measured =
      std::ranges::count(bundle.plan.phases, PhaseKind::performance, &PhasePlan::kind);
  if (measured != 1) return {};
  for (const PhasePlan& phase : bundle.plan.phases) {
    if (phase.kind != PhaseKind::performance || phase.open_loop || phase.limits.size() != 1)
      continue;
    if (phase.replay) return {};  // its turns differ in kind
    const std::uint32_t level = phase.limits[0].in_flight_max;
    if (level == std::numeric_limits<std::uint32_t>::max()) continue;
    return Json()
        .set("super_pass", bundle.datasets[phase.dataset].dataset.rows())
        .set("window_min_s", level <= kUltraLow ? 600 : 1200);
  }
  return Json();
}

// By what the detector judges: replies without tokens, or not streamed, have no TPOT.
void add_gate(const plan::Config& config, const plan::PlanBundle& bundle, Json& facts) {
  Json steady = facts["steady_state"];
  if (!steady.is_object()) return;
  for (const PhasePlan& phase : bundle.plan.phases) {
    if (phase.kind != PhaseKind::performance || phase.limits.empty()) continue;
    const bool streamed = bundle.datasets[phase.dataset].generation.stream;
    if (streamed && plan::unit_of(config.endpoint_config).empty()) return;
    steady.set("gate", "latency").set("slots", phase.limits[0].in_flight_max);
  }
  facts.set("steady_state", std::move(steady));
}

// Whether the repeats of a replay share no prefix.
bool salts_repeats(const plan::Config& config) {
  return std::ranges::any_of(config.datasets, [](const plan::DatasetConfig& data) {
    return data.agentic_inference && data.agentic_inference->enable_salt;
  });
}

}  // namespace

RunInfo run_info(const plan::Config& config, const plan::PlanBundle& bundle,
                 const ClientOptions& client, const RunRequest& request) {
  RunInfo info{.version = std::string(version()), .plan_digest = plan_digest(bundle)};
  info.uncertainty = true;  // HttpTarget records it
  info.git_sha = std::string(source_revision());
  info.started = wall_now();
  info.offset = sample_clock_offset();
  info.run_id =
      sha256_hex(format("{} {} {}", info.plan_digest, info.started.ns, ::getpid())).substr(0, 32);
  info.run_key = xxh3(info.run_id);
  for (const PhasePlan& phase : bundle.plan.phases) {
    info.phases.push_back({phase.kind, phase.name, phase.open_loop});
  }
  info.facts = facts_of(config, bundle, client);
  const Json steady = steady_facts(bundle);
  // A suite's test has rules of its own for how long it lasts.
  if (!steady.is_null() && request.in_turn.group == 0) info.facts.set("steady_state", steady);
  if (Json data = dataset::croissant_facts(bundle.datasets); data.size() > 0) {
    info.facts.set(dataset::kCroissantFact, std::move(data));
  }
  for (const PhasePlan& phase : bundle.plan.phases) {
    const TrafficMix& mix = bundle.datasets[phase.dataset].dataset.mix;
    if (phase.kind == PhaseKind::performance && !mix.empty()) {
      info.facts.set(kClassesFact, to_json(mix));
    }
    if (phase.kind == PhaseKind::performance && !bundle.confidential) {
      const RowAxes axes = axes_of(bundle.datasets[phase.dataset].dataset);
      if (!axes.axes.empty()) info.facts.set(kAxesFact, to_json(axes));
    }
    if (!phase.replay) continue;
    // Conversations that no dataset has (the client profile's series) are no trajectories.
    if (!bundle.datasets[phase.dataset].dataset.conversations.empty()) {
      info.facts.set(kTrajectoriesFact,
                     to_json(trajectories_of(phase, bundle.datasets[phase.dataset].dataset,
                                             salts_repeats(config))));
    }
    info.facts.set("rows_of_pass", bundle.datasets[phase.dataset].dataset.rows_of_pass);
  }
  for (const auto& [key, value] : request.facts.members()) info.facts.set(key, value);
  add_gate(config, bundle, info.facts);
  info.command = Json::array();
  for (const std::string& word : record::redact_command(request.command)) {
    info.command.push_back(word);
  }
  return info;
}

namespace {

// A request's field other than messages: the row's value before the run's.
Json of_request(const Sample& sample, const Generation& generation, std::string_view key) {
  if (!sample.overrides[key].is_null()) return sample.overrides[key];
  const Json of_run = key == "chat_template_kwargs" ? generation.chat_template_kwargs : Json();
  return of_run.size() > 0 ? of_run : sample.body[key];
}

interchange::EventsJsonl::Prompt prompt_of(const Sample& sample, const Generation& generation) {
  if (!sample.input_tokens.empty()) {
    return {.token_ids = json_list(sample.input_tokens)};
  }
  if (sample.messages.size() == 0) {
    return {.text = sample.content_parts.is_null() ? Json(sample.prompt) : Json()};
  }
  return {.messages = sample.messages.json(),
          .tools = sample.tools,
          .chat_template_kwargs = of_request(sample, generation, "chat_template_kwargs"),
          .chat_template = of_request(sample, generation, "chat_template"),
          .tool_choice = sample.tool_choice};
}

// The queries' prompts, for the reference client's event file.
interchange::EventsJsonl::Asked asked_of(const plan::PlanBundle& bundle) {
  const auto dataset_of = [&bundle](const Query& query) -> const PlannedDataset& {
    return bundle.datasets[bundle.plan.phases[query.phase].dataset];
  };
  return {.place = [dataset_of](const Query& query) -> interchange::EventsJsonl::Place {
            const Dataset& dataset = dataset_of(query).dataset;
            if (dataset.make_row) return {};  // not part of a conversation
            const Sample& sample = dataset.samples[query.sample];
            return {sample.session, sample.turn};
          },
          .prompt =
              [dataset_of](const Query& query) {
                const PlannedDataset& planned = dataset_of(query);
                Sample room;
                return prompt_of(planned.dataset.row(query.sample, room), planned.generation);
              }};
}

MeasureOptions measure_options(const ClientOptions& client, RunInfo info,
                               const std::filesystem::path& folder, const LiveView& watch) {
  MeasureOptions out{.log = {log_folder(folder), std::move(info)}};
  out.threads = static_cast<std::uint32_t>(client.threads);
  out.pin = client.pin;
  out.spin = client.spin;
  out.wishes.realtime = client.realtime;
  out.kernel_stamps = !client.no_kernel_timestamps;
  out.ca_file = client.ca_file;
  if (watch) {
    out.watch = [watch,
                 facts = out.log.info.facts](std::function<metrics::LiveSnapshot()> snapshot) {
      return watch(facts, std::move(snapshot));
    };
  }
  return out;
}

// Copies this client's certificate into the folder, so that the report is the same wherever the
// folder is read.
Result<void> keep_citation(const Json& facts, std::uint32_t threads,
                           const std::filesystem::path& folder) {
  const std::int64_t streams =
      facts["run_config"]["load_pattern"]["target_concurrency"].as_int(kStreamsUnknown);
  const auto certificate =
      find_certificate(certificate_folder(),
                       static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                           streams, 1, std::numeric_limits<std::int32_t>::max())),
                       threads);
  if (!certificate) return {};
  return write_file_atomic(log_folder(folder) / "certificate.json",
                           audit::certificate_to_json(*certificate).dump(2) + "\n");
}

// Writes all derived files of a run folder.
Result<void> derive_files(const RunRequest& request, const RunInfo& info,
                          const ClientOptions& client,
                          const std::optional<CountingTokenizer>& counting, RecordedRun& out) {
  const plan::Config& config = *request.config;
  const std::filesystem::path& folder = request.folder;
  if (counting) TRY(count_tokens(folder, *counting, *request.bundle));
  TRY(keep_citation(info.facts, static_cast<std::uint32_t>(client.threads), folder));
  if (const std::int64_t block = config.settings.prefix_reuse.block; block > 0 && !request.place) {
    TRY(account_prefix_reuse(folder, *request.bundle, counting ? &*counting : nullptr,
                             static_cast<std::uint32_t>(block)));
  }
  // A rank has a part of the replies; they are scored together.
  if (!request.place && wants_scores(config, *request.bundle)) {
    TRY(score_run(folder, config, *request.bundle, client.allow_code, IfNone::write));
  }
  const PublishOptions how{.events_jsonl = config.settings.recording.events_jsonl,
                           .command = request.command,
                           .asked = asked_of(*request.bundle)};
  ASSIGN_OR_RETURN(out.run, publish(folder, how));
  return {};
}

// Writes all files that follow the measurement. A full disk costs these files, not the report of
// the measurement.
Result<void> finish_folder(const RunRequest& request, const RunInfo& info,
                           const ClientOptions& client,
                           const std::optional<CountingTokenizer>& counting, RecordedRun& out) {
  Json said = record::client_audit_to_json(out.measured.audit);
  said.set("end", record::to_json(out.measured.end));
  Result<void> written =
      write_file_atomic(log_folder(request.folder) / "client.json", said.dump(2) + "\n");
  if (written) written = derive_files(request, info, client, counting, out);
  if (written) return {};
  if (written.error().code != Code::exhausted) return written;
  out.unwritten = written.error().message;
  ASSIGN_OR_RETURN(out.run, load_run(request.folder, {.client = &said}));
  return {};
}

// Meets the other ranks of a run of several hosts, and takes the name that they all give to it.
Result<std::unique_ptr<ranks::RankSession>> join_ranks(const ranks::RankPlace& place,
                                                       const ClientOptions& client, RunInfo& info,
                                                       const run::Control& control) {
  ASSIGN_OR_RETURN(
      auto session,
      ranks::RankSession::join(
          place, {info.version, info.plan_digest, static_cast<std::uint32_t>(client.threads)},
          info.run_id, control));
  info.run_id = session->run_id();
  info.run_key = xxh3(info.run_id);
  info.facts.set(
      "rank",
      Json().set("index", place.index).set("of", place.count).set("host", this_machine().host));
  return session;
}

// What merge_ranks() needs to know of a rank's clock.
Result<void> write_rank(const ranks::RankPlace& place, std::uint64_t threads,
                        std::vector<record::ClockProbe> probes,
                        const std::filesystem::path& folder) {
  const record::RankClock rank{.rank = place.index,
                               .host = this_machine().host,
                               .shard_first = static_cast<std::uint32_t>(place.index * threads),
                               .threads = static_cast<std::uint32_t>(threads),
                               .probes = std::move(probes)};
  return write_file_atomic(log_folder(folder) / record::kRankName,
                           record::to_json(rank).dump() + "\n");
}

// Another run may have used the folder since it was chosen.
Result<record::FolderClaim> claim_folder(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(auto claim, record::FolderClaim::take(folder));
  if (record::find_event_logs(log_folder(folder))) {
    return invalid(
        format("--report-dir: '{}' holds a run already\n  name another folder", folder.string()));
  }
  return claim;
}

Result<std::unique_ptr<ChaosRunner>> open_chaos(const RunRequest& request,
                                                const ClientOptions& client, const Clock& clock) {
  if (request.place && !request.config->settings.chaos.is_null()) {
    return invalid("--chaos: a run of several hosts does no acts\n  measure from one host");
  }
  return ChaosRunner::open(*request.config, request.bundle->plan, client.ca_file, clock);
}

// Where what replies made is kept; "": nowhere.
Result<std::filesystem::path> artefacts_of(const RunRequest& request) {
  if (!request.config->settings.recording.keep_artefacts) return std::filesystem::path();
  const Spoken api = request.bundle->endpoints.spoken();
  if (!protocol::has_artefacts(api.api)) {
    return invalid(
        format("settings.recording.keep_artefacts: replies of {} are not pictures, videos "
               "or sounds; leave --keep-artefacts out",
               name_of(api)));
  }
  if (request.place) {
    return invalid("--keep-artefacts: a run of several hosts keeps none; measure from one host");
  }
  return request.folder;
}

void note_lost(RecordedRun& out) {
  const ArtefactTally& kept = out.measured.artefacts;
  if (kept.lost == 0) return;
  out.notes.push_back(format("artefacts of {} replies are lost: {}", kept.lost, kept.trouble));
}

// The place of this process among the ranks, if there are several.
void set_place(const RunRequest& request, const ClientOptions& client, ranks::RankSession* session,
               const run::Control& control, MeasureOptions& how) {
  if (session == nullptr) return;
  how.rank = request.place->index;
  how.ranks = request.place->count;
  how.start_together = [&request, &client, session, &control]() -> Result<Instant> {
    // A rank that dies in its load leaves its clock behind.
    TRY(write_rank(*request.place, client.threads, session->probes(), request.folder));
    return session->start(control);
  };
}

}  // namespace

Result<void> ClientOptions::check() const {
  if (threads < 1 || threads > 256) return invalid("--threads: 1 to 256");
  if (realtime && spin) {
    return invalid("--realtime: not with --spin, which would keep a core from all other programs");
  }
  if (realtime) return check_realtime();
  return {};
}

Result<RecordedRun> record_run(const RunRequest& request, const ClientOptions& client,
                               const LiveView& watch, run::Control& control) {
  const plan::Config& config = *request.config;
  ASSIGN_OR_RETURN(const auto counting, counting_tokenizer_of(config, *request.bundle));
  ASSIGN_OR_RETURN(const auto artefacts, artefacts_of(request));
  // Comes before any write, so that a refused run leaves no folder.
  Preflight own;
  Preflight& preflight = request.preflight == nullptr ? own : *request.preflight;
  if (config.settings.guard.preflight && !preflight.sent) {
    ASSIGN_OR_RETURN(preflight, send_test_query(config, *request.bundle, client.ca_file, control));
  }
  plan::adapt(preflight.adaptation, *request.bundle);
  const OsClock clock;
  ASSIGN_OR_RETURN(const auto telemetry,
                   open_telemetry(config, client.ca_file, client.threads, clock));
  ASSIGN_OR_RETURN(const auto chaos, open_chaos(request, client, clock));
  ASSIGN_OR_RETURN(const auto claim, claim_folder(request.folder));
  TRY(write_file_atomic(request.folder / "config.yaml", plan::config_to_yaml(config)));
  RunInfo info = run_info(config, *request.bundle, client, request);
  if (preflight.sent) info.facts.set("preflight", preflight.facts);
  RecordedRun out;
  std::unique_ptr<ranks::RankSession> session;
  if (request.place) {
    ASSIGN_OR_RETURN(session, join_ranks(*request.place, client, info, control));
  }
  MeasureOptions how = measure_options(client, info, request.folder, watch);
  how.in_turn = request.in_turn;
  how.artefacts = artefacts;
  set_place(request, client, session.get(), control, how);
  const bool read_again = counting || config.settings.prefix_reuse.block > 0 ||
                          config.settings.recording.events_jsonl ||
                          wants_scores(config, *request.bundle);
  if (!read_again) how.spent = request.spent;
  how.stop_on_full_disk = config.settings.guard.on_disk_full == plan::DiskFull::stop;
  Profiler profiler(config, *request.bundle, client.ca_file);
  Tee also({profiler.wanted() ? &profiler : nullptr, request.also, chaos.get()});
  if (profiler.wanted() || request.also != nullptr || chaos) how.also = &also;
  profiler.prepare();
  if (telemetry) {
    TRY(telemetry->start(log_folder(request.folder) / observe::kTelemetryName, info.run_id));
  }
  if (chaos) TRY(chaos->start(log_folder(request.folder) / observe::kChaosName, info.run_id));
  auto measured = measure(*request.bundle, how, control);
  if (chaos) chaos->stop();
  if (telemetry) telemetry->stop();
  profiler.stop(measured && measured->end.state == RunState::complete);
  if (!measured) return measured.error();
  out.measured = *std::move(measured);
  out.notes = profiler.troubles();
  if (chaos) {
    for (std::string& trouble : chaos->troubles()) out.notes.push_back(std::move(trouble));
  }
  if (telemetry && !telemetry->trouble().empty()) out.notes.push_back(telemetry->trouble());
  note_lost(out);
  if (profiler.wanted()) {
    TRY(write_file_atomic(request.folder / "profiling.json", profiler.record().dump(2) + "\n"));
  }
  if (session) {
    TRY(write_rank(*request.place, client.threads, session->after_load(), request.folder));
  }
  TRY(finish_folder(request, info, client, counting, out));
  if (session) out.lost = session->leave(out.measured.end, control);
  return out;
}

Result<std::array<RecordedRun, 2>> record_interleaved(const RunRequest& request,
                                                      plan::Interleaved& plan,
                                                      const ClientOptions& client,
                                                      const LiveView& watch,
                                                      run::Control& control) {
  plan::PlanBundle& bundle = plan.bundle;
  const plan::TelemetryConfig& beside = request.config->settings.telemetry;
  if (!beside.metrics.empty() || !beside.meters.empty() || !beside.command.empty()) {
    return invalid(
        "--metrics, --meter: while two endpoints take turns, nothing is read beside them");
  }
  if (!request.config->settings.profiling.engine.empty()) {
    return invalid("--profile: while two endpoints take turns, no profiler is driven");
  }
  if (request.config->settings.recording.keep_artefacts) {
    return invalid("--keep-artefacts: while two endpoints take turns, none are kept");
  }
  if (!request.config->settings.chaos.is_null()) {
    return invalid("--chaos: while two endpoints take turns, no acts are done");
  }
  ASSIGN_OR_RETURN(const auto counting, counting_tokenizer_of(*request.config, bundle));
  Preflight preflight;
  if (request.config->settings.guard.preflight) {
    ASSIGN_OR_RETURN(preflight, send_test_query(*request.config, bundle, client.ca_file, control));
  }
  plan::adapt(preflight.adaptation, bundle);
  ASSIGN_OR_RETURN(const auto claim, record::FolderClaim::take(request.folder));
  std::array<plan::Config, 2> configs{*request.config, *request.config};
  std::array<RunRequest, 2> requests{request, request};
  std::array<RunInfo, 2> infos{};
  for (const std::size_t side : {0U, 1U}) {
    const std::string name = side == 0 ? "a" : "b";
    configs[side].endpoint_config.endpoints = {request.config->endpoint_config.endpoints[side]};
    requests[side].config = &configs[side];
    requests[side].bundle = &bundle;
    requests[side].folder = request.folder / name;
    TRY(write_file_atomic(requests[side].folder / "config.yaml",
                          plan::config_to_yaml(configs[side])));
    infos[side] = run_info(configs[side], bundle, client, request);
    infos[side].facts.set("endpoints",
                          Json::array().push_back(plan::redact_url(bundle.endpoints.urls[side])));
    if (preflight.sent) infos[side].facts.set("preflight", preflight_of(preflight.facts, side));
    infos[side].facts.set("interleaved", Json().set("id", infos[0].run_id).set("side", name));
    infos[side].run_key = infos[0].run_key;  // both are one run's queries
  }
  MeasureOptions how = measure_options(client, infos[0], requests[0].folder, watch);
  how.second = RunLog{log_folder(requests[1].folder), infos[1]};
  how.endpoint_of_phase = plan.endpoint_of_phase;
  how.stop_on_full_disk = request.config->settings.guard.on_disk_full == plan::DiskFull::stop;
  ASSIGN_OR_RETURN(const Measurement measured, measure(bundle, how, control));
  std::array<RecordedRun, 2> out{};
  for (const std::size_t side : {0U, 1U}) {
    out[side].measured = measured;
    TRY(finish_folder(requests[side], infos[side], client, counting, out[side]));
  }
  return out;
}

namespace {

void add_stop(const RecordedRun& recorded, Ending& out) {
  const RunEnd& end = recorded.run.point.end;
  if (end.out_of_space) return out.add(ExitCode::exhausted, end.reason);
  if (end.state != RunState::interrupted) return;
  for (const run::RunResult& shard : recorded.measured.shards) {
    if (shard.guarded && shard.phases.back().stopped != run::StopReason::budget) {
      return out.add(ExitCode::too_many_failed, end.reason);
    }
    if (shard.target_dead) return out.add(ExitCode::unreachable, end.reason);
  }
  out.add(ExitCode::interrupted, end.reason);
}

}  // namespace

Ending ending_of(const RecordedRun& recorded, const ClientOptions& client) {
  const LoadedRun& run = recorded.run;
  Ending out;
  add_stop(recorded, out);
  if (!recorded.unwritten.empty()) {
    out.add(ExitCode::exhausted, "files of the run folder are not written: " + recorded.unwritten);
  }
  if (metrics::failed_share(run.point).too_many()) {
    out.add(ExitCode::too_many_failed, metrics::failed_words(run.point));
  }
  if (const std::string trouble = accuracy_trouble(run.accuracy); !trouble.empty()) {
    out.add(ExitCode::findings, trouble);
  }
  if (run.test && !run.test->valid()) {
    out.add(ExitCode::findings, "the test is INVALID: " + run.test->reasons());
  }
  if (client.require_accuracy && accuracy_is_short(run.accuracy)) {
    out.add(ExitCode::findings, "the accuracy is not what the workload demands");
  }
  const bool guilty = run.innocence && run.innocence->client_limited == audit::ClientLimited::yes;
  if (guilty && !client.allow_client_limited) {
    out.add(ExitCode::client_limited, "the client " + report::innocence_text(*run.innocence));
  }
  return out;
}

}  // namespace assay::campaign
