// plan_curve: which points a curve needs, before any measurement. Pure: it takes a highest
// concurrency and a number of rows and returns the list of points.
//
// The rules for a curve of single turns (edition v1.0): one point with at most 32 in flight (Ultra
// Low), one in each of the three regions between C_min and C_max (rulebook/regions.h), three that
// the submitter chooses, and Offline: a run of its own that asks the whole dataset at once
// (dedicated), or the point at C_max in its place (elected). 8 points, or 7 with an elected
// Offline; 32 at most. Accuracy is asked at exactly one point of each region and at Offline. A
// withdrawn point cannot be replaced, and without the lowest one every region moves. So a plan has
// spare points: the rest is still a curve after any one point goes.
//
// A point lasts until four whole passes over the dataset (super-passes) remain after the ramp is
// cropped, and until these have taken its region's least time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "rulebook/regions.h"

namespace assay::plan {

enum class Offline : std::uint8_t { none, dedicated, elected };
std::string_view to_string(Offline offline);
std::optional<Offline> offline_named(std::string_view name);

inline constexpr std::size_t kCurvePointsMax = 32;
inline constexpr std::uint64_t kSuperPassesMin = 4;
// Includes the pass in which the ramp is cropped.
inline constexpr std::uint64_t kPassesMin = kSuperPassesMin + 1;

struct CurveWish {
  std::int64_t c_max = 0;
  std::int64_t c_min = 1;              // the lowest level, at most 32
  std::vector<std::int64_t> levels{};  // replace the levels of the rules' regions
  std::uint32_t spare = 1;             // extra points in each region
  std::optional<Offline> offline{};    // nullopt: dedicated if the dataset has more rows
  bool accuracy = true;                // a dataset or scorer for accuracy exists
  bool quick = false;                  // seconds in place of minutes; not official
  std::uint64_t rows = 0;              // of the performance dataset

  Json to_json() const;
  static CurveWish from_json(const Json& json);
};

struct CurvePoint {
  std::string name{};  // "r64", its folder's name in a submission
  std::int64_t concurrency = 0;
  std::optional<rulebook::Region>
      region{};         // computed; none for a dedicated Offline and outside the regions
  bool choice = false;  // chosen by the submitter, declared so, without accuracy
  Offline offline = Offline::none;
  bool accuracy = false;
  Duration window_min{};                // least time in steady state, by the rules
  std::uint64_t passes_min = 1;         // whole passes over the dataset
  Duration time_max = Duration::max();  // for issuing; quick runs only

  // The region's name in point.yaml.
  std::string_view declared_region() const;
};

struct CurvePlan {
  std::int64_t c_max = 0;
  std::int64_t c_min = 0;
  std::uint64_t rows = 0;
  bool quick = false;
  bool official = true;  // has all points that the rules ask for, at full length
  // Points in the order of measurement. Empty while C_max is 0, that is, not yet found.
  std::vector<CurvePoint> points{};
  std::vector<std::string> notes{};

  Json to_json() const;
  static Result<CurvePlan> from_json(const Json& json);
};

Result<CurvePlan> plan_curve(const CurveWish& wish);
// Plans a curve whose C_max must be found first (c_max_search.h): without points.
Result<CurvePlan> plan_search(const CurveWish& wish);

// What a curve with these levels lacks by the rules, as sentences; empty: nothing.
std::vector<std::string> missing_points(const std::vector<std::int64_t>& levels, std::int64_t c_max,
                                        Offline offline);

// Returns the least time to issue this point's queries: the window, and the pass before it that may
// be cropped. With `rate` (queries a second, 0: not known) the passes count as well.
Duration least_time(const CurvePoint& point, std::uint64_t rows, double rate);

}  // namespace assay::plan
