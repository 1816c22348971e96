// What an audit holds before a run was looked at.
#include <gtest/gtest.h>

#include "audit/certificate.h"
#include "audit/innocence.h"
#include "audit/rank_span.h"
#include "base/testing_together.h"

namespace assay::audit {
namespace {

TEST(NothingKnown, a_certificate_has_no_level_and_no_error) {
  const ErrorFigures e;
  EXPECT_EQ(together(e.count, e.p0_1, e.p1, e.p50, e.p99, e.p99_9), 0);
  const CalibratedLevel l;
  EXPECT_EQ(together(l.share, l.events_per_second, l.qps, l.tokens, l.replies, l.unmatched,
                     l.kernel_stamped, l.shares_read),
            0);
  const Certificate c;
  EXPECT_EQ(together(c.streams, c.isl, c.events_per_second, c.qps), 0);
  EXPECT_EQ(c.threads, 1U);
  EXPECT_EQ(together(Citation{}.used, Citation{}.at_share), 0);
}

TEST(NothingKnown, a_run_is_judged_as_a_paced_one_that_sleeps) {
  EXPECT_EQ(together(JudgeOptions{}.all_at_once, JudgeOptions{}.spinning), 0);
  EXPECT_EQ(together(RankPart{}.rank, RankPart{}.drift_ppm, RankSpan{}.rate_error), 0);
}

}  // namespace
}  // namespace assay::audit
