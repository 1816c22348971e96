// What a run's results hold before a query was issued.
#include <gtest/gtest.h>

#include "base/testing_together.h"
#include "run/conversations.h"
#include "run/in_turn.h"
#include "run/run.h"

namespace assay::run {
namespace {

TEST(NothingKnown, a_phase_is_drained_and_a_run_was_not_stopped) {
  const PhaseResult p;
  EXPECT_TRUE(p.drained);
  EXPECT_EQ(together(p.phase, p.issued, p.completed, p.failed), 0);
  const RunResult r;
  EXPECT_EQ(together(r.interrupted, r.target_dead, r.guarded, r.backoffs), 0);
  EXPECT_EQ(Control{}.request(), Control::Request::none);
}

TEST(NothingKnown, a_turn_is_the_first_of_the_first_slot) {
  const Conversations::DueTurn t;
  EXPECT_EQ(together(t.slot, t.turn, t.sample), 0);
  EXPECT_EQ(together(InTurnRule{}.phase, InTurnRule{}.group, InTurnRule{}.asks()), 0);
}

}  // namespace
}  // namespace assay::run
