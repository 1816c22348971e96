#include "loadgen/rate_search.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "metrics/early_stopping.h"

namespace assay::loadgen {
namespace {

constexpr double kGrowth = 2;
// The bracket at which short probes end.
constexpr double kBracket = 1.10;
// Long probes lie this far on either side of the edge, so that their line has a slope.
constexpr double kSpread = 0.02;
// Beyond this share the system is overloaded, and its share no longer tells how far.
constexpr double kOverloaded = 0.3;
// The line is drawn through probes this close to the edge.
constexpr double kNear = 0.08;
// A line through few noisy probes may have any slope. Queues near their edge have one of 10 to 50;
// a bound keeps the next probe near, and there the slope matters little.
constexpr double kSlopeMin = 8;
constexpr double kSlopeUsual = 16;
constexpr double kSlopeMax = 80;
// Queries that are late together, for the weight of a probe: a queue near its edge is over the
// limit for a while or not at all.
constexpr double kCluster = 500;
constexpr int kSteps = 50;
constexpr double kRateMin = 1e-6;
constexpr double kRateMax = 1e9;

// Student's t, 97.5 %, by degrees of freedom from 1.
constexpr std::array kStudent{12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                              2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120};

double rate_of(const RateProbe& probe) {
  return probe.arrived_rate > 0 ? probe.arrived_rate : probe.rate;
}

double log_odds(double share) { return std::log(share / (1 - share)); }

double student(std::size_t freedom) { return kStudent.at(std::min(freedom, kStudent.size()) - 1); }

}  // namespace

RateProbe probe_of(const Judgement& judgement) {
  const Recorded& recorded = judgement.recorded;
  const TestSettings& asked = judgement.settings.requested;
  RateProbe out{.rate = judgement.settings.target_qps};
  out.queries = recorded.sample_latencies.size() + judgement.failed;
  const auto over = [](const auto& values, std::int64_t limit) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(values, [limit](std::int64_t v) { return v > limit; }));
  };
  if (!asked.use_token_latencies) {
    out.over = over(recorded.sample_latencies, judgement.settings.target_latency_ns);
  } else {
    std::uint64_t slow = 0;
    for (std::size_t i = 0; i < recorded.first_tokens.size(); ++i) {
      const std::int64_t gaps = recorded.tokens[i] - 1;
      const std::int64_t rest = recorded.sample_latencies[i] - recorded.first_tokens[i];
      if (gaps > 0 && rest / gaps > static_cast<std::int64_t>(asked.server_tpot_latency)) ++slow;
    }
    out.over = std::max(
        slow, over(recorded.first_tokens, static_cast<std::int64_t>(asked.server_ttft_latency)));
  }
  out.over += judgement.failed;
  if (recorded.last_due > 0 && out.queries > 1) {
    out.arrived_rate =
        static_cast<double>(out.queries - 1) / (static_cast<double>(recorded.last_due) / 1e9);
  }
  if (recorded.last_done > 0) {
    out.completed_rate = static_cast<double>(recorded.sample_latencies.size()) /
                         (static_cast<double>(recorded.last_done) / 1e9);
  }
  return out;
}

// A share that is never 0 or 1, so that it has a logarithm.
double RateSearch::share(const RateProbe& probe) const {
  return (static_cast<double>(probe.over) + 0.5) / (static_cast<double>(probe.queries) + 1);
}

bool RateSearch::holds(const RateProbe& probe) const {
  return probe.queries > 0 &&
         static_cast<double>(probe.over) <= permitted() * static_cast<double>(probe.queries);
}

RateSearch::Votes RateSearch::votes(double rate) const {
  Votes out;
  for (const RateProbe& probe : probes_) {
    if (probe.rate == rate) ++(holds(probe) ? out.good : out.bad);
  }
  return out;
}

std::uint32_t RateSearch::count(bool is_long) const {
  return static_cast<std::uint32_t>(std::ranges::count(probes_, is_long, &RateProbe::is_long));
}

// Up to which rate failed probes are void, because a long one without a late query was there or
// above: a system may have been slow while it warmed up. 0: none is.
double RateSearch::void_up_to() const {
  double clean = 0;
  double failed = 0;
  for (const RateProbe& probe : probes_) {
    if (probe.is_long && probe.over == 0) clean = std::max(clean, probe.rate);
    if (!holds(probe) && (failed == 0 || probe.rate < failed)) failed = probe.rate;
  }
  return failed > 0 && failed <= clean ? clean : 0;
}

double RateSearch::lowest_bad() const {
  const double floor = void_up_to();
  double out = 0;
  for (const RateProbe& probe : probes_) {
    if (probe.rate <= floor) continue;
    if ((out == 0 || probe.rate < out) && !votes(probe.rate).hold()) out = probe.rate;
  }
  return out;
}

double RateSearch::highest_good(double below) const {
  double out = 0;
  for (const RateProbe& probe : probes_) {
    if (votes(probe.rate).hold() && (below == 0 || probe.rate < below)) {
      out = std::max(out, probe.rate);
    }
  }
  return out;
}

// Chance may let a rate hold above one that does not: then both meet at the lower.
RateSearch::Bounds RateSearch::bounds() const {
  const double bad = lowest_bad();
  const double good = highest_good(bad);
  const bool any = std::ranges::any_of(probes_, [this](const auto& probe) { return holds(probe); });
  return {good == 0 && any ? bad : good, bad};
}

// Where a line through both shares crosses the permitted one, not too close to either end.
double RateSearch::between(double good, double bad) const {
  const auto log_share = [this](double rate) {
    double out = 0;
    for (const RateProbe& probe : probes_) {
      if (probe.rate == rate) out = std::log(share(probe));
    }
    return out;
  };
  const double low = log_share(good);
  const double high = log_share(bad);
  double part = high > low ? (std::log(permitted()) - low) / (high - low) : 0.5;
  part = std::clamp(part, 0.25, 0.75);
  return good * std::pow(bad / good, part);
}

// The next short probe; nullopt: the edge lies in a bracket that is narrow enough.
std::optional<RateSearch::Next> RateSearch::bracket() const {
  if (probes_.empty()) return Next{.rate = wish_.first};
  const double bad = lowest_bad();
  const double good = highest_good(bad);
  if (bad == 0) {
    const double rate = good * kGrowth;
    return rate > kRateMax ? std::nullopt : std::optional(Next{.rate = rate});
  }
  // What an overloaded system answers is its capacity.
  double most = bad;
  for (const RateProbe& probe : probes_) {
    if (share(probe) > kOverloaded && probe.completed_rate > 0) {
      most = std::min(most, probe.completed_rate);
    }
  }
  if (good == 0) {
    constexpr double kBelow = 0.8;
    const double rate = most < bad * kBelow ? most * kBelow : bad / kGrowth;
    return rate < kRateMin ? std::nullopt : std::optional(Next{.rate = rate});
  }
  if (bad / good <= kBracket) {
    return count(true) > 0 || votes(bad).bad > 1 ? std::nullopt : std::optional(Next{.rate = bad});
  }
  const double rate = between(good, bad);
  const bool capacity_says_less = most > good * 1.02 && most < rate;
  return Next{.rate = capacity_says_less ? std::sqrt(good * most) : rate};
}

bool RateSearch::tells_slope(const RateProbe& probe) const {
  return probe.over > 0 && share(probe) < kOverloaded;
}

// The probe whose share is nearest to the permitted one; nullptr where none has a share to compare.
const RateProbe* RateSearch::centre() const {
  const RateProbe* out = nullptr;
  const auto distance = [this](const RateProbe& probe) {
    return std::abs(std::log(share(probe) / permitted()));
  };
  const double floor = void_up_to();
  for (const RateProbe& probe : probes_) {
    if (probe.rate <= floor && !holds(probe)) continue;
    if (tells_slope(probe) && (out == nullptr || distance(probe) < distance(*out))) out = &probe;
  }
  return out;
}

// Fisher's scoring (McCullagh and Nelder, Generalized Linear Models, 2.5) for counts whose mean is
// queries × p, the logarithm of p / (1 − p) being y + slope × (log rate − x), and whose variance is
// v + v² × kCluster / queries with v = queries × p × (1 − p).
RateSearch::Line RateSearch::line() const {
  const auto [good, bad] = bounds();
  const RateProbe* const middle = centre();
  if (middle == nullptr) return {std::sqrt(good * bad), good, bad};
  const double x = std::log(rate_of(*middle));
  std::vector<RateProbe> near;
  const double floor = void_up_to();
  for (const RateProbe& probe : probes_) {
    if (probe.rate <= floor && !holds(probe)) continue;
    if (probe.queries > 0 && std::abs(std::log(rate_of(probe)) - x) <= kNear) near.push_back(probe);
  }
  double y = log_odds(share(*middle));
  double slope = kSlopeUsual;
  double weights = 0;
  double x_mean = 0;
  double xx = 0;
  double squares = 0;
  for (int step = 0; step < kSteps; ++step) {
    weights = x_mean = xx = squares = 0;
    double z_mean = 0;
    double xz = 0;
    for (const RateProbe& probe : near) {
      const auto queries = static_cast<double>(probe.queries);
      const double dx = std::log(rate_of(probe)) - x;
      // Chance in the number of arrivals is in `dx` already, and would count twice.
      const double chance = probe.arrived_rate > 0 ? slope * slope / (2 * queries) : 0;
      const double p = 1 / (1 + std::exp(chance - y - slope * dx));
      const double v = queries * p * (1 - p);
      const double weight = v / (1 + v * kCluster / queries);
      const double off = (static_cast<double>(probe.over) - queries * p) / v;
      const double z = y + slope * dx + std::clamp(off, -1.0, 1.0);
      squares += weight * off * off;
      weights += weight;
      x_mean += weight * dx;
      z_mean += weight * z;
      xx += weight * dx * dx;
      xz += weight * dx * z;
    }
    x_mean /= weights;
    z_mean /= weights;
    xx -= weights * x_mean * x_mean;
    xz -= weights * x_mean * z_mean;
    if (near.size() >= 3 && xx > 0) slope = std::clamp(xz / xx, kSlopeMin, kSlopeMax);
    y = z_mean - slope * x_mean;
  }
  const double at = std::clamp((log_odds(permitted()) - y) / slope, -kNear, kNear);
  const auto rate = [x](double offset) { return std::exp(x + offset); };
  if (near.size() < 3 || xx <= 0) return {rate(at), rate(at - kNear), rate(at + kNear), true};
  const std::size_t freedom = near.size() - 2;
  const double scatter = squares / static_cast<double>(freedom);
  const double error =
      std::sqrt(scatter * (1 / weights + (at - x_mean) * (at - x_mean) / xx)) / slope;
  const double half = std::min(student(freedom) * error, kNear);
  return {rate(at), rate(at - half), rate(at + half), true};
}

std::optional<RateSearch::Next> RateSearch::next() const {
  const auto [good, bad] = bounds();
  if ((count(true) == 0 || void_up_to() > 0) && count(false) < wish_.short_max) {
    if (const auto probe = bracket()) return probe;
  }
  const std::uint32_t done = count(true);
  if (bad == 0 || good == 0 || done >= wish_.long_max) return std::nullopt;
  const Line now = line();
  constexpr std::uint32_t kLeast = 4;
  const double half = now.edge > 0 ? (now.high - now.low) / 2 / now.edge : 1;
  if (done >= kLeast && half <= wish_.tolerance) return std::nullopt;
  // Long probes without a late query put the bracket's upper end in doubt.
  const bool doubt = done == 2 && std::ranges::none_of(probes_, [](const RateProbe& probe) {
                       return probe.is_long && probe.over > 0;
                     });
  if (doubt) return Next{.rate = bad, .is_long = true};
  const double side = done == 0 || !now.fitted ? 0 : done % 2 == 1 ? -kSpread : kSpread;
  return Next{.rate = now.edge * (1 + side), .is_long = true};
}

RateFound RateSearch::found() const {
  RateFound out;
  out.bad = lowest_bad();
  for (const RateProbe& probe : probes_) {
    if (holds(probe) &&
        probe.queries >= metrics::least_below(wish_.percentile, probe.over) + probe.over) {
      out.good = std::max(out.good, probe.rate);
    }
  }
  const auto [good, bad] = bounds();
  out.open_end = bad == 0;
  if (good == 0) return out;
  if (bad == 0) {
    out.edge = out.low = out.high = good;
    return out;
  }
  const Line found = line();
  out.edge = found.edge;
  out.low = found.low;
  out.high = found.high;
  return out;
}

}  // namespace assay::loadgen
