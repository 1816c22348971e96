// OpenAI's chat completions. Keys are in the reference client's order (docs/decisions/0005).
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {

Json chat_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("messages", chat_messages(sample, filler));
  set_if(body, "temperature", generation.temperature);
  set_limit(body, own_limit_field(Api::openai), generation, sample);
  if (generation.stream) body.set("stream", true);
  set_if(body, "seed", generation.seed);
  set_if(body, "top_p", generation.top_p);
  set_if(body, "top_k", generation.top_k);
  set_if(body, "repetition_penalty", generation.repetition_penalty);
  set_from_row(body, sample, "n");
  set_from_row(body, sample, "stop");
  set_if(body, "presence_penalty", generation.presence_penalty);
  set_if(body, "frequency_penalty", generation.frequency_penalty);
  set_from_row(body, sample, "logit_bias");
  set_from_row(body, sample, "user");
  set_from_row(body, sample, "chat_template");
  if (generation.chat_template_kwargs.size() > 0) {
    body.set("chat_template_kwargs", generation.chat_template_kwargs);
  }
  set_from_row(body, sample, "chat_template_kwargs");
  if (!sample.tools.is_null()) body.set("tools", sample.tools);
  if (!sample.tool_choice.is_null()) body.set("tool_choice", sample.tool_choice);
  // Beyond the reference, which never sends it.
  set_usage_wish(body, generation);
  if (generation.min_new_tokens > 1) body.set("min_tokens", generation.min_new_tokens);
  set_if(body, "ignore_eos", generation.ignore_eos);
  set_rest_of_row(body, sample);
  return body;
}

}  // namespace assay::protocol
