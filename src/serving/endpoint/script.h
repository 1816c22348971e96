// Script: the content of one reply, decided when its request arrives: the number of tokens, which
// of them are reasoning, text or a tool call, and the finish reason. Deterministic from the seed.
// Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "domain/event.h"
#include "endpoint/answers.h"
#include "endpoint/ask.h"
#include "endpoint/options.h"
#include "endpoint/words.h"

namespace assay::endpoint {

// A tool call in pieces: the first token is the function's name, each further token a part of the
// arguments' text.
struct ToolScript {
  std::string name{};
  std::string arguments{};
  std::vector<std::uint32_t> piece_ends{};  // in `arguments`, never inside a character

  std::string_view piece(std::uint32_t index) const;
  // The first `count` pieces, joined.
  std::string_view first_pieces(std::uint32_t count) const {
    return std::string_view(arguments).substr(0, piece_ends[count - 1]);
  }
  std::uint32_t tokens() const { return 1 + static_cast<std::uint32_t>(piece_ends.size()); }
};
ToolScript cut_tool_call(std::string name, std::string arguments);

struct Script {
  std::uint64_t seed = 0;
  std::uint32_t tokens = 1;
  std::uint32_t reasoning_tokens = 0;  // the first ones
  FinishReason finish = FinishReason::stop;
  Vocabulary vocabulary = Vocabulary::common;
  std::unique_ptr<ToolScript> tool{};
  // What the text says before made-up words go on; not owned.
  const Answer* answer = nullptr;

  Category category(std::uint32_t token) const {
    if (token < reasoning_tokens) return Category::reasoning;
    return tool == nullptr ? Category::text : Category::tool_call;
  }
  Word word_of(std::uint32_t token) const {
    if (answer != nullptr && token >= reasoning_tokens &&
        token - reasoning_tokens < answer->tokens()) {
      return answer->word(token - reasoning_tokens);
    }
    return word(vocabulary, word_index(seed, token));
  }
};

Script make_script(const Ask& ask, const EndpointOptions& options, std::uint64_t seed);

// Mixes two numbers; every bit of the result depends on all bits of both.
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

}  // namespace assay::endpoint
