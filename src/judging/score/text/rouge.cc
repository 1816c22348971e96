#include "score/text/rouge.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "score/text/porter.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

double f_measure(double precision, double recall) {
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0.0;
}

RougeScore of_counts(std::size_t hits, std::size_t target, std::size_t prediction) {
  RougeScore score;
  score.precision =
      static_cast<double>(hits) / static_cast<double>(std::max<std::size_t>(prediction, 1));
  score.recall = static_cast<double>(hits) / static_cast<double>(std::max<std::size_t>(target, 1));
  score.f = f_measure(score.precision, score.recall);
  return score;
}

bool word_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::uint32_t Rouge::number(std::string_view word) {
  // The stem is computed once for each spelling.
  const auto known = numbers_.find(std::string(word));
  if (known != numbers_.end()) return known->second;
  const std::string stemmed = stem_ && word.size() > 3 ? porter_stem(word) : std::string(word);
  // A stem that is itself a short word is the same token: "\x01" separates the two tables.
  const auto [at, fresh] = numbers_.try_emplace("\x01" + stemmed, next_);
  if (fresh) ++next_;
  const std::uint32_t value = at->second;
  numbers_.emplace(std::string(word), value);
  return value;
}

Rouge::Words Rouge::words(std::string_view text) {
  Words out;
  std::string_view source = text;
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) {
    lowered_.assign(text);
    for (char& c : lowered_) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    }
  } else {
    // Kelvin's K and a dotted I become ASCII letters, as in Python's lower().
    lowered_ =
        text::lower_case(valid_utf8(text) ? std::string(text) : text::replace_invalid_utf8(text));
  }
  source = lowered_;
  for (std::size_t at = 0; at < source.size();) {
    if (!word_byte(source[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < source.size() && word_byte(source[end])) ++end;
    out.push_back(number(source.substr(at, end - at)));
    at = end;
  }
  return out;
}

RougeScore Rouge::overlap(const Words& target, const Words& prediction, std::size_t n) {
  const auto keys = [n](const Words& words, std::vector<std::uint64_t>& out) {
    out.clear();
    for (std::size_t i = 0; i + n <= words.size(); ++i) {
      out.push_back(n == 1 ? words[i] : (std::uint64_t{words[i]} << 32) | words[i + 1]);
    }
    std::sort(out.begin(), out.end());
  };
  keys(target, keys_a_);
  keys(prediction, keys_b_);
  std::size_t hits = 0;
  for (std::size_t a = 0, b = 0; a < keys_a_.size() && b < keys_b_.size();) {
    if (keys_a_[a] < keys_b_[b]) {
      ++a;
    } else if (keys_b_[b] < keys_a_[a]) {
      ++b;
    } else {
      ++hits;
      ++a;
      ++b;
    }
  }
  return of_counts(hits, keys_a_.size(), keys_b_.size());
}

void Rouge::fill_masks(const Words& words, std::size_t blocks) {
  if (slots_.size() < next_) slots_.resize(next_, 0);
  masks_.assign(blocks, 0);  // slot 0: a word that does not occur
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t& slot = slots_[words[i]];
    if (slot == 0) {
      slot = static_cast<std::uint32_t>(masks_.size() / blocks);
      masks_.resize(masks_.size() + blocks, 0);
    }
    masks_[slot * blocks + i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

void Rouge::clear_masks(const Words& words, std::size_t) {
  for (const std::uint32_t word : words) slots_[word] = 0;
}

// Bits of V that are 0 mark where the length grows along `a`; each word of `b` is one row.
std::size_t Rouge::common_length(const Words& a, const Words& b) {
  if (a.empty() || b.empty()) return 0;
  const std::size_t blocks = (a.size() + 63) / 64;
  fill_masks(a, blocks);
  rows_.assign(blocks, ~std::uint64_t{0});
  for (const std::uint32_t word : b) {
    const std::uint64_t* mask = &masks_[slots_[word] * blocks];
    std::uint64_t carry = 0;
    for (std::size_t k = 0; k < blocks; ++k) {
      const std::uint64_t v = rows_[k];
      const std::uint64_t u = v & mask[k];
      std::uint64_t sum = 0;
      const bool over = __builtin_add_overflow(v, u, &sum);
      const bool more = __builtin_add_overflow(sum, carry, &sum);
      carry = over || more ? 1 : 0;
      rows_[k] = sum | (v & ~mask[k]);
    }
  }
  clear_masks(a, blocks);
  std::size_t zeros = 0;
  for (std::size_t k = 0; k < blocks; ++k) {
    const std::size_t bits = std::min<std::size_t>(64, a.size() - k * 64);
    const std::uint64_t used = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    zeros += static_cast<std::size_t>(std::popcount(~rows_[k] & used));
  }
  return zeros;
}

// Marks the reference's words that are in one longest common subsequence with the candidate: the
// one that rouge-score finds when it walks back (up when left and up are equal).
void Rouge::mark_common(const Words& reference, const Words& candidate,
                        std::vector<bool>& in_union) {
  if (reference.empty() || candidate.empty()) return;
  const std::size_t cols = candidate.size();
  const std::size_t blocks = (cols + 63) / 64;
  fill_masks(candidate, blocks);
  // Row i of the table, as bits: V of the first i words of the reference. T[i][j] is the number of
  // zeros among the first j bits of row i.
  rows_.assign(blocks * (reference.size() + 1), ~std::uint64_t{0});
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const std::uint64_t* mask = &masks_[slots_[reference[i]] * blocks];
    const std::uint64_t* above = &rows_[i * blocks];
    std::uint64_t* row = &rows_[(i + 1) * blocks];
    std::uint64_t carry = 0;
    for (std::size_t k = 0; k < blocks; ++k) {
      const std::uint64_t u = above[k] & mask[k];
      std::uint64_t sum = 0;
      const bool over = __builtin_add_overflow(above[k], u, &sum);
      const bool more = __builtin_add_overflow(sum, carry, &sum);
      carry = over || more ? 1 : 0;
      row[k] = sum | (above[k] & ~mask[k]);
    }
  }
  clear_masks(candidate, blocks);
  const auto grows = [&](std::size_t row, std::size_t column) {
    return (rows_[row * blocks + column / 64] >> (column % 64) & 1) == 0;
  };
  // zeros(row, j): T[row][j]. Kept for the current row and the one above as j and row go down.
  const auto zeros = [&](std::size_t row, std::size_t j) {
    std::size_t n = 0;
    for (std::size_t k = 0; k * 64 < j; ++k) {
      const std::size_t bits = std::min<std::size_t>(64, j - k * 64);
      const std::uint64_t used = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
      n += static_cast<std::size_t>(std::popcount(~rows_[row * blocks + k] & used));
    }
    return n;
  };
  std::size_t i = reference.size();
  std::size_t j = cols;
  std::size_t here = zeros(i, j);
  std::size_t up = zeros(i - 1, j);
  while (i > 0 && j > 0) {
    if (reference[i - 1] == candidate[j - 1]) {
      in_union[i - 1] = true;
      --i;
      --j;
      here = zeros(i, j);
      up = i > 0 ? zeros(i - 1, j) : 0;
      continue;
    }
    const std::size_t left = here - (grows(i, j - 1) ? 1 : 0);
    if (left > up) {
      if (grows(i - 1, j - 1)) --up;
      here = left;
      --j;
    } else {
      --i;
      here = up;
      up = i > 0 ? zeros(i - 1, j) : 0;
    }
  }
}

RougeScore Rouge::summary(std::string_view target, std::string_view prediction) {
  const auto sentences = [this](std::string_view text) {
    std::vector<Words> out;
    for (const std::string_view line : split(text, '\n')) {
      if (!line.empty()) out.push_back(words(line));
    }
    return out;
  };
  const std::vector<Words> references = sentences(target);
  const std::vector<Words> candidates = sentences(prediction);
  std::unordered_map<std::uint32_t, std::int64_t> left_r;
  std::unordered_map<std::uint32_t, std::int64_t> left_c;
  std::size_t m = 0;
  std::size_t n = 0;
  for (const Words& one : references) {
    m += one.size();
    for (const std::uint32_t word : one) ++left_r[word];
  }
  for (const Words& one : candidates) {
    n += one.size();
    for (const std::uint32_t word : one) ++left_c[word];
  }
  if (m == 0 || n == 0) return {};
  std::size_t hits = 0;
  std::vector<bool> in_union;
  for (const Words& reference : references) {
    in_union.assign(reference.size(), false);
    for (const Words& candidate : candidates) mark_common(reference, candidate, in_union);
    for (std::size_t i = 0; i < reference.size(); ++i) {
      if (!in_union[i]) continue;
      std::int64_t& in_c = left_c[reference[i]];
      std::int64_t& in_r = left_r[reference[i]];
      if (in_c <= 0 || in_r <= 0) continue;
      ++hits;
      --in_c;
      --in_r;
    }
  }
  return of_counts(hits, m, n);
}

RougeScores Rouge::score(std::string_view target, std::string_view prediction) {
  const Words a = words(target);
  const Words b = words(prediction);
  RougeScores scores;
  scores.rouge1 = overlap(a, b, 1);
  scores.rouge2 = overlap(a, b, 2);
  if (!a.empty() && !b.empty()) {
    scores.rouge_l = of_counts(common_length(a, b), a.size(), b.size());
  }
  scores.rouge_l_sum = summary(target, prediction);
  return scores;
}

}  // namespace assay::score
