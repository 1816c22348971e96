#include "ranks/session.h"

#include "ranks/follower.h"
#include "ranks/leader.h"

namespace assay::ranks {

Result<std::unique_ptr<RankSession>> RankSession::join(const RankPlace& place,
                                                       const Agreement& mine, std::string run_id,
                                                       const run::Control& control) {
  if (place.index == 0) return lead(place, mine, std::move(run_id), control);
  return follow(place, mine, control);
}

}  // namespace assay::ranks
