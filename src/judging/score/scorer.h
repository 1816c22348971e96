// Scorer: how well the recorded replies answer their samples. One formula for each file; this is
// the common interface, and the table of names (the reference client's ids, and the suite's).
//
// A scorer gets rows one at a time while the log is read: a sample's columns and one reply to it. A
// sample that was asked n times has n rows. A scorer sends no request to the endpoint, so a run can
// be scored again and by other formulas. One thread uses a scorer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "score/uncertainty.h"

namespace assay::score {

struct Row {
  // The sample's, an object; never null. Beside what was left over of the row there is what was
  // sent of it: `tools`, and the fields of the body.
  const Json* columns = nullptr;
  std::string_view reply{};      // reasoning and content, one after the other
  std::string_view content{};    // content alone
  std::string_view reasoning{};  // reasoning alone
  Json tool_calls{};             // OpenAI's list; null: none
  // What the reply made, if the run kept it: a list of {"path", "sha256", "bytes", "type"}; or
  // null.
  Json artefacts{};
  bool answered = true;      // false: the query failed or has no reply; `reply` is empty
  std::int64_t tokens = -1;  // of the reply; -1: not counted
  std::uint32_t sample = 0;  // row of the dataset
};

struct Verdict {
  Json score{};                        // a number, an object of figures, or null without a result
  Json breakdown{};                    // by subset, if the scorer has subsets; else null
  std::vector<ScoreFigure> figures{};  // each figure of the score with its interval
  std::string note{};                  // a warning for the reader of the score; may be empty
};

struct ScorerOptions {
  std::string extractor{};      // an id of score/extract.h; empty: the scorer's default
  std::string ground_truth{};   // column; empty: the scorer's default
  std::string subset_column{};  // rows are also scored by this column's values
  Json extra{};                 // a scorer's own options, an object or null
  // A model's code may run (score/code/jail.h).
  bool allow_code = false;
};

class Scorer {
 public:
  virtual ~Scorer() = default;
  // The row and its pointers are valid during the call.
  virtual Result<void> add(const Row& row) = 0;
  // Call it once, after the last row.
  virtual Result<Verdict> finish() = 0;
  // How the last row was judged: {"extracted", "rule", "truth", "score"}, or a part of them. Null
  // if the scorer judges rows only together.
  virtual Json last_judged() const { return {}; }
  // False: a reply's tokens are enough, so a run without texts can be scored.
  virtual bool reads_text() const { return true; }
};

// Fails with the list of names if `name` is unknown, and if options are missing.
Result<std::unique_ptr<Scorer>> make_scorer(std::string_view name, const ScorerOptions& options);
std::vector<std::string_view> scorer_names();
// One line for the user: the scorer's input and result.
std::string_view scorer_about(std::string_view name);

// A line of a file of verdicts, for the last row that `scorer` got: {"sample", "answered",
// "extracted", "rule", "truth", "score"}; null for parts that the scorer does not have for one row.
Json verdict_record(const Scorer& scorer, const Row& row);

// Returns a column as text: strings unchanged, other values as JSON.
Result<std::string> column_text(const Row& row, std::string_view column);

// Accepts the reference client's id (abcd_extractor, boxed_math_extractor, identity_extractor,
// python_code_extractor, function_call_extractor) or its class's name (BoxedMathExtractor), or the
// suites': letter_aj (A to J), aime_integer, last_boxed, first_python_code (DeepSeek-R1),
// final_channel_code (GPT-OSS), gsm8k_number (Mixtral). Returns the id; an error names the nearest.
Result<std::string> find_extractor(std::string_view name);

// The factories, one for each file.
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
Made make_clicks(std::string_view name, const ScorerOptions& options);
Made make_boxes_3d(std::string_view name, const ScorerOptions& options);
Made make_rag_db(std::string_view name, const ScorerOptions& options);
Made make_top_1(std::string_view name, const ScorerOptions& options);
Made make_dice(std::string_view name, const ScorerOptions& options);
Made make_squad_f1(std::string_view name, const ScorerOptions& options);
Made make_word_error_rate(std::string_view name, const ScorerOptions& options);
Made make_token_bounds(std::string_view name, const ScorerOptions& options);
Made make_json_schema(std::string_view name, const ScorerOptions& options);
Made make_tool_calls(std::string_view name, const ScorerOptions& options);
Made make_task(std::string_view name, const ScorerOptions& options);
Made make_external(std::string_view name, const ScorerOptions& options);

}  // namespace assay::score
