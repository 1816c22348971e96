// Served: how many users at once a system serves within limits, from the levels of concurrency that
// were measured. Steps, no interpolation: a level keeps all limits or it does not.
//
// The answer is an interval. Its low end is the highest level that keeps every limit; its high end
// is the lowest level above it that breaks one, and the limit that is broken furthest there is the
// one that binds. Where no level above was measured, the sweep ended and not the system: the answer
// is "at least". A level below the answer that breaks a limit is named, because fewer users met it.
//
// A query that failed breaks a promise of its own, before any limit. A dedicated Offline is no
// level: no user waits there. With a limit of tokens a second for each user, a level serves at most
// system_tps / limit users. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "decide/limit.h"

namespace assay::decide {

struct Level {
  std::string name{};  // "r64"
  std::int64_t concurrency = 0;
  std::optional<double> tps{};
  std::optional<double> units_per_s{};
  std::uint64_t failed = 0;
  bool answered = true;                          // at least one query succeeded
  std::vector<std::optional<double>> figures{};  // beside the limits
};

Level level_of(const metrics::CurvePoint& point, const std::vector<Limit>& limits);
Level level_of(std::int64_t concurrency, const metrics::Point& point,
               const std::vector<Limit>& limits);
// The measured levels, without a dedicated Offline, in the curve's order.
std::vector<Level> levels_of(const metrics::Curve& curve, const std::vector<Limit>& limits);

bool keeps(const std::vector<Limit>& limits, const Level& level);
// Judges a curve's point by its official figures. False for what is no measured level.
bool keeps(const std::vector<Limit>& limits, const metrics::CurvePoint& point);
// min(concurrency, system_tps / the limit for each user), rounded down, and at least 1: the limit
// is on the time between tokens, and a single user's wait for the first one is none of it.
std::int64_t users_at(const std::vector<Limit>& limits, const Level& level);

// How much of one limit a level uses.
struct Use {
  std::size_t limit = 0;
  std::optional<double> figure{};
  double share = 0;
};
// One for each limit, the most used first.
std::vector<Use> uses_of(const std::vector<Limit>& limits, const Level& level);

struct Served {
  // The level that serves the most users; nullopt: no measured level keeps the limits.
  std::optional<Level> level{};
  std::int64_t users = 0;
  // The lowest level above it that breaks a limit, or the lowest of all where none keeps them; else
  // the highest above it, which keeps them and serves no more users.
  std::optional<Level> broken{};
  // Lower levels that break a limit.
  std::vector<Level> below{};
  // How much of each limit is used at `broken`, else at `level`: the first binds.
  std::vector<Use> uses{};
  std::size_t measured = 0;  // levels

  // Nothing above the answer was measured.
  bool open() const { return level.has_value() && !broken.has_value(); }
  // There is a level between the answer and `broken`: it might serve more users.
  bool unmeasured_between() const {
    return broken.has_value() && broken->concurrency - (level ? level->concurrency : 0) > 1;
  }
  // `broken` breaks a limit only because its figure is not known.
  bool uses_unknown() const;
};

Served served(std::vector<Level> levels, const std::vector<Limit>& limits);

// "TTFT P90 is 2.31 s, limit 2.00 s" or "3 queries failed": why a level is not good.
std::string broken_text(const std::vector<Limit>& limits, const Level& level);
// One sentence without its full stop: users, interval, the limit that binds and the next one.
std::string served_text(const Served& served, const std::vector<Limit>& limits);
// {limits, users, at_least, point, broken_at, why, binds, next, broken_below, answer}. `binds` is
// null where queries failed at `broken_at`: no limit was broken first. `next` is the limit that the
// sentence names so.
Json served_json(const Served& served, const std::vector<Limit>& limits);

}  // namespace assay::decide
