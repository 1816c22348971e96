#include "pipeline/pipeline.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "pipeline/graph.h"

namespace assay::pipeline {
namespace {

// MedPerf's grammar: anchors with a merged list, `from`, a review that is asked again, a way back.
constexpr std::string_view kReview = R"(base: &BASE
  - type: container
    image: example/prep:1
steps:
  - id: setup
    <<: *BASE
    command: initial setup
    mounts:
      input_volumes: {data_path: {mount_path: /in, type: directory}}
      output_volumes: {output_path: {mount_path: /data, type: directory}}
    next: extract
    on_error: do_something
  - id: extract
    <<: *BASE
    command: "extract 'two words'"
    mounts:
      input_volumes:
        raw: {mount_path: /data, type: directory, from: {step: setup, mount: output_path}}
    next: review
    per_subject: true
    limit: 2
  - id: review
    <<: *BASE
    command: review
    next:
      if:
        - {condition: annotated, target: merge}
        - {condition: changed, target: [back]}
      else: review
      wait: 5
    partition: true
  - {id: back, type: dummy, partition: true, next: extract}
  - {id: merge, type: dummy, next: confirm}
  - {id: confirm, type: manual_approval, next: null}
conditions:
  - {id: annotated, type: function, function_name: conditions.annotated}
  - {id: changed, type: file, file: "{output_path}/{partition}/*.txt", count: 1}
per_subject_def: {type: function, function_name: subjects.all}
)";

std::string pipeline_error(std::string_view text) {
  const auto pipeline = read_pipeline(text, "p.yaml");
  return pipeline ? "" : pipeline.error().message;
}

// One dummy step for each "id > next", or "id ? condition > next | otherwise".
std::string chain(std::initializer_list<std::string_view> steps) {
  std::string out = "conditions: [{id: c, type: file, file: x}]\nsteps:\n";
  for (const std::string_view step : steps) out += "  - {type: dummy, " + std::string(step) + "}\n";
  return out;
}

TEST(Pipeline, reads_the_grammar_of_medperf_and_says_what_has_no_effect) {
  const auto pipeline = read_pipeline(kReview, "p.yaml");
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  ASSERT_EQ(pipeline->steps.size(), 6u);
  const Step& extract = pipeline->steps[1];
  EXPECT_EQ(extract.image, "example/prep:1");
  EXPECT_EQ(extract.command, (std::vector<std::string>{"extract", "two words"}));
  EXPECT_TRUE(extract.partition);
  EXPECT_EQ(extract.limit, 2);
  EXPECT_EQ(extract.mounts.at(0).from_mount, "output_path");
  const Step& review = pipeline->steps[2];
  ASSERT_EQ(review.next.branches.size(), 2u);
  EXPECT_EQ(review.next.branches[1].targets, std::vector<std::string>{"back"});
  EXPECT_TRUE(review.next.otherwise.empty()) << "to come back to itself means to ask again";
  EXPECT_EQ(review.next.wait, 5_s);
  EXPECT_EQ(pipeline->site.partition_def->function, "subjects.all");
  EXPECT_EQ(pipeline->notes, (std::vector<std::string>{
                                 "p.yaml:1: base: is not read (a place for anchors)",
                                 "p.yaml:12: steps.setup.on_error: has no effect",
                                 "p.yaml:20: steps.extract.per_subject: read as `partition`",
                                 "p.yaml:38: per_subject_def: read as `partition_def`",
                             }));
}

TEST(Pipeline, a_loop_has_one_edge_back_and_all_others_lead_forward) {
  const auto pipeline = read_pipeline(kReview, "p.yaml");
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  const Graph graph = graph_of(*pipeline);
  EXPECT_EQ(graph.order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(graph.starts, std::vector<std::size_t>{0});
  int back = 0;
  for (const Edge& edge : graph.edges) {
    if (!edge.back) continue;
    ++back;
    EXPECT_EQ(pipeline->steps[edge.from].id, "back");
    EXPECT_EQ(pipeline->steps[edge.to].id, "extract");
  }
  EXPECT_EQ(back, 1);
  EXPECT_EQ(graph.reached_from(1), (std::vector<std::size_t>{1, 2, 3, 4, 5}));
}

TEST(Pipeline, a_ring_without_a_condition_is_named_with_its_steps) {
  EXPECT_EQ(pipeline_error(chain({"id: a, next: b", "id: b, next: c", "id: c, next: b"})),
            "p.yaml:4: steps.b: a ring without a condition never ends: b, c\n"
            "  one of them needs a `next` with `if`");
  EXPECT_EQ(pipeline_error(chain({"id: a, next: a"})),
            "p.yaml:3: steps.a: a ring without a condition never ends: a\n"
            "  one of them needs a `next` with `if`");
}

TEST(Pipeline, a_loop_that_no_branch_leaves_is_an_error) {
  EXPECT_EQ(pipeline_error(chain(
                {"id: a, next: {if: [{condition: c, target: b}], else: b}", "id: b, next: a"})),
            "p.yaml:3: steps.a: a loop that no branch leaves: a, b\n"
            "  one branch of its `next` must lead out of it");
}

TEST(Pipeline, a_step_that_no_other_names_is_never_reached_unless_it_starts) {
  EXPECT_EQ(pipeline_error(chain({"id: a", "id: b"})),
            "p.yaml:4: steps.b: is never reached\n"
            "  name it in the `next` of the step before it, or give it `start: true`");
  EXPECT_EQ(pipeline_error(chain({"id: a, start: true", "id: b, start: true"})), "");
  EXPECT_NE(pipeline_error(chain({"id: a, start: true, next: b", "id: b, start: true"}))
                .find("steps.b.start: 'a' leads to this step"),
            std::string::npos);
}

TEST(Pipeline, the_first_step_is_the_one_that_no_other_leads_to_wherever_it_stands) {
  const auto pipeline = read_pipeline(chain({"id: b", "id: a, next: b"}), "p.yaml");
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  EXPECT_EQ(graph_of(*pipeline).order, (std::vector<std::size_t>{1, 0}));
}

TEST(Pipeline, a_loop_is_partitioned_as_a_whole) {
  const std::string text =
      "partition_def: {type: list, items: [x]}\n" +
      chain({"id: a, partition: true, next: {if: [{condition: c, target: b}], else: d}",
             "id: b, next: a", "id: d"});
  EXPECT_NE(pipeline_error(text).find("a loop over steps of which only some are partitioned: a, b"),
            std::string::npos)
      << pipeline_error(text);
}

TEST(Pipeline, every_mistake_is_reported_at_once_with_line_field_and_fix) {
  EXPECT_EQ(pipeline_error(R"(condition: []
steps:
  - {id: a, type: proces, command: [x], next: elsewhere}
  - {id: b/, type: container, limit: 0, partition: perhaps}
  - {id: c, type: process, command: "x 'y", retrys: 2}
  - {id: d, type: process, command: ["{where}"], next: {if: [{condition: done, target: a}]}}
  - id: e
    type: process
    command: [x]
    mounts: {input_volumes: {m: {mount_path: /m, type: file, from: {step: d, mount: n}}}}
)"),
            R"(p.yaml:1: condition: unknown key
  did you mean 'conditions'?
p.yaml:3: steps.a.type: unknown value 'proces'
  did you mean 'process'?
p.yaml:3: steps.a.next: there is no step 'elsewhere'
p.yaml:4: steps[1].id: 'b/' can't be a name
  a name is )" + std::string(kPlainId) +
                R"(
p.yaml:4: steps.b/.partition: expected true or false
p.yaml:4: steps.b/.limit: expected a whole number from 1 to 1000000
p.yaml:4: steps.b/.command: is missing
  write the program and its arguments
p.yaml:4: steps.b/.image: is missing
  write the container's image
p.yaml:5: steps[2].retrys: unknown key
  did you mean 'retries'?
p.yaml:5: steps.c.command: the quote ' is not closed
p.yaml:6: steps.d.next.if: there is no condition 'done'
p.yaml:6: steps.d.command: nothing is called {where} here
  known are partition, step, work, parameters.NAME, and the names of mounts and )"
                R"(inputs; {{ is a brace
p.yaml:10: steps.e.mounts.m.from: step 'd' has no mount 'n'
  it has none)");
}

TEST(Pipeline, a_partitioned_step_needs_partitions) {
  EXPECT_NE(pipeline_error(chain({"id: a, partition: true"})).find("no partition_def says"),
            std::string::npos);
}

TEST(Pipeline, a_sites_file_replaces_conditions_and_partitions_and_has_no_steps) {
  const auto pipeline = read_pipeline(kReview, "p.yaml");
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  const auto with = with_site(*pipeline, R"(inputs: {data_path: raw}
images: {"example/prep:1": python3 stand_in.py}
conditions: [{id: annotated, type: json, file: a.json, pointer: /done, equals: true}]
partition_def: {type: list, items: [s1, s2]}
)",
                              "site.yaml");
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(with->find_condition("annotated")->type, ConditionType::json);
  EXPECT_EQ(with->find_condition("changed")->type, ConditionType::file);
  EXPECT_EQ(with->site.partition_def->items.size(), 2u);
  EXPECT_EQ(with->site.images.at("example/prep:1").size(), 2u);
  const auto wrong = with_site(*pipeline, "steps: []\n", "site.yaml");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "site.yaml:1: site.steps: unknown key\n"
            "  known are: inputs, parameters, images, conditions, partition_def");
}

TEST(Pipeline, words_and_names_are_those_of_the_text) {
  EXPECT_EQ(*split_command(" a  'b c' \"d 'e'\" f\\ g ''"),
            (std::vector<std::string>{"a", "b c", "d 'e'", "f g", ""}));
  EXPECT_FALSE(split_command("a 'b"));
  EXPECT_EQ(*names_in("x{a}{{b}{c.d}"), (std::vector<std::string>{"a", "c.d"}));
  EXPECT_FALSE(names_in("x{a"));
  EXPECT_EQ(fill_in("x{a}{{b}{c}", {{"a", "1"}, {"b", "2"}}), "x1{b}{c}");
}

}  // namespace
}  // namespace assay::pipeline
