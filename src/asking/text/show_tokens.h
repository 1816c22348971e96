// Texts counted, encoded, decoded or rendered by a chat template, line by line. `assay tokens` is
// the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/talk.h"

namespace assay::text {

struct ShownTokens {
  std::string file = "-";
  std::string tokenizer{};
  std::string pattern{};
  std::string chat_template{};
  std::string by{};
  std::optional<std::int64_t> now{};  // seconds since 1970
  bool jsonl = false;
  bool ids = false;
  bool special = false;
  bool decode = false;
  bool stream = false;
  bool json = false;
};

// Returns the exit code.
Result<int> show_tokens(const ShownTokens& options, std::string_view input, const Talk& talk);

}  // namespace assay::text
