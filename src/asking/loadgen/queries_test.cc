#include "loadgen/queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "loadgen/builtin_conf.h"

namespace assay::loadgen {
namespace {

using Indices = std::vector<std::uint64_t>;

// The settings of the vectors below: the seeds of v6.1 and nothing else of the built-in file.
TestSettings seeded(Scenario scenario) {
  TestSettings s;
  s.scenario = scenario;
  s.qsl_rng_seed = 2085463073848966840;
  s.sample_index_rng_seed = 2747215439041700203;
  s.schedule_rng_seed = 16159082839903944936U;
  s.min_duration_ms = 0;
  return s;
}

struct Series {
  std::vector<Query> queries{};
  std::uint64_t per_query = 0;
  Indices all{};  // the samples of all queries
};

EffectiveSettings of(const TestSettings& asked, SampleLibrary library) {
  const auto settings = effective(asked, library);
  EXPECT_TRUE(settings) << (settings ? "" : settings.error().message);
  return settings.value_or(EffectiveSettings{});
}

Series made(const EffectiveSettings& settings, const LoadedSet& set, Phase phase) {
  Series out;
  auto stream = QueryStream::make(settings, set, phase);
  EXPECT_TRUE(stream) << (stream ? "" : stream.error().message);
  if (!stream) return out;
  for (Query query; stream->next(query);) {
    out.queries.push_back(query);
    out.all.insert(out.all.end(), query.samples.begin(), query.samples.end());
  }
  out.per_query = stream->samples_per_query();
  return out;
}

Series performance(const TestSettings& asked, SampleLibrary library) {
  const EffectiveSettings settings = of(asked, library);
  return made(settings, loaded_sets(settings, Phase::performance).front(), Phase::performance);
}

Indices first(const Indices& all, std::ptrdiff_t count) {
  return {all.begin(), all.begin() + count};
}
Indices last(const Indices& all, std::ptrdiff_t count) { return {all.end() - count, all.end()}; }

// Vectors of LoadGen 6.0.17.
TEST(LoadgenQueries, single_stream_draws_as_loadgen_does) {
  TestSettings s = seeded(Scenario::SingleStream);
  s.min_query_count = 2000;
  const Series series = performance(s, {.total = 5000, .performance = 1024});
  EXPECT_EQ(series.queries.size(), 2000U);
  EXPECT_EQ(first(series.all, 16), (Indices{455, 199, 607, 480, 67, 17, 307, 947, 716, 987, 957,
                                            978, 921, 885, 350, 608}));
  EXPECT_EQ(last(series.all, 4), (Indices{789, 931, 166, 348}));
}

TEST(LoadgenQueries, single_stream_in_whole_passes) {
  TestSettings s = seeded(Scenario::SingleStream);
  s.sample_concatenate_permutation = true;
  const Series series = performance(s, {.total = 64, .performance = 64});
  EXPECT_EQ(series.queries.size(), 128U);
  EXPECT_EQ(first(series.all, 16),
            (Indices{29, 15, 17, 42, 59, 51, 61, 12, 37, 55, 46, 43, 23, 14, 9, 39}));
  EXPECT_EQ(last(series.all, 4), (Indices{48, 45, 9, 15}));
  for (const std::ptrdiff_t from : {0, 64}) {
    const std::set<std::uint64_t> pass(series.all.begin() + from, series.all.begin() + from + 64);
    EXPECT_EQ(pass.size(), 64U);
  }
}

TEST(LoadgenQueries, multi_stream_takes_neighbours) {
  TestSettings s = seeded(Scenario::MultiStream);
  const Series series = performance(s, {.total = 5000, .performance = 1024});
  EXPECT_EQ(series.queries.size(), 100U);
  EXPECT_EQ(first(series.all, 15),
            (Indices{678, 266, 573, 278, 241, 816, 958, 576, 935, 222, 123, 954, 24, 488, 1008}));
  EXPECT_EQ(last(series.all, 4), (Indices{1019, 938, 979, 930}));
}

TEST(LoadgenQueries, server_arrives_at_loadgens_nanoseconds) {
  TestSettings s = seeded(Scenario::Server);
  s.min_query_count = 500;
  s.server_target_qps = 2000;
  s.min_duration_ms = 200;
  const Series series = performance(s, {.total = 5000, .performance = 1024});
  EXPECT_EQ(series.queries.size(), 500U);
  EXPECT_EQ(first(series.all, 16), (Indices{784, 618, 960, 248, 513, 635, 155, 667, 431, 242, 804,
                                            751, 434, 156, 303, 782}));
  EXPECT_EQ(last(series.all, 4), (Indices{800, 418, 391, 567}));
  // Gaps of rate 1, in nanoseconds, by 2000.
  EXPECT_EQ(series.queries[0].due_ns, 0);
  EXPECT_EQ(series.queries[1].due_ns, 1'843'654'016 / 2000);
  EXPECT_EQ(series.queries[2].due_ns, 1'843'654'016 / 2000 + 457'923'688 / 2000);
}

TEST(LoadgenQueries, server_in_whole_passes_goes_on_to_the_end_of_a_pass) {
  TestSettings s = seeded(Scenario::Server);
  s.sample_concatenate_permutation = true;
  s.server_target_qps = 2000;
  s.min_duration_ms = 100;
  const Series series = performance(s, {.total = 64, .performance = 64});
  EXPECT_EQ(series.queries.size(), 256U);
  EXPECT_EQ(first(series.all, 4), (Indices{29, 15, 17, 42}));
  // Two passes were drawn ahead: the third is the first again.
  EXPECT_TRUE(std::equal(series.all.begin(), series.all.begin() + 128, series.all.begin() + 128));
}

TEST(LoadgenQueries, offline_repeats_the_loaded_order) {
  TestSettings s = seeded(Scenario::Offline);
  s.min_query_count = 3000;
  const Series series = performance(s, {.total = 5000, .performance = 1024});
  ASSERT_EQ(series.queries.size(), 1U);
  EXPECT_EQ(series.per_query, 3000U);
  EXPECT_EQ(first(series.all, 3), (Indices{216, 267, 822}));
  EXPECT_EQ(last(series.all, 4), (Indices{428, 824, 258, 413}));
  EXPECT_EQ(series.all[1024], 216U);
}

TEST(LoadgenQueries, offline_in_whole_passes) {
  TestSettings s = seeded(Scenario::Offline);
  s.sample_concatenate_permutation = true;
  const Series series = performance(s, {.total = 64, .performance = 64});
  ASSERT_EQ(series.all.size(), 128U);
  EXPECT_EQ(first(series.all, 16),
            (Indices{18, 39, 26, 42, 24, 50, 38, 61, 12, 4, 2, 31, 11, 0, 56, 19}));
  EXPECT_EQ(last(series.all, 4), (Indices{33, 44, 10, 54}));
}

TEST(LoadgenQueries, accuracy_asks_every_sample_once_in_each_scenario) {
  for (const Scenario scenario :
       {Scenario::SingleStream, Scenario::MultiStream, Scenario::Server, Scenario::Offline}) {
    const EffectiveSettings settings = of(seeded(scenario), {.total = 100, .performance = 64});
    std::multiset<std::uint64_t> asked;
    const auto sets = loaded_sets(settings, Phase::accuracy);
    ASSERT_EQ(sets.size(), 2U);
    for (const LoadedSet& set : sets) {
      for (const std::uint64_t sample : made(settings, set, Phase::accuracy).all) {
        asked.insert(sample);
      }
    }
    // MultiStream fills its last query with samples that it asked before.
    EXPECT_EQ(asked.size(), scenario == Scenario::MultiStream ? 104U : 100U);
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_GE(asked.count(i), 1U) << i;
  }
}

TEST(LoadgenQueries, accuracy_of_single_stream_has_loadgens_order) {
  const EffectiveSettings settings =
      of(seeded(Scenario::SingleStream), {.total = 100, .performance = 64});
  const auto sets = loaded_sets(settings, Phase::accuracy);
  EXPECT_EQ(first(sets[0].samples, 12), (Indices{1, 5, 13, 64, 11, 37, 58, 70, 96, 67, 89, 42}));
  EXPECT_EQ(first(made(settings, sets[0], Phase::accuracy).all, 12),
            (Indices{28, 71, 58, 37, 21, 81, 11, 84, 79, 29, 8, 89}));
  EXPECT_EQ(last(made(settings, sets[1], Phase::accuracy).all, 4), (Indices{26, 60, 54, 49}));
}

TEST(LoadgenQueries, what_would_be_undefined_in_loadgen_is_refused) {
  TestSettings unique = seeded(Scenario::Offline);
  unique.performance_issue_unique = true;
  unique.performance_sample_count_override = 200;  // the dataset has 100
  const EffectiveSettings more = of(unique, {.total = 100, .performance = 100});
  const auto sets = loaded_sets(more, Phase::performance);
  EXPECT_FALSE(QueryStream::make(more, sets.front(), Phase::performance));

  TestSettings same = seeded(Scenario::Server);
  same.performance_issue_same = true;
  same.performance_issue_same_index = 100;
  EXPECT_FALSE(effective(same, {.total = 100, .performance = 100}));
  same.performance_issue_unique = true;
  EXPECT_FALSE(effective(same, {.total = 100, .performance = 100}));
  EXPECT_FALSE(effective(seeded(Scenario::Server), {.total = 0, .performance = 0}));

  TestSettings still = seeded(Scenario::Server);
  still.server_target_qps = 0;
  EXPECT_FALSE(effective(still, {.total = 100, .performance = 100}));
  TestSettings passes = seeded(Scenario::Server);
  passes.sample_concatenate_permutation = true;
  passes.min_query_count = 0;
  passes.min_duration_ms = 1000;
  const EffectiveSettings none_ahead = of(passes, {.total = 100, .performance = 100});
  EXPECT_FALSE(QueryStream::make(none_ahead, loaded_sets(none_ahead, Phase::performance).front(),
                                 Phase::performance));
}

TEST(LoadgenQueries, a_sampling_target_becomes_a_share_of_the_expected_queries) {
  TestSettings s = seeded(Scenario::Server);
  s.accuracy_log_sampling_target = 50;
  s.server_target_qps = 100;
  s.min_duration_ms = 10'000;
  const EffectiveSettings settings = of(s, {.total = 100, .performance = 100});
  AccuracySampling sampling;
  sampling.begin(settings, Phase::performance);
  EXPECT_EQ(sampling.probability(), 0.05);
  int logged = 0;
  for (int i = 0; i < 1000; ++i) logged += sampling.next() ? 1 : 0;
  EXPECT_GT(logged, 20);
  EXPECT_LT(logged, 90);
  sampling.begin(settings, Phase::accuracy);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(sampling.next());
}

TEST(LoadgenSettings, offline_has_a_tenth_more_than_the_rate_asks_for) {
  TestSettings s = seeded(Scenario::Offline);
  s.offline_expected_qps = 1000;
  s.min_duration_ms = 600'000;
  const EffectiveSettings settings = of(s, {.total = 100, .performance = 100});
  EXPECT_EQ(settings.samples_per_query, 660'000U);
  EXPECT_EQ(settings.min_query_count, 1U);
  EXPECT_EQ(settings.target_duration_ms, 0);
  EXPECT_EQ(settings.min_duration_ms, 600'000);
}

TEST(LoadgenSettings, single_stream_passes_are_of_the_librarys_own_count) {
  TestSettings s = seeded(Scenario::SingleStream);
  s.sample_concatenate_permutation = true;
  s.performance_sample_count_override = 40;
  s.min_query_count = 200;
  EXPECT_EQ(of(s, {.total = 100, .performance = 100}).min_query_count, 300U);
}

}  // namespace
}  // namespace assay::loadgen
