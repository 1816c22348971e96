#include "endpoint/script.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace assay::endpoint {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + b * 0x9e3779b97f4a7c15 + 0x632be59bd9b4e019;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::string_view ToolScript::piece(std::uint32_t index) const {
  CHECK(index < piece_ends.size());
  const std::uint32_t from = index == 0 ? 0 : piece_ends[index - 1];
  return std::string_view(arguments).substr(from, piece_ends[index] - from);
}

ToolScript cut_tool_call(std::string name, std::string arguments) {
  constexpr std::size_t kPieceBytes = 6;
  ToolScript script{.name = std::move(name), .arguments = std::move(arguments)};
  const std::string& text = script.arguments;
  std::size_t at = 0;
  while (at < text.size()) {
    at = std::min(at + kPieceBytes, text.size());
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    script.piece_ends.push_back(static_cast<std::uint32_t>(at));
  }
  return script;
}

namespace {

double reasoning_share(const Ask& ask, const EndpointOptions& options) {
  const bool plain = ask.route == Route::completions || ask.route == Route::generate ||
                     ask.route == Route::speech || ask.route == Route::realtime ||
                     is_of_sound(ask.route);
  if (plain || ask.reasoning == Wish::no) return 0;
  if (options.reasoning > 0) return options.reasoning;
  return ask.reasoning == Wish::yes ? 0.5 : 0;
}

}  // namespace

Script make_script(const Ask& ask, const EndpointOptions& options, std::uint64_t seed) {
  Rng rng(seed);
  Script script{.seed = seed};
  if (options.quirks.has(Quirk::split_utf8)) script.vocabulary = Vocabulary::wide;
  // One step of the engine, and no words; a job has as many as a text, so that it is on its way.
  if (is_of_vectors(ask.route) && ask.route != Route::video_jobs) return script;
  const std::int64_t limit = ask.tokens_max < 0 ? dataset::kLengthMax : ask.tokens_max;
  std::int64_t wanted = draw_length(options.osl, rng);
  const bool to_limit = (options.osl_is_limit || ask.ignore_eos) && ask.tokens_max >= 0;
  if (to_limit) wanted = dataset::kLengthMax + 1;
  const double share = reasoning_share(ask, options);
  if (options.answers != nullptr) script.answer = options.answers->find(ask.asked);
  if (script.answer != nullptr && !to_limit) {
    // As long as it is, behind the reasoning's share.
    wanted = static_cast<std::int64_t>(
        std::llround(static_cast<double>(script.answer->tokens()) / (1 - share)));
  }
  if (ask.wants_tool && options.tools == ToolPolicy::asked) {
    script.tool = std::make_unique<ToolScript>(cut_tool_call(ask.tool_name, ask.tool_arguments));
    const auto thought = static_cast<std::int64_t>(share * static_cast<double>(wanted));
    script.reasoning_tokens = static_cast<std::uint32_t>(std::min(thought, limit));
    wanted = script.reasoning_tokens + script.tool->tokens();
  }
  wanted = std::max(wanted, ask.tokens_min);
  if (script.tool != nullptr) {
    wanted = std::min<std::int64_t>(wanted, script.reasoning_tokens + script.tool->tokens());
  }
  script.tokens = static_cast<std::uint32_t>(std::clamp<std::int64_t>(wanted, 1, limit));
  if (script.tool == nullptr) {
    script.reasoning_tokens = static_cast<std::uint32_t>(
        std::min(share * static_cast<double>(wanted), static_cast<double>(script.tokens)));
  }
  const FinishReason natural =
      script.tool != nullptr ? FinishReason::tool_calls : FinishReason::stop;
  script.finish = wanted > limit ? FinishReason::length : natural;
  return script;
}

}  // namespace assay::endpoint
