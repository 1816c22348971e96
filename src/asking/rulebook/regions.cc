#include "rulebook/regions.h"

#include <cmath>

#include "base/enum_name.h"
#include "base/format.h"

namespace assay::rulebook {
namespace {

// Rounds to the nearest integer, halves to the even one.
std::int64_t half_even(double value) {
  const double below = std::floor(value);
  const double rest = value - below;
  const bool odd = std::fmod(below, 2.0) != 0;
  return static_cast<std::int64_t>(rest > 0.5 || (rest == 0.5 && odd) ? below + 1 : below);
}

}  // namespace

std::string_view to_string(Region region) { return enum_name(region); }

std::optional<Region> region_named(std::string_view name) { return enum_named<Region>(name); }

Result<Regions> Regions::make(std::int64_t c_max, std::int64_t c_min) {
  if (c_min < 1 || c_min > kUltraLowMax) {
    return invalid(format("C_min: must be 1..{}, is {}", kUltraLowMax, c_min));
  }
  if (c_max <= kUltraLowMax || c_max > kConcurrencyMax) {
    return invalid(format("C_max: must be {}..{}, is {}: the three regions lie above {} users",
                          kUltraLowMax + 1, kConcurrencyMax, c_max, kUltraLowMax));
  }
  const double width = std::log2(static_cast<double>(c_max - c_min)) / 3;
  const auto low = static_cast<double>(c_min);
  const std::int64_t low_end = half_even(low + std::pow(2.0, width));
  const std::int64_t med_end = half_even(low + std::pow(2.0, 2 * width));
  const auto margin_end = static_cast<std::int64_t>(std::ceil(1.10 * static_cast<double>(c_max)));

  Regions regions;
  regions.c_max_ = c_max;
  regions.c_min_ = c_min;
  regions.bands_ = {Band{1, c_min}, Band{c_min + 1, low_end}, Band{low_end + 1, med_end},
                    Band{med_end + 1, c_max}, Band{c_max + 1, margin_end}};
  return regions;
}

std::optional<Region> Regions::region_of(std::int64_t concurrency) const {
  for (const Region region : kRegions) {
    if ((*this)[region].has(concurrency)) return region;
  }
  return std::nullopt;
}

Json Regions::to_json() const {
  Json list = Json::array();
  for (const Region region : kRegions) {
    const Band& band = (*this)[region];
    list.push_back(Json()
                       .set("region", to_string(region))
                       .set("first", band.first)
                       .set("last", band.last)
                       .set("empty", band.empty()));
  }
  return Json().set("c_max", c_max_).set("c_min", c_min_).set("regions", std::move(list));
}

}  // namespace assay::rulebook
