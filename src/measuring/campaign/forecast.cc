#include "campaign/forecast.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/display.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/curve/curve_view.h"
#include "plan/curve_point_plan.h"
#include "report/quantity.h"

namespace assay::campaign {
namespace {

// Two-sided, of a normal distribution.
constexpr double kNinetyPercent = 1.645;

std::optional<double> number(const Json& value) {
  return value.is_number() ? std::optional<double>(value.as_double()) : std::nullopt;
}

// The level of one run's result_summary.json; nullopt where no query succeeded.
std::optional<plan::KnownLevel> measured_level(const Json& summary) {
  constexpr double kNsPerS = 1e9;
  const double qps = number(summary["qps"]).value_or(0);
  const double latency = number(summary["latency"]["avg"]).value_or(0) / kNsPerS;
  const double count = number(summary["n_samples_completed"]).value_or(0);
  if (!(qps > 0) || !(latency > 0) || !(count > 0)) return std::nullopt;
  const double spread = number(summary["latency"]["std_dev"]).value_or(0) / kNsPerS;
  const double doubt = std::min(0.9, kNinetyPercent * spread / latency / std::sqrt(count));
  plan::KnownLevel level;
  // A closed loop states it; else by Little's law.
  const Json& load = summary["run_config"]["load_pattern"];
  level.in_flight = number(load["target_concurrency"]).value_or(qps * latency);
  level.qps = {qps / (1 + doubt), qps, qps / (1 - doubt)};
  level.prompt_tokens = number(summary["input_sequence_lengths"]["avg"]);
  level.output_tokens = number(summary["output_sequence_lengths"]["avg"]);
  return level;
}

std::optional<plan::KnownLevel> simulated_level(const Json& point) {
  const double qps = number(point["qps"]).value_or(0);
  const double in_flight = number(point["in_flight_mean"]).value_or(0);
  if (!(qps > 0) || !(in_flight > 0)) return std::nullopt;
  plan::KnownLevel level{.in_flight = in_flight, .qps = {qps, qps, qps}};
  const Json& interval = point["interval"]["system_tps"];
  const double tps = number(point["system_tps"]).value_or(0);
  if (interval.is_array() && interval.size() == 2 && tps > 0) {
    level.qps.low = std::min(qps, qps * interval[0].as_double() / tps);
    level.qps.high = std::max(qps, qps * interval[1].as_double() / tps);
  }
  if (!(level.qps.low > 0)) return std::nullopt;
  level.prompt_tokens = number(point["isl_mean"]);
  level.output_tokens = number(point["osl_mean"]);
  return level;
}

Result<Json> parsed(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  auto json = Json::parse(text);
  if (!json) return invalid(format("--from: '{}': {}", file.string(), json.error().message));
  return json;
}

Result<void> add_run(const std::filesystem::path& folder, KnownSystem& known) {
  ASSIGN_OR_RETURN(const Json summary, parsed(folder / "performance" / "result_summary.json"));
  if (auto level = measured_level(summary)) known.levels.push_back(*level);
  return {};
}

Result<void> add_curve(const std::filesystem::path& from, KnownSystem& known) {
  ASSIGN_OR_RETURN(const CurveView view, CurveView::open(from));
  const CurveFolder& curve = view.curve();
  for (std::size_t i = 0; i < curve.points().size(); ++i) {
    if (curve.points()[i].finished) TRY(add_run(curve.point_folder(i), known));
  }
  return {};
}

Result<void> add_simulated(const std::filesystem::path& from, KnownSystem& known) {
  ASSIGN_OR_RETURN(const Json json, parsed(from));
  if (json["kind"] != Json("simulated") || !json["points"].is_array()) {
    return invalid(format("--from: '{}' is not a result of assay simulate --json", from.string()));
  }
  known.simulated = true;
  for (const Json& point : json["points"].items()) {
    if (auto level = simulated_level(point)) known.levels.push_back(*level);
  }
  return {};
}

// "1,400 (1,200–1,600)"; without a range that says nothing.
std::string range_text(const plan::Range& range, std::string (*text)(double)) {
  const std::string low = text(range.low);
  const std::string likely = text(range.likely);
  const std::string high = text(range.high);
  return low == high ? likely : format("{} ({}–{})", likely, low, high);
}

std::string whole(double value) {
  constexpr double kMost = 9e18;
  return with_thousands(static_cast<std::int64_t>(std::min(kMost, std::round(value))));
}
std::string forecast_time(double seconds) {
  constexpr double kMost = 9e9;
  constexpr double kMinute = 60;
  const Duration time = Duration::from_seconds(std::min(kMost, seconds));
  return seconds < kMinute ? human_duration(time) : report::clock_text(time);
}
std::string digits(double value) { return three_digits(value); }

// A longer text keeps its distance from the next one.
std::string cell(std::string_view text, std::size_t columns) {
  return pad_right(std::string(text) + " ", columns);
}

std::string row(std::string_view name, std::string_view in_flight, std::string_view queries,
                std::string_view time) {
  std::string out = "  " + cell(name, 24) + pad_left(in_flight, 10) + "  " + cell(queries, 26) +
                    std::string(time);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

// "1,000 queries", "at least 600 s", as the stop rule has it.
std::string length_text(const PhasePlan& phase) {
  const StopRule& stop = phase.stop;
  if (phase.replay) return format("{} conversations", phase.conversations.size());
  std::string out;
  const auto say = [&out](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  if (stop.queries_min > 0 && stop.queries_min == stop.queries_max) {
    say(count_text(stop.queries_min) + " queries");
  } else if (stop.queries_min > 1) {
    say("at least " + count_text(stop.queries_min) + " queries");
  }
  if (stop.duration_min > Duration{}) {
    say("at least " + report::clock_text(stop.duration_min));
  }
  if (stop.pass > 1) say(format("whole passes of {}", count_text(stop.pass)));
  if (stop.duration_max < Duration::max()) {
    say("at most " + report::clock_text(stop.duration_max));
  }
  return out;
}

std::string load_text(const PhasePlan& phase) {
  if (phase.open_loop && !phase.arrivals.empty() && phase.arrivals.back() == Duration{}) {
    return "all at once";
  }
  if (phase.open_loop) return "by rate";
  if (!phase.loops.empty()) {
    return format("{} users{}", count_text(users_of(phase)),
                  phase.arrivals.empty() ? "" : ", by rate");
  }
  const std::uint32_t most = phase.limits.back().in_flight_max;
  return format("{} in flight", count_text(most));
}

std::string levels_text(const KnownSystem& known) {
  std::string out;
  constexpr std::size_t kShown = 6;
  for (std::size_t i = 0; i < std::min(kShown, known.levels.size()); ++i) {
    const plan::KnownLevel& level = known.levels[i];
    out += format("{}{} in flight: {} a second", i == 0 ? "" : ", ", digits(level.in_flight),
                  digits(level.qps.likely));
  }
  if (known.levels.size() > kShown) out += format(", {} more", known.levels.size() - kShown);
  return out;
}

}  // namespace

Result<KnownSystem> known_system(const std::filesystem::path& from) {
  KnownSystem known{.from = from.string()};
  if (!std::filesystem::is_directory(from)) {
    TRY(add_simulated(from, known));
  } else if (CurveView::is_curve(from)) {
    TRY(add_curve(from, known));
  } else if (std::filesystem::exists(from / "performance" / "result_summary.json")) {
    TRY(add_run(from, known));
  } else {
    return invalid(
        format("--from: '{}' holds no run and no curve (no performance/result_summary.json, no "
               "curve.json)",
               from.string()));
  }
  if (known.levels.empty()) {
    return invalid(format("--from: in '{}' no query was answered, so nothing is known of the time",
                          from.string()));
  }
  std::ranges::sort(known.levels, {}, &plan::KnownLevel::in_flight);
  return known;
}

Result<plan::Forecast> forecast_curve(const PreparedCurve& prepared, const KnownSystem& known) {
  const plan::CurvePlan& curve = prepared.settings.plan;
  if (curve.points.empty()) {
    return invalid(
        "--from: the points follow from C_max, which is to be found; give --max-concurrency or "
        "--concurrency");
  }
  plan::Forecast out;
  for (const plan::CurvePoint& point : curve.points) {
    const double in_flight = static_cast<double>(std::max<std::int64_t>(1, point.concurrency));
    const double rate = plan::rate_at(known.levels, in_flight).likely;
    ASSIGN_OR_RETURN(const plan::PointPlan planned,
                     plan::plan_point(prepared.config, prepared.datasets, curve, point, rate));
    ASSIGN_OR_RETURN(plan::Forecast one,
                     plan::forecast(planned.bundle.plan, planned.bundle.run_max, known.levels));
    out.add(std::move(one), point.name);
  }
  return out;
}

std::string plan_text(const plan::PlanBundle& bundle) {
  std::string out;
  for (const PhasePlan& phase : bundle.plan.phases) {
    out += "  " + cell(phase.name, 18) + cell(load_text(phase), 18) + length_text(phase) + "\n";
  }
  return out + format("  {}{}\n", pad_right("digest", 18), plan::plan_digest(bundle));
}

Json plan_json(const plan::PlanBundle& bundle) {
  Json phases = Json::array();
  for (const PhasePlan& phase : bundle.plan.phases) {
    phases.push_back(Json::object()
                         .set("name", phase.name)
                         .set("kind", to_string(phase.kind))
                         .set("load", load_text(phase))
                         .set("length", length_text(phase)));
  }
  return Json::object()
      .set("phases", std::move(phases))
      .set("plan_digest", plan::plan_digest(bundle));
}

std::string forecast_text(const plan::Forecast& forecast, const plan::ForecastCost& cost,
                          const KnownSystem& known, const report::TerminalStyle& style) {
  std::string out =
      wrap(format("by {} {}: {}", known.simulated ? "the serving model's" : "the measurements in",
                  known.from, levels_text(known)),
           style.columns, "  ");
  out = out.substr(0, out.find_last_not_of('\n') + 1) + "\n\n";
  out += report::paint(style, report::Ink::faint, row("phase", "in flight", "queries", "time"));
  for (const plan::PhaseForecast& phase : forecast.phases) {
    out += row(phase.name, phase.in_flight > 0 ? whole(phase.in_flight) : "by rate",
               range_text(phase.queries, whole), range_text(phase.seconds, forecast_time));
  }
  out += row("in all", "", range_text(forecast.queries, whole),
             range_text(forecast.seconds, forecast_time));
  out += "\n";
  const auto line = [&out](std::string_view name, std::string_view value) {
    out += "  " + pad_right(name, 18) + std::string(value) + "\n";
  };
  if (forecast.prompt_tokens) line("prompt tokens", range_text(*forecast.prompt_tokens, whole));
  if (forecast.output_tokens) line("reply tokens", range_text(*forecast.output_tokens, whole));
  if (cost.tokens) line("cost of tokens", range_text(*cost.tokens, digits));
  if (cost.card_hours) line("accelerator-hours", range_text(*cost.card_hours, digits));
  if (cost.cards) line("their cost", range_text(*cost.cards, digits));
  for (const std::string& note : forecast.notes) {
    out += report::paint(style, report::Ink::warning, "  note: ") + note + "\n";
  }
  return out;
}

}  // namespace assay::campaign
