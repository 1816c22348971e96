// PromptFile: a prompt file of MLPerf Client: one category, its prompts, and how replies to them
// are generated. Roles stand in the order system, user, assistant, agent, whatever the file's order
// is; `agent` is a recorded answer of the model.
//
// Files that a prompt names (`prompt_files: true`) are read from beside the prompt file. Errors
// name the place in the file. Any thread; files are only read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::desk {

enum class SearchMethod : std::uint8_t { greedy, top_k, top_p };

// How tokens are chosen; all files of one run must agree.
struct Sampling {
  SearchMethod method = SearchMethod::greedy;
  double temperature = 0;  // 0 where greedy
  std::int64_t top_k = 0;  // 0: not given
  double top_p = 0;        // 0: not given
  bool stop_on_eos = true;
  bool operator==(const Sampling&) const = default;
};

struct ClientPrompt {
  Json messages{};  // OpenAI's: [{role, content}]
  std::optional<bool> thinking{};
  bool recorded = false;  // ends with a recorded answer: history, never asked
};

struct PromptFile {
  std::string name{};   // as the config names it, for messages and results
  std::string group{};  // base, extended, …
  std::string category = "Unknown";
  Sampling sampling{};
  std::int64_t tokens_max = 0;  // output tokens of a reply
  std::vector<ClientPrompt> prompts{};
};

// Returns the text of a file that a prompt names.
using PromptText = std::function<Result<std::string>(std::string_view name)>;

Result<PromptFile> parse_prompt_file(std::string_view text, const PromptText& read);
// Reads the file; `name` stands for it in messages and results.
Result<PromptFile> read_prompt_file(const std::filesystem::path& path, std::string name);

}  // namespace assay::desk
