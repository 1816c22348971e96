// For tests: a Talk whose words are kept.
#pragma once

#include <string>

#include "base/talk.h"

namespace assay {

struct Heard {
  std::string printed{};
  std::string said{};  // each message with a line end

  // Must not outlive this object.
  Talk talk() {
    return {.print = [this](std::string_view text) { printed += text; },
            .say = [this](std::string_view line) { said.append(line) += '\n'; },
            .paint = [](std::string_view) {}};
  }
};

}  // namespace assay
