// The layout of a simulated system whose user names none: the best of those that fit.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "report/simulated.h"
#include "sim/layouts.h"

namespace assay::simulate {

struct LayoutChoice {
  sim::Scenario scenario{};                     // with its layout
  std::optional<report::LayoutsTried> tried{};  // nothing where the user names the layout
};

// The layout that serves the most tokens a second with the most of `levels` in flight; an empty
// list: with all that the memory holds. Fails with the reason where no layout fits.
Result<LayoutChoice> choose_layout(const sim::Catalogue& catalogue, const sim::Scenario& scenario,
                                   const sim::Workload& workload,
                                   const std::vector<std::uint32_t>& levels);

// The rows of `report::LayoutsTried`.
report::LayoutsTried tried_of(const sim::Catalogue& catalogue, const sim::LayoutSearch& found);

}  // namespace assay::simulate
