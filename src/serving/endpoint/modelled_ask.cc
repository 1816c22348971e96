#include "endpoint/modelled_ask.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/format.h"
#include "endpoint/prefix.h"
#include "endpoint/script.h"

namespace assay::endpoint {
namespace {

std::optional<Route> route_of_tokens(Api api) {
  switch (api) {
    case Api::openai:
      return Route::chat;
    case Api::openai_completions:
      return Route::completions;
    case Api::sglang:
      return Route::generate;
    case Api::openai_responses:
      return Route::responses;
    case Api::anthropic_messages:
      return Route::messages;
    case Api::ollama_chat:
      return Route::ollama_chat;
    case Api::ollama_generate:
      return Route::ollama_generate;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<ModelledAsk> ModelledAsk::make(Api api, EndpointOptions options) {
  const auto route = route_of_tokens(api);
  if (!route) {
    return invalid(
        format("api_type {}: its replies have no tokens, and a modelled server makes tokens",
               to_string(api)));
  }
  return ModelledAsk(*route, std::move(options));
}

Result<sim::Request> ModelledAsk::read(std::string& body, std::uint64_t number) {
  const std::size_t size = body.size();
  body.append(kAskPadding, ' ');
  const std::string_view text(body.data(), size);
  Ask ask;
  ask.route = route_;
  const auto said = reader_.read(route_, text, ask);
  if (const ApiError* const error = std::get_if<ApiError>(&said)) {
    return invalid(format("the endpoint refuses the request: {}", error->message));
  }
  const std::uint64_t place = mix(options_.seed, number);
  sim::Request out;
  out.prompt_tokens = ask.prompt_tokens;
  out.output_tokens =
      make_script(ask, options_, ask.has_seed ? mix(options_.seed, ask.seed) : place).tokens;
  out.prefix_blocks = prefix_blocks(text, ask.prompt_tokens, options_.prefix_block_tokens);
  return out;
}

}  // namespace assay::endpoint
