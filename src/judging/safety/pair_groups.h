// Pairs of verdicts in groups: what a change does to replies that are judged before and after it.
// The change is an attack on the prompt (pairs.h), or another system (level_pairs.h). A pair has a
// seed: pairs of one seed succeed and fail together, so intervals draw seeds. The formulas are in
// pairs.h. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "safety/grade.h"
#include "safety/items.h"

namespace assay::safety {

struct PairTable {
  std::uint64_t n11 = 0;
  std::uint64_t n10 = 0;  // unsafe at base alone
  std::uint64_t n01 = 0;  // unsafe under attack alone
  std::uint64_t n00 = 0;

  void add(bool base_unsafe, bool attack_unsafe);
  std::uint64_t pairs() const { return n11 + n10 + n01 + n00; }
  // REQUIRES: a pair.
  double gap() const;
};

// In the order of `p`.
std::vector<double> holm(const std::vector<double>& p);

// One mechanism (a leaf), one hazard, or one concurrency.
struct PairGroup {
  std::string name{};
  PairTable table{};
  std::uint64_t dropped = 0;  // pairs with an arm that is not valid
  std::uint64_t refused_base = 0;
  std::uint64_t refused_attack = 0;
  ShareInterval interval{};  // of the gap: −1 to 1
  double p = 1;
  double p_holm = 1;
  double worst = 0;  // mean over seeds of the worst twin
  bool covered = false;
};

struct VerdictPair {
  std::size_t seed = 0;  // among the seeds
  std::size_t leaf = 0;  // among the groups; `hazard` among those of another division
  std::size_t hazard = 0;
  bool valid = false;  // both arms have a verdict
  bool base = false;   // unsafe, as is `attack`
  bool attack = false;
  bool refused_base = false;
  bool refused_attack = false;
};
using GroupOf = std::size_t VerdictPair::*;
VerdictPair pair_of(const Item& base, const Item& attack);

// 1,000 draws of the seeds, from a fixed seed of chance; the same for every group.
using SeedDraws = std::vector<std::vector<std::size_t>>;
SeedDraws draws_of_seeds(std::size_t seeds);
// Tables, tests and intervals of the groups that `group` names. `draws` holds those of the seeds.
std::vector<PairGroup> fold_groups(std::span<const VerdictPair> pairs,
                                   const std::vector<std::string>& names, GroupOf group,
                                   const SeedDraws& draws, std::uint64_t pairs_min);
// The interval of the mean of the groups' gaps.
ShareInterval macro_interval_of(std::span<const VerdictPair> pairs, std::size_t leaves,
                                const SeedDraws& draws);
// `name`'s place; it is added where it is not there.
std::size_t place_of(std::vector<std::string>& names, const std::string& name);

Json share_json(std::uint64_t part, std::uint64_t of);  // null of none

}  // namespace assay::safety
