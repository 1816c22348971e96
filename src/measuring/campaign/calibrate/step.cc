#include "campaign/calibrate/step.h"

#include <algorithm>

#include "audit/innocence.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/latency_profile.h"
#include "base/version.h"
#include "campaign/calibrate/endpoint_process.h"
#include "campaign/calibrate/truth_join.h"
#include "campaign/measure.h"
#include "campaign/preflight.h"
#include "host/core_order.h"
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

// For the endpoint.
std::vector<int> other_cores(std::uint32_t threads) {
  return host::cores_left(usable_cores(), threads);
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

}  // namespace

Result<Stepped> take_step(const CalibrationOptions& options, const Step& step,
                          const std::filesystem::path& scratch, run::Control& control) {
  const std::filesystem::path folder = scratch / step.name;
  TRY(make_folders(folder));
  const std::filesystem::path truth_file = folder / "truth.log";
  ASSIGN_OR_RETURN(const auto server, EndpointProcess::start(endpoint_flags(step, truth_file),
                                                             other_cores(options.threads)));
  std::unique_ptr<EndpointProcess> proxy;
  if (step.proxy) {
    ASSIGN_OR_RETURN(
        proxy, EndpointProcess::start_proxy(server->url(), (folder / "trace").string(), *step.proxy,
                                            other_cores(options.threads)));
  }
  const std::string& url = proxy ? proxy->url() : server->url();
  ASSIGN_OR_RETURN(PlannedStep planned, plan_of(options, step, url));
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
  if (proxy) TRY(proxy->stop());
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

}  // namespace assay::campaign
