#include "record/run_info_json.h"

#include <gtest/gtest.h>

namespace assay::record {
namespace {

// Every field differs from its default, and from all other fields.
RunInfo whole_info() {
  RunInfo info{};
  info.version = "1.2.3";
  info.git_sha = "abc";
  info.run_id = "run-1";
  info.plan_digest = "0f";
  info.run_key = 18446744073709551615U;
  info.simulated = true;
  info.uncertainty = true;
  info.started.ns = 1'700'000'000'123'456'789;
  info.offset.wall_minus_monotonic.ns = -5;
  info.offset.error.ns = 7;
  info.shard_index = 2;
  info.shard_count = 3;
  info.phases = {{PhaseKind::warmup, "warm", true},
                 {PhaseKind::performance, "perf", false},
                 {PhaseKind::accuracy, "acc", false},
                 {PhaseKind::tail, "tail", false}};
  info.facts = Json().set("model", "m");
  info.command = Json::array().push_back("assay").push_back("run");
  return info;
}

constexpr const char* kWhole = R"({"version":"1.2.3","git_sha":"abc","run_id":"run-1",)"
                               R"("plan_digest":"0f","run_key":18446744073709551615,)"
                               R"("clock":"simulated","uncertainty":true,)"
                               R"("started":"2023-11-14T22:13:20.123456789Z",)"
                               R"("started_ns":1700000000123456789,)"
                               R"("wall_minus_monotonic_ns":-5,"wall_error_ns":7,)"
                               R"("shard_index":2,"shard_count":3,"phases":[)"
                               R"({"name":"warm","kind":"warmup","open_loop":true},)"
                               R"({"name":"perf","kind":"performance","open_loop":false},)"
                               R"({"name":"acc","kind":"accuracy","open_loop":false},)"
                               R"({"name":"tail","kind":"tail","open_loop":false}],)"
                               R"("facts":{"model":"m"},"command":["assay","run"]})";

TEST(RunInfoJson, every_field_stands_under_its_name) {
  EXPECT_EQ(to_json(whole_info()), Json::parse(kWhole).value()) << to_json(whole_info()).dump();
}

TEST(RunInfoJson, every_field_is_read_back) {
  const auto read = run_info_from(Json::parse(kWhole).value());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(whole_info()));
}

TEST(RunInfoJson, what_a_plain_run_does_not_have_is_left_out) {
  RunInfo info{};
  info.run_id = "r";
  const Json json = to_json(info);
  EXPECT_EQ(json["clock"].as_string(), "monotonic");
  EXPECT_EQ(json.find("uncertainty"), nullptr);
  EXPECT_EQ(json.find("command"), nullptr);
  const auto read = run_info_from(Json().set("run_id", "r"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->shard_count, 1U);
  EXPECT_FALSE(read->simulated);
}

TEST(RunInfoJson, what_is_no_run_is_refused) {
  EXPECT_FALSE(run_info_from(Json::array()));
  EXPECT_FALSE(run_info_from(Json::object()));
  EXPECT_FALSE(run_info_from(Json::parse(R"({"run_id":"r","phases":[{"kind":"x"}]})").value()));
}

TEST(RunEndJson, each_state_is_read_back_with_its_reason) {
  for (const RunState state : {RunState::complete, RunState::interrupted, RunState::crashed}) {
    const Json json = to_json(RunEnd{state, "why"});
    EXPECT_EQ(json["state"].as_string(), to_string(state));
    const auto read = run_end_from(json);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->state, state);
    EXPECT_EQ(read->reason, "why");
  }
  EXPECT_FALSE(run_end_from(Json().set("state", "asleep")));
  EXPECT_EQ(to_json(RunEnd{RunState::complete, ""}).dump(), R"({"state":"complete","reason":""})");
  EXPECT_EQ(to_json(RunEnd{RunState::interrupted, "a", true}).dump(),
            R"({"state":"interrupted","reason":"a","out_of_space":true})");
}

}  // namespace
}  // namespace assay::record
