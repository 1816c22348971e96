#include "plan/curve_plan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"

namespace assay::plan {
namespace {

constexpr Duration kUltraLowTime = 600_s;
constexpr Duration kRegionTime = 1200_s;
// Quick curves: the divisor of the times above, and the longest time of a point.
constexpr std::int64_t kQuickShare = 200;
constexpr Duration kQuickMax = 30_s;

constexpr std::array<rulebook::Region, 3> kConcurrencyRegions{rulebook::Region::low_concurrency,
                                                              rulebook::Region::med_concurrency,
                                                              rulebook::Region::high_concurrency};
constexpr std::size_t kPointsMin = 7;  // without a dedicated Offline
constexpr std::int64_t kChoices = 3;

std::string_view spoken(rulebook::Region region) {
  switch (region) {
    case rulebook::Region::low_concurrency:
      return "Low";
    case rulebook::Region::med_concurrency:
      return "Medium";
    case rulebook::Region::high_concurrency:
      return "High";
    default:
      return "Ultra Low";
  }
}

std::int64_t size_of(const rulebook::Band& band) {
  return band.empty() ? 0 : band.last - band.first + 1;
}

// Returns `count` levels of a band, at equal ratios. `with_last`: the band's end is one of them.
std::vector<std::int64_t> spread(const rulebook::Band& band, std::int64_t count, bool with_last) {
  std::vector<std::int64_t> out;
  count = std::min(count, size_of(band));
  const double ratio = static_cast<double>(band.last) / static_cast<double>(band.first);
  for (std::int64_t i = 0; i < count; ++i) {
    const double share =
        (static_cast<double>(i) + (with_last ? 1.0 : 0.5)) / static_cast<double>(count);
    const auto level = static_cast<std::int64_t>(
        std::llround(static_cast<double>(band.first) * std::pow(ratio, share)));
    // Levels are distinct and leave room for those that follow.
    const std::int64_t least = out.empty() ? band.first : out.back() + 1;
    out.push_back(std::clamp(level, least, band.last - (count - 1 - i)));
  }
  return out;
}

// Returns the number of points in each region. A region with too little room gives its share to a
// higher one, and the surplus of the highest goes back down.
std::array<std::int64_t, 3> shares(const rulebook::Regions& regions, std::uint32_t spare) {
  std::array<std::int64_t, 3> out{};
  std::int64_t left = 3 + kChoices + 3 * std::int64_t{spare};
  const std::int64_t each = left / 3;
  for (std::size_t i = 0; i < 3; ++i) {
    out[i] = std::min(each, size_of(regions[kConcurrencyRegions[i]]));
    left -= out[i];
  }
  for (std::size_t i = 3; i-- > 0;) {
    const std::int64_t more = std::min(left, size_of(regions[kConcurrencyRegions[i]]) - out[i]);
    out[i] += more;
    left -= more;
  }
  return out;
}

CurvePoint point_at(std::int64_t concurrency, const rulebook::Regions* regions, bool quick) {
  CurvePoint point{.name = format("r{}", concurrency), .concurrency = concurrency};
  if (regions != nullptr) point.region = regions->region_of(concurrency);
  // The level decides, not the region: C_min may be below it.
  point.window_min = concurrency <= rulebook::kUltraLowMax ? kUltraLowTime : kRegionTime;
  point.passes_min = kPassesMin;
  if (quick) {
    point.window_min = point.window_min / kQuickShare;
    point.time_max = kQuickMax;
  }
  return point;
}

Result<void> check_wish(const CurveWish& wish) {
  if (wish.rows == 0) return invalid("the performance dataset has no rows");
  for (const std::int64_t level : wish.levels) {
    if (level < 1 || level > rulebook::kConcurrencyMax) {
      return invalid(
          format("--concurrency: must be 1..{}, is {}", rulebook::kConcurrencyMax, level));
    }
  }
  return {};
}

// A dedicated Offline has all the dataset's rows in flight; no other point may have that level.
Result<Offline> choose_offline(const CurveWish& wish, CurvePlan& plan) {
  const auto rows = static_cast<std::int64_t>(wish.rows);
  if (!wish.offline && !wish.levels.empty()) return Offline::none;
  if (!wish.offline) {
    if (rows > wish.c_max) return Offline::dedicated;
    plan.notes.push_back(
        format("the dataset has {} rows and C_max is {}: Offline cannot be a run of its own with "
               "all rows in flight, so the point at C_max is elected",
               with_thousands(rows), with_thousands(wish.c_max)));
    return Offline::elected;
  }
  if (*wish.offline == Offline::dedicated && rows <= wish.c_max) {
    return invalid(
        format("--offline dedicated: asks all rows of the dataset at once, and its {} are not more "
               "than C_max, {}; elect the point at C_max (--offline elected) or take a longer "
               "dataset",
               with_thousands(rows), with_thousands(wish.c_max)));
  }
  return *wish.offline;
}

// One point of each region is the region's, and asks accuracy; the others are a choice.
void share_out(std::vector<CurvePoint>& points, bool elected) {
  std::array<bool, rulebook::kRegions.size()> seen{};
  for (CurvePoint& point : points) {
    if (!point.region || *point.region == rulebook::Region::margin) {
      point.choice = true;
      continue;
    }
    // In High it is the point at C_max, which may be Offline as well.
    const bool last = &point == &points.back();
    const bool high = *point.region == rulebook::Region::high_concurrency;
    bool& taken = seen[static_cast<std::size_t>(*point.region)];
    point.choice = taken || (high && !last);
    taken = taken || !point.choice;
    point.accuracy = !point.choice;
  }
  if (elected) points.back().offline = Offline::elected;
}

Result<std::vector<std::int64_t>> rule_levels(const CurveWish& wish) {
  const auto made = rulebook::Regions::make(wish.c_max, wish.c_min);
  if (!made && wish.c_max <= rulebook::kUltraLowMax) {
    return invalid(format(
        "{}; for a smaller system name the levels: assay curve --concurrency "
        "1,4,{}",
        made.error().message, std::clamp<std::int64_t>(wish.c_max, 8, rulebook::kUltraLowMax)));
  }
  ASSIGN_OR_RETURN(const rulebook::Regions regions, made);
  std::vector<std::int64_t> levels{wish.c_min};
  const std::array<std::int64_t, 3> counts = shares(regions, wish.spare);
  for (std::size_t i = 0; i < 3; ++i) {
    const rulebook::Region region = kConcurrencyRegions[i];
    const bool with_last = region == rulebook::Region::high_concurrency;
    for (const std::int64_t level : spread(regions[region], counts[i], with_last)) {
      levels.push_back(level);
    }
  }
  return levels;
}

// Notes which single points the curve cannot lose.
void note_withdrawals(const std::vector<std::int64_t>& levels, Offline offline, CurvePlan& plan) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    std::vector<std::int64_t> rest = levels;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    // Without the point at C_max there is no elected Offline: no note is needed.
    if (offline == Offline::elected && levels[i] == plan.c_max) continue;
    const std::vector<std::string> missing = missing_points(rest, plan.c_max, offline);
    if (missing.empty()) continue;
    notes.push_back(format("should r{} be withdrawn, {} (--spare)", levels[i], missing.front()));
  }
  if (notes.size() > 2) {
    notes = {
        "there are no spare points: should one be withdrawn, it is not a curve any more (--spare)"};
  }
  plan.notes.insert(plan.notes.end(), notes.begin(), notes.end());
}

}  // namespace

std::string_view to_string(Offline offline) { return enum_name(offline); }

std::optional<Offline> offline_named(std::string_view name) { return enum_named<Offline>(name); }

std::string_view CurvePoint::declared_region() const {
  return choice || !region ? "submitters_choice" : to_string(*region);
}

std::vector<std::string> missing_points(const std::vector<std::int64_t>& levels, std::int64_t c_max,
                                        Offline offline) {
  if (levels.empty()) return {"there is no point"};
  std::vector<std::string> out;
  const std::size_t all = levels.size() + (offline == Offline::dedicated ? 1 : 0);
  const std::size_t wanted = kPointsMin + (offline == Offline::dedicated ? 1 : 0);
  if (all < wanted) out.push_back(format("there are {} points of {}", all, wanted));
  if (all > kCurvePointsMax) {
    out.push_back(format("there are {} points, and {} are allowed", all, kCurvePointsMax));
  }
  if (offline == Offline::none) out.emplace_back("there is no Offline point");
  const std::int64_t lowest = *std::min_element(levels.begin(), levels.end());
  if (lowest > rulebook::kUltraLowMax) {
    out.push_back(
        format("there is no Ultra Low point: none is at most {}", rulebook::kUltraLowMax));
  }
  if (offline == Offline::elected && std::ranges::find(levels, c_max) == levels.end()) {
    out.push_back(format("Offline is elected and there is no point at C_max, {}", c_max));
  }
  const auto regions = rulebook::Regions::make(c_max, std::min(lowest, rulebook::kUltraLowMax));
  if (!regions) {
    out.push_back(regions.error().message);
    return out;
  }
  for (const rulebook::Region region : kConcurrencyRegions) {
    const rulebook::Band& band = (*regions)[region];
    if (std::ranges::any_of(levels, [&](std::int64_t level) { return band.has(level); })) continue;
    out.push_back(format("there is no {} point ({} to {})", spoken(region), band.first, band.last));
  }
  return out;
}

Result<CurvePlan> plan_curve(const CurveWish& wish) {
  TRY(check_wish(wish));
  CurvePlan plan{.c_max = wish.c_max, .c_min = wish.c_min, .rows = wish.rows};
  plan.quick = wish.quick;
  std::vector<std::int64_t> levels = wish.levels;
  if (levels.empty()) {
    ASSIGN_OR_RETURN(levels, rule_levels(wish));
  } else {
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    if (plan.c_max == 0) plan.c_max = levels.back();
  }
  plan.c_min = std::min(levels.front(), rulebook::kUltraLowMax);
  CurveWish known = wish;
  known.c_max = plan.c_max;
  ASSIGN_OR_RETURN(const Offline offline, choose_offline(known, plan));
  if (offline == Offline::elected && levels.back() != plan.c_max) {
    return invalid(
        format("--offline elected: takes the point at C_max for Offline, and the highest level is "
               "{} where C_max is {}",
               levels.back(), plan.c_max));
  }
  const auto regions = rulebook::Regions::make(plan.c_max, plan.c_min);
  for (const std::int64_t level : levels) {
    plan.points.push_back(point_at(level, regions ? &*regions : nullptr, wish.quick));
  }
  share_out(plan.points, offline == Offline::elected);
  if (offline == Offline::dedicated) {
    CurvePoint point = point_at(static_cast<std::int64_t>(wish.rows), nullptr, wish.quick);
    point.offline = offline;
    point.choice = true;
    point.accuracy = true;
    point.passes_min = 1;
    point.window_min = {};
    point.time_max = Duration::max();
    plan.points.push_back(std::move(point));
  }
  if (!wish.accuracy) {
    for (CurvePoint& point : plan.points) point.accuracy = false;
  }
  const std::vector<std::string> missing = missing_points(levels, plan.c_max, offline);
  for (const std::string& what : missing) plan.notes.push_back(what + ": not a curve by the rules");
  if (missing.empty()) note_withdrawals(levels, offline, plan);
  plan.official = missing.empty() && !wish.quick;
  if (wish.quick) plan.notes.emplace_back("quick: seconds in place of minutes; not official");
  return plan;
}

Result<CurvePlan> plan_search(const CurveWish& wish) {
  TRY(check_wish(wish));
  if (wish.c_min < 1 || wish.c_min > rulebook::kUltraLowMax) {
    return invalid(
        format("--min-concurrency: must be 1..{}, is {}", rulebook::kUltraLowMax, wish.c_min));
  }
  CurvePlan plan{.c_max = 0, .c_min = wish.c_min, .rows = wish.rows};
  plan.quick = wish.quick;
  plan.official = !wish.quick;
  return plan;
}

Json CurveWish::to_json() const {
  Json out;
  out.set("c_min", c_min)
      .set("spare", spare)
      .set("offline", offline ? Json(to_string(*offline)) : Json())
      .set("accuracy", accuracy)
      .set("quick", quick)
      .set("rows", rows);
  return out;
}

CurveWish CurveWish::from_json(const Json& json) {
  CurveWish out{.c_min = json["c_min"].as_int(1)};
  out.spare = static_cast<std::uint32_t>(std::min<std::uint64_t>(json["spare"].as_uint(), 32));
  out.offline = offline_named(json["offline"].as_string());
  out.accuracy = json["accuracy"].as_bool();
  out.quick = json["quick"].as_bool();
  out.rows = json["rows"].as_uint();
  return out;
}

Duration least_time(const CurvePoint& point, std::uint64_t rows, double rate) {
  // One of k passes may be cropped. If it is one of five, 1.25 times the window still leaves the
  // window. If the rate is known, one pass is added.
  Duration pass = point.window_min / 4;
  Duration passes{};
  if (rate > 0) {
    const double seconds = std::min(1e8, static_cast<double>(rows) / rate);
    pass = std::min(pass, Duration::from_seconds(1.1 * seconds));
    passes = Duration::from_seconds(seconds * static_cast<double>(point.passes_min));
  }
  return std::min(point.time_max, std::max(point.window_min + pass, passes));
}

Json CurvePlan::to_json() const {
  Json list = Json::array();
  for (const CurvePoint& point : points) {
    Json one;
    one.set("name", point.name)
        .set("concurrency", point.concurrency)
        .set("region", point.region ? Json(rulebook::to_string(*point.region)) : Json())
        .set("declared_region", point.declared_region())
        .set("choice", point.choice)
        .set("offline", to_string(point.offline))
        .set("accuracy", point.accuracy)
        .set("window_min_s", point.window_min.seconds())
        .set("passes_min", point.passes_min);
    if (point.time_max != Duration::max()) one.set("time_max_s", point.time_max.seconds());
    list.push_back(std::move(one));
  }
  return Json()
      .set("c_max", c_max)
      .set("c_min", c_min)
      .set("rows", rows)
      .set("quick", quick)
      .set("official", official)
      .set("points", std::move(list))
      .set("notes", json_list(notes));
}

Result<CurvePlan> CurvePlan::from_json(const Json& json) {
  CurvePlan plan{.c_max = json["c_max"].as_int(), .c_min = json["c_min"].as_int()};
  plan.rows = json["rows"].as_uint();
  plan.quick = json["quick"].as_bool();
  plan.official = json["official"].as_bool();
  for (const Json& from : json["points"].items()) {
    CurvePoint point{.name = std::string(from["name"].as_string()),
                     .concurrency = from["concurrency"].as_int()};
    point.region = rulebook::region_named(from["region"].as_string());
    point.choice = from["choice"].as_bool();
    const auto offline = offline_named(from["offline"].as_string());
    if (point.name != format("r{}", point.concurrency) || point.concurrency < 1 || !offline) {
      return invalid(format("points: '{}': not a point of a curve's plan", point.name));
    }
    point.offline = *offline;
    point.accuracy = from["accuracy"].as_bool();
    point.window_min = Duration::from_seconds(from["window_min_s"].as_double());
    point.passes_min = from["passes_min"].as_uint(1);
    if (const Json* const time = from.find("time_max_s")) {
      point.time_max = Duration::from_seconds(time->as_double());
    }
    plan.points.push_back(std::move(point));
  }
  if ((plan.points.empty() && plan.c_max > 0) || plan.rows == 0) {
    return invalid("points: there is none");
  }
  for (const Json& note : json["notes"].items()) plan.notes.emplace_back(note.as_string());
  return plan;
}

}  // namespace assay::plan
