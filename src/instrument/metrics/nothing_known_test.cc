// What no reply was added to: figures begin with nothing, and the few that do not say why.
#include <gtest/gtest.h>

#include "base/testing_together.h"
#include "metrics/axis_fold.h"
#include "metrics/caching_audit.h"
#include "metrics/curve.h"
#include "metrics/definitions/definition_fold.h"
#include "metrics/failed_share.h"
#include "metrics/interference.h"
#include "metrics/live.h"
#include "metrics/point.h"
#include "metrics/steady_state.h"
#include "metrics/token_truth.h"
#include "metrics/trajectory_fold.h"
#include "metrics/trend.h"

namespace assay::metrics {
namespace {

TEST(NothingKnown, a_run_has_no_queries_no_tokens_and_no_sound) {
  const Counts counts;
  EXPECT_EQ(together(counts.issued, counts.completed, counts.failed, counts.unfinished), 0);
  const Tokens t;
  EXPECT_EQ(together(t.replies_counted, t.replies_uncounted, t.prompt, t.output, t.reasoning,
                     t.cached, t.hidden, t.replies_with_hidden),
            0);
  EXPECT_EQ(together(t.contradicted, t.contradicted_said, t.contradicted_counted,
                     t.tokenizer_above_limit, t.said_beside_tokenizer, t.tokenizer_beside_said),
            0);
  EXPECT_EQ(
      together(t.empty_replies, t.not_streamed, t.went_on_after_done, t.replies_of_several_choices,
               t.short_of_choices, t.unread_events, t.replies_with_unread),
      0);
  EXPECT_FALSE(t.first_fragment_taken_for_one);
  const Audio a;
  EXPECT_EQ(
      together(a.replies, a.of_unknown_length, a.bytes, a.seconds, a.played, a.waited, a.underruns),
      0);
  const FailureExample e;
  EXPECT_EQ(together(e.query, e.sample, e.endpoint, e.http_status, Failures{}.count), 0);
  EXPECT_EQ(together(Rates{}.qps, Units{}.completed, Units{}.of_sound), 0);
  const Stamps s;
  EXPECT_EQ(together(s.events, s.kernel_stamped, s.shares_read), 0);
  const TimeBucket b;
  EXPECT_EQ(together(b.output_tokens, b.fragments, b.sent, b.completed, b.failed, b.in_flight), 0);
  const FailedShare f;
  EXPECT_EQ(together(f.failed, f.tried, f.none_succeeded), 0);
}

TEST(NothingKnown, a_series_is_whole_and_exact_before_it_has_a_value) {
  const Distribution d;
  EXPECT_TRUE(d.whole && d.exact && d.empty());
  EXPECT_EQ(together(d.count, d.total, d.total_whole, d.min, d.max, d.sum_sq, d.mean, d.std_dev,
                     d.estimated),
            0);
  const Bucket bucket;
  EXPECT_EQ(together(bucket.low, bucket.high, bucket.count, QuantilePoint{}.fraction,
                     QuantilePoint{}.value, Between{}.low, Between{}.high),
            0);
  EXPECT_TRUE(DefinedSeries{}.exact);
  EXPECT_EQ(together(DefinedSeries{}.count, DefinedSeries{}.mean), 0);
  const DefinedPoint p;
  EXPECT_EQ(together(p.succeeded, p.failed, p.loadgen_window, p.output_tokens, p.tokens_known,
                     p.qps, p.tps),
            0);
  const Figures f;
  EXPECT_TRUE(f.measured);
  EXPECT_FALSE(f.success);
  EXPECT_EQ(f.tpot_weight, 1);
  EXPECT_EQ(f.itl_weight, 1);
  EXPECT_FALSE(Definition{}.loadgen_of_poisson);
}

TEST(NothingKnown, a_point_of_a_curve_has_figures_of_0_which_are_unknown) {
  const PointFigures f = CurvePoint{}.run;
  EXPECT_EQ(together(f.qps, f.ttft_p50_ms, f.ttft_mean_ms, f.ttft_p90_ms, f.ttft_p99_ms), 0);
  EXPECT_EQ(together(f.tpot_p50_ms, f.tpot_mean_ms, f.tpot_p90_ms, f.tpot_p99_ms), 0);
  EXPECT_EQ(together(f.latency_p50_ms, f.latency_p90_ms, f.latency_p99_ms, f.duration_s,
                     f.completed, f.failed),
            0);
  EXPECT_EQ(together(AccuracyScore{}.score, AccuracyScore{}.samples, SafetyGrade{}.queries,
                     SafetyGrade{}.failed),
            0);
  const CurvePoint p;
  EXPECT_EQ(together(p.concurrency, p.accuracy_wanted, p.measured, p.window_official), 0);
  const Curve c;
  EXPECT_EQ(together(c.c_max, c.c_min, c.quick, c.official, c.simulated), 0);
  const CachingPhase phase;
  EXPECT_EQ(together(phase.requested, phase.completed, phase.qps, phase.ttft_p50_ms,
                     phase.latency_p50_ms),
            0);
  EXPECT_EQ(together(CachingAudit{}.row, CachingAudit{}.concurrency, CachingAudit{}.passed), 0);
}

TEST(NothingKnown, a_part_of_a_run_has_no_query) {
  const ClassFigures c;
  EXPECT_EQ(together(c.ended, c.succeeded, c.good, c.prompt_tokens, c.output_tokens), 0);
  const AxisFigures a;
  EXPECT_EQ(together(a.ended, a.succeeded, a.prompts.tokens, a.prompts.characters, a.replies.tokens,
                     a.replies.characters),
            0);
  const NodeFigures n;
  EXPECT_EQ(together(n.planned, n.sent, n.succeeded, n.failed, n.given_up, n.output_tokens), 0);
  EXPECT_EQ(together(AgentFigures{}.interactivity, AgentFigures{}.critical_share), 0);
  const TrajectoryReport t;
  EXPECT_EQ(together(t.planned, t.begun, t.succeeded, t.failed, t.loaded, t.loaded_good,
                     t.replies_share, t.tools_share, t.other_share),
            0);
  EXPECT_EQ(InterferenceCell{}.of, 0U);
}

TEST(NothingKnown, a_run_that_is_not_searched_has_no_window_and_no_trend) {
  EXPECT_EQ(together(SteadyState{}.units, SteadyState{}.sound_s), 0);
  const Issued i;
  EXPECT_EQ(together(i.tpot, i.ttft, i.latency, i.units, i.sound_s, i.ok), 0);
  EXPECT_EQ(i.tokens, -1);
  EXPECT_EQ(SteadyOptions{}.super_pass, 0U);
  EXPECT_EQ(SteadyOptions{}.slots, 1U);
  EXPECT_EQ(together(Trend{}.drift, Trend{}.drift_error, Break{}.at, Break{}.shift,
                     Break{}.step_error, Break{}.line_error),
            0);
  EXPECT_EQ(Trend{}.p_value, 1);
  EXPECT_EQ(Break{}.p_value, 1);
}

TEST(NothingKnown, a_reply_has_no_count_and_a_live_view_nothing_to_show) {
  const TokenTruth t;
  EXPECT_EQ(together(t.hidden, t.tokenizer_above_limit, t.first_taken_for_one), 0);
  EXPECT_EQ(t.claimed, -1);
  EXPECT_EQ(ChoiceTruth{}.after_first, 0);
  const ChoiceEvidence c;
  EXPECT_EQ(together(c.choice, c.fragments, c.first_bytes, c.own_fell, c.grown), 0);
  EXPECT_EQ(c.own_first, -1);
  EXPECT_EQ(c.own_last, -1);
  EXPECT_EQ(c.grown_first, -1);
  const LiveSnapshot l;
  EXPECT_EQ(together(l.open_loop, l.sent, l.completed, l.failed, l.in_flight, l.tokens_known), 0);
  EXPECT_EQ(together(l.offered_qps, l.achieved_qps, l.completed_qps, l.output_tps), 0);
  EXPECT_EQ(together(LivePercentiles{}.count, LiveFailures{}.count), 0);
}

}  // namespace
}  // namespace assay::metrics
