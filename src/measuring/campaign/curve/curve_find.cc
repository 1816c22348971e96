#include "campaign/curve/curve_find.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "campaign/run_folder.h"
#include "decide/served.h"
#include "plan/c_max_search.h"
#include "plan/level_search.h"

namespace assay::campaign {
namespace {

constexpr std::int64_t kFirst = 8;

std::string step_text(const Json& step) {
  std::string rate = "no token counts";
  if (!step["system_tps"].is_null()) {
    rate = three_digits(step["system_tps"].as_double()) + " tok/s";
  } else if (!step["units_per_s"].is_null()) {
    rate =
        format("{} {}s/s", three_digits(step["units_per_s"].as_double()), step["unit"].as_string());
  }
  const std::string_view why = step["why"].as_string();
  return format("concurrency {:>6}  {:>16}  {}", with_thousands(step["concurrency"].as_int()), rate,
                step["good"].as_bool() ? "good"
                : why.empty()          ? "not good"
                                       : format("not good: {}", why));
}

bool is_whole_point(const metrics::Point& point) {
  return point.counts.failed == 0 && point.counts.completed > 0;
}

double rate_of(const metrics::Point& point) {
  if (point.rates.tps) return *point.rates.tps;
  return point.units.per_second.value_or(point.rates.qps);
}

// The same of a step that was measured before.
double rate_of(const Json& step) {
  for (const char* key : {"system_tps", "units_per_s"}) {
    if (step[key].is_number()) return step[key].as_double();
  }
  return step["qps"].as_double();
}

// `why` is empty for a good level.
Json step_of(std::int64_t level, const metrics::Point& point, bool good, const std::string& why) {
  Json out;
  out.set("concurrency", level)
      .set("system_tps", point.rates.tps ? Json(*point.rates.tps) : Json())
      .set("qps", point.rates.qps)
      .set("completed", point.counts.completed)
      .set("failed", point.counts.failed)
      .set("good", good);
  if (point.units.per_second) {
    out.set("unit", point.units.name).set("units_per_s", *point.units.per_second);
  }
  if (!why.empty()) out.set("why", why);
  return out;
}

// Why a level of a search for the most throughput is not good.
std::string gain_text(std::int64_t level, const metrics::Point& point, bool good) {
  if (good) return {};
  if (!is_whole_point(point)) return decide::broken_text({}, decide::level_of(level, point, {}));
  return format("throughput gained less than {:g} % for a doubling",
                (plan::kWorthwhileGain - 1) * 100);
}

Json found_json(std::int64_t good, std::int64_t bad, Json steps) {
  return Json()
      .set("good", good)
      .set("bad", bad > 0 ? Json(bad) : Json())
      .set("steps", std::move(steps));
}

// The measurements of a search. A full disk ends the search with the steps it has.
class Steps {
 public:
  Steps(const MeasureLevel& measure, const std::function<void(const std::string&)>& say)
      : measure_(measure), say_(say) {}

  // nullopt: the search must end.
  Result<std::optional<metrics::Point>> measure(std::int64_t level) {
    auto point = measure_(level);
    if (point) return std::optional(*std::move(point));
    if (point.error().code != Code::exhausted) return point.error();
    stopped_ = point.error().message;
    return std::optional<metrics::Point>();
  }
  void add(Json step) {
    say_(step_text(step));
    steps_.push_back(std::move(step));
  }
  Json found(std::int64_t good, std::int64_t bad) {
    Json out = found_json(good, bad, std::move(steps_));
    if (!stopped_.empty()) out.set("stopped", stopped_);
    return out;
  }

 private:
  const MeasureLevel& measure_;
  const std::function<void(const std::string&)>& say_;
  Json steps_ = Json::array();
  std::string stopped_{};
};

// Searches for the highest level that keeps the limits.
Result<Json> find_slo(const FindWish& wish, Steps& steps) {
  ASSIGN_OR_RETURN(const auto limits, decide::parse_limits(wish.slo));
  std::vector<decide::Level> levels;
  plan::LevelSearch search(std::min(kFirst, wish.most), wish.most, plan::kSearchTolerance);
  while (const auto level = search.next()) {
    ASSIGN_OR_RETURN(const auto point, steps.measure(*level));
    if (!point) break;
    levels.push_back(decide::level_of(*level, *point, limits));
    const bool good = decide::keeps(limits, levels.back());
    search.tell(*level, good);
    Json step = step_of(*level, *point, good, decide::broken_text(limits, levels.back()));
    for (const decide::Limit& limit : limits) {
      const auto figure = decide::figure_of(limit, *point);
      step.set(limit.text, figure ? Json(*figure) : Json());
    }
    steps.add(std::move(step));
  }
  Json out = steps.found(search.good(), search.bad());
  return out.set("served", decide::served_json(decide::served(std::move(levels), limits), limits));
}

Result<Json> find_most(const FindWish& wish, Steps& steps) {
  plan::CMaxSearch search(std::min(kFirst, wish.most), wish.most);
  while (const auto level = search.next()) {
    ASSIGN_OR_RETURN(const auto point, steps.measure(*level));
    if (!point) break;
    const bool good = search.tell(*level, rate_of(*point), is_whole_point(*point));
    steps.add(step_of(*level, *point, good, gain_text(*level, *point, good)));
  }
  return steps.found(search.good(), search.bad());
}

// Measures now, or reads the folder if a kill came between the level's end and the journal.
Result<metrics::Point> point_of_level(CurveFolder& curve, std::int64_t level,
                                      const MeasureInto& measure) {
  ASSIGN_OR_RETURN(const auto folder, curve.begin_search(level));
  if (folder) return measure(level, *folder);
  ASSIGN_OR_RETURN(LoadedRun run, load_run(curve.search_folder(level)));
  return std::move(run.point);
}

}  // namespace

Result<Json> find_level(const FindWish& wish, const MeasureLevel& measure,
                        const std::function<void(const std::string&)>& say) {
  Json out;
  out.set("find", wish.what).set("slo", wish.slo);
  Steps steps(measure, say);
  ASSIGN_OR_RETURN(const Json found,
                   wish.what == "slo" ? find_slo(wish, steps) : find_most(wish, steps));
  for (const auto& [key, value] : found.members()) out.set(key, value);
  return out;
}

Result<void> find_c_max(CurveFolder& curve, const MeasureInto& measure,
                        const std::function<void(const std::string&)>& say) {
  const CurveSearch search = *curve.settings().search;
  const plan::CurvePlan pending = curve.settings().plan;
  plan::CMaxSearch levels(search.range.least, search.range.most, search.range.least);
  Json steps = Json::array();
  const std::vector<Json> known = curve.searched();
  while (const auto level = levels.next()) {
    // The same answers give the same order of levels, so the journalled levels come first.
    const std::size_t at = steps.size();
    if (at < known.size() && known[at]["concurrency"].as_int() == *level) {
      const Json& step = known[at];
      levels.tell(*level, rate_of(step),
                  step["failed"].as_uint() == 0 && step["completed"].as_uint() > 0);
      steps.push_back(step);
      continue;
    }
    ASSIGN_OR_RETURN(const metrics::Point point, point_of_level(curve, *level, measure));
    const bool good = levels.tell(*level, rate_of(point), is_whole_point(point));
    steps.push_back(step_of(*level, point, good, gain_text(*level, point, good)));
    TRY(curve.end_search(steps[at]));
    say(step_text(steps[at]));
  }
  if (levels.good() == 0) {
    return Error{Code::refused,
                 format("C_max can't be found: queries fail at concurrency {}, the least that it "
                        "may be\n  see {} for what failed; --concurrency 1,4,16 measures lower "
                        "levels, as no curve by the rules",
                        search.range.least, curve.search_folder(search.range.least).string())};
  }
  plan::CurveWish wish = search.wish;
  wish.c_max = levels.good();
  ASSIGN_OR_RETURN(plan::CurvePlan plan, plan::plan_curve(wish));
  plan.official = plan.official && pending.official;
  plan.notes.insert(plan.notes.end(), pending.notes.begin(), pending.notes.end());
  if (levels.bad() == 0) {
    plan.notes.push_back(
        format("C_max {} is the most that was looked at; the system may take more "
               "(--max-concurrency)",
               with_thousands(levels.good())));
  }
  say(format("C_max is {}", with_thousands(levels.good())));
  return curve.decide(std::move(plan), found_json(levels.good(), levels.bad(), std::move(steps)));
}

std::string find_text(const Json& found) {
  const std::string good = with_thousands(found["good"].as_int());
  if (found["stopped"].is_string()) {
    return format("the search ended early, after {} levels: {}\n", found["steps"].size(),
                  found["good"].as_int() > 0 ? format("concurrency {} is good", good)
                                             : "none of them is good");
  }
  if (found["served"].is_object()) return format("{}\n", found["served"]["answer"].as_string());
  if (found["good"].as_int() == 0) {
    const Json& steps = found["steps"];
    return format(
        "no level is good, not even concurrency 1: {}\n",
        steps.size() == 0 ? "none was measured" : steps[steps.size() - 1]["why"].as_string());
  }
  if (found["bad"].is_null())
    return format("concurrency {} is good, and no higher was asked\n", good);
  return format("the boundary lies between concurrency {} (good) and {} (not)\n", good,
                with_thousands(found["bad"].as_int()));
}

}  // namespace assay::campaign
