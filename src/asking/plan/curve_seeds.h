// The seeds that a curve keeps for its whole life: one of the sets that the rules' edition
// publishes (rulebook/edition.h). The set must be open to the curve's cohort. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "rulebook/edition.h"

namespace assay::plan {

struct CurveSeeds {
  std::string set{};                        // its id; "" for the user's own numbers
  std::string cohort{};                     // the curve's cohort: "2026-12-C0"
  std::uint64_t scheduler_rng_seed = 0;     // when queries are issued, and salts
  std::uint64_t sample_index_rng_seed = 0;  // the order of samples
  std::uint64_t model_seed = 0;             // recorded; the rules give it no purpose

  Json to_json() const;
  static CurveSeeds from_json(const Json& json);
  bool operator==(const CurveSeeds&) const = default;
};

// Returns the first cohort that is published after the day of `now`.
rulebook::Cohort next_cohort(WallTime now);
bool may_adopt(const rulebook::Edition& edition, const rulebook::SeedSet& set,
               rulebook::Cohort cohort);

// `set` and `cohort` are the user's; "" means not given: the next cohort, and the newest set open
// to it. Fails for unknown names and for a set that the cohort may not adopt. If no set is open,
// takes the newest and sets `note`.
Result<CurveSeeds> bind_seeds(const rulebook::Edition& edition, std::string_view set,
                              std::string_view cohort, WallTime now, std::string& note);

}  // namespace assay::plan
