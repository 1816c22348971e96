#include "decide/rank.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"

namespace assay::decide {
namespace {

bool same_value(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

std::string shown_name(const Contender& one) {
  return one.simulated ? one.name + " (simulated)" : one.name;
}

std::string names_of(const std::vector<Contender>& contenders) {
  std::string out;
  for (const Contender& one : contenders) out += (out.empty() ? "" : ", ") + shown_name(one);
  return out;
}

std::string number(double value, const RankWords& words) {
  if (!words.whole) return words.before + three_digits(value) + words.after;
  const auto count = static_cast<std::int64_t>(value);
  const bool one = count == 1 && words.after.ends_with('s');
  return words.before + with_thousands(count) +
         (one ? words.after.substr(0, words.after.size() - 1) : words.after);
}

std::string bound(const Contender& one, Better better, const RankWords& words) {
  const std::string value = number(*one.value, words);
  if (!one.open) return value;
  return (better == Better::higher ? "at least " : "at most ") + value;
}

std::string doubts(const Ranking& ranking, const RankWords& words) {
  std::string out;
  for (const Contender& one : ranking.near) {
    out += format("; {} was not measured between {} and {}", shown_name(one),
                  number(*one.value, words), number(*one.beyond, words));
  }
  if (!ranking.unknown.empty()) {
    out += format("; nothing is known of {}", names_of(ranking.unknown));
  }
  if (ranking.mixed) out += "; measured systems stand beside simulated ones";
  if (ranking.unlike_accuracy) {
    out += "; their accuracy is not alike:";
    std::set<std::string> seen;
    std::string list;
    for (const auto* group : {&ranking.leaders, &ranking.open, &ranking.near}) {
      for (const Contender& one : *group) {
        if (!seen.insert(one.name).second) continue;
        list += format("{} {} {}", list.empty() ? "" : ",", shown_name(one), one.accuracy);
      }
    }
    out += list;
  }
  return out;
}

Json names_json(const std::vector<Contender>& contenders) {
  return json_list(contenders, &Contender::name);
}

}  // namespace

Ranking rank(std::span<const Contender> contenders, Better better) {
  Ranking out{.better = better};
  std::optional<double> best;
  std::set<bool> kinds;
  std::set<std::string> accuracy;
  for (const Contender& one : contenders) {
    if (!one.value) {
      out.unknown.push_back(one);
      continue;
    }
    if (one.open) out.open.push_back(one);
    kinds.insert(one.simulated);
    accuracy.insert(one.accuracy);
    const bool ahead =
        !best || (better == Better::higher ? *one.value > *best : *one.value < *best);
    if (ahead) best = one.value;
  }
  if (!best) return out;
  out.mixed = kinds.size() > 1;
  out.unlike_accuracy = accuracy.size() > 1;
  bool other_open = false;
  for (const Contender& one : contenders) {
    if (!one.value) continue;
    if (same_value(*one.value, *best)) {
      out.leaders.push_back(one);
    } else {
      other_open = other_open || one.open;
      if (better == Better::higher && !one.open && one.beyond && *one.beyond > *best) {
        out.near.push_back(one);
      }
    }
  }
  const bool alone = out.leaders.size() == 1;
  if (alone) {
    out.lead = other_open ? Lead::open : Lead::sole;
  } else {
    out.lead = out.open.empty() ? Lead::tie : Lead::open;
  }
  return out;
}

std::string rank_text(const Ranking& ranking, const RankWords& words) {
  if (ranking.leaders.empty()) {
    return format("which {} is not known: no system has the figure", words.most);
  }
  const std::string leaders = names_of(ranking.leaders);
  const std::string figure = bound(ranking.leaders.front(), ranking.better, words);
  std::string out;
  switch (ranking.lead) {
    case Lead::none:
      break;
    case Lead::sole:
      out = format("{} {}, {}", leaders, words.most, figure);
      break;
    case Lead::tie:
      out = format("a tie for which {}: {}, {}", words.most, leaders, figure);
      break;
    case Lead::open:
      out = format("which {} is not known:", words.most);
      for (std::size_t i = 0; i < ranking.open.size(); ++i) {
        out += format("{} {} {}", i == 0 ? "" : ",", shown_name(ranking.open[i]),
                      bound(ranking.open[i], ranking.better, words));
      }
      out += ", not measured further";
      for (const Contender& one : ranking.leaders) {
        if (one.open) continue;
        out += format("; {} {}", shown_name(one), bound(one, ranking.better, words));
      }
      break;
  }
  return out + doubts(ranking, words);
}

Json rank_json(const Ranking& ranking, const RankWords& words) {
  Json out;
  out.set("lead", enum_name(ranking.lead))
      .set("leaders", names_json(ranking.leaders))
      .set("open", names_json(ranking.open))
      .set("unknown", names_json(ranking.unknown))
      .set("answer", rank_text(ranking, words));
  return out;
}

}  // namespace assay::decide
