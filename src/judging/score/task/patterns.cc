#include "score/task/patterns.h"

#include <utility>

namespace assay::score {

const text::Regex* Patterns::find(const std::string& pattern) {
  auto found = kept_.find(pattern);
  if (found == kept_.end()) {
    if (kept_.size() >= kept_max_) kept_.clear();
    auto made = text::Regex::compile(pattern, text::RegexDialect::python);
    std::optional<text::Regex> regex;
    if (made) regex.emplace(*std::move(made));
    found = kept_.emplace(pattern, std::move(regex)).first;
  }
  return found->second ? &*found->second : nullptr;
}

}  // namespace assay::score
