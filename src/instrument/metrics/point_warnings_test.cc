// The exact warnings of a point, and when there are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "metrics/series.h"
#include "metrics/testing_folded.h"

namespace assay::metrics {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> warned(const Json& facts, const std::vector<HandMadeQuery>& queries = {}) {
  RunInfo info = edge_run();
  info.facts = facts;
  return folded(queries, info).warnings;
}

TEST(PointWarnings, a_limit_is_said_by_the_field_that_is_not_refused) {
  for (const auto& [used, refused] : {std::pair{"max_tokens", "max_completion_tokens"},
                                      {"max_completion_tokens", "max_tokens"}}) {
    const Json facts = Json().set("preflight", Json().set("limit_field", used));
    EXPECT_THAT(warned(facts), testing::Contains(std::string("the endpoint refuses ") + refused +
                                                 ": every request says its limit as " + used));
  }
}

TEST(PointWarnings, of_tokens_are_not_given_for_a_kind_that_has_a_unit) {
  HandMadeQuery vectors = steady_query(1, 0, 0, 50, 10, 1);
  vectors.events.clear();
  vectors.usage = Usage{.prompt_tokens = 5};
  const auto point_of = [](std::string_view api, const std::vector<HandMadeQuery>& queries) {
    RunInfo info = edge_run();
    info.facts.set("api", api);
    return folded(queries, info);
  };
  EXPECT_FALSE(point_of("rerank", {}).units.per_second) << "no time, no rate";
  const Point units = point_of("rerank", {vectors, vectors});
  EXPECT_THAT(units.warnings, IsEmpty());
  EXPECT_EQ(units.units.name, "document");
  EXPECT_EQ(units.units.completed, 2U);
  ASSERT_TRUE(units.units.per_second);
  EXPECT_DOUBLE_EQ(*units.units.per_second, units.rates.qps);
  EXPECT_FALSE(units.rates.tps);
  const Point tokens = point_of("openai", {vectors, vectors});
  EXPECT_THAT(tokens.warnings, Not(IsEmpty()));
  EXPECT_EQ(tokens.units.name, "");
}

TEST(PointWarnings, of_how_the_run_ended) {
  const std::vector<HandMadeQuery> one = {steady_query(1, 0, 0, 50, 10, 8)};
  EXPECT_THAT(folded(one).warnings, IsEmpty());
  EXPECT_THAT(folded(one, edge_run(), {RunState::crashed, ""}).warnings,
              ElementsAre("the run was cut off: its event log has no end"));
  EXPECT_THAT(folded(one, edge_run(), {RunState::interrupted, ""}).warnings,
              ElementsAre("the run was interrupted"));
  EXPECT_THAT(folded(one, edge_run(), {RunState::interrupted, "by hand"}).warnings,
              ElementsAre("the run was interrupted: by hand"));
  EXPECT_THAT(folded(one, edge_run(), kDone, 1234).warnings,
              ElementsAre("1,234 records were lost because the disk could not keep up"));
  EXPECT_THAT(folded(one, edge_run(), {RunState::interrupted, "disk full", true}, 7).warnings,
              ElementsAre("disk full; 7 records are lost"));
  EXPECT_THAT(folded(one, edge_run(), kDone, 1).warnings,
              ElementsAre("1 records were lost because the disk could not keep up"));
  PointFold single(edge_run());
  tell(one[0], single);
  tell_sent(steady_query(1, 1, 0, 50, 10, 8), single);
  EXPECT_THAT(
      single.finish({RunState::interrupted, "disk full", true}, 7).warnings,
      ElementsAre("disk full; 7 records are lost; 1 queries were in flight at the log's end"));
  PointFold fold(edge_run());
  tell(one[0], fold);
  tell_sent(steady_query(1, 1, 0, 50, 10, 8), fold);
  tell_sent(steady_query(1, 2, 0, 50, 10, 8), fold);
  EXPECT_THAT(fold.finish({RunState::crashed, ""}).warnings,
              ElementsAre("the run was cut off: its event log has no end; 2 queries were in flight "
                          "at the log's end"));
}

TEST(PointWarnings, of_the_test_query_before_the_load) {
  const auto preflight = [](const char* json) {
    return Json().set("preflight", Json::parse(json).value());
  };
  EXPECT_THAT(warned(preflight(R"({"outcome": "ok"})")), IsEmpty());
  EXPECT_THAT(warned(preflight(R"({"outcome": "http_error"})")),
              ElementsAre("the test query before the load failed (http_error)"));
  EXPECT_THAT(warned(preflight(R"({"outcome": "reset", "detail": "why"})")),
              ElementsAre("the test query before the load failed (reset): why"));
  EXPECT_THAT(warned(preflight(R"({"outcome": "ok", "left_out": ["seed", "top_k"]})")),
              ElementsAre("the endpoint refuses seed, top_k: every request is without it"));
  EXPECT_THAT(warned(preflight(R"({"left_out": ["ignore_eos"]})")),
              ElementsAre("the endpoint refuses ignore_eos: every request is without it, so that "
                          "replies may end before the length that was asked for"));
}

TEST(PointWarnings, of_turns_that_are_no_part_of_the_measurement) {
  RunInfo info = edge_run();
  info.phases.push_back({PhaseKind::tail, "tail", false});
  const auto warnings = [&](int measured, int tail) {
    std::vector<HandMadeQuery> queries;
    for (int i = 0; i < measured; ++i) {
      queries.push_back(steady_query(1, static_cast<std::uint32_t>(i), 0, 5, 1, 2));
    }
    for (int i = 0; i < tail; ++i) {
      queries.push_back(steady_query(3, static_cast<std::uint32_t>(i), 0, 5, 1, 2));
    }
    return folded(queries, info).warnings;
  };
  EXPECT_THAT(warnings(3, 3), IsEmpty());
  EXPECT_THAT(warnings(3, 4), ElementsAre(HasSubstr("4 of 7 turns began after the first slot")));
  // Failed turns count as turns too, in both parts.
  const auto with_failures = [&](int measured, int tail) {
    PointFold fold(info);
    for (int i = 0; i < measured + tail; ++i) {
      HandMadeQuery q =
          steady_query(i < measured ? 1 : 3, static_cast<std::uint32_t>(i), 0, 5, 1, 2);
      if (i % 2 == 1) q.outcome = Outcome::reset;
      tell(q, fold);
    }
    return fold.finish(kDone).warnings;
  };
  EXPECT_THAT(with_failures(40, 40), Not(Contains(HasSubstr("turns began"))));
  EXPECT_THAT(with_failures(40, 41), Contains(HasSubstr("41 of 81 turns began")));
}

TEST(PointWarnings, of_inputs_that_were_not_counted) {
  const auto warnings = [](const char* source) {
    TokenCounts counts;
    counts.source = Json::parse(source).value();
    PointFold fold(edge_run(), {.counts = &counts});
    return fold.finish(kDone).warnings;
  };
  EXPECT_THAT(warnings(R"({"inputs_refused_by_template": 0, "inputs_uncounted": 0})"), IsEmpty());
  EXPECT_THAT(
      warnings(R"({"inputs_refused_by_template": 1234, "trouble": "t"})"),
      ElementsAre("the chat template refused 1,234 prompts (t): their ISL is of the JSON of "
                  "their messages and tools"));
  EXPECT_THAT(warnings(R"({"inputs_refused_by_template": 1})"),
              ElementsAre(HasSubstr("refused 1 prompts (no counts for them)")));
  EXPECT_THAT(warnings(R"({"inputs_uncounted": 1})"),
              ElementsAre("1 prompts could not be counted (no counts for them): ISL is of the "
                          "others"));
}

TEST(PointWarnings, of_fragments_that_are_no_single_tokens) {
  const auto warnings = [](int tokens) {
    HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 100);
    q.usage.completion_tokens = tokens;
    return folded({q}).warnings;
  };
  EXPECT_THAT(warnings(100), IsEmpty());
  EXPECT_THAT(warnings(102), IsEmpty());
  EXPECT_THAT(warnings(103), ElementsAre("fragments carry 1.03 tokens on average: ITL is the gap "
                                         "between bursts, and TPOT takes the first fragment for "
                                         "one token"));
  EXPECT_THAT(warnings(90), IsEmpty());
  EXPECT_THAT(warnings(89), ElementsAre(HasSubstr("fragments carry 0.890 tokens on average, less "
                                                  "than one each")));
}

TEST(PointWarnings, of_gathered_streams_only_where_something_could_gather_them) {
  for (const bool simulated : {false, true}) {
    RunInfo info = edge_run();
    info.simulated = simulated;
    const Point p = folded({steady_query(1, 0, 0, 50, 0, 9)}, info);
    EXPECT_EQ(p.warnings.empty(), simulated);
  }
}

TEST(PointWarnings, a_stream_comes_in_bursts_from_four_gaps_a_reply_on_of_which_half_are_none) {
  const auto bursts = [](std::uint64_t completed, const std::vector<std::int64_t>& gaps) {
    Point point;
    point.counts.completed = completed;
    Series series;
    for (const std::int64_t gap : gaps) series.add(gap);
    point.arrival.itl = series.finish(false);
    return in_bursts(point);
  };
  EXPECT_TRUE(bursts(1, {0, 0, 0, 9}));
  EXPECT_FALSE(bursts(1, {0, 0, 9})) << "too few to say";
  EXPECT_FALSE(bursts(2, {0, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(bursts(1, {0, 1, 1, 9}));
  EXPECT_FALSE(bursts(0, {})) << "nothing came";
}

}  // namespace
}  // namespace assay::metrics
