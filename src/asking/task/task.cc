#include "task/task.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/text.h"
#include "domain/scorers.h"

namespace assay::task {
namespace {

using yaml::Node;

template <typename List>
std::string one_of(const List& words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

// A value of the file with its place, for errors.
class Field {
 public:
  Field(const Node& node, std::string path, std::string_view source, int line)
      : node_(&node), path_(std::move(path)), source_(source), line_(line) {}

  const Node& node() const { return *node_; }

  Error wrong(std::string_view what, std::string_view fix = {}) const {
    std::string place(source_);
    if (line_ > 0) place += format(":{}", line_);
    return invalid(format("{}: {}{}{}{}{}", place, path_, path_.empty() ? "" : ": ", what,
                          fix.empty() ? "" : "\n  ", fix));
  }

  // Another value at this place.
  Field as(const Node& node) const { return {node, path_, source_, line_}; }

  // The member, if there is one that is not null.
  std::optional<Field> find(std::string_view key) const {
    for (const auto& [name, value] : node_->members) {
      if (name.name == key && !value.is_null()) {
        return Field(value, path_.empty() ? std::string(key) : format("{}.{}", path_, key), source_,
                     name.line);
      }
    }
    return std::nullopt;
  }
  Field item(std::size_t i) const {
    return {node_->items[i], format("{}[{}]", path_, i), source_,
            node_->items[i].line > 0 ? node_->items[i].line : line_};
  }

  Result<void> map(std::span<const std::string_view> keys) const {
    if (!node_->is_map()) return wrong(format("expected a map, found {}", node_->kind_name()));
    for (const auto& [name, value] : node_->members) {
      if (std::find(keys.begin(), keys.end(), name.name) != keys.end()) continue;
      const std::string_view near = nearest(name.name, keys);
      const Field at(value, path_, source_, name.line);
      return at.wrong(
          format("unknown key '{}'", name.name),
          near.empty() ? format("one of: {}", one_of(keys)) : format("did you mean '{}'?", near));
    }
    return {};
  }
  Result<std::string> text() const {
    if (!node_->is_scalar()) return wrong(format("expected text, found {}", node_->kind_name()));
    return node_->text;
  }
  Result<std::vector<std::string>> texts() const {
    std::vector<std::string> out;
    if (node_->is_scalar()) return std::vector<std::string>{node_->text};
    if (!node_->is_list()) return wrong("expected a list of texts");
    for (std::size_t i = 0; i < node_->items.size(); ++i) {
      ASSIGN_OR_RETURN(std::string one, item(i).text());
      out.push_back(std::move(one));
    }
    return out;
  }
  Result<std::uint64_t> whole(std::uint64_t low, std::uint64_t high) const {
    const auto value = node_->is_scalar() ? parse_uint(node_->text) : invalid("");
    if (!value || *value < low || *value > high) {
      return wrong(format("expected a whole number from {} to {}", low, high));
    }
    return *value;
  }
  Result<double> number() const {
    const Json value = node_->to_json();
    if (!value.is_number() || !(value.as_double() >= 0)) {
      return wrong("expected a number from 0 up");
    }
    return value.as_double();
  }
  Result<bool> yes() const {
    const Json value = node_->to_json();
    if (!value.is_bool()) return wrong("expected true or false");
    return value.as_bool();
  }
  Result<std::size_t> word(std::span<const std::string_view> words) const {
    ASSIGN_OR_RETURN(const std::string found, text());
    const auto at = std::find(words.begin(), words.end(), found);
    if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
    const std::string_view near = nearest(found, words);
    return wrong(format("unknown '{}'", found), near.empty() ? format("one of: {}", one_of(words))
                                                             : format("did you mean '{}'?", near));
  }
  Result<Template> jinja() const {
    ASSIGN_OR_RETURN(std::string source, text());
    auto made = Template::parse(std::move(source));
    if (!made) return wrong(made.error().message, "a Jinja template over the row's columns");
    return made;
  }
  Result<std::shared_ptr<const text::Regex>> pattern() const {
    ASSIGN_OR_RETURN(const std::string source, text());
    auto made = text::Regex::compile(source, text::RegexDialect::python);
    if (!made) {
      return wrong(made.error().message,
                   "patterns are those of Python's re, without back references; single quotes keep "
                   "their backslashes");
    }
    return std::make_shared<const text::Regex>(*std::move(made));
  }
  // The rows of a list of maps.
  Result<std::vector<Json>> rows() const {
    if (!node_->is_list()) return wrong("expected a list of rows");
    std::vector<Json> out;
    for (std::size_t i = 0; i < node_->items.size(); ++i) {
      if (!node_->items[i].is_map()) return item(i).wrong("expected a row: a map of its columns");
      out.push_back(node_->items[i].to_json());
    }
    return out;
  }

 private:
  const Node* node_;
  std::string path_;
  std::string_view source_;
  int line_;
};

// Each reads a member, if it is there, into its place.
template <typename T, typename Read>
Result<void> take(const Field& from, std::string_view key, T& into, Read read) {
  const auto field = from.find(key);
  if (!field) return {};
  auto value = read(*field);
  if (!value) return value.error();
  into = *std::move(value);
  return {};
}
constexpr auto kText = [](const Field& field) { return field.text(); };
constexpr auto kTexts = [](const Field& field) { return field.texts(); };
constexpr auto kYes = [](const Field& field) { return field.yes(); };
constexpr auto kJinja = [](const Field& field) { return field.jinja(); };
constexpr auto kRows = [](const Field& field) { return field.rows(); };

Result<Json> an_object(const Field& field) {
  Json value = field.node().to_json();
  if (!value.is_object()) return field.wrong("expected a map");
  return value;
}

// "first" or "last" as a switch.
Result<bool> take_last(const Field& field) {
  static constexpr std::array<std::string_view, 2> kWords{"first", "last"};
  ASSIGN_OR_RETURN(const std::size_t which, field.word(kWords));
  return which == 1;
}

Result<Step> read_regex(const Field& field, Step step) {
  static constexpr std::array<std::string_view, 4> kKeys{"regex", "group", "take", "fallback"};
  TRY(field.map(kKeys));
  ASSIGN_OR_RETURN(step.regex, field.find("regex")->pattern());
  TRY(take(field, "take", step.last, take_last));
  if (const auto group = field.find("group")) {
    ASSIGN_OR_RETURN(const std::uint64_t number, group->whole(0, step.regex->groups()));
    step.group = static_cast<std::size_t>(number);
  }
  return step;
}

Result<std::string> letters_of(const Field& field) {
  ASSIGN_OR_RETURN(std::string letters, field.text());
  const bool good = !letters.empty() && std::all_of(letters.begin(), letters.end(),
                                                    [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!good) return field.wrong("expected capital letters, such as ABCD");
  return letters;
}

Result<Step> read_step(const Field& field) {
  Step step;
  const Node& node = field.node();
  if (!node.is_scalar() && (!node.is_map() || node.members.empty())) {
    return field.wrong("expected a step", format("one of: {}", one_of(kEnumNames<StepKind>)));
  }
  // The first known key names the step; the others are its options.
  std::string name = node.is_scalar() ? node.text : node.members.front().first.name;
  for (const auto& [key, value] : node.members) {
    if (std::find(kEnumNames<StepKind>.begin(), kEnumNames<StepKind>.end(), key.name) !=
        kEnumNames<StepKind>.end())
      name = key.name;
  }
  const Node named = Node::scalar(name);
  const auto which = field.as(named).word(kEnumNames<StepKind>);
  if (!which) return which.error();
  step.kind = static_cast<StepKind>(*which);
  const bool needs = step.kind == StepKind::regex || step.kind == StepKind::remove ||
                     step.kind == StepKind::extractor;
  if (node.is_scalar()) {
    if (needs) return field.wrong(format("'{0}' needs a value", name), format("{}: …", name));
    step.word = "ABCD";
    return step;
  }
  TRY(take(field, "fallback", step.fallback, kText));
  if (step.kind == StepKind::regex) return read_regex(field, std::move(step));
  const std::array<std::string_view, 2> keys{name, "fallback"};
  TRY(field.map(keys));
  const auto value = field.find(name);
  if (!value && needs) return field.wrong(format("'{}' needs a value", name));
  switch (step.kind) {
    case StepKind::remove: {
      ASSIGN_OR_RETURN(step.regex, value->pattern());
      return step;
    }
    case StepKind::letter: {
      step.word = "ABCD";
      if (!value) return step;
      ASSIGN_OR_RETURN(step.word, letters_of(*value));
      return step;
    }
    case StepKind::extractor: {
      ASSIGN_OR_RETURN(const std::size_t at, value->word(kExtractors));
      step.word = kExtractors[at];
      return step;
    }
    default:
      return step;
  }
}

Result<std::vector<Step>> read_steps(const Field& field) {
  std::vector<Step> out;
  if (!field.node().is_list()) {
    ASSIGN_OR_RETURN(Step step, read_step(field));
    out.push_back(std::move(step));
    return out;
  }
  for (std::size_t i = 0; i < field.node().items.size(); ++i) {
    ASSIGN_OR_RETURN(Step step, read_step(field.item(i)));
    out.push_back(std::move(step));
  }
  return out;
}

Result<void> read_ignore(const Field& field, Rule& rule) {
  if (field.node().is_scalar()) {
    ASSIGN_OR_RETURN(auto pattern, field.pattern());
    rule.ignore.push_back(std::move(pattern));
    return {};
  }
  for (std::size_t i = 0; i < field.node().items.size(); ++i) {
    ASSIGN_OR_RETURN(auto pattern, field.item(i).pattern());
    rule.ignore.push_back(std::move(pattern));
  }
  return {};
}

Result<void> check_rule(const Field& field, const Rule& rule) {
  const bool compares = rule.metric != Metric::instructions && rule.metric != Metric::code;
  if (compares && rule.truth.empty()) {
    return field.wrong("'truth' is missing",
                       "truth: '{{ answer }}', the column of the true answer");
  }
  if (rule.metric == Metric::code && (rule.tests.empty() || rule.function.empty())) {
    return field.wrong("metric code needs 'tests' and 'function'",
                       "tests define check(candidate), and function is what it is called with");
  }
  return {};
}

Result<Rule> read_rule(const Field& field) {
  static constexpr std::array<std::string_view, 16> kKeys{
      "name",           "metric",        "read",     "extract",
      "truth",          "truth_extract", "ignore",   "ignore_punctuation",
      "ignore_numbers", "tolerance",     "letters",  "program",
      "ignore_case",    "tests",         "function", "extras"};
  TRY(field.map(kKeys));
  Rule rule;
  const auto metric = field.find("metric");
  if (!metric)
    return field.wrong("'metric' is missing", format("one of: {}", one_of(kEnumNames<Metric>)));
  ASSIGN_OR_RETURN(const std::size_t which, metric->word(kEnumNames<Metric>));
  rule.metric = static_cast<Metric>(which);
  rule.name = kEnumNames<Metric>[which];
  TRY(take(field, "name", rule.name, kText));
  if (const auto read = field.find("read")) {
    static constexpr std::array<std::string_view, 2> kWords{"answer", "reply"};
    ASSIGN_OR_RETURN(const std::size_t word, read->word(kWords));
    rule.whole_reply = word == 1;
  }
  TRY(take(field, "extract", rule.extract, read_steps));
  TRY(take(field, "truth", rule.truth, kJinja));
  TRY(take(field, "truth_extract", rule.truth_extract, read_steps));
  if (const auto ignore = field.find("ignore")) TRY(read_ignore(*ignore, rule));
  TRY(take(field, "ignore_case", rule.ignore_case, kYes));
  TRY(take(field, "ignore_punctuation", rule.ignore_punctuation, kYes));
  TRY(take(field, "ignore_numbers", rule.ignore_numbers, kYes));
  TRY(take(field, "tolerance", rule.tolerance, [](const Field& at) { return at.number(); }));
  TRY(take(field, "letters", rule.letters, letters_of));
  TRY(take(field, "program", rule.program, kJinja));
  TRY(take(field, "tests", rule.tests, kJinja));
  TRY(take(field, "function", rule.function, kJinja));
  TRY(take(field, "extras", rule.extras, an_object));
  TRY(check_rule(field, rule));
  return rule;
}

Result<FewShot> read_few_shot(const Field& field) {
  static constexpr std::array<std::string_view, 12> kKeys{
      "count", "file",   "format",    "examples", "draw", "seed",
      "same",  "prompt", "separator", "answer",   "as",   "sample"};
  TRY(field.map(kKeys));
  FewShot out;
  const auto count = field.find("count");
  if (!count) return field.wrong("'count' is missing", "count: 5");
  ASSIGN_OR_RETURN(const std::uint64_t many, count->whole(0, 1000));
  out.count = static_cast<std::uint32_t>(many);
  TRY(take(field, "file", out.file, kText));
  TRY(take(field, "format", out.format, kText));
  TRY(take(field, "examples", out.examples, kRows));
  TRY(take(field, "sample", out.sample, kRows));
  if (!out.examples.empty() && !out.file.empty()) {
    return field.wrong("'file' and 'examples' are both given", "keep one of them");
  }
  if (const auto draw = field.find("draw")) {
    static constexpr std::array<std::string_view, 2> kWords{"first", "random"};
    ASSIGN_OR_RETURN(const std::size_t word, draw->word(kWords));
    out.draw = static_cast<Draw>(word);
  }
  if (const auto seed = field.find("seed")) {
    ASSIGN_OR_RETURN(out.seed, seed->whole(0, ~std::uint64_t{0}));
  }
  TRY(take(field, "same", out.same, kText));
  TRY(take(field, "prompt", out.prompt, kJinja));
  TRY(take(field, "answer", out.answer, kJinja));
  TRY(take(field, "separator", out.separator, kText));
  if (const auto as = field.find("as")) {
    static constexpr std::array<std::string_view, 2> kWords{"text", "turns"};
    ASSIGN_OR_RETURN(const std::size_t word, as->word(kWords));
    out.as_turns = word == 1;
  }
  if (out.count > 0 && out.answer.empty()) {
    return field.wrong("'answer' is missing", "answer: ' {{ answer }}', an example's reply");
  }
  return out;
}

Result<void> read_dataset(const Field& field, Task& task) {
  static constexpr std::array<std::string_view, 7> kKeys{"file", "format",  "published", "prepare",
                                                         "rows", "columns", "sample"};
  TRY(field.map(kKeys));
  TRY(take(field, "file", task.file, kText));
  TRY(take(field, "format", task.format, kText));
  TRY(take(field, "published", task.published, kText));
  TRY(take(field, "prepare", task.prepare, kText));
  TRY(take(field, "columns", task.columns, kTexts));
  TRY(take(field, "sample", task.sample, kRows));
  if (const auto rows = field.find("rows")) {
    ASSIGN_OR_RETURN(task.rows, rows->whole(1, std::uint64_t{1} << 40));
  }
  if (task.file.empty()) return field.wrong("'file' is missing", "file: questions.jsonl");
  return {};
}

Result<void> read_rules(const Field& top, Task& task) {
  const auto list = top.find("scores");
  if (!list || !list->node().is_list() || list->node().items.empty()) {
    return top.wrong("'scores' is missing or empty",
                     "scores: [{metric: exact_match, truth: '{{ answer }}'}]");
  }
  for (std::size_t i = 0; i < list->node().items.size(); ++i) {
    ASSIGN_OR_RETURN(Rule rule, read_rule(list->item(i)));
    const bool known = std::any_of(task.rules.begin(), task.rules.end(),
                                   [&](const Rule& one) { return one.name == rule.name; });
    if (known) {
      return list->item(i).wrong(format("two scores are called '{}'", rule.name),
                                 "give each a name");
    }
    task.rules.push_back(std::move(rule));
  }
  return {};
}

Result<Task> read_task(const Node& node, std::string_view source) {
  static constexpr std::array<std::string_view, 14> kKeys{
      "task",       "title", "dataset", "system", "intro",  "prompt", "few_shot",
      "generation", "stop",  "by",      "weigh",  "scores", "notes",  "sources"};
  const Field top(node, "", source, node.line);
  TRY(top.map(kKeys));
  Task task;
  for (const std::string_view key : {"task", "dataset", "prompt"}) {
    if (!top.find(key)) return top.wrong(format("'{}' is missing", key));
  }
  TRY(take(top, "task", task.name, kText));
  if (!is_plain_id(task.name)) return top.find("task")->wrong(format("expected {}", kPlainId));
  TRY(take(top, "title", task.title, kText));
  TRY(read_dataset(*top.find("dataset"), task));
  TRY(take(top, "system", task.system, kText));
  TRY(take(top, "intro", task.intro, kJinja));
  TRY(take(top, "prompt", task.prompt, kJinja));
  TRY(take(top, "few_shot", task.few_shot, read_few_shot));
  TRY(take(top, "generation", task.generation, an_object));
  TRY(take(top, "stop", task.stop, kTexts));
  TRY(take(top, "by", task.by, kText));
  if (const auto weigh = top.find("weigh")) {
    static constexpr std::array<std::string_view, 2> kWords{"rows", "categories"};
    ASSIGN_OR_RETURN(const std::size_t word, weigh->word(kWords));
    task.weigh_categories = word == 1;
    if (task.weigh_categories && task.by.empty()) {
      return weigh->wrong("'categories' needs a column", "by: subject");
    }
  }
  TRY(read_rules(top, task));
  TRY(take(top, "notes", task.notes, kTexts));
  TRY(take(top, "sources", task.sources, kTexts));
  task.data = node.to_json();
  return task;
}

}  // namespace

Result<Template> Template::parse(std::string source) {
  auto compiled = text::ChatTemplate::parse(source, "line");
  if (!compiled) return compiled.error();
  Template out;
  out.source_ = std::move(source);
  out.compiled_ = *std::move(compiled);
  return out;
}

Result<std::string> Template::render(const Json& row) const {
  if (!compiled_) return std::string();
  auto text = compiled_->render(row);
  // Jinja takes one newline off the end of a template; here it is a part of the prompt.
  if (text && source_.ends_with('\n')) *text += '\n';
  return text;
}

std::string_view to_string(StepKind kind) { return enum_name(kind); }

std::string_view to_string(Metric metric) { return enum_name(metric); }

Result<Task> parse_task(std::string_view yaml, std::string_view source) {
  const auto node = yaml::parse(yaml);
  if (!node) return invalid(format("{}:{}", source, node.error().message));
  return read_task(*node, source);
}

Result<Task> task_of_json(const Json& data, std::string_view source) {
  return read_task(Node::from_json(data), source);
}

Result<void> check_columns(const Task& task, const Json& row) {
  for (const std::string& column : task.columns) {
    if (row.find(column) != nullptr) continue;
    std::string others;
    for (const auto& [name, value] : row.members()) others += (others.empty() ? "" : ", ") + name;
    return invalid(
        format("task {}: the row has no column '{}'; it has: {}\n"
               "  the task asks for the columns {}; a parser renames those of a file",
               task.name, column, others.empty() ? "none" : others, one_of(task.columns)));
  }
  return {};
}

}  // namespace assay::task
