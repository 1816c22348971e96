#include "plan/arrivals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace assay::plan {
namespace {

constexpr double kGapMax = 3e18;  // ns: some hundred years, and two of them still fit in 63 bits
constexpr std::int64_t kAtMax = 3'000'000'000'000'000'000;

// Rounds toward zero, like Python's int(); at least one nanosecond.
Duration gap_of(double ns) {
  if (!(ns < kGapMax)) return {kAtMax};
  return {std::max<std::int64_t>(1, static_cast<std::int64_t>(ns))};
}

Duration later(Duration at, Duration gap) { return {std::min(at.ns + gap.ns, kAtMax)}; }

}  // namespace

Arrivals Arrivals::poisson(double rate, std::uint64_t seed) {
  CHECK(rate > 0);
  return {Kind::poisson, rate, seed};
}

Arrivals Arrivals::gamma(double rate, double burstiness, std::uint64_t seed) {
  CHECK(rate > 0 && burstiness > 0);
  Arrivals out(Kind::gamma, rate, seed);
  out.burstiness_ = burstiness;
  return out;
}

Arrivals Arrivals::constant(double rate) {
  CHECK(rate > 0);
  return {Kind::constant, rate, 0};
}

Arrivals Arrivals::ramp(std::vector<RateLevel> levels, std::uint64_t seed) {
  CHECK(!levels.empty() && levels.front().at == Duration{} && levels.back().rate > 0);
  Arrivals out(Kind::ramp, levels.back().rate, seed);
  out.levels_ = std::move(levels);
  return out;
}

void Arrivals::restart() {
  at_ = {};
  count_ = 0;
  if (kind_ == Kind::ramp) levels_ = {{{}, levels_.back().rate}};
}

Duration Arrivals::next() {
  ++count_;
  switch (kind_) {
    case Kind::poisson:
      at_ = later(at_, gap_of(random_.exponential(rate_ / 1e9)));
      break;
    case Kind::gamma:
      at_ = later(at_, gap_of(random_.gamma(burstiness_, 1e9 / (burstiness_ * rate_))));
      break;
    case Kind::constant:
      at_ = std::max(at_, gap_of(static_cast<double>(count_) * 1e9 / rate_));
      break;
    case Kind::ramp:
      at_ = next_of_ramp();
      break;
  }
  return at_;
}

Duration Arrivals::next_of_ramp() {
  double left = random_.exponential(1.0);
  const auto after =
      std::upper_bound(levels_.begin(), levels_.end(), at_,
                       [](Duration value, const RateLevel& level) { return value < level.at; });
  auto level = after - 1;
  Duration at = at_;
  for (; level + 1 != levels_.end(); ++level) {
    const Duration end = (level + 1)->at;
    const double here = level->rate * (end - at).seconds();
    if (left < here) break;
    left -= here;
    at = end;
  }
  return later(at, gap_of(left / level->rate * 1e9));
}

}  // namespace assay::plan
