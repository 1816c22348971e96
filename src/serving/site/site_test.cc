#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_temp_folder.h"
#include "site/journal.h"
#include "site/measure.h"
#include "site/policy.h"
#include "store/open_store.h"

namespace assay::site {
namespace {

using sites::ActKind;
using sites::RunState;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kPolicy = R"(hub: https://hub.example
token_file: token
store: site.db
folder: runs
key: site.key
datasets:
  ours:
    file: private.jsonl
    options: [parser.prompt=question]
    ground_truth: answer
    extractor: identity_extractor
models:
  model: {endpoint: "http://10.0.0.7:8000", name: llama, api_key_env: OUR_KEY}
orders:
  benchmarks: [triage]
  concurrency_max: 8
  samples_max: 100
  output_tokens_max: 64
  scorers: [string_match]
release: {fields: [accuracy, qps], k_minimum: 10, digits: 3}
)";

sites::Measurement small_order() {
  return {.concurrency = {1, 8},
          .samples = 100,
          .max_output_tokens = 64,
          .scorer = "string_match",
          .fields = {"accuracy"}};
}

Policy policy() { return *parse_policy(kPolicy, "/site"); }

TEST(Policy, an_order_at_the_limits_is_taken_and_one_beyond_any_of_them_is_not) {
  const Policy ours = policy();
  EXPECT_EQ(why_not(ours, "triage", "ours", "model", small_order()), "");
  EXPECT_NE(why_not(ours, "other", "ours", "model", small_order()), "");
  EXPECT_NE(why_not(ours, "triage", "theirs", "model", small_order()), "");
  EXPECT_NE(why_not(ours, "triage", "ours", "other", small_order()), "");
  sites::Measurement more = small_order();
  more.concurrency.push_back(9);
  EXPECT_NE(why_not(ours, "triage", "ours", "model", more), "");
  more = small_order();
  more.samples = 101;
  EXPECT_NE(why_not(ours, "triage", "ours", "model", more), "");
  more = small_order();
  more.max_output_tokens = 65;
  EXPECT_NE(why_not(ours, "triage", "ours", "model", more), "");
  more = small_order();
  more.scorer = "code_bench_scorer";
  EXPECT_NE(why_not(ours, "triage", "ours", "model", more), "");
}

TEST(Policy, what_is_no_policy_is_refused_with_line_and_key) {
  const auto refusal = [](std::string_view was, std::string_view becomes) {
    std::string text(kPolicy);
    text.replace(text.find(was), was.size(), becomes);
    const auto read = parse_policy(text, "/site");
    return read ? std::string("accepted") : read.error().message;
  };
  EXPECT_THAT(refusal("samples_max", "sample_max"), HasSubstr("line 17: orders: unknown key"));
  EXPECT_THAT(refusal("k_minimum: 10, ", ""), HasSubstr("needs k_minimum"));
  EXPECT_THAT(refusal("k_minimum: 10", "k_minimum: none"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("[accuracy, qps]", "[accuracy, replies]"), HasSubstr("replies"));
  EXPECT_THAT(refusal("private.jsonl", "private.jsonl,format=csv"), HasSubstr("','"));
  EXPECT_THAT(refusal("https://hub.example", "hub"), Not("accepted"));
  EXPECT_EQ(refusal("digits: 3", "digits: 4"), "accepted");
}

TEST(Measure, a_command_line_has_the_policys_places_and_the_orders_numbers) {
  const Order order{.run = "r", .dataset = "ours", .model = "model", .measurement = small_order()};
  const auto line = run_arguments(policy(), order, 8, "/site/runs/r/attempt-1/c8");
  EXPECT_THAT(line, Contains("http://10.0.0.7:8000"));
  EXPECT_THAT(line, Contains("perf:/site/private.jsonl,parser.prompt=question"));
  EXPECT_THAT(line, Contains("acc:/site/private.jsonl,parser.prompt=question,"
                             "accuracy_config.eval_method=string_match,"
                             "accuracy_config.extractor=identity_extractor,"
                             "accuracy_config.ground_truth=answer"));
  EXPECT_THAT(line, Contains("OUR_KEY"));
  EXPECT_THAT(line, Not(Contains("--allow-code")));
}

class Journals : public testing::Test {
 protected:
  Journals() : store_(std::move(*store::open_store(":memory:"))), journal_(*store_) {}

  std::unique_ptr<store::Store> store_;
  Journal journal_;
  const std::string now_ = "2026-11-24T00:00:00Z";
  const LocalRun taken_{.id = "r",
                        .benchmark = "triage",
                        .dataset = "ours",
                        .dataset_sha256 = std::string(64, 'a'),
                        .model = "model",
                        .wanted = {"qps"}};
};

TEST_F(Journals, keeps_what_was_measured_and_what_was_shown) {
  ASSERT_TRUE(journal_.take(taken_, now_).has_value());
  EXPECT_EQ(journal_.take(taken_, now_).error().code, Code::refused);
  EXPECT_EQ(journal_.release("r", "s", now_).error().code, Code::refused);
  const std::vector<sites::MeasuredLevel> measured{
      {.concurrency = 4, .completed = 9, .figures = {{"qps", 0.1}}, .scored = 7},
      {.concurrency = 8, .completed = 9, .figures = {}, .scored = {}}};
  ASSERT_TRUE(journal_.hold("r", measured, now_).has_value());
  ASSERT_TRUE(journal_.review("r", "what was shown\n", now_).has_value());
  const auto run = *journal_.run("r");
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->state, RunState::reviewed);
  EXPECT_EQ(run->document, "what was shown\n");
  EXPECT_EQ(run->wanted, taken_.wanted);
  ASSERT_EQ(run->measured.size(), 2U);
  EXPECT_EQ(run->measured[0].figures, measured[0].figures);
  EXPECT_EQ(run->measured[0].scored, measured[0].scored);
  EXPECT_EQ(run->measured[1].scored, std::nullopt);
  EXPECT_EQ(journal_.runs()->size(), 1U);
  EXPECT_FALSE(journal_.run("other")->has_value());
}

// From wherever the hub stopped, the acts lead it to where the run is here.
TEST_F(Journals, the_acts_that_the_hub_lacks_lead_it_to_the_runs_state) {
  for (const RunState here : {RunState::taken, RunState::held, RunState::reviewed,
                              RunState::released, RunState::withheld, RunState::failed}) {
    LocalRun run = taken_;
    run.state = here;
    const std::vector<RunState> on_the_way =
        here == RunState::failed ? std::vector{RunState::taken}
        : here == RunState::withheld
            ? std::vector{RunState::taken, RunState::held}
            : std::vector{RunState::taken, RunState::held, RunState::reviewed, RunState::released};
    for (RunState hub : on_the_way) {
      if (here != RunState::withheld && here != RunState::failed && hub > here) break;
      for (const sites::Act& act : acts_to_send(run, hub)) {
        const auto next = sites::next_state(hub, act.kind);
        ASSERT_TRUE(next.has_value());
        hub = *next;
      }
      EXPECT_EQ(hub, here);
    }
  }
}

TEST_F(Journals, a_result_that_was_reviewed_can_be_withheld_at_the_hub_too) {
  LocalRun run = taken_;
  run.state = RunState::withheld;
  const auto acts = acts_to_send(run, RunState::reviewed);
  ASSERT_EQ(acts.size(), 1U);
  EXPECT_EQ(acts.front().kind, ActKind::withhold);
}

}  // namespace
}  // namespace assay::site
