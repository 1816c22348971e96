// Regions: the parts of a curve's range of concurrency, so that points are spread over all of it.
//
// C_max is declared by the system (max_supported_concurrency). C_min is the lowest concurrency of
// the curve, at most 32. On the scale log2(concurrency − C_min) the three concurrency regions are
// equally wide:
//
//     I       = log2(C_max − C_min) / 3
//     low end = round(C_min + 2^I)      med end = round(C_min + 2^(2 I))
//
// Ends round half to even. The margin ends at ceil(1.10 · C_max) in double arithmetic. 1.10 is not
// exact there, so the end is 1 above the exact product for 925 values of 33..19999 (50 gives 56,
// 100 gives 111). The rules' own program computes so, and every checker must get the same integers.
// Source: MLPerf Endpoints rules v1.0, regions.
//
// An Ultra Low Concurrency point is one in 1..32, not one in low_latency. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace assay::rulebook {

constexpr std::int64_t kUltraLowMax = 32;
constexpr std::int64_t kConcurrencyMax = 1'000'000'000;

// In ascending order, with the spelling in files.
enum class Region : std::uint8_t {
  low_latency,
  low_concurrency,
  med_concurrency,
  high_concurrency,
  margin,
};
constexpr std::array<Region, 5> kRegions{Region::low_latency, Region::low_concurrency,
                                         Region::med_concurrency, Region::high_concurrency,
                                         Region::margin};

std::string_view to_string(Region region);
std::optional<Region> region_named(std::string_view name);

// A band includes both ends. Rounding may leave one empty: last < first.
struct Band {
  std::int64_t first = 1;
  std::int64_t last = 0;

  bool empty() const { return last < first; }
  bool has(std::int64_t concurrency) const { return first <= concurrency && concurrency <= last; }
  bool operator==(const Band&) const = default;
};

class Regions {
 public:
  // Fails unless 1 <= c_min <= 32 < c_max <= kConcurrencyMax.
  static Result<Regions> make(std::int64_t c_max, std::int64_t c_min);

  std::int64_t c_max() const { return c_max_; }
  std::int64_t c_min() const { return c_min_; }
  const Band& operator[](Region region) const { return bands_[static_cast<std::size_t>(region)]; }
  // Returns the first band that has it; nullopt beyond the margin.
  std::optional<Region> region_of(std::int64_t concurrency) const;

  // {"c_max":…,"c_min":…,"regions":[{"region":"low_latency","first":1,"last":…},…]}
  Json to_json() const;

 private:
  std::int64_t c_max_ = 0;
  std::int64_t c_min_ = 0;
  std::array<Band, 5> bands_{};
};

}  // namespace assay::rulebook
