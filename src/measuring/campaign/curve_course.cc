#include "campaign/curve_course.h"

#include "base/display.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "base/json.h"
#include "campaign/curve/curve_find.h"
#include "campaign/curve/curve_load.h"
#include "campaign/curve/curve_measure.h"
#include "campaign/curve/curve_prepare.h"
#include "campaign/curve/curve_show.h"
#include "campaign/interrupt.h"
#include "campaign/json_ending.h"
#include "campaign/rate_search.h"
#include "campaign/run_talk.h"
#include "metrics/failed_share.h"
#include "record/manifest.h"
#include "report/curve_text.h"

namespace assay::campaign {
namespace {

void say_point(const metrics::Curve& curve, std::size_t point, const Talk& talk) {
  const report::CurveRow row = report::curve_rows(curve, {})[point];
  const std::string user = curve.unit().empty()
                               ? format("{:>8} per user   TTFT P90 {:>8}", row.per_user, row.ttft)
                               : format("latency P90 {:>8}", row.latency);
  talk.say(format("{:<8} {:>10} {} {}   {}{}", row.point, row.throughput, curve.throughput_unit(),
                  user, row.basis, row.doubt.empty() ? "" : "   " + row.doubt));
}

Result<int> finish_curve(const CurveFolder& folder, const CurveOptions& options,
                         const CurveEnd& end, Ending ending, Gate& gate, const Talk& talk) {
  ASSIGN_OR_RETURN(const metrics::Curve curve, load_curve(folder));
  const Result<void> published = publish_curve(folder, curve);
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
    talk.print(result.set("exit", ending.json()).dump(2) + "\n");
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
    options.json ? talk.paint(text) : talk.print(text);
  }
  say_exhausted(ending, talk);
  return ending.code();
}

// A workload's limits as --slo has them: "ttft_ms_p99: 2000" is ttft_p99<=2000ms.
std::string workload_slo(const Json& limits) {
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
Result<int> find_best_level(const LoadSettings& load, const CurveOptions& asked, const Talk& talk) {
  if (asked.find != "slo" && !asked.slo.empty()) {
    return invalid("--slo: works only with --find slo");
  }
  constexpr std::int64_t kMost = 4096;
  CurveOptions options = asked;
  options.quick = true;
  options.levels = "1";
  options.no_accuracy = true;
  ASSIGN_OR_RETURN(const PreparedCurve prepared, prepare_curve(load, options));
  if (options.find == "slo" && options.slo.empty()) {
    options.slo = workload_slo(prepared.config.workload["limits"]);
    if (options.slo.empty()) {
      return invalid(
          "--find slo: needs --slo 'ttft_p99<=2s,tpot_p90<=50ms', or --workload and --scenario "
          "with "
          "limits");
    }
    if (!options.quiet) talk.say(format("note: the workload's limits: {}", options.slo));
  }
  ASSIGN_OR_RETURN(const auto folder, choose_curve_folder(prepared.config.report_dir));
  run::Control control;
  const InterruptGuard guard(control);
  bool answered = false;
  std::string failed;
  const auto measure = [&](std::int64_t level) -> Result<metrics::Point> {
    ASSIGN_OR_RETURN(
        metrics::Point point,
        measure_level(prepared, options, level, folder / "search" / format("r{}", level), control));
    answered = answered || point.counts.completed > 0;
    failed = metrics::failed_words(point);
    return point;
  };
  FindWish wish{.what = options.find, .slo = options.slo};
  wish.most = static_cast<std::int64_t>(options.c_max.value_or(kMost));
  ASSIGN_OR_RETURN(const Json found, find_level(wish, measure, [&](const std::string& line) {
                     if (!options.quiet) talk.say(line);
                   }));
  // The search looks for levels with failed queries, but needs at least one reply.
  Ending ending;
  if (!answered && !failed.empty()) ending.add(ExitCode::too_many_failed, failed);
  const bool stopped = found["stopped"].is_string();
  if (stopped) ending.add(ExitCode::exhausted, std::string(found["stopped"].as_string()));
  if (!stopped && found["good"].as_int() == 0) ending.add(ExitCode::findings, "no level is good");
  if (options.json) {
    Json out = found;
    talk.print(out.set("exit", ending.json()).dump(2) + "\n");
  } else {
    talk.print(find_text(found));
  }
  if (!answered && !failed.empty()) talk.say("warning: " + printable(failed));
  say_exhausted(ending, talk);
  return ending.code();
}

int show_curve_plan(const CurveSettings& settings, const std::vector<PointState>& points,
                    const CurveOptions& options, const DryRun& more, const Talk& talk) {
  if (options.json) {
    Json out = settings.to_json();
    out.set("least_time_s", time_left(settings.plan, points).seconds());
    if (!more.json.is_null()) out.set("forecast", more.json);
    talk.print(out.dump(2) + "\n");
  } else {
    talk.print(plan_table(settings, points, report::terminal_style(1)) + more.text);
  }
  return exit_code(ExitCode::done);
}

Result<int> show_curve_forecast(const PreparedCurve& prepared, const CurveOptions& options,
                                const ForecastAsked& wanted, const Talk& talk) {
  const std::vector<PointState> none(prepared.settings.plan.points.size());
  if (wanted.from.empty()) return show_curve_plan(prepared.settings, none, options, {}, talk);
  ASSIGN_OR_RETURN(const KnownSystem known, known_system(wanted.from));
  ASSIGN_OR_RETURN(const plan::Forecast forecast, forecast_curve(prepared, known));
  return show_curve_plan(prepared.settings, none, options,
                         dry_run(forecast, known, wanted.prices(prepared.config)), talk);
}

// Advises a user who stopped the curve before its first point.
Result<int> stopped_early(const CurveFolder& folder, const Error& error, const Talk& talk) {
  talk.say(format("{}\n  next    assay curve --resume {}", error.message, folder.path().string()));
  return exit_code(ExitCode::interrupted);
}

// Finds C_max if unknown, then runs the audit, then the points; each resumes.
class CurveCourse {
 public:
  CurveCourse(const CurveOptions& options, PreparedCurve prepared, CurveFolder folder, Gate& gate,
              const ResultsStore& results, const Talk& talk)
      : options_(options),
        gate_(gate),
        prepared_(std::move(prepared)),
        folder_(std::move(folder)),
        results_(results),
        talk_(talk) {}

  Result<int> run() {
    for (const std::string& note : prepared_.notes) tell("note: " + note);
    show_table();
    const InterruptGuard guard(control_);
    auto begun = before_points();
    if (!begun && control_.request() != run::Control::Request::none) {
      return stopped_early(folder_, begun.error(), talk_);
    }
    if (!begun && begun.error().code == Code::exhausted && !options_.audit_only) {
      return finish_curve(folder_, options_, {.why = begun.error().message, .exhausted = true}, {},
                          gate_, talk_);
    }
    if (!begun) return begun.error();
    const bool caught = audit_ && !audit_->passed;
    if (options_.audit_only) {
      talk_.print(options_.json ? metrics::caching_json(*audit_).dump(2) + "\n"
                                : metrics::caching_text(*audit_) + "\n");
      return exit_code(caught ? ExitCode::findings : ExitCode::done);
    }
    PointMeasurer measurer(prepared_, options_, folder_, control_);
    ASSIGN_OR_RETURN(const CurveEnd end, run_curve(folder_, std::ref(measurer),
                                                   [&](std::size_t point) { ended(point); }));
    Ending ending = measurer.ending();
    if (caught) ending.add(ExitCode::findings, "the output caching audit did not pass");
    return finish_curve(folder_, options_, end, std::move(ending), gate_, talk_);
  }

 private:
  void tell(const std::string& line) const {
    if (!options_.quiet) talk_.say(line);
  }

  void show_table() const {
    if (options_.quiet || options_.audit_only) return;
    talk_.paint(plan_table(folder_.settings(), folder_.points(), report::terminal_style(2)) + "\n");
  }

  Result<void> before_points() {
    const auto line = [this](const std::string& text) { tell(text); };
    ASSIGN_OR_RETURN(const std::string doubt, capture_into(prepared_, options_, folder_));
    if (!doubt.empty()) tell("note: " + doubt);
    // The audit comes first: accuracy queries use the dataset without salt, and would warm a cache.
    if (!prepared_.settings.audit.is_null()) {
      ASSIGN_OR_RETURN(audit_, measure_audit(prepared_, options_, folder_, control_));
      tell(metrics::caching_text(*audit_));
    }
    if (options_.audit_only || !folder_.settings().plan.points.empty()) return {};
    TRY(find_c_max(
        folder_,
        [this](std::int64_t level, const std::filesystem::path& where) {
          return measure_level(prepared_, options_, level, where, control_);
        },
        line));
    prepared_.settings.plan = folder_.settings().plan;
    show_table();
    return {};
  }

  void ended(std::size_t point) const {
    const auto curve = load_curve(folder_);
    if (!options_.quiet && curve) say_point(*curve, point, talk_);
    if (options_.store.empty()) return;
    // An unreachable store must not prevent the remaining points.
    const auto put = results_.put(folder_.path());
    if (!put) talk_.say("note: " + put.error().message);
  }

  const CurveOptions& options_;
  Gate& gate_;
  PreparedCurve prepared_;
  CurveFolder folder_;
  const ResultsStore& results_;
  const Talk& talk_;
  run::Control control_{};
  std::optional<metrics::CachingAudit> audit_{};
};

Result<int> measure(RunSettings& settings, CurveOptions options, const ForecastAsked& forecast,
                    Gate& gate, const ResultsStore& results, std::span<const std::string> args,
                    const Talk& talk) {
  TRY(options.client.check());
  TRY(forecast.check(options.dry_run));
  TRY(gate.understand());
  if (!options.quiet) {
    options.say = talk.say;
    options.paint = talk.paint;
  }
  const LoadSettings load = [&settings](const std::string& file, const auto& decided) {
    if (!file.empty()) settings.set_config(file);
    for (const auto& [name, value] : decided) settings.set_flag(name, value);
    return settings.load();
  };

  if (!options.find.empty() && gate.asked()) {
    return invalid("--require: --find has --slo for its limits");
  }
  if (options.find == "qps") {
    settings.tests = true;
    return search_rate(settings,
                       {.client = options.client, .json = options.json, .quiet = options.quiet},
                       command_of("curve", args), talk);
  }
  if (!options.find.empty()) return find_best_level(load, options, talk);
  if (!options.slo.empty()) {
    return invalid(
        "--slo: works only with --find slo; for a finished curve: assay report CURVE --slo");
  }
  if (!options.dry_run) TRY(results.check());
  if (!options.resume.empty() && !forecast.from.empty()) {
    return invalid("--from: applies to a new curve; a resumed one knows its own finished points");
  }
  PreparedCurve prepared;
  std::optional<CurveFolder> folder;
  if (!options.resume.empty()) {
    if (!CurveFolder::is_curve(options.resume)) {
      return invalid(format("--resume: '{}' holds no curve (curve.json)", options.resume));
    }
    ASSIGN_OR_RETURN(folder, options.dry_run ? CurveFolder::read(options.resume)
                                             : CurveFolder::resume(options.resume));
    if (options.dry_run)
      return show_curve_plan(folder->settings(), folder->points(), options, {}, talk);
    ASSIGN_OR_RETURN(prepared, prepare_resumed(load, *folder));
    if (prepared.settings.audit.is_null()) {
      ASSIGN_OR_RETURN(prepared.settings.audit, audit_wish(options, prepared.settings.plan));
    }
  } else {
    ASSIGN_OR_RETURN(prepared, prepare_curve(load, options));
    prepared.settings.command = record::redact_command(command_of("curve", args));
    if (options.dry_run) return show_curve_forecast(prepared, options, forecast, talk);
    ASSIGN_OR_RETURN(const auto path, choose_curve_folder(prepared.config.report_dir));
    ASSIGN_OR_RETURN(folder, open_curve_folder(path, prepared.settings));
    // For an existing curve, its own plan counts.
    prepared.settings.plan = folder->settings().plan;
  }
  return CurveCourse(options, std::move(prepared), *std::move(folder), gate, results, talk).run();
}

}  // namespace

Result<int> measure_curve(RunSettings& settings, CurveOptions options,
                          const ForecastAsked& forecast, Gate& gate, const ResultsStore& results,
                          std::span<const std::string> args, const Talk& talk) {
  if (!options.json) {
    return measure(settings, std::move(options), forecast, gate, results, args, talk);
  }
  return end_in_json(talk, [&](const Talk& to) {
    return measure(settings, std::move(options), forecast, gate, results, args, to);
  });
}

}  // namespace assay::campaign
