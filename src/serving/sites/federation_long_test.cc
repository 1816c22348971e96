// Every sequence of acts beside an independent model.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "base/format.h"
#include "sites/federation.h"
#include "sites/testing_acts.h"

namespace assay::sites {
namespace {

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

}  // namespace
}  // namespace assay::sites
