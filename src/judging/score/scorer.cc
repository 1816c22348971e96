#include "score/scorer.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "domain/scorers.h"

namespace assay::score {
namespace {

Made make_of(const ScorerFacts& facts, const ScorerOptions& options) {
  switch (facts.kind) {
    case ScorerKind::exact_match:
      return make_exact_match(facts.name, options);
    case ScorerKind::pass_at_k:
      return make_pass_at_k(facts.name, options);
    case ScorerKind::suite:
      return make_suite(facts.name, options);
    case ScorerKind::code:
      return make_code(facts.name, options);
    case ScorerKind::long_context:
      return make_long_context(facts.name, options);
    case ScorerKind::mixtral:
      return make_mixtral(facts.name, options);
    case ScorerKind::agentic:
      return make_agentic(facts.name, options);
    case ScorerKind::bfcl:
      return make_bfcl(facts.name, options);
    case ScorerKind::external:
      return make_external(facts.name, options);
    case ScorerKind::rouge:
      return make_rouge(facts.name, options);
    case ScorerKind::hierarchical_f1:
      return make_hierarchical_f1(facts.name, options);
    case ScorerKind::coco:
      return make_coco(facts.name, options);
    case ScorerKind::recommendation:
      return make_recommendation(facts.name, options);
    case ScorerKind::clicks:
      return make_clicks(facts.name, options);
    case ScorerKind::boxes_3d:
      return make_boxes_3d(facts.name, options);
    case ScorerKind::rag_db:
      return make_rag_db(facts.name, options);
    case ScorerKind::top_1:
      return make_top_1(facts.name, options);
    case ScorerKind::dice:
      return make_dice(facts.name, options);
    case ScorerKind::squad_f1:
      return make_squad_f1(facts.name, options);
    case ScorerKind::word_error_rate:
      return make_word_error_rate(facts.name, options);
    case ScorerKind::token_bounds:
      return make_token_bounds(facts.name, options);
    case ScorerKind::json_schema:
      return make_json_schema(facts.name, options);
    case ScorerKind::tool_calls:
      return make_tool_calls(facts.name, options);
    case ScorerKind::task:
      return make_task(facts.name, options);
  }
  CHECK(false && "no such ScorerKind");
  return Error{};
}

}  // namespace

std::vector<std::string_view> scorer_names() {
  std::vector<std::string_view> out;
  for (const ScorerFacts& one : kScorers) out.push_back(one.name);
  return out;
}

std::string_view scorer_about(std::string_view name) {
  const ScorerFacts* const facts = find_scorer(name);
  return facts == nullptr ? std::string_view() : facts->about;
}

Result<std::string> find_extractor(std::string_view name) {
  std::string id;
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !id.empty() && id.back() != '_') id += '_';
    id += capital ? static_cast<char>(c | 0x20) : c;
  }
  if (name == "ABCDExtractor") id = "abcd_extractor";
  if (std::find(kExtractors.begin(), kExtractors.end(), id) != kExtractors.end()) return id;
  const std::string_view near = nearest(id, kExtractors);
  return invalid(format("no extractor '{}'{}", name,
                        near.empty() ? "" : format(" (did you mean '{}'?)", near)));
}

Result<std::unique_ptr<Scorer>> make_scorer(std::string_view name, const ScorerOptions& options) {
  ScorerOptions resolved = options;
  if (!options.extractor.empty()) {
    ASSIGN_OR_RETURN(resolved.extractor, find_extractor(options.extractor));
  }
  if (const ScorerFacts* const facts = find_scorer(name)) return make_of(*facts, resolved);
  const std::vector<std::string_view> names = scorer_names();
  std::string all;
  for (const std::string_view known : names) all += (all.empty() ? "" : ", ") + std::string(known);
  const std::string_view near = nearest(name, names);
  return invalid(format("no scorer '{}'{}; there are: {}", name,
                        near.empty() ? "" : format(" (did you mean '{}'?)", near), all));
}

Json verdict_record(const Scorer& scorer, const Row& row) {
  const Json judged = scorer.last_judged();
  Json out = Json().set("sample", row.sample).set("answered", row.answered);
  for (const char* key : {"extracted", "rule", "truth", "score"}) out.set(key, judged[key]);
  return out;
}

Result<std::string> column_text(const Row& row, std::string_view column) {
  const Json* value = row.columns->find(column);
  if (value == nullptr || value->is_null()) {
    std::string others;
    for (const auto& [name, other] : row.columns->members()) {
      others += format("{}{}", others.empty() ? "; there are: " : ", ", name);
    }
    return invalid(
        format("sample {}: no column '{}' to score against{}\n  --ground-truth COLUMN and "
               "--subset COLUMN name others",
               row.sample, column, others));
  }
  return value->is_string() ? std::string(value->as_string()) : value->dump();
}

}  // namespace assay::score
