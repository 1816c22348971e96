#include "metrics/point.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/enum_name.h"

namespace assay::metrics {

double Distribution::percentile(double p) const {
  const auto* const found = std::find(kPercentiles.begin(), kPercentiles.end(), p);
  CHECK(found != kPercentiles.end());
  return percentiles[static_cast<std::size_t>(found - kPercentiles.begin())];
}

std::string_view to_string(TokenSource source) { return enum_name(source); }

std::string token_source_text(const Tokens& tokens) {
  const std::string_view name = tokens.tokenizer["tokenizer"].as_string();
  std::string out(to_string(tokens.source));
  return name.empty() ? out : out + " " + std::string(name);
}

bool in_bursts(const Point& point) {
  const Distribution& gaps = point.arrival.itl;
  return !gaps.empty() && gaps.count >= 4 * point.counts.completed && gaps.percentile(50.0) == 0;
}

double Timeline::ttft_bin_low(std::size_t bin) {
  if (bin == 0) return 0;
  return 100e3 * std::exp2(static_cast<double>(bin) / kTtftBinsAnOctave);
}

}  // namespace assay::metrics
