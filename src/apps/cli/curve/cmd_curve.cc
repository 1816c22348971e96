#include "base/display.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "campaign/curve/curve_find.h"
#include "campaign/curve/curve_load.h"
#include "campaign/curve/curve_measure.h"
#include "campaign/curve/curve_prepare.h"
#include "campaign/curve/curve_show.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/curve/curve_flags.h"
#include "cli/find_rate.h"
#include "cli/forecast_flags.h"
#include "cli/gate.h"
#include "cli/interrupt.h"
#include "cli/run_flags.h"
#include "cli/run_talk.h"
#include "cli/store_flags.h"
#include "metrics/failed_share.h"
#include "record/manifest.h"
#include "report/curve_text.h"

namespace assay::cli {
namespace {

void say_point(const metrics::Curve& curve, std::size_t point) {
  const report::CurveRow row = report::curve_rows(curve, {})[point];
  const std::string user = curve.unit().empty()
                               ? format("{:>8} per user   TTFT P90 {:>8}", row.per_user, row.ttft)
                               : format("latency P90 {:>8}", row.latency);
  say(format("{:<8} {:>10} {} {}   {}{}", row.point, row.throughput, curve.throughput_unit(), user,
             row.basis, row.doubt.empty() ? "" : "   " + row.doubt));
}

Result<int> finish(const campaign::CurveFolder& folder, const campaign::CurveOptions& options,
                   const campaign::CurveEnd& end, Ending ending, Gate& gate) {
  ASSIGN_OR_RETURN(const metrics::Curve curve, campaign::load_curve(folder));
  const Result<void> published = campaign::publish_curve(folder, curve);
  if (!published && published.error().code != Code::exhausted) return published.error();
  if (end.exhausted) ending.add(ExitCode::exhausted, end.why);
  if (!published) {
    ending.add(ExitCode::exhausted,
               "files of the curve are not written: " + published.error().message);
  }
  if (!end.finished && ending.clean()) ending.add(ExitCode::findings, end.why);
  TRY(gate.judge_points(folder));
  Json result = metrics::curve_json(curve);
  TRY(gate.finish("assay curve", ending, &result));
  if (options.json) {
    print(result.set("exit", ending.json()).dump(2) + "\n");
  }
  if (!options.json || !options.quiet) {
    const report::TerminalStyle style = report::terminal_style(options.json ? 2 : 1);
    std::string text = report::curve_terminal(curve, {}, style);
    text += "\n" + gate.text();
    text += format("  files   {}\n", folder.path().string());
    if (!end.finished) {
      text += format("  stopped {}\n  next    assay curve --resume {}\n", end.why,
                     folder.path().string());
    } else {
      text += format("  next    assay report {} --html curve.html\n", folder.path().string());
    }
    options.json ? write_error(text) : print(text);
  }
  say_exhausted(ending);
  return ending.code();
}

// A workload's limits as --slo has them: "ttft_ms_p99: 2000" is ttft_p99<=2000ms.
std::string slo_of(const Json& limits) {
  std::string out;
  for (const auto& [limit, value] : limits.members()) {
    const std::size_t at = limit.find("_ms_p");
    if (at == std::string::npos) continue;
    out += format("{}{}_p{}<={:g}ms", out.empty() ? "" : ",", limit.substr(0, at),
                  limit.substr(at + 5), value.as_double());
  }
  return out;
}

// Short measurements at levels that the search chooses, below search/ of the folder.
Result<int> find(const campaign::LoadSettings& load, const campaign::CurveOptions& asked) {
  if (asked.find != "slo" && !asked.slo.empty()) {
    return invalid("--slo: is what --find slo looks for");
  }
  constexpr std::int64_t kMost = 4096;
  campaign::CurveOptions options = asked;
  options.quick = true;
  options.levels = "1";
  options.no_accuracy = true;
  ASSIGN_OR_RETURN(const campaign::PreparedCurve prepared, campaign::prepare_curve(load, options));
  if (options.find == "slo" && options.slo.empty()) {
    options.slo = slo_of(prepared.config.workload["limits"]);
    if (options.slo.empty()) {
      return invalid(
          "--find slo: needs --slo 'ttft_p99<=2s,tpot_p90<=50ms', or --workload and --scenario "
          "with "
          "limits");
    }
    if (!options.quiet) say(format("note: the workload's limits: {}", options.slo));
  }
  ASSIGN_OR_RETURN(const auto folder, campaign::choose_curve_folder(prepared.config.report_dir));
  run::Control control;
  const InterruptGuard guard(control);
  bool answered = false;
  std::string failed;
  const auto measure = [&](std::int64_t level) -> Result<metrics::Point> {
    ASSIGN_OR_RETURN(metrics::Point point,
                     campaign::measure_level(prepared, options, level,
                                             folder / "search" / format("r{}", level), control));
    answered = answered || point.counts.completed > 0;
    failed = metrics::failed_words(point);
    return point;
  };
  campaign::FindWish wish{.what = options.find, .slo = options.slo};
  wish.most = static_cast<std::int64_t>(options.c_max.value_or(kMost));
  ASSIGN_OR_RETURN(const Json found,
                   campaign::find_level(wish, measure, [&](const std::string& line) {
                     if (!options.quiet) say(line);
                   }));
  // The search looks for levels with failed queries, but needs at least one reply.
  Ending ending;
  if (!answered && !failed.empty()) ending.add(ExitCode::too_many_failed, failed);
  const bool stopped = found["stopped"].is_string();
  if (stopped) ending.add(ExitCode::exhausted, std::string(found["stopped"].as_string()));
  if (!stopped && found["good"].as_int() == 0) ending.add(ExitCode::findings, "no level is good");
  if (options.json) {
    Json out = found;
    print(out.set("exit", ending.json()).dump(2) + "\n");
  } else {
    print(campaign::find_text(found));
  }
  if (!answered && !failed.empty()) say("warning: " + printable(failed));
  say_exhausted(ending);
  return ending.code();
}

int show_plan(const campaign::CurveSettings& settings,
              const std::vector<campaign::PointState>& points,
              const campaign::CurveOptions& options, const DryRun& more = {}) {
  if (options.json) {
    Json out = settings.to_json();
    out.set("least_time_s", campaign::time_left(settings.plan, points).seconds());
    if (!more.json.is_null()) out.set("forecast", more.json);
    print(out.dump(2) + "\n");
  } else {
    print(campaign::plan_table(settings, points, report::terminal_style(1)) + more.text);
  }
  return exit_code(ExitCode::done);
}

Result<int> show_forecast(const campaign::PreparedCurve& prepared,
                          const campaign::CurveOptions& options, const ForecastFlags& wanted) {
  const std::vector<campaign::PointState> none(prepared.settings.plan.points.size());
  if (wanted.from.empty()) return show_plan(prepared.settings, none, options);
  ASSIGN_OR_RETURN(const campaign::KnownSystem known, campaign::known_system(wanted.from));
  ASSIGN_OR_RETURN(const plan::Forecast forecast, campaign::forecast_curve(prepared, known));
  return show_plan(prepared.settings, none, options,
                   dry_run(forecast, known, wanted.prices(prepared.config)));
}

// Advises a user who stopped the curve before its first point.
Result<int> stopped_early(const campaign::CurveFolder& folder, const Error& error) {
  say(format("{}\n  next    assay curve --resume {}", error.message, folder.path().string()));
  return exit_code(ExitCode::interrupted);
}

// Finds C_max if unknown, then runs the audit, then the points; each resumes.
class CurveCourse {
 public:
  CurveCourse(const campaign::CurveOptions& options, campaign::PreparedCurve prepared,
              campaign::CurveFolder folder, Gate& gate)
      : options_(options),
        gate_(gate),
        prepared_(std::move(prepared)),
        folder_(std::move(folder)) {}

  Result<int> run() {
    for (const std::string& note : prepared_.notes) tell("note: " + note);
    show_table();
    const InterruptGuard guard(control_);
    auto begun = before_points();
    if (!begun && control_.request() != run::Control::Request::none) {
      return stopped_early(folder_, begun.error());
    }
    if (!begun && begun.error().code == Code::exhausted && !options_.audit_only) {
      return finish(folder_, options_, {.why = begun.error().message, .exhausted = true}, {},
                    gate_);
    }
    if (!begun) return begun.error();
    const bool caught = audit_ && !audit_->passed;
    if (options_.audit_only) {
      print(options_.json ? metrics::caching_json(*audit_).dump(2) + "\n"
                          : metrics::caching_text(*audit_) + "\n");
      return exit_code(caught ? ExitCode::findings : ExitCode::done);
    }
    campaign::PointMeasurer measurer(prepared_, options_, folder_, control_);
    ASSIGN_OR_RETURN(
        const campaign::CurveEnd end,
        campaign::run_curve(folder_, std::ref(measurer), [&](std::size_t point) { ended(point); }));
    Ending ending = measurer.ending();
    if (caught) ending.add(ExitCode::findings, "the output caching audit did not pass");
    return finish(folder_, options_, end, std::move(ending), gate_);
  }

 private:
  void tell(const std::string& line) const {
    if (!options_.quiet) say(line);
  }

  void show_table() const {
    if (options_.quiet || options_.audit_only) return;
    write_error(
        campaign::plan_table(folder_.settings(), folder_.points(), report::terminal_style(2)) +
        "\n");
  }

  Result<void> before_points() {
    const auto line = [this](const std::string& text) { tell(text); };
    ASSIGN_OR_RETURN(const std::string doubt, campaign::capture_into(prepared_, options_, folder_));
    if (!doubt.empty()) tell("note: " + doubt);
    // The audit comes first: accuracy queries use the dataset without salt, and would warm a cache.
    if (!prepared_.settings.audit.is_null()) {
      ASSIGN_OR_RETURN(audit_, campaign::measure_audit(prepared_, options_, folder_, control_));
      tell(metrics::caching_text(*audit_));
    }
    if (options_.audit_only || !folder_.settings().plan.points.empty()) return {};
    TRY(campaign::find_c_max(
        folder_,
        [this](std::int64_t level, const std::filesystem::path& where) {
          return campaign::measure_level(prepared_, options_, level, where, control_);
        },
        line));
    prepared_.settings.plan = folder_.settings().plan;
    show_table();
    return {};
  }

  void ended(std::size_t point) const {
    const auto curve = campaign::load_curve(folder_);
    if (!options_.quiet && curve) say_point(*curve, point);
    if (options_.store.empty()) return;
    // An unreachable store must not prevent the remaining points.
    const auto put = put_in_store(folder_.path(), options_.store);
    if (!put) say("note: " + put.error().message);
  }

  const campaign::CurveOptions& options_;
  Gate& gate_;
  campaign::PreparedCurve prepared_;
  campaign::CurveFolder folder_;
  run::Control control_{};
  std::optional<metrics::CachingAudit> audit_{};
};

}  // namespace

Result<int> cmd_curve(Args args) {
  campaign::CurveOptions options;
  Flags flags("curve", "a whole Pareto curve: plan, measure, resume, accuracy, steady state");
  RunFlags settings(flags, campaign::decided_by_curve());
  add_curve_flags(flags, options);
  ForecastFlags forecast;
  add_forecast_flags(flags, forecast);
  Gate gate(flags);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  TRY(options.client.check());
  TRY(forecast.check(options.dry_run));
  TRY(gate.understand());
  if (!options.quiet) {
    options.say = say;
    options.paint = write_error;
  }
  const campaign::LoadSettings load = [&settings](const std::string& file, const auto& decided) {
    if (!file.empty()) settings.set_config(file);
    for (const auto& [name, value] : decided) settings.set_flag(name, value);
    return settings.load();
  };

  if (!options.find.empty() && gate.asked()) {
    return invalid("--require: --find has --slo for its limits");
  }
  if (options.find == "qps") {
    settings.allow_tests();
    std::vector<std::string> command{"assay", "curve"};
    command.insert(command.end(), args.begin(), args.end());
    return find_rate(settings,
                     {.client = options.client, .json = options.json, .quiet = options.quiet},
                     std::move(command));
  }
  if (!options.find.empty()) return find(load, options);
  if (!options.slo.empty()) {
    return invalid("--slo: is what --find slo looks for; of a curve: assay report CURVE --slo");
  }
  if (!options.dry_run) TRY(check_store(options.store));
  if (!options.resume.empty() && !forecast.from.empty()) {
    return invalid("--from: is for a new curve; one that goes on knows its own finished points");
  }
  campaign::PreparedCurve prepared;
  std::optional<campaign::CurveFolder> folder;
  if (!options.resume.empty()) {
    if (!campaign::CurveFolder::is_curve(options.resume)) {
      return invalid(format("--resume: '{}' holds no curve (curve.json)", options.resume));
    }
    ASSIGN_OR_RETURN(folder, options.dry_run ? campaign::CurveFolder::read(options.resume)
                                             : campaign::CurveFolder::resume(options.resume));
    if (options.dry_run) return show_plan(folder->settings(), folder->points(), options);
    ASSIGN_OR_RETURN(prepared, campaign::prepare_resumed(load, *folder));
    if (prepared.settings.audit.is_null()) {
      ASSIGN_OR_RETURN(prepared.settings.audit,
                       campaign::audit_wish(options, prepared.settings.plan));
    }
  } else {
    ASSIGN_OR_RETURN(prepared, campaign::prepare_curve(load, options));
    std::vector<std::string> command{"assay", "curve"};
    command.insert(command.end(), args.begin(), args.end());
    prepared.settings.command = record::redact_command(command);
    if (options.dry_run) return show_forecast(prepared, options, forecast);
    ASSIGN_OR_RETURN(const auto path, campaign::choose_curve_folder(prepared.config.report_dir));
    ASSIGN_OR_RETURN(folder, campaign::open_curve_folder(path, prepared.settings));
    // For an existing curve, its own plan counts.
    prepared.settings.plan = folder->settings().plan;
  }
  return CurveCourse(options, std::move(prepared), *std::move(folder), gate).run();
}

}  // namespace assay::cli
