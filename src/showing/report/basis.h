// The basis of the numbers: the window, the source of token counts, how arrivals were stamped, how
// late the client was. Each fact is a plain sentence that states its doubt. Pure; any thread.
#pragma once

#include <vector>

#include "report/content.h"

namespace assay::report {

std::vector<Fact> basis_facts(const metrics::Point& point, const RunContext& context);

}  // namespace assay::report
