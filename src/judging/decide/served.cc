#include "decide/served.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"

namespace assay::decide {
namespace {

std::vector<std::optional<double>> figures_of(const std::vector<Limit>& limits,
                                              const auto& measured) {
  std::vector<std::optional<double>> out;
  out.reserve(limits.size());
  for (const Limit& limit : limits) out.push_back(figure_of(limit, measured));
  return out;
}

bool whole(const Level& level) { return level.failed == 0 && level.answered; }

// A repeated level serves its users only where each of its measurements keeps the limits.
bool keeps_all(const std::vector<Level>& levels, std::int64_t concurrency,
               const std::vector<Limit>& limits) {
  return std::ranges::all_of(levels, [&](const Level& level) {
    return level.concurrency != concurrency || keeps(limits, level);
  });
}

std::string use_text(const Limit& limit, const Use& use) {
  return format("{} is {}, limit {}", figure_name(limit), value_text(limit, use.figure),
                value_text(limit, limit.value));
}

// A level that keeps all limits, or breaks some of them, or had queries that failed: which of the
// uses comes next? After the one that is used most; or the first that is kept.
std::size_t next_at(const Served& served, const std::vector<Limit>& limits) {
  if (!served.broken || keeps(limits, *served.broken)) return 1;
  const auto kept = std::ranges::find_if(
      served.uses, [&](const Use& use) { return keeps(limits[use.limit], use.figure); });
  return static_cast<std::size_t>(std::distance(served.uses.begin(), kept));
}

std::string next_text(const Served& served, const std::vector<Limit>& limits) {
  const std::size_t at = next_at(served, limits);
  if (at >= served.uses.size()) return {};
  const Use& use = served.uses[at];
  const Limit& limit = limits[use.limit];
  return format("; the next limit is {}, {} of {}", figure_name(limit),
                value_text(limit, use.figure), value_text(limit, limit.value));
}

std::string below_text(const Served& served, const std::vector<Limit>& limits) {
  if (served.below.empty()) return {};
  std::string levels;
  for (const Level& level : served.below) {
    levels += (levels.empty() ? "" : ", ") + with_thousands(level.concurrency);
  }
  return format("; but not at {} ({})", levels, broken_text(limits, served.below.back()));
}

Json use_json(const Limit& limit, const Use& use) {
  Json out;
  out.set("limit", limit.text)
      .set("figure", limit.figure)
      .set("value", use.figure ? Json(*use.figure) : Json())
      .set("limit_value", limit.value)
      .set("kept", keeps(limit, use.figure));
  return out;
}

}  // namespace

bool Served::uses_unknown() const {
  if (!broken || !whole(*broken)) return false;
  const auto known = [](const Use& use) { return use.figure.has_value(); };
  return !std::ranges::all_of(uses, known) &&
         std::ranges::none_of(uses, [&](const Use& use) { return known(use) && use.share > 1; });
}

Level level_of(const metrics::CurvePoint& point, const std::vector<Limit>& limits) {
  const metrics::PointFigures& official = point.official();
  return {.name = point.name,
          .concurrency = point.concurrency,
          .tps = official.system_tps,
          .units_per_s = official.units_per_s,
          .failed = official.failed,
          .figures = figures_of(limits, official)};
}

Level level_of(std::int64_t concurrency, const metrics::Point& point,
               const std::vector<Limit>& limits) {
  return {.name = format("r{}", concurrency),
          .concurrency = concurrency,
          .tps = point.rates.tps,
          .units_per_s = point.units.per_second,
          .failed = point.counts.failed,
          .answered = point.counts.completed > 0,
          .figures = figures_of(limits, point)};
}

std::vector<Level> levels_of(const metrics::Curve& curve, const std::vector<Limit>& limits) {
  std::vector<Level> out;
  for (const metrics::CurvePoint& point : curve.points) {
    if (point.measured && !point.all_at_once()) out.push_back(level_of(point, limits));
  }
  return out;
}

bool keeps(const std::vector<Limit>& limits, const Level& level) {
  if (!whole(level)) return false;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (!keeps(limits[i], level.figures[i])) return false;
  }
  return true;
}

bool keeps(const std::vector<Limit>& limits, const metrics::CurvePoint& point) {
  return point.measured && !point.all_at_once() && keeps(limits, level_of(point, limits));
}

std::int64_t users_at(const std::vector<Limit>& limits, const Level& level) {
  double out = static_cast<double>(level.concurrency);
  for (const Limit& limit : limits) {
    if (!limit.at_least || !level.tps) continue;
    const double most = *level.tps / limit.value;
    // 240 / 30 is 8 users, however the division rounds.
    const double near = std::round(most);
    out = std::min(out, std::abs(most - near) < 1e-9 * most ? near : std::floor(most));
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(out));
}

std::vector<Use> uses_of(const std::vector<Limit>& limits, const Level& level) {
  std::vector<Use> out;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    out.push_back(
        {.limit = i, .figure = level.figures[i], .share = share_of(limits[i], level.figures[i])});
  }
  std::ranges::stable_sort(out, [](const Use& a, const Use& b) { return a.share > b.share; });
  return out;
}

Served served(std::vector<Level> levels, const std::vector<Limit>& limits) {
  std::ranges::stable_sort(levels, {}, &Level::concurrency);
  Served out{.measured = levels.size()};
  for (const Level& level : levels) {
    if (!keeps_all(levels, level.concurrency, limits)) continue;
    const std::int64_t users = users_at(limits, level);
    // The lowest of levels with as many users: it gives each of them the most.
    if (users <= out.users) continue;
    out.level = level;
    out.users = users;
  }
  for (const Level& level : levels) {
    if (keeps(limits, level)) continue;
    if (out.level && level.concurrency < out.level->concurrency) {
      out.below.push_back(level);
    } else if (!out.broken) {
      out.broken = level;
    }
  }
  // A higher level that keeps the limits and serves no more users ends the search as well. Where no
  // level breaks them, there is an answer, or there are no levels.
  if (!out.broken) {
    for (const Level& level : levels) {
      if (level.concurrency > out.level->concurrency) out.broken = level;
    }
  }
  if (const auto& at = out.broken ? out.broken : out.level) out.uses = uses_of(limits, *at);
  return out;
}

std::string broken_text(const std::vector<Limit>& limits, const Level& level) {
  if (level.failed > 0) {
    return format("{} {} failed", with_thousands(static_cast<std::int64_t>(level.failed)),
                  level.failed == 1 ? "query" : "queries");
  }
  if (!level.answered) return "no query succeeded";
  std::string out;
  for (const Use& use : uses_of(limits, level)) {
    const Limit& limit = limits[use.limit];
    if (keeps(limit, use.figure)) continue;
    out += (out.empty() ? "" : "; ") + use_text(limit, use);
  }
  return out;
}

std::string served_text(const Served& served, const std::vector<Limit>& limits) {
  const std::string within = limits_text(limits);
  if (!served.level) {
    if (!served.broken) return format("no level was measured, so nothing is known of {}", within);
    return format("no measured point keeps {}: at concurrency {}, {}", within,
                  with_thousands(served.broken->concurrency), broken_text(limits, *served.broken));
  }
  const std::string users = served.users == 1 ? std::string("1 user at once is")
                                              : with_thousands(served.users) + " users at once are";
  const std::string point = served.level->name;
  std::string out;
  if (served.open()) {
    out = format("at least {} served within {} ({}); the sweep ended there", users, within, point);
    if (!served.uses.empty()) {
      const Use& use = served.uses.front();
      const Limit& limit = limits[use.limit];
      out += format(", with {} at {} of {}", figure_name(limit), value_text(limit, use.figure),
                    value_text(limit, limit.value));
      out += next_text(served, limits);
    }
    return out + below_text(served, limits);
  }
  out = format("{} served within {} ({})", users, within, point);
  const std::string at = with_thousands(served.broken->concurrency);
  const std::string why = broken_text(limits, *served.broken);
  if (why.empty()) {
    out += format("; {} at once get no more tokens", at);
  } else {
    out += format("; at {} users, {}", at, why) + next_text(served, limits);
  }
  return out + below_text(served, limits);
}

Json served_json(const Served& served, const std::vector<Limit>& limits) {
  const auto use = [&](std::size_t at) {
    return at < served.uses.size() ? use_json(limits[served.uses[at].limit], served.uses[at])
                                   : Json();
  };
  Json out;
  out.set("limits", limits_text(limits))
      .set("users", served.users)
      .set("at_least", served.open())
      .set("point", served.level ? Json(served.level->name) : Json())
      .set("broken_at", served.broken ? Json(served.broken->concurrency) : Json())
      .set("why", served.broken ? Json(broken_text(limits, *served.broken)) : Json())
      .set("binds", served.broken && !whole(*served.broken) ? Json() : use(0))
      .set("next", use(next_at(served, limits)))
      .set("broken_below", json_list(served.below, &Level::concurrency))
      .set("answer", served_text(served, limits));
  return out;
}

}  // namespace assay::decide
