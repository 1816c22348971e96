// System: what a user says of a measured curve that a run cannot know (how many accelerators, what
// it draws, what it costs), and the answer over several of them. Pure; any thread.
//
//   curves/a,name=8 x H100,accelerators=8,accelerator=h100-sxm,kw=10.2,price=38
//
// `price` is dollars an hour of the whole system, `capex` its purchase; without either the price
// table has the accelerator's, times their number.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "decide/cost.h"
#include "decide/limit.h"
#include "decide/rank.h"
#include "decide/served.h"
#include "metrics/curve.h"

namespace assay::decide {

struct System {
  std::string folder{};
  std::string name{};  // the folder's last part where none is given
  std::string accelerator{};
  std::optional<double> accelerators{};
  std::optional<double> kw{};
  std::optional<double> price_per_hour{};
  std::optional<double> capex{};
  bool simulated = false;  // by the user's word; a curve may say so itself
};

// The error names the part, and what is allowed.
Result<System> parse_system(std::string_view text);

struct SystemAnswer {
  System system{};
  Served served{};
  Cost cost{};
  std::string unit{};  // of replies without tokens, in the singular; else ""
  bool simulated = false;
  std::string accuracy{};  // accuracy_words of the point that answers
  std::string sentence{};
};

struct Question {
  std::vector<Limit> limits{};
  std::vector<PriceRow> prices{};
  CostInputs inputs{};  // the same for every system; what a system says of itself is put in
};

// Fails for an input that `cost` refuses; the error names the system.
Result<SystemAnswer> answer(const System& system, const metrics::Curve& curve,
                            const Question& question);

// The leaders by users, and by users for each accelerator, kW and dollar an hour, and by dollars a
// million tokens, where at least one system has the figure.
struct Answers {
  std::vector<SystemAnswer> systems{};
  std::vector<std::pair<Ranking, RankWords>> rankings{};
};
Answers rank_all(std::vector<SystemAnswer> systems);

std::string answers_text(const Answers& answers, std::size_t columns);
// {systems: [{name, folder, served, cost, …}], rankings: [{by, lead, leaders, …}]}.
Json answers_json(const Answers& answers, const Question& question);

}  // namespace assay::decide
