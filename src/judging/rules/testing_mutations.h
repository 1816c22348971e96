// For tests: one or more mutations for each rule.
#pragma once

#include <vector>

#include "rules/testing_curve_mutations.h"
#include "rules/testing_pareto_tree.h"
#include "rules/testing_plausibility_mutations.h"
#include "rules/testing_point_mutations.h"
#include "rules/testing_review_mutations.h"
#include "rules/testing_unit_mutations.h"

namespace assay::rules {

inline std::vector<Mutation> mutations() {
  std::vector<Mutation> out;
  for (const auto& make :
       {structure_mutations_1, structure_mutations_2,    system_mutations_1,
        system_mutations_2,    c_min_mutations,          curve_mutations_1,
        curve_mutations_2,     curve_mutations_3,        curve_mutations_4,
        point_mutations_1,     point_mutations_2,        point_mutations_3,
        point_mutations_4,     seed_mutations_1,         seed_mutations_2,
        metric_mutations_1,    metric_mutations_2,       accuracy_mutations_1,
        accuracy_mutations_2,  accuracy_mutations_3,     summary_review_mutations,
        log_review_mutations,  pass_review_mutations,    pareto_mutations,
        token_mutations,       plausibility_mutations_1, plausibility_mutations_2,
        unit_mutations}) {
    for (Mutation& one : make()) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace assay::rules
