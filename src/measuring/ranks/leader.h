// Rank 0 of a run of several hosts: listens, gathers the ranks, answers their probes. See
// session.h.
#pragma once

#include <memory>
#include <string>

#include "ranks/session.h"

namespace assay::ranks {

Result<std::unique_ptr<RankSession>> lead(const RankPlace& place, const Agreement& mine,
                                          std::string run_id, const run::Control& control);

}  // namespace assay::ranks
