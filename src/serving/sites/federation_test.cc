#include "sites/federation.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/signature.h"
#include "sites/release.h"
#include "sites/testing_acts.h"

namespace assay::sites {
namespace {

Federation ready() {
  Federation state;
  int key = 0;
  const auto act = [&](const Actor& actor, Act one) {
    one.key = format("ready{}", key++);
    const auto done = apply(state, actor, one);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  };
  act(kBenchmarkOwner, add_benchmark());
  act(kDataOwner, add_dataset());
  act(kModelOwner, add_model());
  act(kDataOwner, of_dataset(ActKind::associate));
  act(kBenchmarkOwner, of_dataset(ActKind::approve));
  act(kBenchmarkOwner, of_model(ActKind::associate));
  act(kModelOwner, of_model(ActKind::approve));
  act(kBenchmarkOwner, order_run());
  act(kDataOwner, of_run(ActKind::take));
  act(kDataOwner, of_run(ActKind::hold));
  act(kDataOwner, of_run(ActKind::review));
  return state;
}

Code code_of(Federation state, const Actor& actor, Act act) {
  act.key = "probe";
  const auto done = apply(state, actor, act);
  EXPECT_FALSE(done.has_value());
  return done ? Code::io : done.error().code;
}

TEST(Federation, another_organisation_in_the_right_role_owns_nothing) {
  const Federation state = ready();
  EXPECT_EQ(code_of(state, {Role::data_owner, "Elsewhere"}, release_run()), Code::not_found);
  EXPECT_EQ(code_of(state, {Role::benchmark_owner, "Elsewhere"}, of_dataset(ActKind::reject)),
            Code::refused);
  Act again = order_run();
  again.id = "r2";
  EXPECT_EQ(code_of(state, {Role::benchmark_owner, "Elsewhere"}, again), Code::refused);
  const Actor stranger{Role::data_owner, "Elsewhere"};
  EXPECT_EQ(code_of(state, stranger, prepare(1)), Code::refused);
  Federation begun;
  ASSERT_TRUE(apply(begun, stranger, prepare(1)).has_value());
  EXPECT_EQ(code_of(begun, kDataOwner, add_dataset()), Code::refused);
  EXPECT_EQ(to_json(state, &stranger)["runs"].size(), 0U);
  EXPECT_EQ(to_json(state, &kDataOwner)["runs"].size(), 1U);
}

TEST(Federation, a_release_must_be_of_the_run_and_signed_by_the_datasets_key) {
  const Federation state = ready();
  Act other_run = release_run();
  other_run.document = release_text("r2");
  other_run.signature = *sign_ed25519(other_run.document, site_key().private_pem);
  EXPECT_EQ(code_of(state, kDataOwner, other_run), Code::invalid);
  Act other_key = release_run();
  other_key.signature = *sign_ed25519(other_key.document, make_key_pair()->private_pem);
  EXPECT_EQ(code_of(state, kDataOwner, other_key), Code::invalid);
  Act other_bytes = release_run();
  other_bytes.document.insert(1, " ");
  other_bytes.signature = *sign_ed25519(other_bytes.document, site_key().private_pem);
  EXPECT_EQ(code_of(state, kDataOwner, other_bytes), Code::invalid);
}

TEST(Federation, a_key_that_another_act_has_is_refused) {
  Federation state = ready();
  Act act = release_run();
  act.key = "ready3";
  const auto done = apply(state, kDataOwner, act);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, Code::refused);
}

TEST(Act, every_kind_reads_back_what_it_writes_and_takes_no_other_field) {
  for (const Try& one : all_tries()) {
    Act act = one.act;
    act.key = "k1";
    const std::string text = to_json(act).dump();
    const auto read = parse_act(text);
    ASSERT_TRUE(read.has_value()) << text << read.error().message;
    EXPECT_EQ(to_json(*read).dump(), text);
    Json more = to_json(act);
    more.set("prompt", "the patient said");
    EXPECT_FALSE(parse_act(more.dump()).has_value()) << text;
  }
}

TEST(Act, a_measurement_of_a_curve_and_gates_reads_back_and_has_limits) {
  const auto read = [](const std::string& more) {
    return parse_measurement(*Json::parse(
        R"({"concurrency":[1,4],"samples":9,"max_output_tokens":8,"fields":["accuracy_met"])" +
        more + "}"));
  };
  const auto all = read(R"(,"scorer":"rouge","curve":true,"accuracy_min":0.9,"safety_min":"good")");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE(all->curve);
  EXPECT_EQ(all->accuracy_min, 0.9);
  EXPECT_EQ(*parse_measurement(to_json(*all)), *all);
  for (const char* wrong : {R"(,"curve":1)", R"(,"accuracy_min":0.9)", R"(,"safety_min":"best")",
                            R"(,"scorer":"rouge","accuracy_min":1.1)", R"(,"prompts":"x")"}) {
    EXPECT_FALSE(read(wrong)) << wrong;
  }
}

TEST(Act, counts_of_steps_have_no_place_for_a_name) {
  const auto read = [](const std::string& steps) {
    return parse_act(R"({"kind":"prepare","key":"k","id":"d","steps":)" + steps + "}");
  };
  const std::string one = R"({"total":9,"done":2,"running":1,"waiting":0,"failed":0,"skipped":0)";
  EXPECT_TRUE(read("[" + one + "}]"));
  for (const std::string& wrong :
       {std::string("[]"), std::string("[{}]"), "[" + one + R"(,"id":"Mrs Miller"}])",
        R"([{"total":-1,"done":2,"running":1,"waiting":0,"failed":0,"skipped":0}])" +
            std::string()}) {
    EXPECT_FALSE(read(wrong)) << wrong;
  }
}

TEST(Act, what_is_no_act_is_refused_with_the_fields_name) {
  const auto refusal = [](const char* text) {
    const auto read = parse_act(text);
    return read ? std::string("accepted") : read.error().message;
  };
  EXPECT_NE(refusal(R"({"kind":"take","key":"k","id":"../../etc"})").find("id"), std::string::npos);
  EXPECT_NE(refusal(R"({"kind":"take","id":"r"})").find("key"), std::string::npos);
  EXPECT_NE(refusal(R"({"kind":"erase","key":"k","id":"r"})").find("kind"), std::string::npos);
  EXPECT_NE(refusal(R"({"kind":"fail","key":"k","id":"r","reason":"he is ill"})").find("reason"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"kind":"approve","key":"k","benchmark":"b"})").find("dataset"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"kind":"add_benchmark","key":"k","id":"b","measurement":{"command":"rm"}})")
                .find("command"),
            std::string::npos);
  EXPECT_NE(refusal("[]").find("object"), std::string::npos);
  const std::string huge = R"({"kind":"take","key":"k","id":")" + std::string(kActBytesMax, 'x');
  EXPECT_NE(refusal(huge.c_str()).find("bytes"), std::string::npos);
}

}  // namespace
}  // namespace assay::sites
