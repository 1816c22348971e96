// What the numbers rest on: the window, where token counts come from, how arrivals were stamped,
// how late the client was. Each is a plain sentence that says its doubt. Pure; any thread.
#pragma once

#include <vector>

#include "report/content.h"

namespace assay::report {

std::vector<Fact> basis_facts(const metrics::Point& point, const RunContext& context);

}  // namespace assay::report
