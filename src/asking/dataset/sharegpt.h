// ShareGPT: [{"id": …, "conversations": [{"from": "human", "value": "…"}, …]}, …]; role and content
// may stand for from and value. A single-turn run asks the first human turn. The later turns can be
// asked too, each with the recorded turns before it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/sample.h"

namespace assay::dataset {

struct Turn {
  std::string role{};  // user, assistant, system, tool, or the file's own word
  std::string text{};
};

struct Conversation {
  std::string id{};
  std::vector<Turn> turns{};

  // Returns the turn that a single-turn run asks; nullptr if there is no human turn.
  const Turn* first_user_turn() const;
};

bool is_conversation(const Json& row);
// REQUIRES: is_conversation(row).
Result<Conversation> parse_conversation(const Json& row);

// Returns one sample for each human turn: that turn and all recorded turns before it, as messages.
// Turns without text are left out.
std::vector<Sample> turns_of(const Conversation& conversation);

}  // namespace assay::dataset
