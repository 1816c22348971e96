#include "dataset/sharegpt.h"

#include <utility>

#include "base/format.h"

namespace assay::dataset {
namespace {

std::string role_of(std::string_view word) {
  if (word == "human" || word == "user") return "user";
  for (const std::string_view name : {"gpt", "assistant", "chatgpt", "bing", "bard", "model"}) {
    if (word == name) return "assistant";
  }
  return std::string(word);
}

// Returns the text under either key; "" if there is none.
std::string_view turn_text(const Json& turn, std::string_view one, std::string_view other) {
  const std::string_view text = turn[one].as_string();
  return text.empty() ? turn[other].as_string() : text;
}

}  // namespace

const Turn* Conversation::first_user_turn() const {
  for (const Turn& turn : turns) {
    if (turn.role == "user" && !turn.text.empty()) return &turn;
  }
  return nullptr;
}

bool is_conversation(const Json& row) {
  return row["conversations"].is_array() || row["conversation"].is_array();
}

Result<Conversation> parse_conversation(const Json& row) {
  Conversation out;
  const Json& id = row["id"];
  out.id = id.is_string() ? std::string(id.as_string()) : id.is_null() ? "" : id.dump();
  const bool plural = row["conversations"].is_array();
  const std::string_view column = plural ? "conversations" : "conversation";
  for (const Json& turn : row[column].items()) {
    const std::string_view role = turn_text(turn, "from", "role");
    if (!turn.is_object() || role.empty()) {
      return invalid(
          format("{}: turn {} is not an object with from and value", column, out.turns.size()));
    }
    out.turns.push_back({role_of(role), std::string(turn_text(turn, "value", "content"))});
  }
  return out;
}

std::vector<Sample> turns_of(const Conversation& conversation) {
  std::vector<Sample> out;
  Messages messages;
  for (const Turn& turn : conversation.turns) {
    if (turn.text.empty()) continue;
    messages.push_back(Json::object().set("role", turn.role).set("content", turn.text));
    if (turn.role != "user") continue;
    Sample sample;
    sample.messages = messages;
    sample.session = conversation.id;
    out.push_back(std::move(sample));
  }
  return out;
}

}  // namespace assay::dataset
