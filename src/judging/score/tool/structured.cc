// json_schema and tool_calls: whether replies have the form that was asked for. Both judge replies
// of a measured phase as well as of an accuracy phase, so the shares can be seen under load.
//
// json_schema: the schema is the one that the request was sent with (response_format, Responses'
// text.format, Ollama's format, vLLM's structured_outputs or guided_json), or a column `schema`.
// Figures: `json` (the content is JSON and nothing else), `valid` (it fits the schema), and `equal`
// where the row has a column `expected`.
//
// tool_calls: the row's column `expected_calls` lists what is to be called, [{name, arguments}]; an
// empty list: nothing is. Figures: `called` (a call where one is wanted, none where none is),
// `right_tool` (the wanted names, each as often), `valid` (the arguments are JSON and fit the
// tool's own parameters), `right_arguments` (names and arguments are the wanted ones, in any order;
// a number is equal to its other spelling, and a text is compared to the letter).
//
// A query without a reply has none of them.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "score/scorer.h"
#include "score/tool/json_schema.h"

namespace assay::score {
namespace {

// Shares of the rows, each a figure of the score.
class Shares {
 public:
  explicit Shares(std::vector<std::string> names) : names_(std::move(names)) {
    tallies_.resize(names_.size(), Tally{.scale = 100});
    sums_.resize(names_.size());
    rows_.resize(names_.size());
  }

  void add(std::size_t figure, std::uint32_t sample, bool holds) {
    tallies_[figure].add(sample, holds ? 1 : 0);
    sums_[figure] += holds ? 1 : 0;
    ++rows_[figure];
  }

  Verdict finish() {
    Verdict out;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (rows_[i] == 0) continue;
      out.score.set(names_[i], 100 * static_cast<double>(sums_[i]) / static_cast<double>(rows_[i]));
      out.figures.push_back(figure_of(names_[i], std::move(tallies_[i])));
    }
    return out;
  }

 private:
  std::vector<std::string> names_;
  std::vector<Tally> tallies_{};
  std::vector<std::uint64_t> sums_{};
  std::vector<std::uint64_t> rows_{};
};

// A column that is JSON, or the text of it; null if there is none.
Result<Json> json_column(const Row& row, std::string_view name) {
  const Json* const value = row.columns->find(name);
  if (value == nullptr || !value->is_string()) return value == nullptr ? Json() : *value;
  auto read = Json::parse(value->as_string());
  if (!read) return read.error().within(format("sample {}: column '{}'", row.sample, name));
  return read;
}

std::optional<Json> sent_schema(const Json& columns) {
  const Json& chat = columns["response_format"];
  const Json* const places[] = {chat["json_schema"].find("schema"),
                                chat.find("schema"),
                                columns["text"]["format"].find("schema"),
                                columns["structured_outputs"].find("json"),
                                columns.find("guided_json"),
                                columns.find("format")};
  for (const Json* const place : places) {
    if (place == nullptr) continue;
    if (place->is_object()) return *place;
    // vLLM takes a schema as text too; Ollama's format may be the word "json".
    if (auto read = Json::parse(place->as_string()); read && read->is_object()) return *read;
  }
  return std::nullopt;
}

class Structured final : public Scorer {
 public:
  explicit Structured(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "expected";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(Json schema, json_column(row, "schema"));
    if (schema.is_null()) {
      std::optional<Json> sent = sent_schema(*row.columns);
      if (!sent && options_.extra["schema"].is_object()) sent = options_.extra["schema"];
      if (!sent) {
        return invalid(
            format("sample {}: no schema: a column 'schema', what was sent (a column "
                   "body.response_format), or extras.schema for all rows",
                   row.sample));
      }
      schema = *sent;
    }
    ASSIGN_OR_RETURN(const Json expected, json_column(row, options_.ground_truth));
    const std::string_view text = trim(row.content.empty() ? row.reply : row.content);
    const auto value = Json::parse(text);
    const bool is_json = row.answered && value;
    std::string wrong = row.answered ? "no JSON" : "no reply";
    if (is_json) {
      auto fault = schema_fault(*value, schema);
      if (!fault) return fault.error().within(format("sample {}", row.sample));
      wrong = *fault;
    }
    const bool valid = is_json && wrong.empty();
    shares_.add(0, row.sample, is_json);
    shares_.add(1, row.sample, valid);
    if (!expected.is_null()) shares_.add(2, row.sample, is_json && equal_json(*value, expected));
    judged_ = Json()
                  .set("extracted", is_json ? Json(std::string(text)) : Json())
                  .set("rule", valid ? Json("valid") : Json(wrong))
                  .set("truth", expected)
                  .set("score", valid ? 1 : 0);
    return {};
  }

  Result<Verdict> finish() override { return shares_.finish(); }
  Json last_judged() const override { return judged_; }

 private:
  ScorerOptions options_;
  Shares shares_{{"json", "valid", "equal"}};
  Json judged_{};
};

// A reply's call, or one that is wanted. `arguments`: null where they are no object.
struct Call {
  std::string name{};
  Json arguments{};
};

Json arguments_of(const Json& value) {
  if (!value.is_string()) return value.is_object() ? value : Json();
  // No text at all is how some servers write that there are none.
  if (trim(value.as_string()).empty()) return Json::object();
  auto read = Json::parse(value.as_string());
  return read && read->is_object() ? *std::move(read) : Json();
}

std::vector<Call> calls_of(const Json& list) {
  std::vector<Call> out;
  for (const Json& item : list.items()) {
    const Json& call = item["function"].is_object() ? item["function"] : item;
    Json arguments =
        call.find("arguments") == nullptr ? Json::object() : arguments_of(call["arguments"]);
    out.push_back({std::string(call["name"].as_string()), std::move(arguments)});
  }
  return out;
}

// Chat nests the function; Responses and Messages do not, and Messages has another name.
const Json* parameters_of(const Json& tools, std::string_view name) {
  for (const Json& tool : tools.items()) {
    const Json& function = tool["function"].is_object() ? tool["function"] : tool;
    if (function["name"].as_string() != name) continue;
    const Json* const own = function.find("input_schema");
    return own != nullptr ? own : function.find("parameters");
  }
  return nullptr;
}

// Whether both have the same calls, whatever their order.
bool same_calls(const std::vector<Call>& a, std::vector<Call> b, bool arguments) {
  if (a.size() != b.size()) return false;
  for (const Call& one : a) {
    const auto found = std::ranges::find_if(b, [&](const Call& other) {
      if (one.name != other.name) return false;
      return !arguments ||
             (one.arguments.is_object() && equal_json(one.arguments, other.arguments));
    });
    if (found == b.end()) return false;
    b.erase(found);
  }
  return true;
}

class ToolCalls final : public Scorer {
 public:
  explicit ToolCalls(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "expected_calls";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(Json wanted_list, json_column(row, options_.ground_truth));
    if (wanted_list.is_object()) wanted_list = Json::array().push_back(wanted_list);
    if (!wanted_list.is_array()) {
      return invalid(
          format("sample {}: no list '{}' of [{{name, arguments}}]; [] where nothing is "
                 "to be called",
                 row.sample, options_.ground_truth));
    }
    ASSIGN_OR_RETURN(const Json tools, json_column(row, "tools"));
    const std::vector<Call> wanted = calls_of(wanted_list);
    const std::vector<Call> made = row.answered ? calls_of(row.tool_calls) : std::vector<Call>();
    ASSIGN_OR_RETURN(const std::string wrong, arguments_fault(row, made, tools));
    const bool called = row.answered && made.empty() == wanted.empty();
    const bool right_tool = row.answered && same_calls(wanted, made, false);
    const bool valid = row.answered && wrong.empty();
    const bool right = row.answered && same_calls(wanted, made, true);
    shares_.add(0, row.sample, called);
    shares_.add(1, row.sample, right_tool);
    if (!wanted.empty() || !made.empty()) shares_.add(2, row.sample, valid && !made.empty());
    shares_.add(3, row.sample, right);
    judged_ = Json()
                  .set("extracted", row.tool_calls)
                  .set("rule", rule_of(row, called, right_tool, wrong, right))
                  .set("truth", wanted_list)
                  .set("score", right ? 1 : 0);
    return {};
  }

  Result<Verdict> finish() override { return shares_.finish(); }
  Json last_judged() const override { return judged_; }

 private:
  static std::string rule_of(const Row& row, bool called, bool right_tool, const std::string& wrong,
                             bool right) {
    if (!row.answered) return "no reply";
    if (!called) return row.tool_calls.size() == 0 ? "no call" : "a call where none is wanted";
    if (!right_tool) return "another tool";
    if (!wrong.empty()) return wrong;
    return right ? "right" : "other arguments";
  }

  static Result<std::string> arguments_fault(const Row& row, const std::vector<Call>& calls,
                                             const Json& tools) {
    for (const Call& call : calls) {
      if (!call.arguments.is_object()) return call.name + ": arguments that are not a JSON object";
      const Json* const schema = parameters_of(tools, call.name);
      if (schema == nullptr) continue;
      auto fault = schema_fault(call.arguments, *schema);
      if (!fault) return fault.error().within(format("sample {}: tool {}", row.sample, call.name));
      if (!fault->empty()) return format("{}: {}", call.name, *fault);
    }
    return std::string();
  }

  ScorerOptions options_;
  Shares shares_{{"called", "right_tool", "valid", "right_arguments"}};
  Json judged_{};
};

}  // namespace

Made make_json_schema(std::string_view, const ScorerOptions& options) {
  return std::make_unique<Structured>(options);
}

Made make_tool_calls(std::string_view, const ScorerOptions& options) {
  return std::make_unique<ToolCalls>(options);
}

}  // namespace assay::score
