// ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum (Lin 2004) with the words, stems and formulas of the
// rouge-score package, to the last bit of each F-measure.
//
// Texts become lists of numbers once. Then a longest common subsequence is found 64 words at a time
// (Hyyrö 2004), so a dataset is scored in seconds. ROUGE-Lsum also needs the words of the
// subsequence: it keeps the rows' bits and walks back.
// One thread for each object: it owns the table of words and the buffers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "score/text/sentences.h"
#include "score/uncertainty.h"

namespace assay::score {

struct RougeScore {
  double precision = 0;
  double recall = 0;
  double f = 0;
};

struct RougeScores {
  RougeScore rouge1{};
  RougeScore rouge2{};
  RougeScore rouge_l{};
  RougeScore rouge_l_sum{};  // sentences end at line ends
};

class Rouge {
 public:
  explicit Rouge(bool stem) : stem_(stem) {}
  RougeScores score(std::string_view target, std::string_view prediction);

 private:
  using Words = std::vector<std::uint32_t>;

  Words words(std::string_view text);
  std::uint32_t number(std::string_view word);
  RougeScore overlap(const Words& target, const Words& prediction, std::size_t n);
  std::size_t common_length(const Words& a, const Words& b);
  RougeScore summary(std::string_view target, std::string_view prediction);
  void mark_common(const Words& reference, const Words& candidate, std::vector<bool>& in_union);
  void fill_masks(const Words& words, std::size_t blocks);
  void clear_masks(const Words& words, std::size_t blocks);

  bool stem_;
  std::unordered_map<std::string, std::uint32_t> numbers_{};
  std::uint32_t next_ = 0;
  std::string lowered_{};
  std::vector<std::uint64_t> masks_{};  // positions of each word
  std::vector<std::uint32_t> slots_{};  // word -> its place in masks_; 0: none
  std::vector<std::uint64_t> rows_{};
  std::vector<std::uint64_t> keys_a_{};
  std::vector<std::uint64_t> keys_b_{};
};

// The suite's evaluation of summaries: trims texts and cuts them into sentences; the result has the
// means of their F-measures and the lengths of the replies.
class RougeMeans {
 public:
  explicit RougeMeans(Sentences sentences) : sentences_(std::move(sentences)) {}

  // `tokens`: those of the reply; -1: not counted.
  void add(std::uint32_t sample, std::string_view truth, std::string_view reply,
           std::int64_t tokens);
  // Has rouge1, rouge2, rougeL and rougeLsum × 100, with four decimals, as texts or as numbers;
  // gen_len in characters, gen_num, and if known gen_tok_len and tokens_per_sample. Null without
  // rows.
  Json json(bool as_texts) const;
  // The four means with their intervals.
  std::vector<ScoreFigure> figures() const;
  std::string note() const { return rows_ == 0 ? std::string() : sentences_.note(); }

 private:
  Sentences sentences_;
  Rouge rouge_{true};
  std::array<double, 4> sums_{};
  std::array<Tally, 4> tallies_{};
  std::size_t rows_ = 0;
  std::size_t characters_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t counted_ = 0;
};

}  // namespace assay::score
