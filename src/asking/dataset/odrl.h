// ODRL policies of a Croissant file's usageInfo: permissions, prohibitions, duties and constraints,
// against a stated use. Reads the proper form and that of Croissant's own examples (DUO codes as
// action, constraints without a left operand). Pure; any thread.
#pragma once

#include <string>

#include "base/json.h"
#include "dataset/use_policy.h"

namespace assay::dataset::croissant {

// An Offer, a Policy, a Set or an Agreement.
bool is_odrl(const Json& node);
// REQUIRES: is_odrl(policy).
UseClause odrl_clause(const Json& policy, const DataUse& use, std::string where);

}  // namespace assay::dataset::croissant
