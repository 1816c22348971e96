#include "score/scorer.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "score/payload.h"
#include "score/reply_rows.h"

namespace assay::score {
namespace {

Json json(std::string_view text) { return Json::parse(text).value(); }

struct Asked {
  std::string_view columns{};
  std::string_view reply{};
  bool answered = true;
  std::int64_t tokens = -1;
};

Result<Verdict> score(std::string_view name, const std::vector<Asked>& all,
                      const ScorerOptions& options = {}) {
  auto scorer = make_scorer(name, options);
  if (!scorer) return scorer.error();
  std::uint32_t number = 0;
  for (const Asked& one : all) {
    const Json columns = json(one.columns);
    Row row;
    row.columns = &columns;
    row.reply = row.content = one.reply;
    row.answered = one.answered;
    row.tokens = one.tokens;
    row.sample = static_cast<std::uint32_t>(columns["sample"].as_uint(number++));
    if (const auto added = (*scorer)->add(row); !added) return added.error();
  }
  return (*scorer)->finish();
}

TEST(Suite, weighs_subsets_by_samples_and_not_by_repeats) {
  // AIME: one sample asked 4 times, 2 right; GPQA: two samples asked once, both right.
  std::vector<Asked> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back({R"({"sample":0,"dataset":"aime25","ground_truth":"5"})",
                   i < 2 ? "\\boxed{5}" : "\\boxed{6}"});
  }
  all.push_back({R"({"sample":1,"dataset":"gpqa","ground_truth":"A"})", "Answer: A"});
  all.push_back({R"({"sample":2,"dataset":"gpqa","ground_truth":"B"})", "Answer: B"});
  const auto verdict = score("gpt_oss", all);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_NEAR(verdict->score.as_double(), 100 * (0.5 + 2) / 3, 1e-12);
  EXPECT_EQ(verdict->breakdown["subset_scores"]["aime25"].as_double(), 50);
  EXPECT_NEAR(score("deepseek_r1", all)->score.as_double(), 100 * 4.0 / 6, 1e-12);
}

TEST(Suite, does_not_run_code_that_nobody_allowed) {
  const auto verdict =
      score("deepseek_r1", {{R"({"dataset":"livecodebench","tests":[]})", "```\nx\n```"}});
  ASSERT_FALSE(verdict);
  EXPECT_NE(verdict.error().message.find("--allow-code"), std::string::npos);
}

TEST(ExactMatch, a_missing_reply_is_wrong) {
  const auto verdict = score(
      "pass_at_1", {{R"({"ground_truth":"a"})", "a"}, {R"({"ground_truth":"b"})", "", false}});
  EXPECT_EQ(verdict->score.as_double(), 0.5);
}

TEST(ExactMatch, each_kind_knows_its_answers) {
  const auto one = [](std::string_view name, std::string_view truth, std::string_view reply) {
    const std::string columns = Json().set("ground_truth", truth).dump();
    return score(name, {{columns, reply}})->score.as_double();
  };
  EXPECT_EQ(one("aime", "073", "so \\boxed{73}"), 1);
  EXPECT_EQ(one("gpqa", "C", "**Answer: C**"), 1);
  EXPECT_EQ(one("gpqa", "choice3", "**Answer: D**"), 0);
  EXPECT_EQ(one("mmlu_pro", "J", "Answer: (J)"), 1);
  EXPECT_EQ(one("math500", "\\frac{1}{2}", "\\boxed{0.5}"), 1);
  EXPECT_EQ(one("gsm8k", "1,234", "The answer is 1234."), 1);
  EXPECT_EQ(one("string_match", " a ", "a"), 1);
  EXPECT_EQ(one("pass_at_1", " a ", "a"), 0);
}

TEST(PassAtK, is_the_unbiased_estimate) {
  // n = 4, c = 1, k = 2: 1 - C(3,2)/C(4,2) = 0.5.
  std::vector<Asked> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back({R"({"sample":0,"ground_truth":"a"})", i == 0 ? "a" : "b"});
  }
  all.push_back({R"({"sample":1,"ground_truth":"a"})", "a"});
  const auto verdict = score("pass_at_k", all, {.extra = json(R"({"k":2})")});
  EXPECT_NEAR(verdict->score.as_double(), 0.5, 1e-12);
  EXPECT_NE(verdict->note.find("1 samples"), std::string::npos);
  EXPECT_FALSE(score("pass_at_k", all, {.extra = json(R"({"of":"rouge"})")}));
}

TEST(HierarchicalF1, counts_levels_from_the_top_and_pads_what_cannot_be_read) {
  const auto verdict = score("shopify_category_f1",
                             {{R"({"ground_truth_category":"A > B > C"})",
                               R"({"category":"A > B > X","brand":"b","is_secondhand":"no"})"},
                              {R"({"ground_truth_category":"A > B"})", "```json {}```"}});
  // 2 of 5 predicted levels are right, and 2 of 5 true ones.
  EXPECT_DOUBLE_EQ(verdict->score.as_double(), 0.4);
  EXPECT_NE(verdict->note.find("1 of 2"), std::string::npos);
}

TEST(HierarchicalF1, a_level_is_stripped_as_python_strips) {
  const auto verdict =
      score("shopify_category_f1", {{"{\"ground_truth_category\":\"A\u00a0 > B\"}",
                                     R"({"category":"A > B","brand":"b","is_secondhand":"no"})"}});
  EXPECT_DOUBLE_EQ(verdict->score.as_double(), 1);
}

TEST(Scorers, an_unknown_one_or_a_missing_column_is_named) {
  EXPECT_NE(make_scorer("rogue", {}).error().message.find("did you mean 'rouge'"),
            std::string::npos);
  EXPECT_NE(score("gpqa", {{"{}", "A"}}).error().message.find("no column 'ground_truth'"),
            std::string::npos);
  for (const std::string_view name : scorer_names()) EXPECT_NE(scorer_about(name), "") << name;
}

TEST(Scorers, say_nothing_of_nothing) {
  for (const std::string_view name : scorer_names()) {
    const auto verdict = score(name, {});
    if (!verdict) continue;  // needs options
    EXPECT_TRUE(verdict->score.is_null()) << name << ": " << verdict->score.dump();
  }
}

TEST(SquadF1, takes_the_best_of_several_answers) {
  const auto verdict = score("squad_f1", {{R"({"answers":{"text":["the cat","a dog"]}})", "Dog!"}});
  EXPECT_EQ(verdict->score["exact_match"].as_double(), 100);
  EXPECT_EQ(verdict->score["f1"].as_double(), 100);
}

TEST(SquadF1, an_article_between_word_edges_is_none_of_the_words) {
  const auto exact = [](const char* answer, const char* reply) {
    return score("squad_f1", {{format(R"({{"answers":["{}"]}})", answer), reply}})
        ->score["exact_match"]
        .as_double();
  };
  EXPECT_EQ(exact("\u2013red", "the\u2013red"), 100);  // a dash that is not ASCII stays
  EXPECT_EQ(exact("red", "the-red"), 0);               // one that is joins both
  EXPECT_EQ(exact("a\u00e9", "\u00e9"), 0);
  EXPECT_EQ(exact("x\u00a0y", "X an  Y"), 100);
  EXPECT_EQ(exact("x y", "x\x1fy"), 100);  // Python's white space
}

TEST(WordErrorRate, is_edits_by_true_words) {
  EXPECT_EQ(score("wer", {{R"({"text":"a b c d"})", "a x c"}})->score.as_double(), 0.5);
}

TEST(TopOne, counts_the_first_reply_of_each_sample) {
  const auto verdict = score("top_1", {{R"({"sample":0,"label":7})", "7"},
                                       {R"({"sample":0,"label":7})", "8"},
                                       {R"({"sample":1,"label":3})", "[3.0, 9]"},
                                       {R"({"sample":2,"label":3})", "three"},
                                       {R"({"sample":3,"label":3})", "", false}});
  EXPECT_EQ(verdict->score.as_double(), 50);
}

TEST(TokenBounds, say_whether_replies_are_as_long_as_the_references) {
  const ScorerOptions options{.extra = json(R"({"reference":100})")};
  const auto good = score("token_bounds", {{"{}", "x", true, 95}, {"{}", "x", true, 115}}, options);
  EXPECT_EQ(good->score["tokens_per_sample"].as_double(), 105);
  ASSERT_EQ(good->figures.size(), 1U);
  EXPECT_EQ(good->figures[0].name, "tokens_per_sample");
  EXPECT_EQ(good->figures[0].uncertainty.method, IntervalMethod::student_t);
  EXPECT_NEAR(*good->figures[0].uncertainty.standard_error, 10, 1e-9);
  EXPECT_TRUE(good->score["within"].as_bool());
  EXPECT_FALSE(
      score("token_bounds", {{"{}", "x", true, 111}}, options)->score["within"].as_bool(true));
  EXPECT_NE(score("token_bounds", {{"{}", "x"}}, options)->note.find("--tokenizer"),
            std::string::npos);
}

TEST(Payload, floats_are_a_list_or_bytes) {
  EXPECT_EQ(read_floats("[1, 2.5]").value(), (std::vector<float>{1, 2.5F}));
  EXPECT_EQ(read_floats("AACAPwAAIEA=").value(), (std::vector<float>{1, 2.5F}));
  EXPECT_TRUE(read_floats(" ").value().empty());
  for (const char* bad : {"[\"a\"]", "AACAP", "c", "[1", "no base64!"})
    EXPECT_FALSE(read_floats(bad));
}

TEST(Coco, scores_the_recorded_detections_of_the_images_that_were_asked) {
  const TempFolder folder;
  const auto file = folder.path() / "instances.json";
  ASSERT_TRUE(write_file_atomic(
      file, R"({"images":[{"id":1,"width":100,"height":100},{"id":2,"width":10,"height":10}],
                "annotations":[
                  {"image_id":1,"category_id":1,"bbox":[10,10,40,40],"area":1600,"iscrowd":0},
                  {"image_id":2,"category_id":1,"bbox":[0,0,5,5],"area":25,"iscrowd":0}]})"));
  const ScorerOptions options{.extra = Json().set("annotations", file.string())};
  const auto verdict =
      score("coco_map", {{R"({"image_id":1})", "[0, 0.1, 0.1, 0.5, 0.5, 0.9, 1]"}}, options);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_NEAR(verdict->score["mAP"].as_double(), 100, 1e-9);
  EXPECT_FALSE(score("coco_map", {{R"({"image_id":3})", "[]"}}, options));
  EXPECT_FALSE(score("coco_map", {{R"({"image_id":1})", "[1]x"}}, options));
  // Without image_id the sample's place names the image.
  const auto second =
      score("coco_map", {{R"({"sample":1})", "[1, 0, 0, 0.5, 0.5, 0.9, 1]"}}, options);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NEAR(second->score["mAP"].as_double(), 100, 1e-9);
  EXPECT_NE(
      score("coco_map", {{R"({"sample":2})", "[]"}}, options).error().message.find("2 images"),
      std::string::npos);
}

TEST(Dlrm, reads_the_recorded_payload) {
  const auto verdict = score("dlrm", {{"{}", "[0, 0, 0.9, 0.1, 1, 0, 1, 1, 2]"}});
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->score["accuracy"].as_double(), 1);
}

TEST(External, runs_the_users_program_and_believes_what_it_says) {
  const ScorerOptions options{
      .extra =
          json(R"({"command": "grep -c alpha {replies} | sed 's/.*/{\"score\": &, \"n\": 2}/'"})")};
  const auto verdict = score("external", {{"{}", "alpha"}, {"{}", "beta"}}, options);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->score.as_double(), 1);
  EXPECT_EQ(verdict->breakdown["n"].as_double(), 2);
  const auto failed =
      score("external", {}, {.extra = json(R"({"command": "echo why >&2; exit 3"})")});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("exit code 3"), std::string::npos);
  EXPECT_NE(failed.error().message.find("why"), std::string::npos);
  EXPECT_FALSE(make_scorer("external", {}));
}

TEST(External, values_of_samples_give_the_score_an_interval) {
  const auto said = [](const std::string& json_text) {
    return score("external", {{"{}", "x"}},
                 {.extra = Json().set("command", "echo '" + json_text + "'")});
  };
  const auto binary =
      said(R"({"score": 50, "samples": [{"sample": 3, "score": 1}, {"sample": 4, "score": 0}]})");
  ASSERT_TRUE(binary) << binary.error().message;
  ASSERT_EQ(binary->figures.size(), 1U);
  EXPECT_EQ(binary->figures[0].uncertainty.method, IntervalMethod::wilson);
  EXPECT_EQ(binary->figures[0].tally->scale, 100);
  EXPECT_TRUE(binary->figures[0].tally->samples.contains(4));
  EXPECT_EQ(binary->breakdown.find("samples"), nullptr) << "they are in the tally";
  const auto graded = said(
      R"({"score": 0.5, "samples": [{"sample": 0, "score": 0.25}, {"sample": 1, "score": 0.75}]})");
  ASSERT_TRUE(graded) << graded.error().message;
  ASSERT_EQ(graded->figures.size(), 1U);
  EXPECT_EQ(graded->figures[0].uncertainty.method, IntervalMethod::student_t);
  EXPECT_NEAR(*graded->figures[0].uncertainty.standard_error, 0.25, 1e-12);
  // A score that is something else of its samples has no interval, and says so.
  const auto other = said(R"({"score": 0.9, "samples": [{"sample": 0, "score": 0.5}]})");
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_TRUE(other->figures.empty());
  EXPECT_NE(other->note.find("not the mean of its samples"), std::string::npos);
  EXPECT_FALSE(said(R"({"score": 1, "samples": [{"sample": -1, "score": 1}]})"));
}

TEST(External, reads_what_the_suites_programs_write) {
  const auto swe = score(
      "swe_bench_scorer", {{"{}", "x"}},
      {.extra =
           json(R"({"command": "echo '{\"resolved_instances\": 3, \"total_instances\": 4}'"})")});
  ASSERT_TRUE(swe) << swe.error().message;
  EXPECT_EQ(swe->score.as_double(), 0.75);
  ASSERT_EQ(swe->figures.size(), 1U);
  EXPECT_EQ(swe->figures[0].uncertainty.samples, 4U);
  EXPECT_EQ(swe->figures[0].uncertainty.value, 0.75);
  EXPECT_FALSE(swe->figures[0].tally) << "instances are not rows of the dataset";
  const auto sdxl = score(
      "sdxl", {{"{}", "x"}},
      {.extra =
           json(R"({"command": "echo '{\"FID_SCORE\": \"23.5\", \"CLIP_SCORE\": \"31.7\"}'"})")});
  ASSERT_TRUE(sdxl) << sdxl.error().message;
  EXPECT_EQ(sdxl->score["clip_score"].as_double(), 31.7);
}

TEST(ReplyRows, every_query_that_was_asked_is_a_row) {
  Dataset dataset;
  dataset.name = "d";
  for (const char* truth : {"a", "b", "c", "d"}) {
    Sample sample;
    sample.columns.set("ground_truth", truth);
    dataset.samples.push_back(std::move(sample));
  }
  ReplyRows rows;
  rows.add_phases({1}, dataset, make_scorer("pass_at_1", {}));
  const auto told = [&rows](std::uint32_t index, const char* text, Outcome outcome) {
    Query query{};
    query.phase = 1;
    query.index = query.sample = index;
    rows.on_sent(query, Instant{0}, Instant{10});
    if (text != nullptr) {
      rows.on_stream_event(query, StreamEvent{.category = Category::text}, text);
    }
    Event event{.query = query, .outcome = outcome};
    event.done = Instant{1'000'000'010};
    event.usage.completion_tokens = 5;
    if (outcome != Outcome::timed_out) rows.on_done(event, "");
  };
  told(0, "a", Outcome::ok);
  told(1, nullptr, Outcome::ok);
  told(2, "c", Outcome::reset);
  told(3, "d", Outcome::timed_out);  // the log has no end for it
  const auto scores = rows.finish();
  ASSERT_EQ(scores.size(), 1u);
  const PhaseScore& one = scores.front();
  EXPECT_EQ(one.issued, 4u);
  EXPECT_EQ(one.scored, 1u);
  EXPECT_EQ(one.empty, 1u);
  EXPECT_EQ(one.missing, 2u);
  EXPECT_EQ(one.duration.ns, 1'000'000'000);
  EXPECT_EQ(one.tokens, (std::vector<std::int64_t>{5, 5}));
  ASSERT_TRUE(one.verdict);
  EXPECT_EQ(one.verdict->score.as_double(), 0.25);
}

TEST(ReplyRows, phases_of_one_score_are_one_set_of_rows) {
  Dataset dataset;
  dataset.samples.resize(2);
  for (Sample& sample : dataset.samples) sample.columns.set("ground_truth", "a");
  ReplyRows rows;
  rows.add_phases({1, 2}, dataset, make_scorer("pass_at_1", {}));
  for (const int phase : {0, 1, 2}) {
    Query query{};
    query.phase = static_cast<std::uint16_t>(phase);
    query.sample = phase == 2 ? 1U : 0U;
    rows.on_sent(query, Instant{0}, Instant{phase});
    rows.on_stream_event(query, StreamEvent{.category = Category::text}, phase == 1 ? "a" : "b");
    Event event{.query = query, .outcome = Outcome::ok};
    event.done = Instant{100 * phase};
    rows.on_done(event, "");
  }
  const auto scores = rows.finish();
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores[0].issued, 2u);
  EXPECT_EQ(scores[0].duration.ns, 199) << "from the first query of one to the last of the other";
  EXPECT_EQ(scores[0].verdict->score.as_double(), 0.5);
}

TEST(ReplyRows, a_reply_whose_text_was_not_kept_is_not_an_empty_one) {
  Dataset dataset;
  dataset.samples.resize(2);
  for (Sample& sample : dataset.samples) sample.columns.set("ground_truth", "a");
  ReplyRows rows;
  rows.add_phases({0}, dataset, make_scorer("pass_at_1", {}));
  rows.add_phases({1}, dataset, make_scorer("token_bounds", {}));
  for (std::uint32_t i = 0; i < 4; ++i) {
    Query query{};
    query.phase = static_cast<std::uint16_t>(i % 2);
    query.index = query.sample = i / 2;
    rows.on_sent(query, Instant{0}, Instant{10});
    rows.on_stream_event(query, StreamEvent{.category = Category::text, .bytes = 5}, "");
    Event event{.query = query, .outcome = Outcome::ok};
    event.output_bytes = 5;
    event.usage.completion_tokens = 3;
    rows.on_done(event, "");
  }
  const auto scores = rows.finish();
  ASSERT_EQ(scores.size(), 2u);
  ASSERT_TRUE(scores[1].verdict) << "tokens are enough for this one";
  EXPECT_EQ(scores[1].verdict->score["tokens_per_sample"].as_double(), 3);
  EXPECT_EQ(scores[0].unkept, 2u);
  EXPECT_EQ(scores[0].empty + scores[0].scored + scores[0].missing, 0u);
  ASSERT_FALSE(scores[0].verdict);
  EXPECT_NE(scores[0].verdict.error().message.find("--keep-text on"), std::string::npos);
}

}  // namespace
}  // namespace assay::score
