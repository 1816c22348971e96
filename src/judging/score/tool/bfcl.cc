// bfcl_v4: the Berkeley Function Calling Leaderboard's single-turn subsets, scored as in the
// reference client. A reply of an irrelevance subset is right without a call, one of live_relevance
// with any call, one of all others if its calls match the answer key (function_match.h). A sample
// without a reply is wrong.
//
// Columns: subset, ground_truth ([{name: {parameter: [value, …]}}], or that as JSON text), and the
// functions in func_description, else tools. The score is the share of all. The breakdown has the
// subsets, the categories (live by samples; in non_live the simple_ subsets count as one;
// hallucination by subsets) and their mean, normalized_single_turn_score, × 100. Each of these has
// an interval, in which a sample counts with its weight in the figure.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "score/scorer.h"
#include "score/tool/function_match.h"

namespace assay::score {
namespace {

constexpr std::array<std::string_view, 6> kNonLive = {"simple_python",     "simple_java",
                                                      "simple_javascript", "multiple",
                                                      "parallel",          "parallel_multiple"};
constexpr std::array<std::string_view, 4> kLive = {"live_simple", "live_multiple", "live_parallel",
                                                   "live_parallel_multiple"};
constexpr std::array<std::string_view, 2> kHallucination = {"irrelevance", "live_irrelevance"};
constexpr std::string_view kRelevance = "live_relevance";

Result<Json> parsed_column(const Row& row, std::string_view column) {
  const Json* const value = row.columns->find(column);
  if (value == nullptr) return Json();
  if (!value->is_string()) return *value;
  auto json = Json::parse(value->as_string());
  if (!json) return json.error().within(format("sample {}: column '{}'", row.sample, column));
  return json;
}

double percent(double share) { return std::nearbyint(share * 1e4) / 1e2; }

class Bfcl final : public Scorer {
 public:
  explicit Bfcl(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "ground_truth";
    if (options_.subset_column.empty()) options_.subset_column = "subset";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::string subset, column_text(row, options_.subset_column));
    ASSIGN_OR_RETURN(const bool right, is_right(row, subset));
    Part& part = subsets_[subset];
    ++part.rows;
    part.right += right ? 1 : 0;
    part.tally.add(row.sample, right ? 1 : 0);
    tally_.add(row.sample, right ? 1 : 0);
    answered_ += row.answered ? 1 : 0;
    const Json* const truth = row.columns->find(options_.ground_truth);
    judged_ =
        Json()
            .set("extracted", row.answered && row.tool_calls.size() > 0 ? row.tool_calls : Json())
            .set("rule", rule_of(subset))
            .set("truth", truth == nullptr ? Json() : *truth)
            .set("score", right ? 1 : 0);
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    Part all;
    Json scores = Json::object();
    for (const auto& [name, part] : subsets_) {
      all.rows += part.rows;
      all.right += part.right;
      scores.set(name, percent(part.share()));
    }
    if (all.rows == 0) return verdict;
    Json categories = Json::object();
    double sum = 0;
    Weights single_turn;
    std::vector<ScoreFigure> of_categories;
    for (const auto& [name, share, weights] :
         {std::tuple{"non_live", non_live(), non_live_weights()},
          std::tuple{"live", live(), live_weights()},
          std::tuple{"hallucination", hallucination(), hallucination_weights()}}) {
      if (share < 0) continue;
      categories.set(name, percent(share));
      sum += share;
      of_categories.push_back(
          figure_of("category_scores." + std::string(name), weighted_tally(weights)));
      single_turn.insert(single_turn.end(), weights.begin(), weights.end());
    }
    const std::size_t count = categories.size();
    verdict.score = all.share();
    verdict.figures.push_back(figure_of("score", std::move(tally_)));
    if (count > 0) {
      verdict.figures.push_back(
          figure_of("normalized_single_turn_score", weighted_tally(single_turn)));
    }
    for (ScoreFigure& one : of_categories) verdict.figures.push_back(std::move(one));
    for (const auto& [name, part] : subsets_) {
      verdict.figures.push_back(figure_of("subset_scores." + name, part.tally));
    }
    verdict.breakdown.set("overall_accuracy", percent(all.share()))
        .set("normalized_single_turn_score",
             percent(count == 0 ? 0 : sum / static_cast<double>(count)))
        .set("category_scores", std::move(categories))
        .set("subset_scores", std::move(scores))
        .set("total_samples", answered_)
        .set("issued_samples", all.rows);
    return verdict;
  }

 private:
  struct Part {
    std::size_t rows = 0;
    std::size_t right = 0;
    Tally tally{.scale = 100};
    double share() const { return static_cast<double>(right) / static_cast<double>(rows); }
  };

  // What is asked of a reply.
  static std::string_view rule_of(std::string_view subset) {
    if (std::find(kHallucination.begin(), kHallucination.end(), subset) != kHallucination.end()) {
      return "no call";
    }
    return subset == kRelevance ? "any call" : "the key's calls";
  }

  Result<bool> is_right(const Row& row, std::string_view subset) const {
    if (!row.answered) return false;
    const bool calls_nothing = row.tool_calls.size() == 0;
    const std::string_view rule = rule_of(subset);
    if (rule == "no call") return calls_nothing;
    if (rule == "any call") return !calls_nothing;
    ASSIGN_OR_RETURN(const Json possible, parsed_column(row, options_.ground_truth));
    ASSIGN_OR_RETURN(Json functions, parsed_column(row, "func_description"));
    if (functions.is_null()) {
      ASSIGN_OR_RETURN(functions, parsed_column(row, "tools"));
    }
    if (functions.is_object()) functions = Json::array().push_back(functions);
    const std::vector<FunctionCall> calls = function_calls(row);
    if (possible.size() == 0) return calls.empty();
    const CallLanguage language = subset == "simple_java"         ? CallLanguage::java
                                  : subset == "simple_javascript" ? CallLanguage::javascript
                                                                  : CallLanguage::python;
    return calls_match(calls, functions, possible, language,
                       subset.find("parallel") != std::string_view::npos);
  }

  const Part* part(std::string_view name) const {
    const auto at = subsets_.find(name);
    return at == subsets_.end() ? nullptr : &at->second;
  }

  // Each category's share, or -1 if none of its subsets was asked.
  double non_live() const {
    double simple = 0;
    double sum = 0;
    int simple_count = 0;
    int count = 0;
    for (const std::string_view name : kNonLive) {
      const Part* const one = part(name);
      if (one == nullptr) continue;
      const bool is_simple = name.starts_with("simple_");
      (is_simple ? simple : sum) += one->share();
      ++(is_simple ? simple_count : count);
    }
    if (simple_count > 0) {
      sum += simple / simple_count;
      ++count;
    }
    return count == 0 ? -1 : sum / count;
  }
  double live() const {
    Part all;
    for (const std::string_view name : kLive) {
      if (const Part* const one = part(name)) {
        all.rows += one->rows;
        all.right += one->right;
      }
    }
    return all.rows == 0 ? -1 : all.share();
  }
  double hallucination() const {
    double sum = 0;
    int count = 0;
    for (const std::string_view name : kHallucination) {
      if (const Part* const one = part(name)) {
        sum += one->share();
        ++count;
      }
    }
    return count == 0 ? -1 : sum / count;
  }

  // A category's subsets with their weights in its share, which add up to 1; empty if none of them
  // was asked.
  using Weights = std::vector<std::pair<const Part*, double>>;
  Weights non_live_weights() const {
    Weights simple;
    Weights out;
    for (const std::string_view name : kNonLive) {
      const Part* const one = part(name);
      if (one != nullptr) (name.starts_with("simple_") ? simple : out).emplace_back(one, 1);
    }
    for (auto& [one, weight] : simple) weight = 1 / static_cast<double>(simple.size());
    const std::size_t count = out.size() + (simple.empty() ? 0 : 1);
    out.insert(out.end(), simple.begin(), simple.end());
    for (auto& [one, weight] : out) weight /= static_cast<double>(count);
    return out;
  }
  Weights live_weights() const {
    Weights out;
    double rows = 0;
    for (const std::string_view name : kLive) {
      if (const Part* const one = part(name)) {
        out.emplace_back(one, static_cast<double>(one->rows));
        rows += static_cast<double>(one->rows);
      }
    }
    for (auto& [one, weight] : out) weight /= rows;
    return out;
  }
  Weights hallucination_weights() const {
    Weights out;
    for (const std::string_view name : kHallucination) {
      if (const Part* const one = part(name)) out.emplace_back(one, 1);
    }
    for (auto& [one, weight] : out) weight /= static_cast<double>(out.size());
    return out;
  }
  // The samples of the subsets, each with its part of the subset's weight.
  static Tally weighted_tally(const Weights& weights) {
    Tally out{.scale = 100};
    for (const auto& [one, weight] : weights) {
      const double each = weight / static_cast<double>(one->rows);
      for (const auto& [sample, share] : one->tally.samples) {
        out.add(sample, share.amount * each, share.of * each);
      }
    }
    return out;
  }

  ScorerOptions options_;
  std::map<std::string, Part, std::less<>> subsets_{};
  std::size_t answered_ = 0;
  Tally tally_{};
  Json judged_{};
};

}  // namespace

Made make_bfcl(std::string_view, const ScorerOptions& options) {
  return std::make_unique<Bfcl>(options);
}

}  // namespace assay::score
