#include "pipeline/engine.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/hash.h"

namespace assay::pipeline {
namespace {

constexpr std::string_view kEnginePipeline = R"(steps:
  - {id: setup, type: process, command: [setup], next: [clean, notes]}
  - {id: notes, type: process, command: [notes], next: join}
  - id: clean
    type: process
    command: [clean]
    outputs: [o]
    partition: true
    limit: 2
    next: review
  - id: review
    type: process
    command: [review]
    partition: true
    next: {if: [{condition: good, target: compare}, {condition: bad, target: back}]}
  - {id: back, type: process, command: [back], partition: true, next: clean}
  - {id: compare, type: dummy, partition: true, next: wait}
  - {id: wait, type: wait_for_file, file: f, partition: true, next: join}
  - {id: join, type: process, command: [join], next: agree}
  - {id: agree, type: manual_approval, next: last}
  - {id: last, type: process, command: [last]}
conditions: [{id: good, type: file, file: g}, {id: bad, type: file, file: b}]
partition_def: {type: list, items: [p, q, r]}
)";

// A world in which each process ends at once, and which can stop after any record.
struct World {
  Pipeline pipeline = *read_pipeline(kEnginePipeline, "p.yaml");
  Graph graph = graph_of(pipeline);
  std::map<std::string, std::string> inputs{};   // partition: content
  std::map<std::string, std::string> outputs{};  // "clean/PARTITION": content
  std::set<std::string> rejected{};              // partitions whose first review is bad
  std::vector<Json> journal{};
  std::vector<std::string> ran{};  // "step/partition"
  std::optional<std::size_t> stops_at{};
  std::map<std::string, int> fails{};  // step/partition: how often it fails first

  static std::string name_of(const Engine& engine, std::size_t at) {
    return format("{}/{}", engine.step_of(at).id, engine.partition_of(at));
  }
  bool write(const Json& record) {
    if (stops_at && journal.size() == *stops_at) return false;
    journal.push_back(record);
    return true;
  }
  Eyes eyes() {
    Eyes eyes;
    eyes.inputs = [this](const Step& step, const std::string& partition) -> Result<std::string> {
      return step.id == "clean" ? inputs[partition] : std::string();
    };
    eyes.outputs = [this](const Step& step, const std::string& partition) -> Result<std::string> {
      return outputs[step.id + "/" + partition];
    };
    return eyes;
  }

  bool run_one(Engine& engine, std::size_t at) {
    const std::string name = name_of(engine, at);
    ran.push_back(name);
    if (fails[name] > 0) {
      --fails[name];
      engine.fail(at, "exit 1", true);
      return true;
    }
    const bool declared = !engine.step_of(at).outputs.empty();
    if (declared) outputs[name] = "of " + inputs[engine.partition_of(at)];
    const std::string token = declared ? outputs[name] : format("#{}", journal.size());
    if (!write(Json()
                   .set("t", "done")
                   .set("key", engine.instance(at).key)
                   .set("token", token)
                   .set("outputs", declared ? outputs[name] : ""))) {
      return false;
    }
    engine.finish(at, token);
    return true;
  }

  bool serve_one(Engine& engine, Ledger& ledger, std::size_t at) {
    const Instance& one = engine.instance(at);
    if (one.choosing) {
      const bool bad = rejected.contains(engine.partition_of(at)) && one.round == 0;
      const std::string to = bad ? "back" : "compare";
      if (!write(Json()
                     .set("t", "choice")
                     .set("key", engine.choice_key(at))
                     .set("to", Json::array().push_back(to)))) {
        return false;
      }
      engine.choose(at, {to});
    } else if (engine.step_of(at).type == StepType::manual_approval) {
      const Json record = Json().set("t", "approve").set("key", one.key).set("by", "me");
      if (!write(record)) return false;
      ledger.add(record, pipeline, graph);
      engine.look_at_decisions();
    } else {
      outputs[name_of(engine, at)] = "reviewed";
      if (!write(Json()
                     .set("t", "done")
                     .set("key", one.key)
                     .set("token", "reviewed")
                     .set("outputs", "reviewed"))) {
        return false;
      }
      engine.finish(at, "reviewed");
    }
    return true;
  }

  // Goes on from the journal. Returns each instance's status and token, by name.
  std::map<std::string, std::string> run() {
    Ledger ledger;
    for (const Json& record : journal) ledger.add(record, pipeline, graph);
    Engine engine(pipeline, graph, pipeline.site.partition_def->items, ledger, eyes());
    bool alive = true;
    while (alive) {
      engine.advance();
      const auto started = engine.take_ready(3);
      for (const std::size_t at : started) alive = alive && run_one(engine, at);
      if (!started.empty()) continue;
      if (engine.waiting().empty()) break;
      alive = alive && serve_one(engine, ledger, *engine.waiting().begin());
    }
    std::map<std::string, std::string> out;
    for (std::size_t at = 0; at < engine.size(); ++at) {
      out[name_of(engine, at)] = std::string(enum_name(engine.instance(at).status));
    }
    return out;
  }
};

std::map<std::string, int> counted(const std::vector<std::string>& names) {
  std::map<std::string, int> out;
  for (const std::string& name : names) ++out[name];
  return out;
}

TEST(PipelineEngine, a_loop_runs_its_round_again_for_its_partition_only) {
  World world;
  world.rejected = {"q"};
  const auto end = world.run();
  for (const auto& [name, status] : end) {
    EXPECT_EQ(status, name.starts_with("back/") ? "skipped" : "done") << name;
  }
  const auto ran = counted(world.ran);
  EXPECT_EQ(ran.at("clean/p"), 1);
  EXPECT_EQ(ran.at("clean/q"), 2);
  EXPECT_EQ(ran.at("review/q"), 2);
  EXPECT_EQ(ran.at("back/q"), 1);
  EXPECT_EQ(ran.at("join/"), 1);
}

std::vector<std::string> started_by(Engine& engine) {
  engine.advance();
  std::vector<std::string> out;
  for (const std::size_t at : engine.take_ready(99)) out.push_back(World::name_of(engine, at));
  return out;
}

TEST(PipelineEngine, what_joins_a_loops_partitions_waits_until_each_has_left_the_loop) {
  const Pipeline pipeline = *read_pipeline(R"(steps:
  - id: look
    type: dummy
    partition: true
    next: {if: [{condition: good, target: out}, {condition: bad, target: mend}]}
  - id: mend
    type: process
    command: [mend]
    partition: true
    next: {if: [{condition: good, target: look}, {condition: bad, target: give_up}]}
  - {id: out, type: dummy, partition: true, next: join}
  - {id: give_up, type: dummy, partition: true, next: join}
  - {id: join, type: process, command: [join]}
conditions: [{id: good, type: file, file: g}, {id: bad, type: file, file: b}]
partition_def: {type: list, items: [p, q]}
)",
                                           "p.yaml");
  const Graph graph = graph_of(pipeline);
  const Ledger ledger;
  for (const bool gives_up : {false, true}) {
    World world;
    Engine engine(pipeline, graph, {"p", "q"}, ledger, world.eyes());
    engine.advance();
    engine.choose(0, {"out"});
    engine.choose(1, {"mend"});
    EXPECT_EQ(started_by(engine), std::vector<std::string>{"mend/q"});
    engine.finish(3, "t");
    EXPECT_TRUE(started_by(engine).empty());
    engine.choose(3, {gives_up ? "give_up" : "look"});
    if (!gives_up) {
      EXPECT_TRUE(started_by(engine).empty()) << "the next round has not chosen yet";
      engine.choose(1, {"out"});
    }
    EXPECT_EQ(started_by(engine), std::vector<std::string>{"join/"}) << gives_up;
  }
}

TEST(PipelineEngine, stopped_after_any_record_it_goes_on_with_nothing_lost_and_nothing_doubled) {
  World whole;
  whole.rejected = {"q"};
  const auto end = whole.run();
  for (std::size_t stop = 0; stop <= whole.journal.size(); ++stop) {
    World world;
    world.rejected = {"q"};
    world.stops_at = stop;
    world.run();
    ASSERT_EQ(world.journal.size(), stop);
    world.stops_at.reset();
    EXPECT_EQ(world.run(), end) << stop;
    std::map<std::string, int> keys;
    for (const Json& record : world.journal) {
      if (record["t"].as_string() == "done") ++keys[std::string(record["key"].as_string())];
    }
    for (const auto& [key, times] : keys) EXPECT_EQ(times, 1) << stop;
    EXPECT_EQ(world.journal.size(), whole.journal.size()) << stop;
  }
}

TEST(PipelineEngine, what_is_done_is_not_done_again_and_only_what_changed_runs) {
  World world;
  world.run();
  const auto first = world.ran.size();
  world.run();
  EXPECT_EQ(world.ran.size(), first) << "nothing has changed";
  world.inputs["q"] = "another";
  world.run();
  const std::vector<std::string> again(world.ran.begin() + static_cast<long>(first),
                                       world.ran.end());
  // join depends on the file of `wait`, which is as it was.
  EXPECT_EQ(again, (std::vector<std::string>{"clean/q", "review/q"}));
}

TEST(PipelineEngine, lost_outputs_are_made_again_and_their_like_changes_nothing_after) {
  World world;
  world.run();
  world.ran.clear();
  world.outputs.erase("clean/r");
  world.run();
  EXPECT_EQ(world.ran, std::vector<std::string>{"clean/r"});
}

TEST(PipelineEngine, a_step_restarted_by_name_runs_again_and_what_follows_if_it_is_asked) {
  World world;
  world.run();
  const Json restart = Json().set("t", "restart").set("step", "review").set("part", "p");
  world.ran.clear();
  world.journal.push_back(restart);
  world.run();
  EXPECT_EQ(world.ran, std::vector<std::string>{"review/p"});
  world.ran.clear();
  world.journal.push_back(Json(restart).set("following", true));
  world.run();
  EXPECT_EQ(world.ran, (std::vector<std::string>{"review/p", "join/", "last/"}));
}

TEST(PipelineEngine, a_failed_one_is_tried_again_and_then_stops_only_what_follows_it) {
  World world;
  world.pipeline.steps[2].retries = 1;
  world.fails = {{"clean/p", 1}, {"clean/q", 2}};
  const auto end = world.run();
  EXPECT_EQ(end.at("clean/p"), "done");
  EXPECT_EQ(end.at("clean/q"), "failed");
  EXPECT_EQ(end.at("wait/r"), "done");
  EXPECT_EQ(end.at("join/"), "pending");
  const auto later = world.run();
  EXPECT_EQ(later.at("clean/q"), "done") << "the next run tries again";
  EXPECT_EQ(later.at("last/"), "done");
}

TEST(PipelineEngine, a_limit_holds_for_its_step_and_free_places_for_all) {
  World world;
  Ledger ledger;
  Engine engine(world.pipeline, world.graph, world.pipeline.site.partition_def->items, ledger,
                world.eyes());
  engine.advance();
  EXPECT_EQ(engine.take_ready(9).size(), 1u);
  engine.finish(0, "t");
  engine.advance();
  EXPECT_EQ(engine.take_ready(9).size(), 3u) << "two of clean, and notes";
  EXPECT_TRUE(engine.take_ready(9).empty());
  EXPECT_TRUE(engine.has_ready());
}

TEST(PipelineEngine, a_changed_command_or_parameter_is_another_recipe) {
  const World world;
  Pipeline other = world.pipeline;
  const std::string before = recipe_of(other, other.steps[0]);
  other.steps[0].command = {"setup", "{parameters.depth}"};
  const std::string bare = recipe_of(other, other.steps[0]);
  EXPECT_NE(bare, before);
  other.site.parameters["depth"] = "2";
  const std::string two = recipe_of(other, other.steps[0]);
  EXPECT_NE(two, bare);
  other.site.parameters["unused"] = "2";
  other.steps[0].limit = 4;
  EXPECT_EQ(recipe_of(other, other.steps[0]), two);
}

}  // namespace
}  // namespace assay::pipeline
