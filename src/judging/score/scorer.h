// Scorer: how well the recorded replies answer their samples. One formula a file; this is what they
// have in common, and the table of their names (the reference client's ids, and the suite's).
//
// A scorer is told rows, one at a time as the log is read: a sample's columns and one reply to it.
// A sample that was asked n times has n rows. Nothing is asked of the endpoint here, so a run can
// be scored again and by other formulas. A scorer belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::score {

struct Row {
  const Json* columns = nullptr;  // the sample's, an object; never null
  std::string_view reply{};       // reasoning and content, one after the other
  std::string_view content{};     // content alone
  std::string_view reasoning{};   // reasoning alone
  Json tool_calls{};              // OpenAI's list; null: none
  bool answered = true;           // false: the query failed or has no reply; `reply` is empty
  std::int64_t tokens = -1;       // of the reply; -1: not counted
  std::uint32_t sample = 0;       // row of the dataset
};

struct Verdict {
  Json score{};        // a number, an object of figures, or null when nothing can be said
  Json breakdown{};    // by subset, where the scorer knows subsets; else null
  std::string note{};  // what a person must know before he believes it; may be empty
};

struct ScorerOptions {
  std::string extractor{};      // an id of score/extract.h; empty: the scorer's own
  std::string ground_truth{};   // column; empty: the scorer's own
  std::string subset_column{};  // rows are also scored by this column's values
  Json extra{};                 // a scorer's own options, an object or null
  // Model-written code may be run (score/code/jail.h).
  bool allow_code = false;
};

class Scorer {
 public:
  virtual ~Scorer() = default;
  // The row and what it points to live during the call.
  virtual Result<void> add(const Row& row) = 0;
  // Once, after the last row.
  virtual Result<Verdict> finish() = 0;
  // How the last row was judged: {"extracted", "rule", "truth", "score"}, or what the scorer knows
  // of them. Null where it judges rows only together.
  virtual Json last_judged() const { return {}; }
  // False: a reply's tokens are enough, so that a run which kept no text can be scored.
  virtual bool reads_text() const { return true; }
};

// Fails with the names there are when `name` is none of them, and where options are missing.
Result<std::unique_ptr<Scorer>> make_scorer(std::string_view name, const ScorerOptions& options);
std::vector<std::string_view> scorer_names();
// One line for people: what the scorer expects and says.
std::string_view scorer_about(std::string_view name);

// A line of a file of verdicts, of the row that `scorer` was told last: {"sample", "answered",
// "extracted", "rule", "truth", "score"}; null for what the scorer does not know of one row.
Json verdict_record(const Scorer& scorer, const Row& row);

// A column as text: strings as they are, other values as JSON spells them.
Result<std::string> column_text(const Row& row, std::string_view column);

// The makers, one a file.
using Made = Result<std::unique_ptr<Scorer>>;
Made make_exact_match(std::string_view name, const ScorerOptions& options);
Made make_suite(std::string_view name, const ScorerOptions& options);
Made make_pass_at_k(std::string_view name, const ScorerOptions& options);
Made make_code(std::string_view name, const ScorerOptions& options);
Made make_long_context(std::string_view name, const ScorerOptions& options);
Made make_mixtral(std::string_view name, const ScorerOptions& options);
Made make_agentic(std::string_view name, const ScorerOptions& options);
Made make_bfcl(std::string_view name, const ScorerOptions& options);
Made make_rouge(std::string_view name, const ScorerOptions& options);
Made make_hierarchical_f1(std::string_view name, const ScorerOptions& options);
Made make_coco(std::string_view name, const ScorerOptions& options);
Made make_recommendation(std::string_view name, const ScorerOptions& options);
Made make_top_1(std::string_view name, const ScorerOptions& options);
Made make_squad_f1(std::string_view name, const ScorerOptions& options);
Made make_word_error_rate(std::string_view name, const ScorerOptions& options);
Made make_token_bounds(std::string_view name, const ScorerOptions& options);
Made make_external(std::string_view name, const ScorerOptions& options);

}  // namespace assay::score
