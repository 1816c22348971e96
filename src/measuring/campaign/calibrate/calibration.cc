#include "campaign/calibrate/calibration.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>

#include "audit/innocence.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/latency_profile.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "base/version.h"
#include "campaign/calibrate/endpoint_process.h"
#include "campaign/calibrate/truth_join.h"
#include "campaign/measure.h"
#include "campaign/preflight.h"
#include "metrics/point_fold.h"
#include "plan/config_reader.h"
#include "record/event_log.h"

namespace assay::campaign {
namespace {

// Duration of a reply in a step with known times.
constexpr double kReplySeconds = 1.5;
// Events of a reply that carry no tokens: finish reason, usage, [DONE].
constexpr double kOtherEvents = 3;
// Share of a reply's time before its first token.
constexpr double kBeforeFirst = 0.2;
// A certificate's file is small; a larger file is something else.
constexpr std::size_t kFileMax = std::size_t{1} << 20;

// One step of the calibration.
struct Step {
  std::string name{};  // of its folder
  std::uint32_t tokens = 1;
  bool stream = true;
  Duration ttft{};  // exponential with this mean
  Duration itl{};
  bool truth = false;
  Duration reply{};  // of one reply; a step lasts at least two
};

struct Stepped {
  metrics::Point point{};
  audit::CalibratedLevel level{};
};

// The cores that the measuring threads leave free; may be empty.
std::vector<int> endpoint_cores(std::uint32_t threads) {
  std::vector<int> cores = usable_cores();
  if (cores.size() <= threads) return {};
  cores.erase(cores.begin(), cores.begin() + threads);
  return cores;
}

std::vector<std::string> endpoint_flags(const Step& step, const std::filesystem::path& truth) {
  std::vector<std::string> flags{"--osl", "max"};
  if (step.ttft.ns > 0) {
    flags.insert(flags.end(), {"--ttft", format("exponential:{}us", step.ttft.ns / 1000)});
  }
  if (step.itl.ns > 0) flags.insert(flags.end(), {"--itl", format("{}us", step.itl.ns / 1000)});
  if (step.truth) flags.insert(flags.end(), {"--truth-log", truth.string()});
  return flags;
}

struct PlannedStep {
  plan::Config config{};
  plan::PlanBundle bundle{};
};

Result<PlannedStep> plan_of(const CalibrationOptions& options, const Step& step,
                            const std::string& url) {
  plan::ConfigReader reader;
  reader.flag("--endpoint", url);
  reader.flag("--model", "assay");
  reader.flag("--concurrency", std::to_string(options.streams));
  reader.flag("--duration", format("{}ms", std::max(options.step, step.reply * 2).ns / 1'000'000));
  reader.flag("--isl", std::to_string(options.isl));
  reader.flag("--osl", std::to_string(step.tokens));
  reader.flag("--streaming", step.stream ? "on" : "off");
  reader.flag("--keep-text", "off");
  ASSIGN_OR_RETURN(const plan::LoadedConfig loaded, reader.finish());
  ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(loaded.config));
  ASSIGN_OR_RETURN(plan::PlanBundle bundle, plan::make_plan(loaded.config, std::move(datasets)));
  return PlannedStep{loaded.config, std::move(bundle)};
}

RunInfo info_of(const plan::PlanBundle& bundle, const std::string& name) {
  RunInfo info{.version = std::string(version()), .plan_digest = plan_digest(bundle)};
  info.uncertainty = true;  // HttpTarget records it
  info.started = wall_now();
  info.offset = sample_clock_offset();
  info.run_id = sha256_hex(format("{} {}", name, info.started.ns)).substr(0, 32);
  info.run_key = xxh3(info.run_id);
  for (const PhasePlan& phase : bundle.plan.phases) {
    info.phases.push_back({phase.kind, phase.name, phase.open_loop});
  }
  return info;
}

Result<Stepped> fold(const std::filesystem::path& logs, const std::filesystem::path& truth_file,
                     const RunInfo& info, const Step& step) {
  Stepped out;
  metrics::PointFold points(info, {.early_stopping = false});
  ASSIGN_OR_RETURN(const auto replay, record::replay_run(logs, points));
  out.point = points.finish(replay.end.end, replay.end.lost_records);
  if (!step.truth) return out;
  ASSIGN_OR_RETURN(const endpoint::TruthRecord truth, endpoint::read_truth_log(truth_file));
  TruthJoin join(info, truth);
  TRY(record::replay_run(logs, join));
  join.finish(out.level);
  return out;
}

Result<Stepped> take_step(const CalibrationOptions& options, const Step& step,
                          const std::filesystem::path& scratch, run::Control& control) {
  const std::filesystem::path folder = scratch / step.name;
  TRY(make_folders(folder));
  const std::filesystem::path truth_file = folder / "truth.log";
  ASSIGN_OR_RETURN(const auto server, EndpointProcess::start(endpoint_flags(step, truth_file),
                                                             endpoint_cores(options.threads)));
  ASSIGN_OR_RETURN(PlannedStep planned, plan_of(options, step, server->url()));
  plan::PlanBundle& bundle = planned.bundle;
  ASSIGN_OR_RETURN(const Preflight preflight, send_test_query(planned.config, bundle, "", control));
  plan::adapt(preflight.adaptation, bundle);
  if (options.say) {
    options.say(format("{}: the test query ended {} after {:.1f} ms", step.name,
                       preflight.facts["outcome"].as_string(),
                       preflight.facts["took_ms"].as_double()));
  }
  MeasureOptions how{.log = {folder / "assay", info_of(bundle, step.name)}};
  how.threads = options.threads;
  how.pin = options.pin;
  how.spin = options.spin;
  how.kernel_stamps = options.kernel_stamps;
  ASSIGN_OR_RETURN(const Measurement measured, measure(bundle, how, control));
  TRY(server->stop());
  if (measured.end.state != RunState::complete) {
    return Error{measured.end.out_of_space ? Code::exhausted : Code::io,
                 "calibration was interrupted: " + measured.end.reason};
  }
  ASSIGN_OR_RETURN(Stepped out, fold(how.log.folder, truth_file, how.log.info, step));
  const metrics::Point& point = out.point;
  if (point.counts.completed == 0) {
    return Error{Code::io, "calibration: the built-in endpoint answered no query"};
  }
  const double seconds = point.rates.duration.seconds();
  out.level.events_per_second = static_cast<double>(point.stamps.events) / seconds;
  out.level.qps = point.rates.qps;
  out.level.tokens = step.tokens;
  out.level.client_limited = to_string(
      audit::judge_client(measured.audit, point, {.spinning = options.spin}).client_limited);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);  // one step's files at a time
  return out;
}

// The times at which `streams` streams make `events` events a second.
Step step_at(const CalibrationOptions& options, double share, double events) {
  const double streams = options.streams;
  const double tokens = std::clamp(events * kReplySeconds / streams - kOtherEvents, 2.0,
                                   static_cast<double>(std::max(2U, options.tokens)));
  Step step{.name = format("share-{}", share), .truth = true};
  step.tokens = static_cast<std::uint32_t>(tokens);
  const double seconds = streams * (step.tokens + kOtherEvents) / events;
  step.reply = Duration::from_seconds(seconds);
  step.ttft = Duration::from_seconds(kBeforeFirst * seconds);
  step.itl = Duration::from_seconds((1 - kBeforeFirst) * seconds / (step.tokens - 1));
  return step;
}

void tell(const CalibrationOptions& options, const std::string& text) {
  if (options.say) options.say(text);
}

}  // namespace

Result<audit::Certificate> calibrate(const CalibrationOptions& options, run::Control& control) {
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::make("calibrate"));
  audit::Certificate out{.made = wall_now(),
                         .version = std::string(version()),
                         .build = format("{} {}", compiler(), build_type()),
                         .machine = this_machine(),
                         .streams = options.streams,
                         .threads = options.threads,
                         .isl = options.isl};
  ASSIGN_OR_RETURN(const Stepped plain,
                   take_step(options, {.name = "queries", .tokens = 1, .stream = false},
                             scratch.path(), control));
  out.qps = plain.point.rates.qps;
  ASSIGN_OR_RETURN(
      const Stepped streamed,
      take_step(options, {.name = "events", .tokens = options.tokens}, scratch.path(), control));
  out.events_per_second = streamed.level.events_per_second;
  tell(options, format("{} streams: ceiling {} queries/s, {} events/s",
                       with_thousands(std::int64_t{options.streams}), three_digits(out.qps),
                       three_digits(out.events_per_second)));
  for (const double share : options.shares) {
    ASSIGN_OR_RETURN(Stepped step,
                     take_step(options, step_at(options, share, share * out.events_per_second),
                               scratch.path(), control));
    step.level.share = share;
    tell(options,
         format("  at {:.0f} %: {} events/s, arrival error P99 {}, client limited: {}", 100 * share,
                three_digits(step.level.events_per_second),
                human_duration({step.level.arrival.ttft.size_p99()}), step.level.client_limited));
    out.levels.push_back(step.level);
  }
  std::ranges::sort(out.levels, {}, &audit::CalibratedLevel::share);
  return out;
}

std::filesystem::path certificate_folder() {
  const char* const data = ::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data != '\0') {
    return std::filesystem::path(data) / "assay/certificates";
  }
  const char* const home = ::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".local/share/assay/certificates";
}

Result<std::filesystem::path> keep_certificate(const audit::Certificate& certificate,
                                               const std::filesystem::path& folder) {
  const std::filesystem::path path =
      folder / format("{}-{}-streams.json", compact_stamp(certificate.made), certificate.streams);
  TRY(write_file_atomic(path, audit::certificate_to_json(certificate).dump(2) + "\n"));
  return path;
}

std::optional<audit::Certificate> find_certificate(const std::filesystem::path& folder,
                                                   std::uint32_t streams, std::uint32_t threads) {
  const audit::Certificate here{.version = std::string(version()),
                                .build = format("{} {}", compiler(), build_type()),
                                .machine = this_machine(),
                                .threads = threads};
  std::optional<audit::Certificate> best;
  double best_distance = 0;
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error) return std::nullopt;
  for (const auto& entry : files) {
    const auto text = read_file(entry.path(), kFileMax);
    if (!text) continue;
    const auto json = Json::parse(*text);
    if (!json) continue;
    const auto read = audit::certificate_from_json(*json);
    if (!read || read->streams == 0 || !audit::same_client(*read, here)) continue;
    const double distance = std::abs(
        std::log(static_cast<double>(read->streams) / static_cast<double>(std::max(1U, streams))));
    const bool nearer = !best || distance < best_distance ||
                        (distance == best_distance && read->made.ns > best->made.ns);
    if (!nearer) continue;
    best = *read;
    best_distance = distance;
  }
  return best;
}

}  // namespace assay::campaign
