#include "score/picture/media_results.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::score {
namespace {

// The values of videos are made up; the form is VBench's.
constexpr std::string_view kVbench = R"({
  "subject_consistency": [0.9, [{"video_path": "a.mp4", "video_results": 0.8},
                                {"video_path": "b.mp4", "video_results": 1.0}]],
  "background_consistency": [0.95, []],
  "motion_smoothness": [0.98, [{"video_path": "a.mp4", "video_results": 0.5},
                               {"video_path": "b.mp4", "video_results": 0.6}]],
  "dynamic_degree": [0.5, [{"video_path": "a.mp4", "video_results": true},
                           {"video_path": "b.mp4", "video_results": false}]],
  "appearance_style": [0.25, []],
  "scene": [0.42, []]})";

TEST(MediaResults, of_rag_are_the_means_of_its_questions) {
  const auto whole = read_media_results(
      "rag_qna", R"({"answer_accuracy": 0.5, "detailed_results": [{"answer_correct": 0},
      {"answer_correct": 1, "retrieval_precision": 0.5, "retrieval_recall": 1}]})");
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->score["rag_accuracy"].as_double(), 50);
  EXPECT_EQ(whole->score["retrieval_precision"].as_double(), 0.25);
  EXPECT_EQ(whole->figures.size(), 4U);
  const auto line = read_media_results("rag_qna", "Accuracy: 34.1000\nhash=abc\n");
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->score["rag_accuracy"].as_double(), 34.1, 1e-12);
  EXPECT_FALSE(read_media_results("rag_qna", "Accuracy: high\n"));
  EXPECT_FALSE(read_media_results(
      "rag_qna", R"({"answer_accuracy": 0.5, "detailed_results": [{"answer_correct": 2}]})"));
}

TEST(MediaResults, of_sdxl_are_texts_in_a_file_and_in_a_log) {
  for (const char* text : {R"({"FID_SCORE": "23.25", "CLIP_SCORE": "31.5"})",
                           "loading\n{'FID_SCORE': '0.1', 'CLIP_SCORE': '0.2'}\n"
                           "INFO {'FID_SCORE': '23.25', 'CLIP_SCORE': '31.5'}\nhash=abc\n"}) {
    const auto verdict = read_media_results("sdxl", text);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->score.dump(), R"({"clip_score":31.5,"fid_score":23.25})");
  }
  for (const char* text : {R"({"FID_SCORE": "23.25"})", R"({"CLIP_SCORE": "x", "FID_SCORE": "1"})",
                           R"({"CLIP_SCORE": "nan", "FID_SCORE": "1"})"}) {
    const auto refused = read_media_results("sdxl", text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().message, "CLIP_SCORE: is missing, or is not a number");
  }
  const auto none = read_media_results("sdxl", "nothing\nat all\n");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no line has the figures of sdxl"), std::string::npos);
}

TEST(MediaResults, of_vbench_are_the_mean_of_six_dimensions) {
  const auto verdict = read_media_results("vbench", kVbench);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_NEAR(verdict->score["vbench_score"].as_double(), 100 * 4.0 / 6, 1e-9);
  EXPECT_EQ(verdict->breakdown["dimensions"]["scene"].as_double(), 0.42);
  // Only a dimension that is the mean of its videos has their interval.
  ASSERT_EQ(verdict->figures.size(), 2U);
  EXPECT_EQ(verdict->figures[0].name, "dimensions.subject_consistency");
  EXPECT_EQ(verdict->figures[1].name, "dimensions.dynamic_degree");
  EXPECT_EQ(verdict->figures[0].uncertainty.samples, 2U);
  EXPECT_NEAR(*verdict->figures[0].uncertainty.standard_error, 0.1, 1e-12);
  const auto log = read_media_results("vbench", "x\n{'vbench_score': 70.48}\n");
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->score["vbench_score"].as_double(), 70.48);
  const auto plain = read_media_results(
      "vbench",
      R"({"subject_consistency": 1, "background_consistency": 1, "motion_smoothness": 1,
          "dynamic_degree": 0.25, "appearance_style": 0.25, "scene": 0.25})");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->score["vbench_score"].as_double(), 62.5);
}

TEST(MediaResults, a_dimension_that_is_missing_is_named) {
  const auto refused =
      read_media_results("vbench", R"({"subject_consistency": [0.9, []], "scene": []})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "VBench's dimensions are missing, or are not numbers: background_consistency, "
            "motion_smoothness, dynamic_degree, appearance_style, scene");
}

}  // namespace
}  // namespace assay::score
