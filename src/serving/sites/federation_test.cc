#include "sites/federation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "base/format.h"
#include "base/signature.h"
#include "sites/release.h"

namespace assay::sites {
namespace {

const std::string kDigest(64, 'a');

const KeyPair& site_key() {
  static const KeyPair pair = *make_key_pair();
  return pair;
}

const Actor kBenchmarkOwner{Role::benchmark_owner, "Committee"};
const Actor kDataOwner{Role::data_owner, "Hospital"};
const Actor kModelOwner{Role::model_owner, "Vendor"};

std::string release_text(const std::string& run) {
  return to_text({.run = run,
                  .benchmark = "b",
                  .dataset_sha256 = kDigest,
                  .model = "m",
                  .levels = {{.concurrency = 1, .figures = {{"accuracy", 0.5}}}}});
}

Act add_benchmark() {
  return {.kind = ActKind::add_benchmark,
          .id = "b",
          .measurement = {
              .concurrency = {1}, .samples = 10, .max_output_tokens = 5, .fields = {"accuracy"}}};
}
Act add_dataset() {
  return {.kind = ActKind::add_dataset,
          .id = "d",
          .sha256 = kDigest,
          .rows = 10,
          .public_key = site_key().public_pem};
}
Act prepare(std::int64_t done) {
  return {.kind = ActKind::prepare, .id = "d", .steps = {{.total = 10, .done = done}}};
}
Act add_model() { return {.kind = ActKind::add_model, .id = "m"}; }
Act of_dataset(ActKind kind) { return {.kind = kind, .benchmark = "b", .dataset = "d"}; }
Act of_model(ActKind kind) { return {.kind = kind, .benchmark = "b", .model = "m"}; }
Act of_run(ActKind kind) { return {.kind = kind, .id = "r"}; }
Act order_run() {
  return {.kind = ActKind::order, .id = "r", .benchmark = "b", .dataset = "d", .model = "m"};
}
Act release_run() {
  Act act = of_run(ActKind::release);
  act.document = release_text("r");
  // Ed25519 is deterministic.
  static const std::string signature = *sign_ed25519(act.document, site_key().private_pem);
  act.signature = signature;
  return act;
}
Act with_reason(ActKind kind) {
  Act act = of_run(kind);
  act.reason = "policy";
  return act;
}

// Every act, of each role.
struct Try {
  std::string name{};
  Actor actor{};
  Act act{};
};

std::vector<Try> all_tries() {
  std::vector<std::pair<std::string, Act>> acts{{"add b", add_benchmark()},
                                                {"add d", add_dataset()},
                                                {"add m", add_model()},
                                                {"prepare 1", prepare(1)},
                                                {"prepare 9", prepare(9)},
                                                {"order", order_run()},
                                                {"release", release_run()},
                                                {"refuse", with_reason(ActKind::refuse)},
                                                {"fail", with_reason(ActKind::fail)}};
  for (const ActKind kind : {ActKind::associate, ActKind::approve, ActKind::reject}) {
    acts.emplace_back(format("{} d", to_string(kind)), of_dataset(kind));
    acts.emplace_back(format("{} m", to_string(kind)), of_model(kind));
  }
  for (const ActKind kind : {ActKind::take, ActKind::hold, ActKind::review, ActKind::withhold}) {
    acts.emplace_back(to_string(kind), of_run(kind));
  }
  std::vector<Try> tries;
  for (const auto& [name, act] : acts) {
    for (const Actor& actor : {kBenchmarkOwner, kDataOwner, kModelOwner}) {
      tries.push_back({name, actor, act});
    }
  }
  return tries;
}

// The independent model: it keeps no state, and answers from the list of what was accepted.
class Model {
 public:
  void accept(const std::string& name, Role role) { done_.emplace_back(name, role); }

  bool allows(const std::string& name, Role role) const {
    if (name == "add b") return role == Role::benchmark_owner && !ever(name);
    if (name == "add d") return role == Role::data_owner && !ever(name);
    if (name == "add m") return role == Role::model_owner && !ever(name);
    if (name.starts_with("prepare")) return role == Role::data_owner;
    if (name.ends_with(" d")) return pair(name, "d", role, Role::data_owner);
    if (name.ends_with(" m")) return pair(name, "m", role, Role::model_owner);
    if (name == "order") {
      return role == Role::benchmark_owner && !ever(name) && approved("d") && approved("m");
    }
    if (role != Role::data_owner || !ever("order")) return false;
    const bool ended = ever("refuse") || ever("fail") || ever("release") || ever("withhold");
    if (ended) return false;
    if (name == "take") return !ever("take") && approved("d") && approved("m");
    if (name == "refuse") return !ever("take");
    if (name == "fail" || name == "hold") return ever("take") && !ever("hold");
    if (name == "review") return ever("hold") && !ever("review");
    if (name == "withhold") return ever("hold");
    return name == "release" && ever("review");
  }

 private:
  bool ever(const std::string& name) const {
    return std::ranges::any_of(done_, [&](const auto& one) { return one.first == name; });
  }
  // The last act about this association, and who asked last.
  std::pair<std::string, std::optional<Role>> last(const std::string& what) const {
    std::string verb;
    std::optional<Role> asked;
    for (const auto& [name, role] : done_) {
      if (!name.ends_with(" " + what) || name.starts_with("add")) continue;
      verb = name.substr(0, name.size() - 2);
      if (verb == "associate") asked = role;
    }
    return {verb, asked};
  }
  bool approved(const std::string& what) const { return last(what).first == "approve"; }
  bool pair(const std::string& name, const std::string& what, Role role, Role other) const {
    if (!ever("add b") || !ever("add " + what)) return false;
    if (role != Role::benchmark_owner && role != other) return false;
    const auto [verb, asked] = last(what);
    if (name.starts_with("associate")) return verb.empty() || verb == "reject";
    if (name.starts_with("approve")) return verb == "associate" && asked != role;
    return verb == "associate" || verb == "approve";
  }

  std::vector<std::pair<std::string, Role>> done_{};
};

struct Place {
  Federation state{};
  Model model{};
  int depth = 0;
};

// Breadth first over states: sequences that lead to one state go on alike, so each is tried once
// with every act of every role. This covers all sequences of any length.
TEST(Federation, every_sequence_of_acts_by_three_roles_goes_as_the_independent_model_says) {
  const std::vector<Try> tries = all_tries();
  std::deque<Place> open{Place{}};
  std::set<std::string> seen;
  std::set<std::string> run_states;
  int deepest = 0;
  std::size_t tried = 0;
  while (!open.empty()) {
    const Place place = std::move(open.front());
    open.pop_front();
    const auto before = to_json(place.state, nullptr);
    for (const Try& one : tries) {
      Federation next = place.state;
      Act act = one.act;
      act.key = format("k{}", tried++);
      const auto done = apply(next, one.actor, act);
      const bool allowed = place.model.allows(one.name, one.actor.role);
      ASSERT_EQ(done.has_value(), allowed)
          << one.name << " by " << to_string(one.actor.role) << " after\n"
          << before.dump(2) << (done ? "" : done.error().message);
      if (!done) {
        ASSERT_EQ(to_json(next, nullptr), before) << "a refusal changed it";
        continue;
      }
      // The same act again, as after a lost reply: nothing is doubled.
      Federation again = next;
      const auto repeated = apply(again, one.actor, act);
      ASSERT_TRUE(repeated.has_value());
      ASSERT_EQ(*repeated, Effect::repeated);
      ASSERT_EQ(to_json(again, nullptr), to_json(next, nullptr));

      Model model = place.model;
      model.accept(one.name, one.actor.role);
      // What the model allows is part of the state's name: if it could tell two histories of one
      // state apart, both would be tried.
      std::string name = to_json(next, nullptr).dump();
      for (const Try& other : tries) {
        name += model.allows(other.name, other.actor.role) ? '1' : '0';
      }
      if (!seen.insert(name).second) continue;
      next.keys.clear();
      if (next.runs.contains("r")) run_states.emplace(to_string(next.runs["r"].state));
      deepest = std::max(deepest, place.depth + 1);
      open.push_back({std::move(next), std::move(model), place.depth + 1});
    }
  }
  EXPECT_GE(deepest, 8);
  EXPECT_EQ(run_states.size(), 8U) << "a state of a run was never reached";
  EXPECT_GT(seen.size(), 200U);
}

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
