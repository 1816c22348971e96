// OpenAI's Responses: a chat's messages become items of `input`, tools are flat, and the limit
// counts reasoning too. Nothing is stored at the server.
#include "protocol/kind/chat_parts.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {
Json responses_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  if (sample.messages.is_null() && sample.content_parts.is_null()) {
    if (!sample.system.empty()) body.set("instructions", sample.system);
    body.set("input", prompt_of(sample, filler));
  } else {
    body.set("input", input_items(chat_messages(sample, filler)));
  }
  if (const std::int64_t limit = output_tokens_max(generation, sample); limit > 0) {
    body.set("max_output_tokens", limit);
  }
  set_if(body, "temperature", generation.temperature);
  set_if(body, "top_p", generation.top_p);
  set_if(body, "top_k", generation.top_k);
  set_if(body, "seed", generation.seed);
  set_if(body, "repetition_penalty", generation.repetition_penalty);
  set_if(body, "presence_penalty", generation.presence_penalty);
  set_if(body, "frequency_penalty", generation.frequency_penalty);
  body.set("stream", generation.stream);
  body.set("store", false);
  if (generation.chat_template_kwargs.size() > 0) {
    body.set("chat_template_kwargs", generation.chat_template_kwargs);
  }
  if (!sample.tools.is_null()) body.set("tools", flat_tools(sample.tools));
  if (!sample.tool_choice.is_null()) body.set("tool_choice", flat_tool(sample.tool_choice));
  set_if(body, "ignore_eos", generation.ignore_eos);
  set_rest_of_row(body, sample);
  return body;
}

}  // namespace assay::protocol
