// Task: how a model is asked about the rows of a dataset and how its replies are judged, as data in
// one YAML file (docs/formats/task.md): prompt, examples, generation, extraction, metric. This room
// reads the file and makes the prompts; score/task/ judges.
//
// A template is Jinja over the row's columns. A pattern is a regular expression of Python's re.
// Both are compiled when the file is read, so that a wrong one is an error with file, line and
// field.
//
// Immutable once read; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/yaml.h"
#include "text/chat_template.h"
#include "text/regex.h"

namespace assay::task {

// A Jinja text; `source` is empty where the file has none.
class Template {
 public:
  Template() = default;
  // Errors begin with the template's line.
  static Result<Template> parse(std::string source);
  // `row`: an object, whose members are the template's names.
  Result<std::string> render(const Json& row) const;
  bool empty() const { return source_.empty(); }
  const std::string& source() const { return source_; }

 private:
  std::string source_{};
  std::optional<text::ChatTemplate> compiled_{};
};

// A step of an extraction: text in, text out, or no answer.
enum class StepKind : std::uint8_t {
  regex,       // what a group of a match captured
  remove,      // the text without the matches
  strip,       // without white space at the ends
  lower,       //
  upper,       //
  first_line,  //
  last_line,   // the last one that is not blank
  letter,      // the choice: the first single letter after the last "answer", else the last one
  boxed,       // the content of the last \boxed{…}
  number,      // the last number, without commas
  code,        // the last ```python block, else the last block, else the whole
  extractor,   // a suite's own, by name (score/answer/extract.h)
};

std::string_view to_string(StepKind kind);

struct Step {
  StepKind kind = StepKind::strip;
  std::shared_ptr<const text::Regex> regex{};  // shared: a score and its copies use one
  // regex: which group; nullopt: the whole match without groups, else the first that captured text.
  std::optional<std::size_t> group{};
  bool last = false;                      // regex: of the last match; else of the first
  std::optional<std::string> fallback{};  // regex, boxed, number, letter: instead of no answer
  std::string word{};                     // letter: the letters; extractor: its id
};

enum class Metric : std::uint8_t {
  exact_match,   // the same text, after what is ignored
  contains,      // the truth is somewhere in the answer
  choice,        // the same letter; the truth is a letter or an index from 0
  number,        // the same number
  math,          // the same expression, by score/answer/math_equal.h
  instructions,  // IFEval's checks of the columns instruction_id_list and kwargs
  code,          // the program passes its tests, in the jail
};
std::string_view to_string(Metric metric);

// One figure of a task. The first of several is the task's own.
struct Rule {
  std::string name{};
  Metric metric = Metric::exact_match;
  bool whole_reply = false;     // read the reasoning too, else the answer alone
  std::vector<Step> extract{};  // of the reply
  Template truth{};             // the true answer
  std::vector<Step> truth_extract{};
  std::vector<std::shared_ptr<const text::Regex>> ignore{};  // matches are taken out of both
  bool ignore_case = false;
  bool ignore_punctuation = false;  // ASCII's
  bool ignore_numbers = false;
  double tolerance = 0;          // number: the largest difference
  std::string letters = "ABCD";  // choice
  Template program{};            // code: with the names `reply` and `answer` too
  Template tests{};              // code: defines check(candidate)
  Template function{};           // code: what check is called with
  Json extras{};                 // code: timeout_s, memory_mb; instructions: punkt; an object
};

enum class Draw : std::uint8_t { first, random };

struct FewShot {
  std::uint32_t count = 0;
  std::string file{};            // empty: the task's own dataset, without the asked row
  std::string format{};          // of the file; empty: by its extension
  std::vector<Json> examples{};  // rows in place of a file
  std::vector<Json> sample{};    // rows made up for a first try, for `file`
  Draw draw = Draw::first;
  std::uint64_t seed = 0;  // of random: each row draws anew
  std::string same{};      // a column: only examples with the asked row's value
  Template prompt{};       // empty: the task's
  Template answer{};
  std::string separator = "\n\n";
  bool as_turns = false;  // messages of user and assistant, not one text
};

struct Task {
  std::string name{};
  std::string title{};
  std::string file{};       // of the dataset: below the dataset folder or beside the task file
  std::string format{};     // of the file; empty: by its extension
  std::string published{};  // where its owners publish it
  std::string prepare{};    // how the published file becomes ours
  std::uint64_t rows = 0;   // of the published dataset; 0: not stated
  std::vector<std::string> columns{};  // that every row must have
  std::vector<Json> sample{};          // rows made up for a first try
  std::string system{};
  Template intro{};  // before the examples
  Template prompt{};
  FewShot few_shot{};
  Json generation{};  // keys of model_params; an object or null
  std::vector<std::string> stop{};
  std::string by{};               // a column: figures by its values too
  bool weigh_categories = false;  // the mean of the categories' figures, not of the rows'
  std::vector<Rule> rules{};      // at least one
  std::vector<std::string> notes{};
  std::vector<std::string> sources{};
  Json data{};  // the whole file, for a run's record
};

// `source`: the file's name, for errors: "FILE:LINE: FIELD: what\n  fix".
Result<Task> parse_task(std::string_view yaml, std::string_view source);
// Reads what Task::data holds.
Result<Task> task_of_json(const Json& data, std::string_view source);

// Fails with the name of a column of task.columns that `row` lacks.
Result<void> check_columns(const Task& task, const Json& row);

}  // namespace assay::task
