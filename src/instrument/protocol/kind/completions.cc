// OpenAI's completions: a text or token ids.
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {

Json completions_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("prompt", sample.input_tokens.empty() ? Json(prompt_of(sample, filler))
                                                 : token_array(sample, filler));
  set_if(body, "temperature", generation.temperature);
  set_limit(body, own_limit_field(Api::openai_completions), generation, sample);
  body.set("min_tokens", generation.min_new_tokens);
  body.set("skip_special_tokens", generation.skip_special_tokens);
  body.set("stream", generation.stream);
  set_if(body, "top_p", generation.top_p);
  set_if(body, "top_k", generation.top_k);
  set_if(body, "repetition_penalty", generation.repetition_penalty);
  set_from_row(body, sample, "n");
  set_from_row(body, sample, "stop");
  set_if(body, "presence_penalty", generation.presence_penalty);
  set_if(body, "frequency_penalty", generation.frequency_penalty);
  set_if(body, "seed", generation.seed);
  set_usage_wish(body, generation);
  set_if(body, "ignore_eos", generation.ignore_eos);
  set_rest_of_row(body, sample);
  return body;
}

}  // namespace assay::protocol
