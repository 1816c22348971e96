// Rank: which of several systems leads by one figure, and whether that is known. Each contender has
// the value that was measured. `open` says that its sweep ended before the system did, so that the
// value is the least that it can do. `beyond` is where the next measured level broke a limit.
//
// A sole leader is the best by value, and no other contender is open: one that was not measured to
// its end may be better. Equal values are a tie. A contender without the figure is named and
// neither wins nor loses. The words name what is compared: measured beside simulated, and accuracy
// that was scored beside accuracy that was not, in the same sentence. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::decide {

enum class Better { higher, lower };

struct Contender {
  std::string name{};
  std::optional<double> value{};
  bool open = false;
  std::optional<double> beyond{};  // not reached; only where a higher value is better
  bool simulated = false;
  std::string accuracy{};  // "scored", "not scored", "passed", …; compared as text
};

enum class Lead { sole, tie, open, none };

struct Ranking {
  Lead lead = Lead::none;
  std::vector<Contender> leaders{};  // those with the best value
  std::vector<Contender> open{};     // measured to no end, the leaders among them
  std::vector<Contender> unknown{};  // without the figure
  std::vector<Contender> near{};     // closed, and their interval reaches above the leader's value
  bool mixed = false;                // measured and simulated, among those with a value
  bool unlike_accuracy = false;
  Better better = Better::higher;
};

Ranking rank(std::span<const Contender> contenders, Better better);

// How a figure is written: "{} users" with "serves the most".
struct RankWords {
  std::string most{};    // "serves the most users"
  std::string before{};  // "$"
  std::string after{};   // " a million tokens"; " users", of which one is " user"
  bool whole = false;    // a count
};
// One sentence without its full stop.
std::string rank_text(const Ranking& ranking, const RankWords& words);
// {lead, leaders, open, unknown, answer}.
Json rank_json(const Ranking& ranking, const RankWords& words);

}  // namespace assay::decide
