#include "score/sample_scores.h"

#include <gtest/gtest.h>

namespace assay::score {
namespace {

std::vector<SampleScores> two_figures() {
  SampleScores one{.dataset = "a \"b\"",
                   .dataset_sha256 = "00ff",
                   .scorer = "wer",
                   .figure = "score",
                   .tally = {.kind = FigureKind::ratio, .lower_is_better = true}};
  one.tally.add(4000000000U, 1.0 / 3, 7);
  one.tally.add(2, 0, 0);
  SampleScores other = one;
  other.dataset = "gpqa";
  other.extractor = "letter_aj";
  other.ground_truth = "answer";
  other.tally = {.kind = FigureKind::proportion, .scale = 100};
  return {one, other};
}

TEST(SampleScores, what_is_written_is_read) {
  const std::vector<SampleScores> written = two_figures();
  const auto read = read_sample_scores(sample_scores_text(written));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].dataset, written[i].dataset);
    EXPECT_EQ((*read)[i].dataset_sha256, written[i].dataset_sha256);
    EXPECT_EQ((*read)[i].extractor, written[i].extractor);
    EXPECT_EQ((*read)[i].ground_truth, written[i].ground_truth);
    EXPECT_EQ((*read)[i].tally.kind, written[i].tally.kind);
    EXPECT_EQ((*read)[i].tally.scale, written[i].tally.scale);
    EXPECT_EQ((*read)[i].tally.lower_is_better, written[i].tally.lower_is_better);
    EXPECT_EQ((*read)[i].tally.samples, written[i].tally.samples);
  }
}

TEST(SampleScores, a_file_that_is_cut_off_or_changed_is_refused) {
  const std::string whole = sample_scores_text(two_figures());
  const std::string head = whole.substr(0, whole.find('\n') + 1);
  const auto refused = [](const std::string& text) {
    const auto read = read_sample_scores(text);
    return read ? std::string() : read.error().message;
  };
  EXPECT_NE(refused(head + "[2, 0, 0]\n").find("ends 1 samples early"), std::string::npos);
  EXPECT_NE(refused(head + "[2, 0, 0]\n[2, 1, 1]\n").find("line 3: sample 2 is there twice"),
            std::string::npos);
  EXPECT_NE(refused(head + "[2, 0]\n[3, 1, 1]\n").find("line 2: must be [sample"),
            std::string::npos);
  EXPECT_NE(refused(head + "[-1, 0, 0]\n[3, 1, 1]\n").find("must be a row"), std::string::npos);
  EXPECT_NE(refused(head + "[2, 0, -1]\n[3, 1, 1]\n").find("not below 0"), std::string::npos);
  EXPECT_NE(refused(whole + whole).find("is there twice"), std::string::npos);
  EXPECT_NE(refused("{\"figure\": \"x\", \"kind\": \"median\"}").find("its kind"),
            std::string::npos);
  EXPECT_NE(refused("nonsense").find("line 1"), std::string::npos);
}

}  // namespace
}  // namespace assay::score
