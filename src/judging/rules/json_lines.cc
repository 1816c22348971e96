// Finds the line of a value in the text of a JSON document that was parsed before.
#include <algorithm>
#include <vector>

#include "rules/document.h"

namespace assay::rules {
namespace {

struct Nesting {
  bool list = false;
  std::size_t index = 0;
  std::string step{};  // escaped, as in a pointer
};

bool ends_word(char c) {
  return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

class Walk {
 public:
  Walk(std::string_view text, std::string_view pointer) : text_(text), pointer_(pointer) {}

  int find() {
    bool value_next = true;  // a value comes next, not a key or punctuation
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
        continue;
      }
      if (value_next && c != ']' && c != '}' && c != ',' && c != ':') {
        if (!levels_.empty() && levels_.back().list) {
          levels_.back().step = std::to_string(levels_.back().index);
        }
        if (here()) return line_;
      }
      value_next = step(c, value_next);
    }
    return 0;
  }

 private:
  bool here() const {
    std::string_view rest = pointer_;
    for (const Nesting& level : levels_) {
      if (rest.size() <= level.step.size() || rest[0] != '/' ||
          rest.substr(1, level.step.size()) != level.step) {
        return false;
      }
      rest.remove_prefix(1 + level.step.size());
    }
    return rest.empty();
  }

  // Consumes one token; returns true when a value comes next.
  bool step(char c, bool value_next) {
    switch (c) {
      case '{':
      case '[':
        levels_.push_back({c == '['});
        ++at_;
        return c == '[';
      case '}':
      case ']':
        if (!levels_.empty()) levels_.pop_back();
        ++at_;
        return false;
      case ':':
        ++at_;
        return true;
      case ',':
        ++at_;
        if (!levels_.empty() && levels_.back().list) ++levels_.back().index;
        return !levels_.empty() && levels_.back().list;
      case '"': {
        const std::string text = string();
        if (!value_next && !levels_.empty()) levels_.back().step = pointer_to("", text).substr(1);
        return false;
      }
      default:
        while (at_ < text_.size() && !ends_word(text_[at_])) ++at_;
        return false;
    }
  }

  // A key with escapes other than \" and \\ keeps its spelling.
  std::string string() {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    ++at_;
    return out;
  }

  std::string_view text_;
  std::string_view pointer_;
  std::vector<Nesting> levels_{};
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

int line_in_json(std::string_view text, std::string_view pointer) {
  return Walk(text, pointer).find();
}

}  // namespace assay::rules
