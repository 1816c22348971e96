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
  // At `kept_max` patterns all are forgotten; 4,096 are more than IFEval's dataset has.
  explicit Patterns(std::size_t kept_max = 4096) : kept_max_(kept_max) {}

  // nullptr for a pattern that can't be read. Valid until the next call.
  const text::Regex* find(const std::string& pattern);
  std::size_t size() const { return kept_.size(); }

 private:
  const std::size_t kept_max_;
  std::unordered_map<std::string, std::optional<text::Regex>> kept_{};
};

}  // namespace assay::score
