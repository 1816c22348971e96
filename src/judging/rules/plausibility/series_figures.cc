#include "rules/plausibility/series_figures.h"

#include <algorithm>

#include "base/text.h"

namespace assay::rules {

std::optional<double> SeriesFigures::at(double percentile) const {
  for (const auto& [p, value] : percentiles) {
    if (p == percentile) return value;
  }
  return std::nullopt;
}

SeriesFigures series_figures(const Json& block) {
  const auto number = [](const Json& value) {
    return value.is_number() ? std::optional(value.as_double()) : std::nullopt;
  };
  SeriesFigures out{.min = number(block["min"]),
                    .max = number(block["max"]),
                    .avg = number(block["avg"]),
                    .total = number(block["total"])};
  for (const auto& [name, value] : block["percentiles"].members()) {
    const auto percentile = parse_double(name);
    if (percentile && value.is_number()) {
      out.percentiles.emplace_back(*percentile, value.as_double());
    }
  }
  std::ranges::sort(out.percentiles);
  return out;
}

}  // namespace assay::rules
