#include "dataset/conversations.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_set>

#include "base/format.h"
#include "dataset/file_rows.h"
#include "dataset/json_rows.h"

namespace assay::dataset {
namespace {

// Keys of a row that go into the request's body and replace the run's own values.
constexpr std::array<std::string_view, 9> kGenerationNames = {"temperature",
                                                              "top_p",
                                                              "top_k",
                                                              "seed",
                                                              "repetition_penalty",
                                                              "presence_penalty",
                                                              "frequency_penalty",
                                                              "stop",
                                                              "chat_template_kwargs"};
constexpr std::array<std::string_view, 3> kTurnLimitNames = {"max_completion_tokens",
                                                             "max_new_tokens", "max_tokens"};
constexpr double kDelayMost = 86'400;
constexpr std::uint64_t kHistoryMost = std::uint64_t{8} << 30;

enum class Speaker : std::uint8_t { nobody, user, assistant, tool };

Speaker speaker_of(const Json& row) {
  const std::string_view role = row["role"].as_string();
  if (role == "user") return Speaker::user;
  if (role == "assistant") return Speaker::assistant;
  return role == "tool" ? Speaker::tool : Speaker::nobody;
}

bool is_said(const Json& content) {
  return content.is_string() ? !content.as_string().empty() : content.size() > 0;
}

bool printable_ascii(std::string_view text) {
  for (const char c : text) {
    if (c < 0x20 || c > 0x7e) return false;
  }
  return !text.empty();
}

Result<void> check_tool_calls(const Json& calls) {
  if (calls.is_null()) return {};
  if (!calls.is_array()) return invalid("tool_calls: expected a list");
  for (const Json& call : calls.items()) {
    const Json& function = call["function"];
    const bool arguments = function["arguments"].is_string() || function["arguments"].is_object();
    if (call["id"].as_string().empty() || call["type"].as_string() != "function" ||
        function["name"].as_string().empty() || !arguments) {
      return invalid(
          "tool_calls: each needs id, type: function, function.name and function.arguments");
    }
  }
  return {};
}

Result<void> check_tool_results(const Json& results) {
  if (!results.is_array() || results.size() == 0) {
    return invalid("tool_results: a row of a tool needs a list with one or more");
  }
  for (const Json& one : results.items()) {
    if (one["tool_call_id"].as_string().empty() || one.find("content") == nullptr) {
      return invalid("tool_results: each needs tool_call_id and content");
    }
  }
  return {};
}

// Checks the order of roles, and the fields that each role needs.
Result<void> check_turn(const Json& row, const Json& before) {
  const Speaker last = before.is_null() ? Speaker::nobody : speaker_of(before);
  const bool called = before["tool_calls"].size() > 0;
  switch (speaker_of(row)) {
    case Speaker::user:
      if (last == Speaker::user) return invalid("a user's row follows a user's");
      if (called) return invalid("a user's row follows an assistant's that called tools");
      if (!is_said(row["content"])) return invalid("content: a user's row says nothing");
      return {};
    case Speaker::assistant:
      if (last != Speaker::user && last != Speaker::tool) {
        return invalid("an assistant's row follows neither a user's nor a tool's");
      }
      if (!is_said(row["content"]) && row["tool_calls"].size() == 0) {
        return invalid("an assistant's row has neither content nor tool_calls");
      }
      return check_tool_calls(row["tool_calls"]);
    case Speaker::tool:
      if (last != Speaker::assistant || !called) {
        return invalid("a tool's row follows no assistant's that called tools");
      }
      return check_tool_results(row["tool_results"]);
    case Speaker::nobody:
      break;
  }
  return invalid(format("role: expected user, assistant or tool, found {}", row["role"].dump()));
}

void append_messages(const Json& row, Messages& messages) {
  const auto copy = [&row](Json& to, std::string_view key) {
    const Json& value = row[key];
    if (!value.is_null()) to.set(key, value);
  };
  if (speaker_of(row) == Speaker::tool) {
    for (const Json& result : row["tool_results"].items()) {
      messages.push_back(Json()
                             .set("role", "tool")
                             .set("tool_call_id", result["tool_call_id"])
                             .set("content", result["content"]));
    }
    return;
  }
  Json message;
  message.set("role", row["role"]);
  if (speaker_of(row) == Speaker::user) {
    message.set("content", row["content"]);
    copy(message, "name");
  } else {
    // In the reference client's order: where a template refuses a prompt, its JSON is counted.
    for (const char* key : {"content", "name", "tool_calls", "reasoning_content"}) {
      copy(message, key);
    }
    if (row["content"].is_null()) message.set("content", Json());  // "" is not null to a template
  }
  messages.push_back(std::move(message));
}

class ConversationReader {
 public:
  explicit ConversationReader(const Spec& spec) : spec_(spec) {
    out_.name = spec.name.empty() ? std::filesystem::path(spec.path).stem().string() : spec.name;
    out_.path = spec.path;
    hears_ = std::ranges::find(spec.kind_columns, kFileColumns[0].name) != spec.kind_columns.end();
  }

  Result<Dataset> read(Chunks chunks) {
    LineReader lines(std::move(chunks));
    for (;;) {
      auto line = lines.next();
      if (!line) return line.error().within(spec_.path);
      if (!*line) break;
      auto row = Json::parse(**line);
      if (!row) return at(lines.line(), row.error().message);
      if ((*row)["_type"].as_string() == "dataset_metadata") continue;
      TRY(add(*std::move(row), lines.line()));
      row_bytes_.push_back((*line)->size());
    }
    TRY(finish());
    if (out_.conversations.empty()) {
      return invalid(format("'{}' has no conversation in it", spec_.path));
    }
    ASSIGN_OR_RETURN(out_.sha256, lines.sha256());
    return std::move(out_);
  }

 private:
  Error at(std::uint64_t line, std::string_view message) const {
    return invalid(format("{}:{}: {}", spec_.path, line, message));
  }

  Result<void> add(Json row, std::uint64_t line) {
    if (!row.is_object()) return at(line, format("expected a row, found {}", row.type_name()));
    const std::string id(row["conversation_id"].as_string());
    if (!printable_ascii(id)) return at(line, "conversation_id: expected printable ASCII");
    if (id != id_) {
      TRY(finish());
      if (ids_.contains(id)) {
        return at(line, format("conversation '{}': its rows are not together", id));
      }
      id_ = id;
    }
    const auto turn = static_cast<std::int64_t>(rows_.size()) + 1;
    if (row["turn"].as_int(-1) != turn) {
      return at(line, format("conversation '{}': turn {} where {} comes next", id,
                             row["turn"].dump(), turn));
    }
    const auto right = check_turn(row, rows_.empty() ? Json() : rows_.back());
    if (!right) return at(line, format("conversation '{}': {}", id, right.error().message));
    rows_.push_back(std::move(row));
    return {};
  }

  // Ends a conversation: each user or tool turn becomes a sample.
  Result<void> finish() {
    if (rows_.empty()) return {};
    ids_.insert(id_);
    std::uint64_t history = 0;
    Messages messages;
    for (const Json& row : rows_) {
      if (!row["system"].is_string()) continue;
      messages.push_back(Json().set("role", "system").set("content", row["system"]));
      break;
    }
    Conversation conversation;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Json& sound = hears_ ? rows_[i]["audio"] : nothing_;
      const Messages before = sound.is_null() ? Messages() : messages;
      append_messages(rows_[i], messages);
      history += row_bytes_[i];
      if (speaker_of(rows_[i]) == Speaker::assistant) continue;
      history_bytes_ += history;
      if (history_bytes_ > kHistoryMost) {
        return invalid(
            format("{}: conversation '{}': the histories of all turns come to more than "
                   "{} GiB",
                   spec_.path, id_, kHistoryMost >> 30));
      }
      ASSIGN_OR_RETURN(Sample sample, sample_of(i, messages));
      if (!sound.is_null()) {
        const auto heard = attach_cell(kFileColumns[0], sound,
                                       std::filesystem::path(spec_.path).parent_path(), sample);
        if (!heard) {
          return heard.error().within(
              format("{}: conversation '{}', turn {}", spec_.path, id_, i + 1));
        }
        sample.messages = before;
      }
      const double delay = rows_[i]["delay_seconds"].as_double();
      if (!(delay >= 0 && delay <= kDelayMost)) {
        return invalid(format("{}: conversation '{}', turn {}: delay_seconds is {}", spec_.path,
                              id_, i + 1, rows_[i]["delay_seconds"].dump()));
      }
      conversation.turns.push_back(
          {static_cast<std::uint32_t>(out_.samples.size()), Duration::from_seconds(delay)});
      out_.samples.push_back(std::move(sample));
    }
    out_.conversations.push_back(std::move(conversation));
    rows_.clear();
    row_bytes_.clear();
    id_.clear();
    return {};
  }

  Result<Sample> sample_of(std::size_t i, const Messages& messages) const {
    const Json& row = rows_[i];
    const Json& first = rows_.front();
    Sample out;
    out.messages = messages;
    out.session = id_;
    out.turn = static_cast<std::int32_t>(i) + 1;
    const auto of_row = [&](std::string_view key) -> const Json& {
      return row[key].is_null() ? first[key] : row[key];
    };
    out.tools = of_row("tools");
    for (const std::string_view name : kTurnLimitNames) {
      if (out.output_tokens_max > 0) break;
      out.output_tokens_max = of_row(name).as_int();
    }
    if (out.output_tokens_max < 0) {
      return invalid(format("{}: conversation '{}': an output limit below 1", spec_.path, id_));
    }
    for (const std::string_view name : kGenerationNames) {
      if (row[name].is_null()) continue;
      out.overrides.set(name, row[name]);
    }
    if (!of_row("model").is_null()) out.overrides.set("model", of_row("model"));
    if (spec_.keep_columns) {
      const bool answered = i + 1 < rows_.size();
      out.columns = Json()
                        .set("conversation_id", id_)
                        .set("turn", row["turn"])
                        .set("expected", answered ? rows_[i + 1] : Json());
    }
    return out;
  }

  const Spec& spec_;
  const Json nothing_{};
  bool hears_ = false;  // the kind of API takes a sound
  Dataset out_{};
  std::string id_{};
  std::unordered_set<std::string> ids_{};
  std::vector<Json> rows_{};  // of the current conversation
  std::vector<std::uint64_t> row_bytes_{};
  std::uint64_t history_bytes_ = 0;  // of all turns
};

}  // namespace

Result<Dataset> read_conversations(const Spec& spec, Chunks chunks) {
  return ConversationReader(spec).read(std::move(chunks));
}

Result<Dataset> load_conversations(const Spec& spec) {
  ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(spec.path));
  return read_conversations(spec, std::move(chunks));
}

}  // namespace assay::dataset
