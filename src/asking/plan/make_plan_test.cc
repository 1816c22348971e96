#include "plan/make_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "plan/config_reader.h"

namespace assay::plan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using GivenFlags = std::vector<std::pair<std::string, std::string>>;

constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

Environment no_variables() {
  return [](const std::string&) { return std::nullopt; };
}

Config config_from(std::string_view yaml, const GivenFlags& flags = {}) {
  ConfigReader reader(no_variables(), 28232);
  if (!yaml.empty()) reader.read_text(yaml, "config.yaml");
  for (const auto& [name, value] : flags) reader.flag(name, value);
  auto loaded = reader.finish();
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? loaded->config : Config{};
}

Dataset rows(std::size_t count, std::string name = "data") {
  Dataset out{.name = std::move(name), .path = "data.jsonl"};
  for (std::size_t i = 0; i < count; ++i) out.samples.push_back({.prompt = format("row {}", i)});
  return out;
}

Config flags(GivenFlags given) {
  given.insert(given.begin(), {{"--endpoint", "http://localhost:8000"}, {"--model", "m"}});
  return config_from("", given);
}

Config file(std::string_view settings, std::string_view datasets = "[{path: data.jsonl}]",
            std::string_view head = "type: online\nmodel_params: {name: m}") {
  return config_from(
      format("{}\ndatasets: {}\nsettings:\n{}\n"
             "endpoint_config: {{endpoints: ['http://x']}}\n",
             head, datasets, settings));
}

PlanBundle plan_of(const Config& config, std::vector<Dataset> datasets) {
  auto bundle = make_plan(config, std::move(datasets));
  EXPECT_TRUE(bundle) << bundle.error().message;
  return bundle ? *std::move(bundle) : PlanBundle{.plan = {.phases = {PhasePlan{}}}};
}

PhasePlan performance(const Config& config, std::size_t count) {
  return plan_of(config, {rows(count)}).plan.phases.back();
}

std::vector<std::uint32_t> samples(const PhasePlan& phase, std::size_t count) {
  QueryStream stream(phase, 0, 0, 1);
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(stream.next().sample);
  return out;
}

TEST(MakePlan, poisson_is_the_reference_clients_schedule_query_by_query) {
  const PhasePlan phase = performance(flags({{"--rate", "100"}, {"--samples", "20"}}), 10);
  EXPECT_TRUE(phase.open_loop);
  ASSERT_EQ(phase.arrivals.size(), 20U);
  // Golden vectors: CPython 3.12 (spec/endpoints_client.md, appendix A).
  EXPECT_EQ(phase.arrivals[0].ns, 10200602);
  EXPECT_EQ(phase.arrivals[4].ns, 29531917);
  EXPECT_THAT(samples(phase, 20),
              ElementsAre(7, 3, 2, 8, 5, 6, 9, 4, 0, 1, 8, 6, 2, 5, 3, 0, 4, 7, 9, 1));
  EXPECT_EQ(phase.stop.queries_min, 20U);
  EXPECT_EQ(phase.stop.queries_max, 20U);
  ASSERT_EQ(phase.limits.size(), 1U);
  EXPECT_EQ(phase.limits[0].in_flight_max, kUnlimited);
}

TEST(MakePlan, closed_loop_keeps_its_number_in_flight) {
  const PhasePlan phase = performance(flags({{"--concurrency", "64"}, {"--samples", "1000"}}), 10);
  EXPECT_FALSE(phase.open_loop);
  EXPECT_TRUE(phase.arrivals.empty());
  EXPECT_EQ(phase.limits[0].in_flight_max, 64U);
  EXPECT_EQ(phase.stop.queries_min, 1000U);
  EXPECT_EQ(phase.stop.queries_max, 1000U);
  EXPECT_EQ(phase.stop.pass, 0U);
  EXPECT_EQ(performance(flags({{"--concurrency", "64"}, {"--max-in-flight", "8"}}), 10)
                .limits[0]
                .in_flight_max,
            8U);
}

TEST(MakePlan, a_duration_is_a_floor_in_closed_and_open_loops) {
  const PhasePlan closed =
      performance(flags({{"--concurrency", "4"}, {"--duration", "10s"}}), 1000);
  EXPECT_EQ(closed.stop.duration_min, 10_s);
  EXPECT_EQ(closed.stop.queries_min, 1U);
  EXPECT_EQ(closed.stop.pass, 0U);
  EXPECT_GE(closed.stop.queries_max, std::uint64_t{1} << 31);
  for (const char* pattern : {"poisson", "constant", "gamma"}) {
    for (const char* rate : {"0.1", "7", "300"}) {
      const PhasePlan open = performance(
          flags({{"--rate", rate}, {"--load-pattern", pattern}, {"--duration", "10s"}}), 1000);
      ASSERT_FALSE(open.arrivals.empty());
      EXPECT_GE(open.arrivals.back(), 10_s);
      if (open.arrivals.size() > 1) {
        EXPECT_LT(open.arrivals[open.arrivals.size() - 2], 10_s);
      }
      EXPECT_EQ(open.stop.queries_max, open.arrivals.size());
      EXPECT_EQ(open.stop.duration_min, 10_s);
    }
  }
  EXPECT_EQ(performance(
                flags({{"--rate", "50"}, {"--load-pattern", "constant"}, {"--duration", "10s"}}), 3)
                .arrivals.size(),
            500U);
}

// Section 4.2 of the spec: ceil(qps * seconds * 1.1), rounded up to whole passes.
TEST(MakePlan, min_duration_sizes_a_poisson_schedule_as_there_and_is_a_floor) {
  const Config config =
      file("  runtime: {min_duration_ms: 60s}\n  load_pattern: {type: poisson, target_qps: 10}");
  EXPECT_EQ(performance(config, 7).arrivals.size(), 665U);  // 660 → 95 passes of 7
  EXPECT_EQ(performance(config, 1000).arrivals.size(), 1000U);
  // At a low rate 1.1 times the queries may end too early: passes are added until they do not.
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const PhasePlan phase =
        performance(file(format("  runtime: {{min_duration_ms: 10s, scheduler_random_seed: {}}}\n"
                                "  load_pattern: {{type: poisson, target_qps: 0.5}}",
                                seed)),
                    2);
    EXPECT_GE(phase.arrivals.size(), 6U);
    EXPECT_EQ(phase.arrivals.size() % 2, 0U);
    EXPECT_GE(phase.arrivals.back(), 10_s);
  }
}

TEST(MakePlan, min_duration_of_a_closed_loop_is_a_floor_in_whole_passes) {
  const PhasePlan phase =
      performance(file("  runtime: {min_duration_ms: 60s, max_duration_ms: 90s}\n"
                       "  load_pattern: {type: concurrency, target_concurrency: 5}"),
                  70);
  EXPECT_EQ(phase.stop.duration_min, 60_s);
  EXPECT_EQ(phase.stop.duration_max, 90_s);
  EXPECT_EQ(phase.stop.pass, 70U);
  EXPECT_EQ(phase.stop.queries_min, 70U);
}

TEST(MakePlan, a_count_goes_before_a_duration) {
  const PhasePlan phase =
      performance(file("  runtime: {min_duration_ms: 600s, n_samples_to_issue: 24576}\n"
                       "  load_pattern: {type: concurrency, target_concurrency: 5}"),
                  70);
  EXPECT_EQ(phase.stop.queries_min, 24576U);
  EXPECT_EQ(phase.stop.queries_max, 24576U);
  EXPECT_EQ(phase.stop.duration_min, Duration{});
}

TEST(MakePlan, without_a_length_the_dataset_is_asked_once_and_passes_count_it) {
  const char* load = "load_pattern: {type: concurrency, target_concurrency: 5}";
  EXPECT_EQ(performance(file(format("  runtime: {{min_duration_ms: 0}}\n  {}", load)), 70)
                .stop.queries_max,
            70U);
  EXPECT_EQ(performance(file(format("  runtime: {{passes: 3}}\n  {}", load)), 70).stop.queries_max,
            210U);
}

TEST(MakePlan, max_throughput_sends_all_at_once) {
  const PhasePlan phase = performance(
      file("  runtime: {n_samples_to_issue: 100}\n  load_pattern: {type: max_throughput}",
           "[{path: data.jsonl}]", "type: offline\nmodel_params: {name: m}"),
      30);
  EXPECT_TRUE(phase.open_loop);
  EXPECT_EQ(phase.arrivals, std::vector<Duration>(100));
  // With only a duration, the reference client assumes 10 queries a second.
  const PlanBundle sized =
      plan_of(file("  load_pattern: {type: max_throughput}", "[{path: data.jsonl}]",
                   "type: offline\nmodel_params: {name: m}"),
              {rows(1000)});
  EXPECT_EQ(sized.plan.phases[0].arrivals.size(), 7000U);
  EXPECT_THAT(sized.notes, Contains(HasSubstr("7,000 queries")));
  // With a cap it can last.
  const PhasePlan capped = performance(
      flags(
          {{"--load-pattern", "max_throughput"}, {"--duration", "10s"}, {"--max-in-flight", "9"}}),
      30);
  EXPECT_FALSE(capped.open_loop);
  EXPECT_EQ(capped.limits[0].in_flight_max, 9U);
  EXPECT_EQ(capped.stop.duration_min, 10_s);
}

TEST(MakePlan, a_ramp_of_concurrency_is_a_list_of_limits) {
  const PhasePlan phase = performance(flags({{"--ramp", "concurrency:1-64,steps=4,step=30s"}}), 10);
  EXPECT_FALSE(phase.open_loop);
  ASSERT_EQ(phase.limits.size(), 4U);
  EXPECT_EQ(phase.limits[0].in_flight_max, 1U);
  EXPECT_EQ(phase.limits[1].in_flight_max, 22U);
  EXPECT_EQ(phase.limits[2].in_flight_max, 43U);
  EXPECT_EQ(phase.limits[3].in_flight_max, 64U);
  EXPECT_EQ(phase.limits[3].at, 90_s);
  EXPECT_EQ(phase.stop.duration_min, 120_s);
}

TEST(MakePlan, a_ramp_of_rate_rises_step_by_step) {
  const PhasePlan phase = performance(
      flags({{"--ramp", "rate:100-300,steps=3,step=20s"}, {"--max-in-flight", "50"}}), 10);
  EXPECT_TRUE(phase.open_loop);
  EXPECT_EQ(phase.limits[0].in_flight_max, 50U);
  std::vector<int> counts(4);
  for (const Duration at : phase.arrivals)
    ++counts[static_cast<std::size_t>(at.ns / 20'000'000'000)];
  EXPECT_NEAR(counts[0], 2000, 180);
  EXPECT_NEAR(counts[1], 4000, 260);
  EXPECT_NEAR(counts[2], 6000, 320);
  EXPECT_GE(phase.arrivals.back(), 60_s);
}

constexpr std::string_view kAccuracy =
    "[{path: data.jsonl}, {name: acc, path: a.jsonl, type: accuracy, generation_config_override: "
    "{max_new_tokens: 9}, accuracy_config: {eval_method: rouge, extractor: identity_extractor, "
    "num_repeats: 3}}]";

TEST(MakePlan, phases_come_in_order_each_with_its_own_rules) {
  const Config config = file(
      "  runtime: {n_samples_to_issue: 50, max_duration_ms: 60s}\n"
      "  load_pattern: {type: concurrency, target_concurrency: 8}\n"
      "  warmup: {enabled: true, n_requests: 6, salt: true, drain: true}\n"
      "  drain: {accuracy_timeout_s: 17}",
      kAccuracy);
  const PlanBundle bundle = plan_of(config, {rows(10), rows(4, "acc")});
  ASSERT_EQ(bundle.plan.phases.size(), 3U);
  const PhasePlan& warmup = bundle.plan.phases[0];
  EXPECT_EQ(warmup.kind, PhaseKind::warmup);
  EXPECT_EQ(warmup.stop.queries_max, 6U);
  EXPECT_EQ(warmup.stop.duration_max, Duration::max());
  EXPECT_TRUE(warmup.salted);
  EXPECT_TRUE(warmup.drain);
  EXPECT_EQ(warmup.stop.drain_max, 240_s);
  EXPECT_EQ(warmup.limits[0].in_flight_max, 8U);
  const PhasePlan& measured = bundle.plan.phases[1];
  EXPECT_EQ(measured.kind, PhaseKind::performance);
  EXPECT_EQ(measured.stop.duration_max, 60_s);
  EXPECT_FALSE(measured.salted);
  const PhasePlan& accuracy = bundle.plan.phases[2];
  EXPECT_EQ(accuracy.kind, PhaseKind::accuracy);
  EXPECT_EQ(accuracy.name, "acc");
  EXPECT_EQ(accuracy.dataset, 1U);
  EXPECT_EQ(accuracy.stop.queries_max, 12U);
  EXPECT_EQ(accuracy.stop.duration_max, Duration::max());
  EXPECT_EQ(accuracy.stop.drain_max, 17_s);
  EXPECT_FALSE(accuracy.salted);
  EXPECT_EQ(accuracy.limits[0].in_flight_max, 8U);
  EXPECT_THAT(samples(accuracy, 12), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_EQ(bundle.datasets[0].generation.max_new_tokens, 1024);
  EXPECT_EQ(bundle.datasets[1].generation.max_new_tokens, 9);
  EXPECT_TRUE(bundle.keep_text);
}

TEST(MakePlan, the_mode_chooses_the_phases) {
  Config config = file("  load_pattern: {type: concurrency, target_concurrency: 8}", kAccuracy);
  config.mode = Mode::perf;
  EXPECT_EQ(plan_of(config, {rows(10)}).plan.phases.size(), 1U);
  config.mode = Mode::acc;
  const PlanBundle accuracy = plan_of(config, {rows(4, "acc")});
  ASSERT_EQ(accuracy.plan.phases.size(), 1U);
  EXPECT_EQ(accuracy.plan.phases[0].kind, PhaseKind::accuracy);
  EXPECT_EQ(accuracy.plan.phases[0].dataset, 0U);
  config.mode = Mode::both;
  EXPECT_EQ(plan_of(config, {rows(10), rows(4)}).plan.phases.size(), 2U);
}

TEST(MakePlan, a_warm_up_without_salt_warms_only_what_is_measured_without_salt) {
  for (const bool salt : {false, true}) {
    const std::string yaml =
        "  runtime: {{n_samples_to_issue: 5, salt: {}}}\n"
        "  load_pattern: {{type: concurrency, target_concurrency: 2}}\n"
        "  warmup: {{enabled: true, n_requests: 8}}";
    const PlanBundle bundle = plan_of(file(format(fmt::runtime(yaml), salt)), {rows(10)});
    EXPECT_EQ(bundle.plan.phases[1].salted, salt);
    const auto warm = Contains(HasSubstr("a prefix cache may be warm"));
    if (salt) {
      EXPECT_THAT(bundle.notes, Not(warm));
    } else {
      EXPECT_THAT(bundle.notes, warm);
    }
  }
}

// Section 4.8 of the spec: seeds s, s + 1 and s + 2 for gaps, order and salts.
TEST(MakePlan, the_warm_up_has_seeds_of_its_own) {
  const std::string yaml =
      "  runtime: {{n_samples_to_issue: 5}}\n  load_pattern: {{type: poisson, target_qps: 100}}\n"
      "  warmup: {{enabled: {}, salt: true, n_requests: 8, warmup_random_seed: 42}}";
  const PlanBundle with = plan_of(file(format(fmt::runtime(yaml), true)), {rows(10)});
  const PlanBundle without = plan_of(file(format(fmt::runtime(yaml), false)), {rows(10)});
  const PhasePlan& warmup = with.plan.phases[0];
  EXPECT_EQ(warmup.arrivals[0].ns, 10200602);
  QueryStream queries(warmup, 0, 0, 1);
  SampleOrder order = SampleOrder::shuffled(10, 43);
  for (const char* salt : {"a8ce956811102085", "78adbe8a4bfd9cb3", "9f6eaedc0621dd1d"}) {
    const Query query = queries.next();
    EXPECT_EQ(format("{:016x}", query.salt), salt);
    EXPECT_EQ(query.sample, order.next());
  }
  EXPECT_FALSE(warmup.drain);
  EXPECT_EQ(with.plan.phases[1].arrivals, without.plan.phases[0].arrivals);
  EXPECT_EQ(samples(with.plan.phases[1], 5), samples(without.plan.phases[0], 5));
}

TEST(MakePlan, accuracy_goes_on_with_the_performance_phases_gaps) {
  const PlanBundle bundle = plan_of(file("  runtime: {n_samples_to_issue: 3}\n"
                                         "  load_pattern: {type: poisson, target_qps: 100}",
                                         kAccuracy),
                                    {rows(10), rows(4, "acc")});
  EXPECT_EQ(bundle.plan.phases[1].arrivals[0].ns, 2525861);
}

TEST(MakePlan, what_cannot_be_asked_is_said_before_anything_is_sent) {
  Dataset chat = rows(3);
  chat.samples[1] = {.messages = *Json::parse(R"([{"role":"user","content":"x"}])")};
  Dataset ids = rows(3);
  ids.samples[2] = {.input_tokens = {1, 2}};
  const auto error = [](const Config& config, Dataset dataset) {
    std::vector<Dataset> all;
    all.push_back(std::move(dataset));
    const auto bundle = make_plan(config, std::move(all));
    return bundle ? "no error" : bundle.error().message;
  };
  EXPECT_THAT(error(flags({}), ids), HasSubstr("row 3: token ids, which openai does not take"));
  EXPECT_THAT(error(flags({{"--api-type", "sglang"}}), chat), HasSubstr("row 2: messages"));
  EXPECT_EQ(error(flags({{"--api-type", "sglang"}}), ids), "no error");
  EXPECT_THAT(error(flags({}), Dataset{.name = "none"}), HasSubstr("has no rows"));
}

TEST(MakePlan, conversations_are_replayed_and_end_in_a_tail) {
  const auto planned = [](const char* agentic) {
    Dataset data = rows(4);
    data.conversations = {{{{0, {}}, {1, {}}}}, {{{2, {}}, {3, {}}}}};
    return plan_of(file("  load_pattern: {type: agentic_inference, target_concurrency: 2}",
                        format("[{{path: c.jsonl, agentic_inference: {}}}]", agentic)),
                   {data});
  };
  const PlanBundle bundle = planned("{num_trajectories_to_issue: 3, turn_timeout_s: 7}");
  const std::vector<PhasePlan>& phases = bundle.plan.phases;
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_TRUE(phases[0].replay);
  EXPECT_EQ(phases[0].conversations.size(), 3U);
  EXPECT_EQ(phases[0].limits[0].in_flight_max, 2U);
  EXPECT_FALSE(phases[0].drain);
  EXPECT_EQ(phases[1].kind, PhaseKind::tail);
  EXPECT_EQ(bundle.endpoints.query_timeout, 7_s);
  EXPECT_THAT(bundle.endpoints.session_headers, ElementsAre("X-Session-ID"));
  const PlanBundle cut = planned("{stop_issuing_on_first_user_complete: true}");
  EXPECT_EQ(cut.plan.phases.size(), 1U);
  EXPECT_TRUE(cut.plan.phases[0].drain);
}

Config with_swe_bench() {
  return file("  load_pattern: {type: concurrency, target_concurrency: 2}",
              "[{path: d.jsonl}, {name: swe_bench, type: accuracy, accuracy_config: "
              "{eval_method: swe_bench_scorer}}]");
}

TEST(MakePlan, what_is_not_run_yet_is_refused_by_name) {
  const auto refused = [](const Config& config) {
    const auto bundle = make_plan(config, {rows(3), rows(3)});
    EXPECT_FALSE(bundle);
    if (bundle) return std::string();
    EXPECT_EQ(bundle.error().code, Code::unsupported);
    return bundle.error().message;
  };
  Config config = with_swe_bench();
  config.mode = Mode::both;
  EXPECT_THAT(refused(config), HasSubstr("swe_bench_scorer needs the SWE-bench service"));
  config.datasets[1].accuracy_config->extras.set("swebench_service_url", "http://u:p@s:9/x");
  EXPECT_THAT(refused(config), HasSubstr("(http://<redacted>@s:9/x)"));
  config.mode.reset();
  config.type = RunType::submission;
  EXPECT_THAT(refused(config), HasSubstr("swe_bench_scorer")) << "which asks for both";
}

// The reference client's default mode does the same with its examples.
TEST(MakePlan, a_dataset_that_a_program_of_its_own_asks_is_left_out_of_a_measurement_and_told) {
  const auto bundle = make_plan(with_swe_bench(), {rows(3)});
  ASSERT_TRUE(bundle) << bundle.error().message;
  ASSERT_EQ(bundle->plan.phases.size(), 1U);
  EXPECT_EQ(bundle->plan.phases[0].kind, PhaseKind::performance);
  EXPECT_THAT(bundle->notes, testing::Contains(HasSubstr("'swe_bench' is left out")));
  Config config = with_swe_bench();
  config.mode = Mode::perf;
  const auto alone = make_plan(config, {rows(3)});
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_THAT(alone->notes, testing::Not(testing::Contains(HasSubstr("left out"))))
      << "that is what was asked for";
}

TEST(MakePlan, a_run_that_cannot_be_numbered_is_an_error) {
  EXPECT_FALSE(make_plan(flags({{"--rate", "1000000"}, {"--duration", "100h"}}), {rows(3)}));
  EXPECT_FALSE(make_plan(flags({{"--passes", "4000000000"}}), {rows(1000)}));
  EXPECT_FALSE(make_plan(file("  runtime: {min_duration_ms: 1000h}\n"
                              "  load_pattern: {type: poisson, target_qps: 1000000}"),
                         {rows(3)}));
}

TEST(MakePlan, endpoints_and_generation_are_taken_over) {
  const PlanBundle bundle = plan_of(config_from("", {{"--endpoint", "http://a,http://b"},
                                                     {"--model", "m"},
                                                     {"--api-key", "secret-key-1"},
                                                     {"--header", "X-A: 1"},
                                                     {"--max-connections", "100"},
                                                     {"--query-timeout", "3s"},
                                                     {"--timeout", "1m"},
                                                     {"--temperature", "0.5"},
                                                     {"--osl", "uniform:10-20"},
                                                     {"--insecure", ""}}),
                                    {rows(3)});
  EXPECT_THAT(bundle.endpoints.urls, ElementsAre("http://a", "http://b"));
  EXPECT_EQ(bundle.endpoints.api_key, "secret-key-1");
  EXPECT_EQ(bundle.endpoints.connections_max, 100U);
  EXPECT_EQ(bundle.endpoints.query_timeout, 3_s);
  EXPECT_TRUE(bundle.endpoints.insecure);
  EXPECT_THAT(bundle.endpoints.session_headers, ElementsAre("X-Session-ID"));
  EXPECT_EQ(bundle.run_max, 60_s);
  const Generation& generation = bundle.datasets[0].generation;
  EXPECT_EQ(generation.model, "m");
  EXPECT_EQ(generation.temperature, 0.5);
  EXPECT_TRUE(generation.stream);
  EXPECT_EQ(generation.ignore_eos, true);  // an output length was asked for
}

TEST(MakePlan, datasets_are_loaded_as_the_config_says) {
  const Config config = flags({{"--api-type", "sglang"}, {"--isl", "20"}, {"--samples", "7"}});
  const auto loaded = load_datasets(config);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->size(), 1U);
  EXPECT_EQ((*loaded)[0].rows(), 7U);
  EXPECT_EQ((*loaded)[0].make_row(0).input_tokens.size(), 20U);
  const std::string path = testing::TempDir() + "/assay_make_plan/x.jsonl";
  ASSERT_TRUE(write_file_atomic(path, "{\"q\":\"hi\",\"id\":1}\n"));
  const auto from_file =
      load_datasets(flags({{"--dataset", path + ",parser.prompt=q"}, {"--concurrency", "1"}}));
  ASSERT_TRUE(from_file) << from_file.error().message;
  EXPECT_EQ((*from_file)[0].samples[0].prompt, "hi");
  const auto missing = load_datasets(flags({{"--dataset", "/nowhere/x.jsonl"}}));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("dataset 'x': cannot open '/nowhere/x.jsonl'"));
}

TEST(PlanDigest, is_the_same_for_the_same_plan_and_differs_for_any_other) {
  const auto digest = [](GivenFlags given, std::size_t count) {
    return plan_digest(plan_of(flags(std::move(given)), {rows(count)}));
  };
  const GivenFlags base{{"--rate", "50"}, {"--samples", "40"}};
  EXPECT_EQ(digest(base, 10), digest(base, 10));
  EXPECT_EQ(digest(base, 10), "01fd8c638a39fef55fd60c07ad954f7784300eca0736c8c4cf678d20ddda097a")
      << "a change of every digest is named in the changelog";
  std::set<std::string> seen{digest(base, 10), digest(base, 11)};
  for (const auto& extra : GivenFlags{{"--rate", "51"},
                                      {"--samples", "41"},
                                      {"--run-seed", "7"},
                                      {"--endpoint", "http://b"},
                                      {"--temperature", "1"},
                                      {"--max-in-flight", "5"},
                                      {"--query-timeout", "5s"},
                                      {"--warmup", ""},
                                      {"--api-type", "openai_completions"},
                                      {"--insecure", ""},
                                      {"--max-duration", "50s"},
                                      {"--header", "a: b"},
                                      {"--timeout", "9s"}}) {
    GivenFlags given = base;
    given.push_back(extra);
    EXPECT_TRUE(seen.insert(digest(given, 10)).second) << extra.first;
  }
  GivenFlags keyed = base;
  keyed.emplace_back("--api-key", "k");
  EXPECT_EQ(digest(keyed, 10), digest(base, 10));
}

}  // namespace
}  // namespace assay::plan
