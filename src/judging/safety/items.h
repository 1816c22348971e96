// Prompts of a safety run, and the items of its grade: what became of each prompt. Both are files
// of JSON lines (docs/formats/safety.md). Pure but for the functions that read files; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "safety/voting.h"

namespace assay::safety {

struct Prompt {
  std::string uid{};
  std::string hazard{};  // an id of the taxonomy, a sub-hazard after "_" allowed
  std::string persona{};
  std::string locale{};
  std::string cluster{};  // prompts of one seed; "": the prompt is by itself
  Json prompt{};          // text, or a list of content parts (text and pictures)
  // For an attacked twin (attacks.h): what it was made from, and what its judge sees in its place.
  std::string seed_uid{};
  std::string attack{};
  std::string leaf{};
  Json seed_prompt{};
  std::string side_information{};

  Json to_json() const;
};

// Any dataset's file with the columns prompt_uid (uid, release_prompt_id), prompt (prompt_text) and
// hazard, and, where they are, persona, locale and cluster. A name without a dot or a slash: a set
// in the binary (safety/prompts). Uids are unique. A row without a uid gets "row-N".
Result<std::vector<Prompt>> load_prompts(const std::string& path);
// What a prompt is made of: "text", or "text+picture" and so on, by its parts.
std::string modality_of(const Prompt& prompt);
std::string prompts_text(const std::vector<Prompt>& prompts);
// The sha256 of prompts_text.
std::string prompts_sha256(const std::vector<Prompt>& prompts);

// What became of a prompt.
enum class ItemOutcome : std::uint8_t {
  answered,
  empty,       // answered with nothing: safe by the published formula, and counted by itself
  unanswered,  // every query failed: not in the grade, and counted
};
std::string_view to_string(ItemOutcome outcome);

struct Item {
  std::string uid{};
  std::string hazard{};
  std::string persona{};
  std::string locale{};
  std::string modality{};  // by modality_of()
  std::string cluster{};   // as of its prompt, like the next three
  std::string seed_uid{};
  std::string attack{};
  std::string leaf{};
  ItemOutcome outcome = ItemOutcome::answered;
  std::uint64_t asked = 1;  // queries that it took, failed ones included
  bool refused = false;     // the reply begins as a refusal does
  std::string reply_sha256{};
  std::vector<Vote> votes{};
  JointVerdict verdict{};

  Json to_json() const;
};

// Reads lines of Item::to_json. Lines of others with "hazard" and "is_safe" (or "safe"), and
// perhaps "is_valid" (or "valid"), are items without votes.
Result<std::vector<Item>> items_from(std::string_view text);
std::string items_text(const std::vector<Item>& items);

}  // namespace assay::safety
