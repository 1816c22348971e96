#include "endpoint/answers.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "dataset/dataset.h"
#include "endpoint/script.h"

namespace assay::endpoint {
namespace {

constexpr std::size_t kWindowMax = 32;
// The rolling hash multiplies by it: an odd number with bits everywhere.
constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

struct AnswersSpec {
  std::string file{};
  std::string prompt{};
  std::string answer = "answer";
  double right = 1;
};

Result<AnswersSpec> parse_spec(std::string_view text) {
  AnswersSpec out;
  bool first = true;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (first) {
      out.file = std::string(part);
      first = false;
    } else if (part.starts_with("prompt=")) {
      out.prompt = std::string(part.substr(equals + 1));
    } else if (part.starts_with("answer=")) {
      out.answer = std::string(part.substr(equals + 1));
    } else if (part.starts_with("right=")) {
      auto share = parse_double(part.substr(equals + 1));
      if (!share || !(*share >= 0 && *share <= 1)) {
        return invalid("right: must be a share from 0 to 1");
      }
      out.right = *share;
    } else {
      return invalid(
          format("{}: expected prompt=COLUMN, answer=COLUMN or right=SHARE after the file", part));
    }
  }
  return out;
}

// The text that a request's last message will have.
std::string asked_text(const Sample& sample) {
  if (sample.messages.is_null()) return sample.prompt;
  if (sample.messages.size() == 0) return {};
  const Json& content = sample.messages[sample.messages.size() - 1]["content"];
  if (content.is_string()) return std::string(content.as_string());
  std::string out;
  for (const Json& part : content.items()) {
    if (part["text"].is_string()) out += part["text"].as_string();
  }
  return out;
}

}  // namespace

Answer::Answer(std::string text) : text_(std::move(text)) {
  std::size_t from = 0;
  while (from < text_.size()) {
    std::size_t at = from;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    while (at < text_.size() && !is_blank(text_[at])) ++at;
    const std::string quoted = json_quote(text_.substr(from, at - from));
    json_.append(quoted, 1, quoted.size() - 2);
    ends_.push_back({at, json_.size()});
    from = at;
  }
}

Word Answer::word(std::uint32_t token) const {
  CHECK(token < ends_.size());
  const End from = token == 0 ? End{} : ends_[token - 1];
  const End to = ends_[token];
  return {.json = std::string_view(json_).substr(from.json, to.json - from.json),
          .text = std::string_view(text_).substr(from.text, to.text - from.text)};
}

std::uint64_t AnswerBook::window_hash(std::string_view window) const {
  std::uint64_t hash = 0;
  for (const char c : window) hash = hash * kBase + static_cast<unsigned char>(c) + 1;
  return hash;
}

void AnswerBook::add(std::string prompt, std::string answer) {
  CHECK(!prompt.empty() && !answer.empty());
  const std::size_t window = std::min(prompt.size(), kWindowMax);
  entries_.push_back({std::move(prompt), std::make_unique<Answer>(std::move(answer))});
  if (window_ == 0 || window < window_) {
    window_ = window;
    return index();
  }
  by_window_.emplace(window_hash(std::string_view(entries_.back().prompt).substr(0, window_)),
                     entries_.size() - 1);
}

// Windows got shorter: all prompts again.
void AnswerBook::index() {
  by_window_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    by_window_.emplace(window_hash(std::string_view(entries_[i].prompt).substr(0, window_)), i);
  }
}

const Answer* AnswerBook::find(std::string_view asked) const {
  if (entries_.empty() || asked.size() < window_) return nullptr;
  std::uint64_t leaving = 1;  // the weight of a window's first byte
  for (std::size_t i = 1; i < window_; ++i) leaving *= kBase;
  std::uint64_t hash = window_hash(asked.substr(0, window_));
  const Entry* best = nullptr;
  for (std::size_t at = 0;; ++at) {
    const auto [from, to] = by_window_.equal_range(hash);
    for (auto it = from; it != to; ++it) {
      const Entry& entry = entries_[it->second];
      const bool longer = best == nullptr || entry.prompt.size() > best->prompt.size();
      if (longer && asked.substr(at).starts_with(entry.prompt)) best = &entry;
    }
    if (at + window_ >= asked.size()) break;
    hash -= (static_cast<unsigned char>(asked[at]) + std::uint64_t{1}) * leaving;
    hash = hash * kBase + static_cast<unsigned char>(asked[at + window_]) + 1;
  }
  return best == nullptr ? nullptr : best->answer.get();
}

Result<std::shared_ptr<const AnswerBook>> read_answers(std::string_view text, std::uint64_t seed) {
  ASSIGN_OR_RETURN(const AnswersSpec wanted, parse_spec(text));
  dataset::Spec spec;
  spec.path = wanted.file;
  spec.keep_columns = true;
  if (!wanted.prompt.empty()) spec.parser.emplace_back("prompt", wanted.prompt);
  ASSIGN_OR_RETURN(const Dataset rows, dataset::load_dataset(spec));
  auto book = std::make_shared<AnswerBook>();
  Sample room;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const Sample& row = rows.row(i, room);
    const auto place = [&] { return format("{}: row {}", wanted.file, i + 1); };
    std::string prompt = asked_text(row);
    if (trim(prompt).empty()) return invalid(place() + " asks no text that could be found again");
    const Json answer = row.columns.is_object() ? row.columns[wanted.answer] : Json();
    if (!answer.is_string() || trim(answer.as_string()).empty()) {
      return invalid(format("{}: column '{}' must be a text: the reply (answer=COLUMN names it)",
                            place(), wanted.answer));
    }
    // 53 bits, as a share.
    const double drawn = static_cast<double>(mix(xxh3(prompt), seed) >> 11) * 0x1p-53;
    if (drawn < wanted.right) book->add(std::move(prompt), std::string(answer.as_string()));
  }
  return std::shared_ptr<const AnswerBook>(std::move(book));
}

}  // namespace assay::endpoint
