#include "score/text/squad_spans.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/format.h"
#include "score/answer/python_text.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"

namespace assay::score {
namespace {

constexpr std::size_t kTokensMax = 384;
constexpr std::size_t kQuestionTokensMax = 64;
constexpr std::size_t kStride = 128;
constexpr std::size_t kBest = 20;
constexpr std::size_t kAnswerTokensMax = 30;
constexpr float kPadding = -10000;

bool is_gap(char32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0x202F; }

std::vector<std::string> passage_words(std::string_view passage) {
  std::vector<std::string> out;
  Characters word;
  for (const char32_t c : characters(passage)) {
    if (!is_gap(c)) {
      word += c;
    } else if (!word.empty()) {
      out.push_back(utf8(word));
      word.clear();
    }
  }
  if (!word.empty()) out.push_back(utf8(word));
  return out;
}

Result<std::vector<std::string>> tokens_of(std::string_view text,
                                           const text::Tokenizer& tokenizer) {
  ASSIGN_OR_RETURN(const std::vector<text::TokenId> ids, tokenizer.encode(text));
  std::vector<std::string> out;
  for (const text::TokenId id : ids) out.push_back(tokenizer.token_of(id));
  return out;
}

struct Window {
  std::size_t start = 0;
  std::size_t length = 0;
};

std::vector<Window> windows_of(std::size_t tokens, std::size_t room) {
  std::vector<Window> out;
  for (std::size_t start = 0; start < tokens;) {
    const std::size_t length = std::min(tokens - start, room);
    out.push_back({start, length});
    if (start + length == tokens) break;
    start += std::min(length, kStride);
  }
  return out;
}

// The window in which the token has most context; the first of equals.
std::size_t best_window(const std::vector<Window>& windows, std::size_t token) {
  std::optional<double> best;
  std::size_t out = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto [start, length] = windows[i];
    if (token < start || token >= start + length) continue;
    const std::size_t context = std::min(token - start, start + length - 1 - token);
    const double score = static_cast<double>(context) + 0.01 * static_cast<double>(length);
    if (!best || score > *best) {
      best = score;
      out = i;
    }
  }
  return out;
}

// The indices of the greatest, the first of equals first. A feature's logits are padded.
std::vector<std::size_t> best_of(const std::vector<float>& logits) {
  std::vector<float> padded = logits;
  padded.resize(kTokensMax, kPadding);
  std::vector<std::size_t> order(kTokensMax);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return padded[a] > padded[b]; });
  order.resize(kBest);
  return order;
}

// BERT's words: clean, lower case, without accents, cut at punctuation and at Chinese characters.
std::string basic_words(std::string_view text) {
  static const auto normalizer = text::Normalizer::read(
      Json().set("type", "BertNormalizer").set("lowercase", true), "BERT's normalizer");
  static const auto cutter =
      text::PreTokenizer::read(Json().set("type", "BertPreTokenizer"), "BERT's words");
  std::string clean = readable(text);
  text::PreTokenizerScratch scratch;
  if (!normalizer->run(clean, scratch.regex)) return {};
  std::string out;
  cutter->run(clean, true, scratch, {&out, [](void* self, std::string_view word) {
                                       auto& words = *static_cast<std::string*>(self);
                                       if (!words.empty()) words += ' ';
                                       words += word;
                                     }});
  return out;
}

// Where each character that is no space stands.
std::vector<std::size_t> places_of(CharactersView text) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ') out.push_back(i);
  }
  return out;
}

std::optional<std::size_t> rank_of(const std::vector<std::size_t>& places, std::size_t place) {
  const auto at = std::lower_bound(places.begin(), places.end(), place);
  if (at == places.end() || *at != place) return std::nullopt;
  return static_cast<std::size_t>(at - places.begin());
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

}  // namespace

std::string original_spelling(std::string_view found, std::string_view original) {
  const Characters wanted = characters(found);
  const Characters from = characters(original);
  const Characters words = characters(basic_words(original));
  const std::size_t start = words.find(wanted);
  if (start == Characters::npos || wanted.empty()) return std::string(original);
  const std::vector<std::size_t> places = places_of(from);
  const std::vector<std::size_t> places_in_words = places_of(words);
  if (places.size() != places_in_words.size()) return std::string(original);
  const auto first = rank_of(places_in_words, start);
  const auto last = rank_of(places_in_words, start + wanted.size() - 1);
  if (!first || !last) return std::string(original);
  return utf8(CharactersView(from).substr(places[*first], places[*last] + 1 - places[*first]));
}

Result<SquadSpans> SquadSpans::read(const Json& squad, const text::Tokenizer& tokenizer) {
  if (!tokenizer.id_of("[CLS]") || !tokenizer.id_of("[SEP]")) {
    return invalid("the tokenizer has no [CLS] and [SEP]: BERT's vocabulary is needed");
  }
  if (!squad["data"].is_array()) return invalid("data: is missing: expected SQuAD's file");
  SquadSpans out;
  for (const Json& article : squad["data"].items()) {
    for (const Json& paragraph : article["paragraphs"].items()) {
      out.passages_.push_back(passage_words(paragraph["context"].as_string()));
      for (const Json& question : paragraph["qas"].items()) {
        SquadQuestion one{.id = std::string(question["id"].as_string()),
                          .passage = out.passages_.size() - 1};
        for (const Json& answer : question["answers"].items()) {
          one.answers.emplace_back(answer["text"].as_string());
        }
        if (one.answers.empty()) return invalid(format("question '{}' has no answers", one.id));
        out.questions_.push_back(std::move(one));
        TRY(out.add_features(out.questions_.size() - 1, question["question"].as_string(),
                             tokenizer));
      }
    }
  }
  out.logits_.resize(out.features_.size());
  return out;
}

Result<void> SquadSpans::add_features(std::size_t question, std::string_view text,
                                      const text::Tokenizer& tokenizer) {
  ASSIGN_OR_RETURN(std::vector<std::string> asked, tokens_of(text, tokenizer));
  if (asked.size() > kQuestionTokensMax) asked.resize(kQuestionTokensMax);
  std::vector<std::string> passage;
  std::vector<std::uint32_t> word_of;
  const auto& words = passages_[questions_[question].passage];
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<std::string> tokens, tokens_of(words[i], tokenizer));
    passage.insert(passage.end(), tokens.begin(), tokens.end());
    word_of.resize(passage.size(), static_cast<std::uint32_t>(i));
  }
  const std::vector<Window> windows = windows_of(passage.size(), kTokensMax - asked.size() - 3);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    SquadFeature feature{.question = question, .passage_at = asked.size() + 2};
    feature.tokens.emplace_back("[CLS]");
    feature.tokens.insert(feature.tokens.end(), asked.begin(), asked.end());
    feature.tokens.emplace_back("[SEP]");
    for (std::size_t i = windows[w].start; i < windows[w].start + windows[w].length; ++i) {
      feature.tokens.push_back(passage[i]);
      feature.word_of.push_back(word_of[i]);
      feature.has_most_context.push_back(best_window(windows, i) == w);
    }
    feature.tokens.emplace_back("[SEP]");
    features_.push_back(std::move(feature));
  }
  return {};
}

Result<void> SquadSpans::add(std::uint32_t feature, std::string_view bytes, bool transposed) {
  if (feature >= features_.size()) {
    return invalid(format("the dataset has {} features with this vocabulary", features_.size()));
  }
  constexpr std::size_t kPair = 2 * sizeof(float);
  const std::size_t tokens = bytes.size() / kPair;
  if (bytes.size() % kPair != 0 || tokens > kTokensMax) {
    return invalid(format("{} bytes are not pairs of float32 for at most {} tokens", bytes.size(),
                          kTokensMax));
  }
  std::vector<float> values(2 * tokens);
  if (tokens > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  Logits logits;
  for (std::size_t i = 0; i < tokens; ++i) {
    logits.first.push_back(values[transposed ? i : 2 * i]);
    logits.second.push_back(values[transposed ? tokens + i : 2 * i + 1]);
  }
  logits_[feature] = std::move(logits);
  return {};
}

void SquadSpans::consider(const SquadFeature& feature, const Logits& logits,
                          std::optional<Span>& best) const {
  const auto in_passage = [&feature](std::size_t token) {
    return token >= feature.passage_at && token < feature.passage_at + feature.word_of.size();
  };
  const auto value = [](const std::vector<float>& of, std::size_t token) {
    return static_cast<double>(token < of.size() ? of[token] : kPadding);
  };
  const std::vector<std::size_t> ends = best_of(logits.second);
  for (const std::size_t start : best_of(logits.first)) {
    if (!in_passage(start) || !feature.has_most_context[start - feature.passage_at]) continue;
    for (const std::size_t end : ends) {
      if (!in_passage(end) || end < start || end - start + 1 > kAnswerTokensMax) continue;
      const double sum = value(logits.first, start) + value(logits.second, end);
      if (!best || sum > best->sum) best = Span{&feature, start, end, sum};
    }
  }
}

std::string SquadSpans::text_of(const Span& span) const {
  const SquadFeature& feature = *span.feature;
  std::string found;
  for (std::size_t i = span.start; i <= span.end; ++i) {
    if (i > span.start) found += ' ';
    found += feature.tokens[i];
  }
  erase_all(found, " ##");
  erase_all(found, "##");
  const auto& words = passages_[questions_[feature.question].passage];
  std::string original;
  for (std::uint32_t i = feature.word_of[span.start - feature.passage_at];
       i <= feature.word_of[span.end - feature.passage_at]; ++i) {
    if (!original.empty()) original += ' ';
    original += words[i];
  }
  return original_spelling(found, original);
}

std::vector<std::string> SquadSpans::answers() const {
  std::vector<std::optional<Span>> best(questions_.size());
  for (std::size_t i = 0; i < features_.size(); ++i) {
    if (logits_[i]) consider(features_[i], *logits_[i], best[features_[i].question]);
  }
  std::vector<std::string> out;
  for (const auto& one : best) out.push_back(one ? text_of(*one) : "empty");
  return out;
}

}  // namespace assay::score
