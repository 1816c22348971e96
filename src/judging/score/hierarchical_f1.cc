// The hierarchical F1 of Qwen3-VL's product catalogue: compares category paths ("A > B > C") level
// by level from the top, and counts the equal levels over all rows.
#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "score/answer/python_text.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

constexpr std::string_view kSeparator = " > ";

std::vector<std::string> levels(std::string_view path) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t at = path.find(kSeparator);
    out.emplace_back(python_strip(path.substr(0, at)));
    if (at == std::string_view::npos) return out;
    path.remove_prefix(at + kSeparator.size());
  }
}

// Values that the suite's lax reader accepts as a boolean.
bool is_boolean(const Json& value) {
  if (value.is_bool()) return true;
  if (value.is_number()) return value.as_double(2) == 0 || value.as_double(2) == 1;
  constexpr std::array<std::string_view, 12> kWords = {"true", "false", "t",  "f",   "yes", "no",
                                                       "y",    "n",     "on", "off", "1",   "0"};
  const std::string word = lower(value.as_string("-"));
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// Requires exactly {category, brand, is_secondhand}; otherwise the reply has no category.
bool predicted_category(std::string_view reply, std::string& category) {
  const auto json = Json::parse(reply);
  if (!json || !json->is_object()) return false;
  for (const auto& [key, value] : json->members()) {
    if (key != "category" && key != "brand" && key != "is_secondhand") return false;
  }
  const Json& path = (*json)["category"];
  if (!path.is_string() || !(*json)["brand"].is_string()) return false;
  if (json->find("is_secondhand") == nullptr || !is_boolean((*json)["is_secondhand"])) return false;
  category = python_strip(path.as_string());
  return true;
}

class HierarchicalF1 final : public Scorer {
 public:
  explicit HierarchicalF1(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "ground_truth_category";
  }

  Result<void> add(const Row& row) override {
    judged_ = {};
    if (!row.answered) return {};
    ASSIGN_OR_RETURN(const std::string truth, column_text(row, options_.ground_truth));
    const std::vector<std::string> wanted = levels(python_strip(std::string_view(truth)));
    ++rows_;
    expected_ += wanted.size();
    std::string category;
    if (!predicted_category(row.content.empty() ? row.reply : row.content, category)) {
      predicted_ += wanted.size();  // padded to the truth's depth with levels that match nothing
      ++unreadable_;
      tally_.add(row.sample, 0, 2 * static_cast<double>(wanted.size()));
      judged_.set("truth", truth).set("score", 0);
      return {};
    }
    const std::vector<std::string> got = levels(category);
    predicted_ += got.size();
    const std::size_t depth = std::min(got.size(), wanted.size());
    std::size_t same = 0;
    while (same < depth && got[same] == wanted[same]) ++same;
    agree_ += same;
    // F1 = 2 × agreeing ÷ (predicted + expected), over all rows.
    const auto both = static_cast<double>(got.size() + wanted.size());
    tally_.add(row.sample, 2 * static_cast<double>(same), both);
    judged_.set("extracted", category)
        .set("rule", "category of the JSON")
        .set("truth", truth)
        .set("score", 2 * static_cast<double>(same) / both);
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (rows_ == 0) return verdict;
    const double precision = static_cast<double>(agree_) / static_cast<double>(predicted_);
    const double recall = static_cast<double>(agree_) / static_cast<double>(expected_);
    verdict.score = precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0.0;
    verdict.figures.push_back(figure_of("score", std::move(tally_)));
    if (unreadable_ > 0) {
      verdict.note =
          format("{} of {} replies are not the JSON that was asked for and count as wrong",
                 unreadable_, rows_);
    }
    return verdict;
  }

 private:
  ScorerOptions options_;
  std::size_t rows_ = 0;
  std::size_t unreadable_ = 0;
  std::size_t agree_ = 0;
  std::size_t predicted_ = 0;
  std::size_t expected_ = 0;
  Tally tally_{.kind = FigureKind::ratio};
  Json judged_{};
};

}  // namespace

Made make_hierarchical_f1(std::string_view, const ScorerOptions& options) {
  return std::make_unique<HierarchicalF1>(options);
}

}  // namespace assay::score
