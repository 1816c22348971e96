// SGLang's own /generate.
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {

// A seed is not sent: /generate refused it until recently. extra_body
// {"sampling_params": {"sampling_seed": 1}} sends it.
Json sglang_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (sample.input_tokens.empty()) {
    body.set("text", prompt_of(sample, filler));
  } else {
    body.set("input_ids", token_array(sample, filler));
  }
  Json sampling = Json::object();
  if (const std::int64_t limit = output_tokens_max(generation, sample); limit > 0) {
    sampling.set("max_new_tokens", limit);
  }
  set_if(sampling, "temperature", generation.temperature);
  if (generation.top_k && *generation.top_k != -1) sampling.set("top_k", *generation.top_k);
  set_if(sampling, "top_p", generation.top_p);
  set_if(sampling, "repetition_penalty", generation.repetition_penalty);
  set_if(sampling, "presence_penalty", generation.presence_penalty);
  set_if(sampling, "frequency_penalty", generation.frequency_penalty);
  if (generation.min_new_tokens > 1) sampling.set("min_new_tokens", generation.min_new_tokens);
  set_if(sampling, "ignore_eos", generation.ignore_eos);
  if (!generation.skip_special_tokens) sampling.set("skip_special_tokens", false);
  set_from_row(sampling, sample, "stop");
  body.set("sampling_params", std::move(sampling));
  body.set("stream", generation.stream);
  set_rest_of_row(body, sample);
  body.erase("stop");
  return body;
}

}  // namespace assay::protocol
