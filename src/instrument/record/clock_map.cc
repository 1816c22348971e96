#include "record/clock_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/format.h"
#include "base/text.h"

namespace assay::record {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double ns_between(std::int64_t from, std::int64_t to) { return static_cast<double>(to - from); }

}  // namespace

// Each knot's limit holds at other instants too, less the drift in between. Two passes give each
// knot the best of all.
void ClockMap::tighten(std::vector<Knot>& knots, double slope) {
  std::ranges::sort(knots, {}, &Knot::at);
  for (std::size_t i = 1; i < knots.size(); ++i) {
    const double carried = knots[i - 1].limit - slope * ns_between(knots[i - 1].at, knots[i].at);
    knots[i].limit = std::max(knots[i].limit, carried);
  }
  for (std::size_t i = knots.size() - 1; i-- > 0;) {
    const double carried = knots[i + 1].limit - slope * ns_between(knots[i].at, knots[i + 1].at);
    knots[i].limit = std::max(knots[i].limit, carried);
  }
}

double ClockMap::at(const std::vector<Knot>& knots, std::int64_t own, double slope) {
  const auto after = std::ranges::upper_bound(knots, own, {}, &Knot::at);
  double best = kNever;
  if (after != knots.begin()) {
    const Knot& before = *std::prev(after);
    best = before.limit - slope * ns_between(before.at, own);
  }
  if (after != knots.end()) {
    best = std::max(best, after->limit - slope * ns_between(own, after->at));
  }
  return best;
}

Result<ClockMap> ClockMap::make(std::vector<ClockProbe> probes, double drift_max) {
  ClockMap out;
  out.drift_max_ = drift_max;
  if (probes.empty()) return Error{Code::corrupt, "no probe of the clocks"};
  out.base_ = probes.front().answered.ns - probes.front().heard.ns;
  for (const ClockProbe& probe : probes) {
    if (probe.heard < probe.asked || probe.answered < probe.received) {
      return Error{Code::corrupt, "a probe of the clocks ends before it begins"};
    }
    const std::int64_t low = probe.answered.ns - probe.heard.ns;
    const std::int64_t high = probe.received.ns - probe.asked.ns;
    out.lows_.push_back({probe.heard.ns, ns_between(out.base_, low)});
    out.highs_.push_back({probe.asked.ns, -ns_between(out.base_, high)});
  }
  tighten(out.lows_, drift_max);
  tighten(out.highs_, drift_max);
  for (const std::vector<Knot>* knots : {&out.lows_, &out.highs_}) {
    for (const Knot& knot : *knots) {
      const Limits limits = out.limits(Instant{knot.at});
      if (limits.low <= limits.high) continue;
      return Error{Code::corrupt,
                   format("the probes of the clocks contradict one another by {}: a clock was set "
                          "during the run, or drifted more than {} ppm",
                          human_duration(Duration{std::llround(limits.low - limits.high)}),
                          std::llround(drift_max * 1e6))};
    }
  }
  return out;
}

ClockMap::Limits ClockMap::limits(Instant own) const {
  return {at(lows_, own.ns, drift_max_), -at(highs_, own.ns, drift_max_)};
}

Duration ClockMap::offset(Instant own) const {
  if (is_reference()) return {};
  const Limits found = limits(own);
  return Duration{base_ + std::llround(found.low + (found.high - found.low) / 2)};
}

Duration ClockMap::bound(Instant own) const {
  if (is_reference()) return {};
  const Limits found = limits(own);
  return Duration{static_cast<std::int64_t>(std::ceil((found.high - found.low) / 2))};
}

// The bound is piecewise linear, and knots are its valleys: its largest value is at an end, or
// where the limits of two neighbouring knots meet: between them, since the two differ by the drift
// in between at most.
Duration ClockMap::bound_max(Instant from, Instant to) const {
  if (is_reference()) return {};
  Duration most = std::max(bound(from), bound(to));
  std::vector<std::int64_t> places;
  for (const std::vector<Knot>* knots : {&lows_, &highs_}) {
    for (std::size_t i = 1; i < knots->size(); ++i) {
      const Knot& left = (*knots)[i - 1];
      const Knot& right = (*knots)[i];
      const double gap = ns_between(left.at, right.at);
      const double meet = (gap + (left.limit - right.limit) / drift_max_) / 2;
      places.push_back(left.at + std::llround(meet));
    }
  }
  for (const std::int64_t place : places) {
    if (place > from.ns && place < to.ns) most = std::max(most, bound(Instant{place}));
  }
  return most;
}

double ClockMap::drift() const {
  if (lows_.size() < 2) return 0;
  // No probe is heard before it was asked.
  const Instant first{highs_.front().at};
  const Instant last{lows_.back().at};
  if (last <= first) return 0;
  return static_cast<double>((offset(last) - offset(first)).ns) /
         static_cast<double>((last - first).ns);
}

namespace {

Json probes_to_json(const std::vector<ClockProbe>& probes) {
  Json out = Json::array();
  for (const ClockProbe& probe : probes) {
    out.push_back(Json::array()
                      .push_back(probe.asked.ns)
                      .push_back(probe.received.ns)
                      .push_back(probe.answered.ns)
                      .push_back(probe.heard.ns));
  }
  return out;
}

Result<std::vector<ClockProbe>> probes_from_json(const Json& json) {
  // Far from the limits of 64 bits, so that differences of two hosts' instants stay inside.
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  std::vector<ClockProbe> out;
  for (const Json& probe : json.items()) {
    std::int64_t instants[4];
    bool good = probe.items().size() == 4;
    for (std::size_t i = 0; good && i < 4; ++i) {
      instants[i] = probe[i].as_int(kFar);
      good = instants[i] > -kFar && instants[i] < kFar;
    }
    if (!good) {
      return Error{Code::corrupt,
                   format("probes[{}]: not four instants in ns [asked, received, answered, heard]",
                          out.size())};
    }
    out.push_back(
        {Instant{instants[0]}, Instant{instants[1]}, Instant{instants[2]}, Instant{instants[3]}});
  }
  return out;
}

}  // namespace

Json to_json(const RankClock& rank) {
  Json out = Json()
                 .set("rank", rank.rank)
                 .set("host", rank.host)
                 .set("shard_first", rank.shard_first)
                 .set("threads", rank.threads);
  if (!rank.lost.empty()) out.set("lost", rank.lost);
  return std::move(out.set("probes", probes_to_json(rank.probes)));
}

Result<RankClock> rank_clock_from_json(const Json& json) {
  constexpr std::uint64_t kMost = 1U << 20;
  const std::uint64_t rank = json["rank"].as_uint(kMost);
  const std::uint64_t first = json["shard_first"].as_uint(kMost);
  const std::uint64_t threads = json["threads"].as_uint();
  if (rank >= kMost || first >= kMost || threads == 0 || threads >= kMost) {
    return Error{Code::corrupt, "rank, shard_first, threads: not whole numbers in their range"};
  }
  RankClock out{.rank = static_cast<std::uint32_t>(rank),
                .host = std::string(json["host"].as_string()),
                .shard_first = static_cast<std::uint32_t>(first),
                .threads = static_cast<std::uint32_t>(threads),
                .lost = std::string(json["lost"].as_string())};
  ASSIGN_OR_RETURN(out.probes, probes_from_json(json["probes"]));
  return out;
}

Json to_json(const std::vector<RankClock>& ranks) {
  Json list = Json::array();
  for (const RankClock& rank : ranks) list.push_back(to_json(rank));
  return Json().set("format", "assay-clocks").set("version", 1).set("ranks", std::move(list));
}

Result<std::vector<RankClock>> rank_clocks_from_json(const Json& json) {
  if (json["format"].as_string() != "assay-clocks" || json["version"].as_int() != 1) {
    return Error{Code::corrupt, "format: not assay-clocks, version 1"};
  }
  std::vector<RankClock> out;
  std::uint32_t shards = 0;
  for (const Json& one : json["ranks"].items()) {
    auto rank = rank_clock_from_json(one);
    const std::string where = format("ranks[{}]", out.size());
    if (!rank) return rank.error().within(where);
    if (rank->rank != out.size() || rank->shard_first != shards) {
      return Error{Code::corrupt, where + ": does not follow the rank before"};
    }
    shards += rank->threads;
    out.push_back(*std::move(rank));
  }
  if (out.empty()) return Error{Code::corrupt, "ranks: none"};
  return out;
}

}  // namespace assay::record
