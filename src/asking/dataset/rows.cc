#include "dataset/rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/format.h"
#include "domain/row_axes.h"

namespace assay::dataset {
namespace {

// Names that the reference client tries, in this order, when no column is called "prompt".
constexpr std::array<std::string_view, 6> kPromptNames{"user_prompt", "question", "input",
                                                       "input_text",  "problem",  "query"};
// Asked only if none of these is there: many files have a column "text" beside their question.
constexpr std::string_view kLastPromptName = "text";
constexpr std::array<std::string_view, 3> kLimitNames{"max_new_tokens", "max_completion_tokens",
                                                      "max_tokens"};
constexpr std::array<std::string_view, 3> kSessionNames{"session", "session_id", "conversation_id"};
// Columns that go into the request body; `true`: a cell of text holds JSON.
constexpr std::array<std::pair<std::string_view, bool>, 7> kBodyNames{
    {{"name", false},
     {"n", true},
     {"stop", false},
     {"logit_bias", true},
     {"user", false},
     {"chat_template", false},
     {"chat_template_kwargs", true}}};
constexpr std::string_view kBodyPrefix = "body.";

Error wrong_cell(std::string_view column, std::string_view what) {
  return invalid(format("{}: {}", column, what));
}

bool has_column(const Json& row, std::string_view column) {
  const Json* cell = row.find(column);
  return cell != nullptr && !cell->is_null();
}

Result<std::vector<std::int32_t>> token_ids(const Json& list, std::string_view column) {
  if (!list.is_array()) {
    return wrong_cell(column, format("expected a list of token ids, found {}", list.type_name()));
  }
  std::vector<std::int32_t> ids;
  ids.reserve(list.size());
  for (const Json& item : list.items()) {
    const std::int64_t id = item.is_number() ? item.as_int(-1) : -1;
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
      return wrong_cell(column,
                        format("element {} is not a token id: {}", ids.size(), item.dump()));
    }
    ids.push_back(static_cast<std::int32_t>(id));
  }
  if (ids.empty()) return wrong_cell(column, "the list of token ids is empty");
  return ids;
}

Result<void> check_messages(const Messages& messages) {
  if (!messages.is_array() || messages.size() == 0) {
    return wrong_cell("messages", R"(expected a list such as [{"role": "user", "content": "…"}])");
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].is_object() || messages[i]["role"].as_string().empty()) {
      return wrong_cell("messages", format("message {} is not an object with a role", i));
    }
  }
  return {};
}

}  // namespace

std::string columns_of(const Json& row) {
  std::string out;
  for (const auto& [name, value] : row.members()) {
    if (!out.empty()) out += ", ";
    out += name;
    constexpr std::size_t kEnough = 500;
    if (out.size() > kEnough) return out + ", …";
  }
  return out.empty() ? "none" : out;
}

RowMapper::RowMapper(const Spec& spec, Cells cells, std::optional<Preset> preset)
    : spec_(spec),
      cells_(cells),
      preset_(std::move(preset)),
      source_seen_(spec.parser.size(), false) {}

Json RowMapper::rename(Json row) {
  if (spec_.parser.empty()) return row;
  Json::Object renamed;
  for (auto& [name, value] : row.make_object()) {
    bool keep = true;
    for (std::size_t i = 0; i < spec_.parser.size(); ++i) {
      const auto& [target, source] = spec_.parser[i];
      if (source == name) {
        source_seen_[i] = true;
        renamed.emplace_back(target, value);
        keep = false;
      }
    }
    // Drop a column that a renamed one replaces, unless it was renamed itself.
    for (const auto& [target, source] : spec_.parser) keep = keep && target != name;
    if (keep) renamed.emplace_back(name, std::move(value));
  }
  return Json(std::move(renamed));
}

Json RowMapper::take(Json& row, std::string_view column) const {
  Json* cell = row.find(column);
  if (cell == nullptr) return {};
  Json value = std::move(*cell);
  row.erase(column);
  if (cells_ == Cells::text && value.as_string().empty()) return {};
  return value;
}

Result<std::string> RowMapper::take_text(Json& row, std::string_view column) const {
  const Json value = take(row, column);
  if (value.is_null()) return std::string();
  if (value.is_string()) return std::string(value.as_string());
  if (value.is_integer()) return value.dump();
  return wrong_cell(column, format("expected text, found {}", value.type_name()));
}

Result<Json> RowMapper::take_structure(Json& row, std::string_view column) const {
  Json value = take(row, column);
  if (!value.is_string() || cells_ != Cells::text) return value;
  auto parsed = Json::parse(value.as_string());
  if (!parsed)
    return wrong_cell(column, format("expected JSON in this cell: {}", parsed.error().message));
  return *std::move(parsed);
}

Result<Sample> RowMapper::map(Json row) {
  if (first_columns_.empty()) first_columns_ = columns_of(row);
  row = rename(std::move(row));
  if (spec_.make_row) {
    ASSIGN_OR_RETURN(row, spec_.make_row(std::move(row)));
  }
  if (preset_) TRY(preset_->apply(row));
  return read(std::move(row));
}

Result<void> RowMapper::finish() const {
  if (first_columns_.empty()) return {};
  // The reference client reads no parser of a dataset with a preset; its examples have one whose
  // column comes to be only after the preset.
  if (preset_ && spec_.prompt_format.empty()) return {};
  for (std::size_t i = 0; i < source_seen_.size(); ++i) {
    if (source_seen_[i]) continue;
    const auto& [target, source] = spec_.parser[i];
    return invalid(format("parser.{}: there is no column '{}'; the first row has: {}", target,
                          source, first_columns_));
  }
  return {};
}

Result<Sample> RowMapper::read(Json row) {
  Sample sample;
  TRY(read_kind_columns(row, sample));
  TRY(read_question(row, sample));
  ASSIGN_OR_RETURN(sample.tools, take_structure(row, "tools"));
  if (!sample.tools.is_null() && !sample.tools.is_array()) {
    return wrong_cell("tools", format("expected a list, found {}", sample.tools.type_name()));
  }
  const Json* choice = row.find("tool_choice");
  if (choice != nullptr && choice->as_string().starts_with('{')) {
    ASSIGN_OR_RETURN(sample.tool_choice, take_structure(row, "tool_choice"));
  } else {
    sample.tool_choice = take(row, "tool_choice");
  }
  TRY(read_limits(row, sample));
  if (const Json at = take(row, "salt_position"); at.is_integer()) {
    sample.salt_position = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        at.as_int(-1), -1, static_cast<std::int64_t>(sample.input_tokens.size())));
  }
  TRY(read_body(row, sample));
  for (const std::string_view name : kSessionNames) {
    if (!has_column(row, name)) continue;
    ASSIGN_OR_RETURN(sample.session, take_text(row, name));
    break;
  }
  if (spec_.keep_columns) {
    if (row.size() > 0) sample.columns = std::move(row);
  } else {
    // A run has figures for each language (domain/row_axes.h).
    for (const std::string_view name : kLanguageColumns) {
      if (row[name].is_string()) sample.columns.set(name, row[name]);
    }
  }
  return sample;
}

// Before the question is looked for, because a list in a column such as `input` is no prompt.
Result<void> RowMapper::read_kind_columns(Json& row, Sample& sample) {
  for (const std::string_view name : spec_.kind_columns) {
    if (!has_column(row, name)) continue;
    const std::string_view text = row[name].as_string();
    const bool structure =
        row[name].is_string() && (text.starts_with('[') || text.starts_with('{'));
    const bool may_be_prompt = std::ranges::find(kPromptNames, name) != kPromptNames.end();
    if (may_be_prompt && row[name].is_string() && !(structure && cells_ == Cells::text)) continue;
    Json cell;
    if (structure) {
      ASSIGN_OR_RETURN(cell, take_structure(row, name));
    } else {
      cell = take(row, name);
    }
    // A cell of text that is a number is one: `256`, `4.0`.
    if (cells_ == Cells::text && cell.is_string()) {
      if (auto number = Json::parse(cell.as_string()); number && number->is_number()) {
        cell = *std::move(number);
      }
    }
    if (!cell.is_null()) sample.body.set(name, std::move(cell));
  }
  return {};
}

// Whether the row gives its kind of API what is asked in place of a prompt.
bool RowMapper::asks_by_itself(const Json& row, const Sample& sample) const {
  if (spec_.columns_ask && sample.body.size() > 0) return true;
  for (const std::string_view name : {"input", "inputs", "audio"}) {
    if (std::ranges::find(spec_.kind_columns, name) == spec_.kind_columns.end()) continue;
    const Json& given = sample.body[name];
    const Json& own = given.is_null() ? row[std::string(kBodyPrefix).append(name)] : given;
    if (own.is_array() || (name == "audio" && !own.is_null())) return true;
  }
  return false;
}

Result<void> RowMapper::read_question(Json& row, Sample& sample) {
  if (asks_by_itself(row, sample)) {
    // No other column is the prompt: a transcript's `text` is what a scorer compares.
    ASSIGN_OR_RETURN(sample.prompt, take_text(row, "prompt"));
    return {};
  }
  const bool has_messages = has_column(row, "messages");
  const std::string_view ids = has_column(row, "input_tokens") ? "input_tokens" : "token_ids";
  const bool has_ids = has_column(row, ids);
  // When token ids are asked, two columns of text are no conflict.
  if (!has_messages && !(has_ids && spec_.prefer_token_ids)) TRY(read_prompt(row, sample));
  ASSIGN_OR_RETURN(sample.messages, take_structure(row, "messages"));
  if (has_messages) {
    TRY(check_messages(sample.messages));
  }
  const bool asked = !sample.prompt.empty() || !sample.content_parts.is_null() || has_messages;
  if (has_ids && (spec_.prefer_token_ids || !asked)) {
    ASSIGN_OR_RETURN(const Json list, take_structure(row, ids));
    ASSIGN_OR_RETURN(sample.input_tokens, token_ids(list, ids));
    sample.input_length = static_cast<std::int64_t>(sample.input_tokens.size());
    sample.prompt.clear();
    sample.system.clear();
    sample.content_parts = {};
    sample.messages = {};
    return {};
  }
  row.erase(ids);
  if (asked) return {};
  return invalid(
      format("this row asks nothing: it has no text in prompt, messages or "
             "input_tokens; its other columns: {} (name the right one: parser.prompt=…)",
             columns_of(row)));
}

// Alpaca's form: what to do, and what to do it with, which may be empty.
Result<void> RowMapper::join_instruction(Json& row) {
  for (const std::string_view name : kPromptNames) {
    if (name != "input" && has_column(row, name)) return {};
  }
  ASSIGN_OR_RETURN(std::string prompt, take_text(row, "instruction"));
  ASSIGN_OR_RETURN(const std::string input, take_text(row, "input"));
  if (!input.empty()) prompt += (prompt.empty() ? "" : "\n\n") + input;
  row.set("prompt", std::move(prompt));
  return {};
}

Result<void> RowMapper::read_prompt(Json& row, Sample& sample) {
  if (!has_column(row, "prompt") && has_column(row, "instruction")) TRY(join_instruction(row));
  if (!has_column(row, "prompt")) {
    std::string_view found;
    for (const std::string_view name : kPromptNames) {
      if (!has_column(row, name)) continue;
      if (!found.empty()) {
        return invalid(format("both '{}' and '{}' could be the prompt; say which: parser.prompt={}",
                              found, name, found));
      }
      found = name;
    }
    if (found.empty() && has_column(row, kLastPromptName)) found = kLastPromptName;
    if (!found.empty()) row.set("prompt", take(row, found));
  }
  if (!has_column(row, "system") && has_column(row, "system_prompt")) {
    row.set("system", take(row, "system_prompt"));
  }
  ASSIGN_OR_RETURN(sample.system, take_text(row, "system"));
  if (row["prompt"].is_array()) {
    sample.content_parts = take(row, "prompt");
    if (sample.content_parts.size() == 0) return wrong_cell("prompt", "the list of parts is empty");
    return {};
  }
  ASSIGN_OR_RETURN(sample.prompt, take_text(row, "prompt"));
  return {};
}

Result<void> RowMapper::read_limits(Json& row, Sample& sample) {
  for (const std::string_view name : kLimitNames) {
    ASSIGN_OR_RETURN(const Json cell, take_structure(row, name));
    if (cell.is_null() || sample.output_tokens_max > 0) continue;
    sample.output_tokens_max = cell.is_number() ? cell.as_int(0) : 0;
    if (sample.output_tokens_max < 1 || sample.output_tokens_max > kLengthMax) {
      return wrong_cell(
          name, format("expected a whole number from 1 to {}, found {}", kLengthMax, cell.dump()));
    }
  }
  return {};
}

Result<void> RowMapper::read_body(Json& row, Sample& sample) {
  for (const auto& [name, structure] : kBodyNames) {
    if (!has_column(row, name)) continue;
    const bool list = row[name].as_string().starts_with('[');
    Json cell;
    if (structure || list) {
      ASSIGN_OR_RETURN(cell, take_structure(row, name));
    } else {
      cell = take(row, name);
    }
    if (!cell.is_null()) sample.body.set(name, std::move(cell));
  }
  std::vector<std::string> named;
  for (const auto& [name, value] : row.members()) {
    if (name.starts_with(kBodyPrefix)) named.push_back(name);
  }
  for (const std::string& name : named) {
    Json cell = take(row, name);
    if (!cell.is_null()) sample.body.set(name.substr(kBodyPrefix.size()), std::move(cell));
  }
  return {};
}

}  // namespace assay::dataset
