// Patterns of Python's re, each compiled once: a dataset asks for the same few thousand again and
// again, and to compile one takes longer than to search a reply with it. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>

#include "text/regex.h"

namespace assay::score {

class Patterns {
 public:
  // More than IFEval's dataset has; at this number all are forgotten.
  static constexpr std::size_t kKeptMax = 4096;

  // nullptr for a pattern that can't be read. Valid until the next call.
  const text::Regex* find(const std::string& pattern);
  std::size_t size() const { return kept_.size(); }

 private:
  std::unordered_map<std::string, std::optional<text::Regex>> kept_{};
};

}  // namespace assay::score
