// The seeds that a curve is bound to for its whole life: one of the sets that the rules' edition
// publishes (rulebook/edition.h), which must be open to the cohort that the curve is meant for.
// Pure.
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
  std::string set{};                        // its id; "" for numbers of the user's own
  std::string cohort{};                     // that the curve is meant for: "2026-12-C0"
  std::uint64_t scheduler_rng_seed = 0;     // when queries are issued, and salts
  std::uint64_t sample_index_rng_seed = 0;  // in which order samples are asked
  std::uint64_t model_seed = 0;             // recorded; no rule says what it is for

  Json to_json() const;
  static CurveSeeds from_json(const Json& json);
  bool operator==(const CurveSeeds&) const = default;
};

// The first cohort that is published after this moment's day.
rulebook::Cohort next_cohort(WallTime now);
bool may_adopt(const rulebook::Edition& edition, const rulebook::SeedSet& set,
               rulebook::Cohort cohort);

// `set` and `cohort` as the user gave them, "" for what was not given: then the next cohort, and
// the newest set that is open to it. Fails for names that are none, and for a set that the cohort
// may not adopt; without any open set the newest is taken and `note` says so.
Result<CurveSeeds> bind_seeds(const rulebook::Edition& edition, std::string_view set,
                              std::string_view cohort, WallTime now, std::string& note);

}  // namespace assay::plan
