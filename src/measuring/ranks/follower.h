// A rank other than 0 of a run of several hosts: connects to rank 0 and compares clocks with it.
// See session.h.
#pragma once

#include <memory>

#include "ranks/session.h"

namespace assay::ranks {

Result<std::unique_ptr<RankSession>> follow(const RankPlace& place, const Agreement& mine,
                                            const run::Control& control);

}  // namespace assay::ranks
