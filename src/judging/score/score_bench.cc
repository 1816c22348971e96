// Speed of the formulas. bench/quality.py compares with the field's own libraries.
#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/rng.h"
#include "score/picture/coco_map.h"
#include "score/task/instructions.h"
#include "score/text/porter.h"
#include "score/text/rouge.h"

namespace assay::score {
namespace {

std::string words(Rng& rng, std::size_t count) {
  constexpr std::array kSyllables = {"ta", "re",  "mi",  "on", "ex", "pro",  "con",  "ing", "er",
                                     "al", "ous", "ive", "st", "le", "ment", "tion", "qu",  "ar"};
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint64_t n = rng.below(3) + 1; n > 0; --n) {
      out += kSyllables[static_cast<std::size_t>(rng.below(kSyllables.size()))];
    }
    out += rng.below(15) == 0 ? ".\n" : " ";
  }
  return out;
}

// A summary of a news article: about 60 words, in about four sentences.
void rouge(benchmark::State& state) {
  const auto length = static_cast<std::size_t>(state.range(0));
  Rng rng(1);
  std::vector<std::string> texts;
  for (int i = 0; i < 64; ++i) texts.push_back(words(rng, length));
  Rouge scorer(true);
  CHECK(scorer.score(texts[0], texts[0]).rouge_l_sum.f == 1);
  std::size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(scorer.score(texts[at % 64], texts[(at + 1) % 64]));
    ++at;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(rouge)->Arg(60)->Arg(1000);

void coco(benchmark::State& state) {
  Rng rng(1);
  const auto images = static_cast<std::int64_t>(state.range(0));
  std::vector<CocoTruth> truths;
  std::vector<CocoDetection> detections;
  const auto upto = [&rng](std::uint64_t n) { return static_cast<double>(rng.below(n)); };
  for (std::int64_t image = 0; image < images; ++image) {
    for (std::uint64_t n = rng.below(12); n > 0; --n) {
      const auto category = static_cast<std::int32_t>(rng.below(80)) + 1;
      const Box box{upto(400), upto(400), upto(150) + 4, upto(150) + 4};
      truths.push_back({image, category, box, box.width * box.height, false});
      for (std::uint64_t k = rng.below(4); k > 0; --k) {
        detections.push_back({image,
                              category,
                              {box.x + upto(10), box.y + upto(10), box.width, box.height},
                              upto(1000) / 1000});
      }
    }
  }
  CHECK(coco_scores(truths, detections).ap > 0);
  for (auto _ : state) benchmark::DoNotOptimize(coco_scores(truths, detections));
  state.SetItemsProcessed(state.iterations() * images);
}
BENCHMARK(coco)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond);

// A reply of about 300 words to a prompt with six instructions, as IFEval's longest.
void instructions(benchmark::State& state) {
  Rng rng(1);
  std::vector<std::string> texts;
  for (int i = 0; i < 16; ++i) texts.push_back(words(rng, 300));
  texts.push_back("* A bridge.\n\n* <<Two>> *bridges* without end");
  const Json columns =
      Json::parse(R"({"instruction_id_list": ["keywords:existence", "keywords:forbidden_words",
    "keywords:frequency", "detectable_format:number_bullet_lists", "detectable_format:title",
    "detectable_format:number_highlighted_sections"],
    "kwargs": [{"keywords": ["bridge", "river", "stone"]}, {"forbidden_words": ["war", "sea"]},
    {"keyword": "bridge", "relation": "at least", "frequency": 2}, {"num_bullets": 2}, {},
    {"num_highlights": 1}]})")
          .value();
  InstructionJudge judge = InstructionJudge::make({}, {}).value();
  CHECK(judge.judge(columns, texts.back())->strict ==
        std::vector<bool>({false, true, true, true, true, true}));
  std::size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(judge.judge(columns, texts[at++ % 16]));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(instructions)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace assay::score
