// plan_curve: which points a curve needs, before anything is measured. Pure: a highest concurrency
// and a number of rows in, the list of points out.
//
// What the rules ask of a curve of single turns (edition v1.0): a point at most 32 wide (Ultra
// Low), one in each of the three regions between C_min and C_max (rulebook/regions.h), three more
// that the submitter chooses, and Offline: a run of its own in which the whole dataset is asked at
// once (dedicated), or the point at C_max taken for it (elected). 8 points, or 7 with an elected
// one; 32 at most. Accuracy is asked at exactly one point of each region and at Offline. A point
// can be withdrawn later and never replaced, and the lowest one moves every region, so a plan has
// spare points until any one may go and the rest still is a curve.
//
// A point lasts until it has issued so many whole passes over the dataset (super-passes) that four
// are left when the ramp is cropped, and until its region's least time has passed in them.
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
// With the pass in which the ramp is cropped.
inline constexpr std::uint64_t kPassesMin = kSuperPassesMin + 1;

struct CurveWish {
  std::int64_t c_max = 0;
  std::int64_t c_min = 1;              // the lowest level, at most 32
  std::vector<std::int64_t> levels{};  // exactly these instead of the rules' regions
  std::uint32_t spare = 1;             // further points in each region
  std::optional<Offline> offline{};    // nullopt: dedicated where the dataset has more rows
  bool accuracy = true;                // there is something to ask accuracy with
  bool quick = false;                  // seconds in place of minutes; not official
  std::uint64_t rows = 0;              // of the performance dataset

  Json to_json() const;
  static CurveWish from_json(const Json& json);
};

struct CurvePoint {
  std::string name{};  // "r64", as its folder in a submission
  std::int64_t concurrency = 0;
  std::optional<rulebook::Region>
      region{};         // computed; none for a dedicated Offline and outside the regions
  bool choice = false;  // the submitter's: declared as such, without accuracy
  Offline offline = Offline::none;
  bool accuracy = false;
  Duration window_min{};                // the rules' least time in steady state
  std::uint64_t passes_min = 1;         // whole passes over the dataset
  Duration time_max = Duration::max();  // of issuing; quick runs only

  // As point.yaml declares it.
  std::string_view declared_region() const;
};

struct CurvePlan {
  std::int64_t c_max = 0;
  std::int64_t c_min = 0;
  std::uint64_t rows = 0;
  bool quick = false;
  bool official = true;  // has the points that the rules ask for, at their full length
  // In the order in which they are measured. None while C_max is still 0: to be found.
  std::vector<CurvePoint> points{};
  std::vector<std::string> notes{};

  Json to_json() const;
  static Result<CurvePlan> from_json(const Json& json);
};

Result<CurvePlan> plan_curve(const CurveWish& wish);
// The plan of a curve whose C_max is to be found first (c_max_search.h): without points.
Result<CurvePlan> plan_search(const CurveWish& wish);

// What the rules miss in a curve of these levels, in plain words; empty when nothing is missing.
std::vector<std::string> missing_points(const std::vector<std::int64_t>& levels, std::int64_t c_max,
                                        Offline offline);

// The least time that issuing at this point takes: the window, and the pass that may be cropped
// before it. With `rate` (queries a second, 0: not known) the passes count as well.
Duration least_time(const CurvePoint& point, std::uint64_t rows, double rate);

}  // namespace assay::plan
