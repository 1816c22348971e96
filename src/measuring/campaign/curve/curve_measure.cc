#include "campaign/curve/curve_measure.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "campaign/accuracy.h"
#include "campaign/curve/curve_load.h"
#include "campaign/curve/curve_show.h"
#include "plan/curve_point_plan.h"
#include "plug/plug_target.h"
#include "protocol/endpoint_capture.h"
#include "report/live_painter.h"

namespace assay::campaign {
namespace {

Json point_facts(const CurveSettings& settings, const plan::CurvePoint& point,
                 const plan::PointPlan& planned) {
  Json steady;
  if (point.offline != plan::Offline::dedicated) {
    steady.set("super_pass", settings.plan.rows).set("window_min_s", point.window_min.seconds());
  }
  return Json()
      .set("steady_state", std::move(steady))
      .set("curve", Json()
                        .set("curve_id", settings.id)
                        .set("point", point.name)
                        .set("region", point.declared_region())
                        .set("offline", plan::to_string(point.offline))
                        .set("seeds", settings.seeds.to_json())
                        .set("warmup_source", planned.warmup_source));
}

// Timeout for each of the endpoint's pages about itself.
constexpr Duration kCaptureTime = 5_s;

// A level of a search: long enough for queries to end, too short for steady state.
constexpr Duration kLevelTime = 20_s;
constexpr Duration kLevelMost = 40_s;
constexpr Duration kLevelQuick = 5_s;
constexpr Duration kLevelQuickMost = 8_s;

// The reason why a run that is one step of a search or of an audit stops it.
std::optional<Error> stopped_by(const RecordedRun& recorded, std::string_view what) {
  const RunEnd& end = recorded.run.point.end;
  // A truncated log explains any file that could not be written after it.
  if (!recorded.unwritten.empty() && !end.out_of_space) {
    return Error{Code::exhausted, recorded.unwritten};
  }
  if (end.state == RunState::complete) return std::nullopt;
  return Error{end.out_of_space ? Code::exhausted : Code::refused,
               format("{} was stopped: {}", what, end.reason)};
}

Result<metrics::Point> record_audit_phase(const PreparedCurve& prepared,
                                          const CurveOptions& options,
                                          const plan::AuditPhase& wanted,
                                          const std::filesystem::path& where,
                                          run::Control& control) {
  ASSIGN_OR_RETURN(
      plan::PointPlan planned,
      plan::plan_audit_phase(prepared.config, prepared.datasets, prepared.settings.plan, wanted));
  RunRequest request{.config = &planned.config, .bundle = &planned.bundle, .folder = where};
  request.facts = Json().set("steady_state", Json());
  request.command = prepared.settings.command;
  request.preflight = prepared.preflight.get();
  ASSIGN_OR_RETURN(RecordedRun run, record_run(request, options.client, LiveView(), control));
  if (const auto stopped = stopped_by(run, "the output caching audit")) return *stopped;
  return std::move(run.run.point);
}

}  // namespace

Result<PointOutcome> PointMeasurer::operator()(const plan::CurvePoint& point,
                                               const std::filesystem::path& where, double rate) {
  const CurveSettings& settings = folder_.settings();
  ASSIGN_OR_RETURN(plan::PointPlan planned, plan::plan_point(prepared_.config, prepared_.datasets,
                                                             settings.plan, point, rate));
  RunRequest request{.config = &planned.config, .bundle = &planned.bundle, .folder = where};
  request.facts = point_facts(settings, point, planned);
  request.command = settings.command;
  request.preflight = prepared_.preflight.get();
  ASSIGN_OR_RETURN(const LiveView watch, watch_of(point));
  const OsClock clock;
  const Instant began = clock.now();
  ASSIGN_OR_RETURN(const RecordedRun recorded,
                   record_run(request, options_.client, watch, control_));
  return outcome_of(recorded, clock.now() - began);
}

PointOutcome PointMeasurer::outcome_of(const RecordedRun& recorded, Duration took) {
  PointOutcome out{.took = took};
  const metrics::Point& point = recorded.run.point;
  out.qps = point.rates.qps;
  const Ending ending = ending_of(recorded, options_.client);
  ending_.add(ending);
  // A low score, a limited client, or failures beside replies decide the command's exit code and
  // leave the point complete.
  out.complete = point.complete() && point.counts.completed > 0 && recorded.unwritten.empty() &&
                 accuracy_trouble(recorded.run.accuracy).empty();
  out.stop = !out.complete;
  if (!out.complete) {
    out.why = ending.clean() ? "no query succeeded" : ending.causes().front().why;
  }
  return out;
}

Result<LiveView> PointMeasurer::watch_of(const plan::CurvePoint& point) const {
  if (!options_.paint) return LiveView();
  ASSIGN_OR_RETURN(metrics::Curve curve, load_curve(folder_));
  const std::vector<plan::CurvePoint>& points = folder_.settings().plan.points;
  const auto index = static_cast<std::size_t>(&point - points.data());
  const Duration left = time_left(folder_.settings().plan, folder_.points());
  const CurveFolder* const folder = &folder_;
  return LiveView([folder, index, left, paint = options_.paint, curve = std::move(curve)](
                      const Json& facts, std::function<metrics::LiveSnapshot()> snapshot) {
    report::LivePainterOptions how;
    how.title = {
        .command = "curve", .target = report::target_text(facts), .load = report::load_text(facts)};
    how.above = [folder, index, left, curve](std::size_t columns) {
      return curve_lines(curve, *folder, index, left, columns);
    };
    return std::make_shared<report::LivePainter>(std::move(how), std::move(snapshot), paint);
  });
}

Result<std::string> capture_into(const PreparedCurve& prepared, const CurveOptions& options,
                                 const CurveFolder& folder) {
  const std::filesystem::path file = folder.path() / kEndpointFile;
  std::error_code ignored;
  const plan::EndpointConfig& from = prepared.config.endpoint_config;
  if (std::filesystem::exists(file, ignored) || from.endpoints.empty()) return std::string();
  if (!plug::command_of(from.endpoints[0]).empty()) return std::string();  // it has no pages
  protocol::ProbeQuestion question{
      .url = from.endpoints[0], .api = from.api_type, .described = from.described};
  question.api_key = from.api_key;
  question.headers = from.headers;
  question.insecure = prepared.config.settings.client.insecure;
  question.ca_file = options.client.ca_file;
  question.timeout = kCaptureTime;
  const OsClock clock;
  const protocol::EndpointReplies replies = protocol::capture_endpoint(question, clock);
  if (replies.metrics.status == 200) {
    TRY(write_file_atomic(folder.path() / kEndpointMetricsFile, replies.metrics.body));
  }
  Json facts;
  facts.set("captured_at", rfc3339(wall_now()));
  const Json told = protocol::endpoint_facts(replies);
  for (const auto& [key, value] : told.members()) facts.set(key, value);
  TRY(write_file_atomic(file, facts.dump(2) + "\n"));
  if (!replies.trouble.empty())
    return format("the endpoint was not asked what it is: {}", replies.trouble);
  return std::string();
}

Result<metrics::Point> measure_level(const PreparedCurve& prepared, const CurveOptions& options,
                                     std::int64_t level, const std::filesystem::path& where,
                                     run::Control& control) {
  plan::CurvePoint point{.name = format("r{}", level), .concurrency = level, .choice = true};
  point.window_min = options.quick ? kLevelQuick : kLevelTime;
  point.time_max = options.quick ? kLevelQuickMost : kLevelMost;
  ASSIGN_OR_RETURN(plan::PointPlan planned, plan::plan_point(prepared.config, prepared.datasets,
                                                             prepared.settings.plan, point, 0));
  RunRequest request{.config = &planned.config, .bundle = &planned.bundle, .folder = where};
  request.command = prepared.settings.command;
  request.preflight = prepared.preflight.get();
  ASSIGN_OR_RETURN(RecordedRun run, record_run(request, options.client, LiveView(), control));
  if (const auto stopped = stopped_by(run, format("the level at concurrency {}", level))) {
    return *stopped;
  }
  return std::move(run.run.point);
}

Result<metrics::CachingAudit> measure_audit(const PreparedCurve& prepared,
                                            const CurveOptions& options, CurveFolder& folder,
                                            run::Control& control) {
  const Json& wish = prepared.settings.audit;
  plan::AuditPhase wanted{.concurrency = wish["concurrency"].as_int(),
                          .queries = wish["samples"].as_uint()};
  const auto row = static_cast<std::uint32_t>(wish["sample_index"].as_uint());
  std::vector<metrics::CachingPhase> phases;
  for (const bool repeated : {false, true}) {
    if (repeated) {
      wanted.row = row;
      wanted.queries = wish["audit_samples"].as_uint(wanted.queries);
    }
    const std::string_view name = caching_folder(repeated);
    ASSIGN_OR_RETURN(const auto where, folder.begin_audit(name));
    metrics::Point point;
    if (where) {
      if (options.say) {
        options.say(format("caching audit: {} queries of {} at concurrency {}", wanted.queries,
                           repeated ? format("row {}", row) : std::string("distinct rows"),
                           wanted.concurrency));
      }
      ASSIGN_OR_RETURN(point, record_audit_phase(prepared, options, wanted, *where, control));
    } else {
      ASSIGN_OR_RETURN(LoadedRun run, load_run(folder.path() / "audit" / name));
      point = std::move(run.point);
    }
    phases.push_back(metrics::caching_phase(point, wanted.queries));
  }
  ASSIGN_OR_RETURN(const metrics::CachingAudit audit,
                   metrics::judge_caching(phases[0], phases[1], row, wanted.concurrency,
                                          wish["threshold"].as_double()));
  TRY(write_caching_files(folder.path() / "audit", audit));
  return audit;
}

}  // namespace assay::campaign
