// The suites' own scorers: conversations with tools, function calls, long contexts, mixed sets, and
// the gate that their workloads set.
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/json.h"
#include "score/code/program_judge.h"
#include "score/quality_gate.h"
#include "score/scorer.h"
#include "score/tool/function_match.h"

namespace assay::score {
namespace {

Json parsed(std::string_view text) { return Json::parse(text).value(); }

struct SuiteTurn {
  Json columns{};
  std::string reply{};
  Json tool_calls{};
  bool answered = true;
  std::int64_t tokens = -1;
  std::string reasoning{};
};

Result<Verdict> suite_score(std::string_view name, const std::vector<SuiteTurn>& all,
                            const ScorerOptions& options = {}) {
  auto scorer = make_scorer(name, options);
  if (!scorer) return scorer.error();
  std::uint32_t number = 0;
  for (const SuiteTurn& one : all) {
    Row row;
    row.columns = &one.columns;
    row.reply = row.content = one.reply;
    row.reasoning = one.reasoning;
    row.tool_calls = one.tool_calls;
    row.answered = one.answered;
    row.tokens = one.tokens;
    row.sample = number++;
    if (const auto added = (*scorer)->add(row); !added) return added.error();
  }
  return (*scorer)->finish();
}

Json bash(std::string_view command) {
  return Json::array().push_back(Json().set(
      "function",
      Json().set("name", "bash").set("arguments", Json().set("command", command).dump())));
}

SuiteTurn coding(std::string_view wanted, std::string_view got) {
  return {.columns = Json()
                         .set("conversation_id", "swe_1__repeat_2")
                         .set("turn", 3)
                         .set("expected", Json().set("tool_calls", bash(wanted))),
          .tool_calls = bash(got)};
}

TEST(Agentic, a_coding_turn_shares_its_programs_with_the_recorded_one) {
  const auto one = [](std::string_view wanted, std::string_view got) {
    return suite_score("agentic_inference_inline", {coding(wanted, got)})->score.as_double();
  };
  EXPECT_EQ(one("ls | grep x", "egrep y && ls -l"), 1);
  EXPECT_EQ(one("python a.py; python b.py", "python3.11 a.py"), 0.5);
  EXPECT_EQ(one("cat f", "FOO=1 sudo /bin/less f"), 1);
  EXPECT_EQ(one("cat f", "echo 'cat f'"), 0);  // quoted, and echo is not compared
  EXPECT_EQ(one("cat f", "cat \"a;rm b\" | unknown"), 1);
  EXPECT_EQ(one("git diff\nwc -l", "git diff"), 0.5);
  EXPECT_EQ(one("wget u", "curl u || curl v"), 0.5);
}

TEST(Agentic, a_workflow_turn_names_one_of_the_recorded_intents) {
  const Json columns =
      parsed(R"({"conversation_id":"sim_12","turn":1,"expected":{"intent_codes":["i042",null]}})");
  const auto one = [&](std::string_view reasoning, std::string_view content) {
    return suite_score("agentic_inference_inline", {{.columns = columns,
                                                     .reply = std::string(content),
                                                     .reasoning = std::string(reasoning)}})
        ->score.as_double();
  };
  EXPECT_EQ(one("", "so INTENT: i042."), 1);
  EXPECT_EQ(one("intent: I042", "intent: I007"), 1);
  EXPECT_EQ(one("I007 or I042", "intent: I007"), 0);  // the named one goes before the bare one
  EXPECT_EQ(one("first I007, then I042", ""), 1);
  EXPECT_EQ(one("", "I0421 XI042 I042x"), 0);
}

TEST(Agentic, turns_are_counted_as_the_reference_client_counts_them) {
  SuiteTurn lost = coding("ls", "");
  lost.answered = false;
  lost.tool_calls = {};
  SuiteTurn empty = coding("", "ls");
  const auto verdict = suite_score("agentic_inference_inline",
                                   {coding("ls", "ls"), std::move(lost), std::move(empty)});
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->score.as_double(), 0.5);
  EXPECT_EQ(verdict->breakdown["turns"].dump(),
            R"({"issued":3,"expected":2,"observed":1,"missing":1,"scored":2})");
  EXPECT_EQ(verdict->breakdown["per_turn"][0]["repeat"].as_int(), 2);
  EXPECT_EQ(verdict->breakdown["excluded_turns"].size(), 1u);
}

// The reference client's scorer on the same turns: by conversation, repeat and turn, with the
// assistant's number; programs in the order of the command, codes as a sorted set. A turn with
// nothing recorded after it does not count; one without ground truth is named once.
TEST(Agentic, turns_are_told_in_the_order_and_under_the_numbers_of_the_recording) {
  const auto turn = [](std::string_view id, int number, std::string_view expected, Json calls,
                       std::string_view reply) {
    return SuiteTurn{
        .columns =
            Json().set("conversation_id", id).set("turn", number).set("expected", parsed(expected)),
        .reply = std::string(reply),
        .tool_calls = std::move(calls)};
  };
  const std::string wanted = Json().set("turn", 4).set("tool_calls", bash("ls; cat x | ls")).dump();
  std::vector<SuiteTurn> told;
  told.push_back(turn("swe", 3, wanted, bash("git x; cat y"), ""));
  told.push_back(turn("swe__repeat_2", 1, R"({"turn":2,"content":"text"})", {}, ""));
  told.push_back(
      turn("sim_3", 1, R"({"turn":2,"intent_codes":["I009","i004","I009"]})", {}, "intent: I004"));
  told.push_back(turn("swe", 5, "null", {}, ""));
  told.push_back(turn("swe__repeat_10", 3, wanted, {}, ""));
  told.push_back(turn("swe__repeat_2", 3, wanted, {}, ""));
  told.push_back(turn("swe", 1, R"({"turn":2,"content":"text"})", {}, ""));
  const auto verdict = suite_score("agentic_inference_inline", told);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->breakdown["turns"].dump(),
            R"({"issued":6,"expected":4,"observed":4,"missing":0,"scored":4})");
  EXPECT_EQ(verdict->breakdown["per_turn"].dump(),
            R"([{"conversation_id":"sim_3","repeat":1,"turn":2,"domain":"workflow",)"
            R"("gt_intents":["I004","I009"],"model_intent":"I004","score":1.0},)"
            R"({"conversation_id":"swe","repeat":1,"turn":4,"domain":"coding",)"
            R"("gt_actions":["ls","cat","ls"],"model_actions":["git","cat"],"score":0.25},)"
            R"({"conversation_id":"swe","repeat":2,"turn":4,"domain":"coding",)"
            R"("gt_actions":["ls","cat","ls"],"model_actions":[],"score":0.0},)"
            R"({"conversation_id":"swe","repeat":10,"turn":4,"domain":"coding",)"
            R"("gt_actions":["ls","cat","ls"],"model_actions":[],"score":0.0}])");
  EXPECT_EQ(verdict->breakdown["excluded_turns"].dump(),
            R"([{"conversation_id":"swe","turn":2,"domain":"coding",)"
            R"("exclude_reason":"no ground truth"}])");
  EXPECT_EQ(verdict->score.as_double(), 0.3125);
}

constexpr std::string_view kFunctions = R"([{"name":"math.area","parameters":{"type":"dict",
  "properties":{"base":{"type":"integer"},"height":{"type":"float"},"unit":{"type":"string"},
    "tags":{"type":"array","items":{"type":"string"}},
    "where":{"type":"dict"},"rows":{"type":"array","items":{"type":"dict"}}},
  "required":["base"]}}])";

Json key(std::string_view answers) {
  return Json::array().push_back(Json().set("math.area", parsed(answers)));
}

bool calls(std::string_view arguments, std::string_view answers) {
  return calls_match({{"math_area", parsed(arguments)}}, parsed(kFunctions), key(answers),
                     CallLanguage::python, false);
}

TEST(FunctionCalls, are_right_when_every_parameter_is_one_that_the_key_allows) {
  EXPECT_TRUE(calls(R"({"base":10})", R"({"base":[10],"unit":["units",""]})"));
  EXPECT_FALSE(calls(R"({"base":10})", R"({"base":[10],"unit":["units"]})"));  // left out
  EXPECT_TRUE(calls(R"({"base":10,"unit":"Units."})", R"({"base":[10],"unit":["units"]})"));
  EXPECT_FALSE(calls(R"({"base":"10"})", R"({"base":[10]})"));  // another type
  EXPECT_FALSE(calls(R"({"base":10.0})", R"({"base":[10]})"));  // a float is no integer
  EXPECT_TRUE(calls(R"({"base":1,"height":5})", R"({"base":[1],"height":[5.0]})"));
  EXPECT_FALSE(calls(R"({"base":true})", R"({"base":[1]})"));
  EXPECT_TRUE(calls(R"({"base":"x"})", R"({"base":["x"]})"));  // a variable by its name
  EXPECT_FALSE(calls(R"({"height":5.0})", R"({"base":["",1],"height":[5.0]})"));  // required
  EXPECT_FALSE(calls(R"({"base":1,"more":2})", R"({"base":[1],"more":[2]})"));
  EXPECT_TRUE(calls(R"({"base":1,"tags":["A b","c"]})", R"({"base":[1],"tags":[["ab","C"]]})"));
  EXPECT_FALSE(calls(R"({"base":1,"tags":["c","a"]})", R"({"base":[1],"tags":[["a","c"]]})"));
  EXPECT_FALSE(calls(R"({"base":1,"tags":[1]})", R"({"base":[1],"tags":[["1"]]})"));
}

TEST(FunctionCalls, that_keep_a_dot_in_the_name_are_no_calls_of_the_tool) {
  EXPECT_FALSE(calls_match({{"math.area", parsed(R"({"base":1})")}}, parsed(kFunctions),
                           key(R"({"base":[1]})"), CallLanguage::python, false));
}

TEST(FunctionCalls, look_into_objects_and_lists_of_them) {
  EXPECT_TRUE(calls(R"({"base":1,"where":{"city":"new york"}})",
                    R"({"base":[1],"where":[{"city":["New York"],"zip":["",1]}]})"));
  EXPECT_FALSE(
      calls(R"({"base":1,"where":{"town":"x"}})", R"({"base":[1],"where":[{"city":["x",""]}]})"));
  EXPECT_FALSE(calls(R"({"base":1,"where":{}})", R"({"base":[1],"where":[{"city":["x"]}]})"));
  EXPECT_TRUE(calls(R"({"base":1,"rows":[{"a":1},{"a":2}]})",
                    R"({"base":[1],"rows":[[{"a":[1]},{"a":[2,3]}]]})"));
  EXPECT_FALSE(calls(R"({"base":1,"rows":[{"a":2},{"a":1}]})",
                     R"({"base":[1],"rows":[[{"a":[1]},{"a":[2]}]]})"));
}

TEST(FunctionCalls, in_parallel_come_in_any_order_and_each_once) {
  const Json functions = parsed(kFunctions);
  const Json both = parsed(R"([{"math.area":{"base":[1]}},{"math.area":{"base":[2]}}])");
  const FunctionCall one{"math_area", parsed(R"({"base":1})")};
  const FunctionCall two{"math_area", parsed(R"({"base":2})")};
  const auto match = [&](const std::vector<FunctionCall>& all) {
    return calls_match(all, functions, both, CallLanguage::python, true);
  };
  EXPECT_TRUE(match({two, one}));
  EXPECT_FALSE(match({one, one}));
  EXPECT_FALSE(match({one, two, two}));
}

TEST(FunctionCalls, are_found_in_lists_in_json_and_in_pythons_spelling) {
  const auto spelled = [](std::string_view content) {
    Row row;
    row.reply = row.content = content;
    std::string out;
    for (const FunctionCall& call : function_calls(row)) out += call.name + call.arguments.dump();
    return out;
  };
  EXPECT_EQ(spelled(R"([{"name":"f","arguments":"{\"a\":1}"}])"), R"(f{"a":1})");
  EXPECT_EQ(spelled(R"([{"function":{"name":"f","arguments":{"a":1}}}])"), R"(f{"a":1})");
  EXPECT_EQ(spelled(R"({"name":"f","arguments":{}})"), R"(f{})");
  EXPECT_EQ(spelled(R"([f(a=1, b='x'), g.h(c=[1, 2.5], d={'k': None}, e=(True,))])"),
            R"(f{"a":1,"b":"x"}g.h{"c":[1,2.5],"d":{"k":null},"e":[true]})");
  EXPECT_EQ(spelled("I would call print(x) but cannot"), "");
  EXPECT_EQ(spelled("Sure: f(\"it\\'s\", n=-3e2)"), R"(f{"0":"it's","n":-300.0})");
  EXPECT_EQ(spelled("f(a="), "");
}

TEST(FunctionCalls, java_and_javascript_values_are_read_from_their_source) {
  EXPECT_EQ(java_value("10L", "long", "").dump(), "10");
  EXPECT_EQ(java_value("10", "long", "").dump(), "\"10\"");
  EXPECT_EQ(java_value("1.5f", "float", "").dump(), "1.5");
  EXPECT_EQ(java_value("3e2", "double", "").dump(), "300.0");
  EXPECT_EQ(java_value("true", "boolean", "").dump(), "true");
  EXPECT_EQ(java_value("new int[]{1, 2}", "Array", "integer").dump(), "[1,2]");
  EXPECT_EQ(java_value("new ArrayList<>(Arrays.asList(\"a\", \"b\"))", "ArrayList", "").dump(),
            R"(["a","b"])");
  EXPECT_EQ(
      java_value("new ArrayList<Float>() {{ add(1.0f); add(2.0f); }}", "ArrayList", "float").dump(),
      "[1.0,2.0]");
  EXPECT_EQ(java_value("new HashMap<String, Object>() {{ put(\"k\", 1); put(\"b\", true); }}",
                       "HashMap", "")
                .dump(),
            R"({"k":1,"b":true})");
  EXPECT_EQ(javascript_value("'x'", "String", "").dump(), R"("x")");
  EXPECT_EQ(javascript_value("12n", "Bigint", "").dump(), "12");
  EXPECT_EQ(javascript_value("[1, 'two', true]", "array", "").dump(), R"([1,"two",true])");
  EXPECT_EQ(javascript_value("[[1, 2], [3]]", "array", "array").dump(), "[[1,2],[3]]");
  EXPECT_EQ(javascript_value("{'a': 1, \"b\": [\"c\", \"d\"]}", "dict", "").dump(),
            R"({"a":1,"b":["c","d"]})");
}

TEST(Bfcl, a_key_that_may_be_left_out_also_allows_an_empty_list) {
  const auto right = [](std::string_view said, std::string_view key) {
    SuiteTurn out{.columns = Json().set("subset", "simple_python")};
    out.columns.set("ground_truth", format(R"([{{"f":{{"a":{}}}}}])", key))
        .set("func_description",
             R"([{"name":"f","parameters":{"properties":{"a":{"type":"array"}}}}])");
    out.tool_calls = Json::array().push_back(Json().set(
        "function", Json().set("name", "f").set("arguments", format(R"({{"a":{}}})", said))));
    return suite_score("bfcl_v4", {out})->score.as_double();
  };
  EXPECT_EQ(right("[]", R"([[1],""])"), 1);
  EXPECT_EQ(right("[]", R"([[1]])"), 0);
  EXPECT_EQ(right("[1]", R"([[1],""])"), 1);
  // The original walks through a text's characters.
  EXPECT_EQ(right(R"(["a","B"])", R"([["x"],"Ab"])"), 1);
}

TEST(Bfcl, aggregates_as_the_leaderboard_does) {
  const auto row = [](std::string_view subset, bool right) {
    SuiteTurn out{.columns = Json().set("subset", subset)};
    const bool should_call = subset != "irrelevance" && subset != "live_irrelevance";
    out.columns.set("ground_truth", R"([{"f":{"a":[1]}}])")
        .set("func_description",
             R"([{"name":"f","parameters":{"properties":{"a":{"type":"integer"}}}}])");
    if (should_call == right) {
      out.tool_calls = parsed(R"([{"function":{"name":"f","arguments":"{\"a\":1}"}}])");
    } else {
      out.reply = "I cannot.";
    }
    return out;
  };
  const auto verdict = suite_score(
      "bfcl_v4",
      {row("simple_python", true), row("simple_java", false), row("multiple", true),
       row("live_simple", true), row("live_simple", false), row("live_multiple", true),
       row("irrelevance", true), row("live_irrelevance", false), row("live_relevance", true)});
  ASSERT_TRUE(verdict) << verdict.error().message;
  const Json& categories = verdict->breakdown["category_scores"];
  EXPECT_EQ(categories["non_live"].as_double(), 75);  // (simple ½ and multiple 1) / 2
  EXPECT_NEAR(categories["live"].as_double(), 66.67, 1e-9);
  EXPECT_EQ(categories["hallucination"].as_double(), 50);
  EXPECT_NEAR(verdict->breakdown["normalized_single_turn_score"].as_double(), 63.89, 1e-9);
  EXPECT_NEAR(verdict->score.as_double(), 6.0 / 9, 1e-12);
}

// A sample counts with its weight in the figure: of three samples the one of `multiple` is a half.
TEST(Bfcl, categories_have_intervals_by_the_weights_of_their_samples) {
  const auto row = [](std::string_view subset, bool right) {
    SuiteTurn out{.columns = Json().set("subset", subset).set("ground_truth", Json::array())};
    if (!right) out.tool_calls = parsed(R"([{"function":{"name":"f","arguments":"{}"}}])");
    return out;
  };
  const auto figure = [](const Verdict& verdict, std::string_view name) {
    for (const ScoreFigure& one : verdict.figures) {
      if (one.name == name) return one.uncertainty;
    }
    return Uncertainty{};
  };
  const auto some = suite_score(
      "bfcl_v4", {row("simple_python", true), row("simple_java", false), row("multiple", true),
                  row("live_simple", true), row("live_multiple", false), row("live_simple", true)});
  ASSERT_TRUE(some) << some.error().message;
  const Uncertainty non_live = figure(*some, "category_scores.non_live");
  EXPECT_NEAR(non_live.value, 75, 1e-9);
  EXPECT_EQ(non_live.samples, 3U);
  // 0.25 × 0.75 over the variance of the weighted sum.
  const double variance = 0.0625 * 0.0625 + 0.1875 * 0.1875 + 0.125 * 0.125;
  const double effective = 0.1875 / variance;
  EXPECT_NEAR(*non_live.low, 100 * wilson(0.75 * effective, effective).low, 1e-9);
  EXPECT_NEAR(figure(*some, "category_scores.live").value, 200.0 / 3, 1e-9);
  const Uncertainty all = figure(*some, "normalized_single_turn_score");
  EXPECT_NEAR(all.value, (75 + 200.0 / 3) / 2, 1e-9);
  EXPECT_EQ(all.samples, 6U);
  // All right: as sure as the effective number of the weights, 1 ÷ (1/16 + 1/16 + 1/4).
  const auto right = suite_score(
      "bfcl_v4", {row("simple_python", true), row("simple_java", true), row("multiple", true)});
  EXPECT_NEAR(*figure(*right, "category_scores.non_live").low, 100 * wilson(8.0 / 3, 8.0 / 3).low,
              1e-9);
}

TEST(LongContext, judges_each_row_by_its_own_metric) {
  const auto one = [](std::string_view metric, std::string_view truth, std::string_view reply) {
    return suite_score("llama3_1_405b",
                       {{.columns = Json().set("metric", metric).set("gt_output", truth),
                         .reply = std::string(reply)}})
        ->score;
  };
  constexpr std::string_view kId = "0a1b2c3d-0000-1111-2222-333344445555";
  EXPECT_EQ(
      one("niah_em", kId, std::string("It is ") + std::string(kId))["exact_match"].as_double(),
      100);
  // A wrong identifier gets the share of equal characters: - and 0 to 5 but not a, b, c, d.
  EXPECT_EQ(one("niah_em", kId, "01234500-0000-1111-2222-333344445555")["exact_match"].as_double(),
            88.89);
  EXPECT_EQ(one("niah_em", kId, "none")["exact_match"].as_double(), 0);
  EXPECT_EQ(
      one("qa_em", "Paris|the city of light", "Answer: it is P a r i s")["exact_match"].as_double(),
      100);
  EXPECT_EQ(one("qa_em", "Paris", "Answer: Rome")["exact_match"].as_double(), 0);
  EXPECT_NEAR(one("rouge", "a cat sat", "a cat ran")["rougeL"].as_double(), 200.0 / 3, 1e-9);
  EXPECT_FALSE(
      suite_score("llama3_1_405b", {{.columns = parsed(R"({"metric":"x","gt_output":"y"})")}}));
}

TEST(Mixtral, judges_each_row_by_its_own_task) {
  std::vector<SuiteTurn> all;
  const auto add = [&all](std::string_view columns, std::string reply) {
    all.push_back({.columns = parsed(columns), .reply = std::move(reply), .tokens = 10});
  };
  add(R"({"dataset":"OpenOrca","gt_output":"a cat sat"})", "a cat sat");
  add(R"({"dataset":"GSM8K","gt_output":"12"})", "so 12.\nQ: next 7");
  add(R"({"dataset":"GSM8K","gt_output":"12"})", "The answer is 11 or 12");
  const auto verdict = suite_score("mixtral_8x7b", all);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->score["rouge1"].as_double(), 100);
  EXPECT_EQ(verdict->score["gsm8k"].as_double(), 50);
  EXPECT_EQ(verdict->score["tokens_per_sample"].as_double(), 10);
  add(R"({"dataset":"MBXP","gt_output":"","id":"python_f"})", "x");
  EXPECT_NE(suite_score("mixtral_8x7b", all).error().message.find("--allow-code"),
            std::string::npos);
}

TEST(Mixtral, runs_programs_with_their_tests) {
  const Json columns = Json()
                           .set("dataset", "MBXP")
                           .set("id", "python_add")
                           .set("gt_output", "def check(f):\n    assert f(2, 3) == 5\n");
  const auto one = [&](std::string reply, Json from) {
    return suite_score("mixtral_8x7b", {{.columns = std::move(from), .reply = std::move(reply)}},
                       {.extra = parsed(R"({"timeout_s":30})"), .allow_code = true});
  };
  const auto good = one("\ndef add(a, b):\n    return a + b\n```\nThat adds.", columns);
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->score["mbxp"].as_double(), 100);
  EXPECT_EQ(one("def add(a, b):\n    return a - b\n", columns)->score["mbxp"].as_double(), 0);
  Json perl = columns;
  perl.set("id", "perl_add");
  EXPECT_TRUE(one("x", perl)->score.is_null());  // not counted by the suite
}

TEST(ProgramJudge, joins_reply_and_tests_as_the_suite_does) {
  EXPECT_EQ(mbxp_reply("python", "  def f\\_(): pass\n```x"), "def f_(): pass\n");
  EXPECT_NE(mbxp_program("php", "<?php", "f(); ?>\n", "P").find("?>\n<?php\n;echo"),
            std::string::npos);
  EXPECT_TRUE(mbxp_program("cpp", "int f();", "// no entry", "P").empty());
  EXPECT_TRUE(mbxp_program("ruby", " a", "T", "P").starts_with(" a\nT\n"));
  EXPECT_FALSE(ProgramJudge::make(parsed(R"({"languages":["cobol"]})")));
}

TEST(SweBench, reads_the_harness_own_report) {
  const auto of = [](std::string_view command) {
    return suite_score("swe_bench_scorer", {}, {.extra = Json().set("command", command)});
  };
  EXPECT_EQ(of(R"(echo '{"resolved_instances":3,"submitted_instances":4}')")->score.as_double(),
            0.75);
  EXPECT_EQ(of(R"(echo '{"resolved_instances":1,"evaluated_instance_ids":["a","b"]}')")
                ->score.as_double(),
            0.5);
  EXPECT_FALSE(of("echo '{}'"));
}

Json results(std::string_view scorer, const Json& value, std::uint64_t rows, bool complete = true) {
  return Json().set("accuracy_scores", Json::array().push_back(Json()
                                                                   .set("dataset_name", "d::preset")
                                                                   .set("score", value)
                                                                   .set("unit_samples", rows)
                                                                   .set("complete", complete)
                                                                   .set("dataset_type", "accuracy")
                                                                   .set("scorer", scorer)));
}

Json workload(std::string_view quality) {
  return Json().set("name", "w").set("rows", Json().set("d", 10)).set("quality", parsed(quality));
}

TEST(QualityGate, passes_what_reaches_every_threshold) {
  const Json demands = workload(
      R"([{"metric":"rouge1","reference":40.0,"at_least":39.6},
          {"metric":"gen_len","at_least":90,"at_most":110}])");
  const auto gate = [&](std::string_view score, std::uint64_t rows) {
    return quality_gate(results("rouge", parsed(score), rows), demands);
  };
  const Json good = gate(R"({"rouge1":"39.7","gen_len":100})", 10);
  EXPECT_EQ(good["verdict"].as_string(), "passed");
  EXPECT_TRUE(gate_is_passed(good));
  EXPECT_EQ(good["items"][0]["value"].as_double(), 39.7);
  EXPECT_EQ(gate(R"({"rouge1":"39.5","gen_len":100})", 10)["verdict"].as_string(), "failed");
  EXPECT_EQ(gate(R"({"rouge1":"39.7","gen_len":111})", 10)["verdict"].as_string(), "failed");
  EXPECT_EQ(gate(R"({"rouge1":"39.7"})", 10)["verdict"].as_string(), "not_measured");
  const Json part = gate(R"({"rouge1":"39.7","gen_len":100})", 4);
  EXPECT_EQ(part["verdict"].as_string(), "passed");
  EXPECT_FALSE(gate_is_passed(part));
  EXPECT_TRUE(quality_gate(results("rouge", parsed("{}"), 10), Json()).is_null());
}

TEST(QualityGate, a_mean_length_counts_replies_and_a_score_counts_samples) {
  Json all = results("pass_at_1", Json(0.5), 10);
  Json more = results("pass_at_1", Json(0.8), 10);
  Json::Array& entries = all.find("accuracy_scores")->make_array();
  entries[0].set("total_samples", 80).set("output_sequence_lengths", Json().set("avg", 100));
  Json& other = more.find("accuracy_scores")->make_array()[0];
  other.set("total_samples", 20).set("output_sequence_lengths", Json().set("avg", 600));
  entries.push_back(other);
  EXPECT_DOUBLE_EQ(metric_value(all, "tokens_per_sample").as_double(), 200);
  EXPECT_DOUBLE_EQ(metric_value(all, "exact_match").as_double(), 65);
}

TEST(QualityGate, one_of_several_targets_is_enough) {
  const Json demands = workload(
      R"([{"metric":"f1","at_least":90,"of":"a"},{"metric":"f1","at_least":95,"of":"b"}])");
  const auto verdict = [&](double f1) {
    return std::string(
        quality_gate(results("squad_f1", Json().set("f1", f1), 10), demands)["verdict"]
            .as_string());
  };
  EXPECT_EQ(verdict(91), "passed");
  EXPECT_EQ(verdict(89), "failed");
}

TEST(QualityGate, several_datasets_count_by_their_samples) {
  Json both = results("pass_at_1", 0.5, 30);
  const Json other = results("code_bench_scorer", 1.0, 10);
  both.find("accuracy_scores")->push_back(other["accuracy_scores"][0]);
  EXPECT_NEAR(metric_value(both, "exact_match").as_double(), 100 * (0.5 * 30 + 10) / 40, 1e-9);
  EXPECT_TRUE(metric_value(both, "rouge1").is_null());
}

}  // namespace
}  // namespace assay::score
