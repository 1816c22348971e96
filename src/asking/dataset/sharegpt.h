// ShareGPT: [{"id": …, "conversations": [{"from": "human", "value": "…"}, …]}, …], with role and
// content as other spellings of from and value. A single-turn run asks the first human turn; the
// turns after it can be asked too, each with what was recorded before it. Pure, but for
// load_conversations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/sample.h"

namespace assay::dataset {

struct Turn {
  std::string role{};  // user, assistant, system, tool, or what the file says
  std::string text{};
};

struct Conversation {
  std::string id{};
  std::vector<Turn> turns{};

  // What a single-turn run asks; nullptr where nobody human speaks.
  const Turn* first_user_turn() const;
};

bool is_conversation(const Json& row);
// REQUIRES: is_conversation(row).
Result<Conversation> parse_conversation(const Json& row);

// One sample a human turn: the turns recorded before it, and it, as messages. Turns without text
// are left out.
std::vector<Sample> turns_of(const Conversation& conversation);

// Every conversation of a .json or .jsonl file, all turns.
Result<std::vector<Conversation>> load_conversations(const std::string& path);

}  // namespace assay::dataset
