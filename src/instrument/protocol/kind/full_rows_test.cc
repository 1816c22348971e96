// The whole body of each kind for a row and settings that have everything: each value is another,
// so that none can stand for another, and each has its own place.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

Generation full_settings() {
  Generation out;
  out.model = "m";
  out.max_new_tokens = 91;
  out.min_new_tokens = 12;
  out.temperature = 0.5;
  out.top_p = 0.25;
  out.top_k = 30;
  out.seed = 44;
  out.repetition_penalty = 1.5;
  out.presence_penalty = 0.125;
  out.frequency_penalty = -0.75;
  out.ignore_eos = true;
  out.skip_special_tokens = false;
  return out;
}

std::string full_body(Api api, std::string_view row) {
  Sample sample;
  sample.prompt = "Hi";
  sample.system = "Be brief.";
  sample.body = *Json::parse(row);
  return kind_of(api).body(full_settings(), sample, 0).dump();
}

struct FullRow {
  Api api;
  std::string_view row;
  std::string_view body;
};
constexpr FullRow kFullRows[] = {
    {Api::openai,
     R"({"other":7,"user":"u","logit_bias":{"5":1},"stop":"s","n":2,"name":"w",)"
     R"("chat_template":"t","chat_template_kwargs":{"a":1}})",
     R"({"model":"m","messages":[{"role":"system","content":"Be brief."},)"
     R"({"role":"user","content":"Hi","name":"w"}],"temperature":0.5,)"
     R"("max_completion_tokens":91,"stream":true,"seed":44,"top_p":0.25,"top_k":30,)"
     R"("repetition_penalty":1.5,"n":2,"stop":"s","presence_penalty":0.125,)"
     R"("frequency_penalty":-0.75,"logit_bias":{"5":1},"user":"u","chat_template":"t",)"
     R"("chat_template_kwargs":{"a":1},"stream_options":{"include_usage":true},)"
     R"("min_tokens":12,"ignore_eos":true,"other":7})"},
    {Api::openai_completions, R"({"other":7,"stop":["s"],"n":2})",
     R"({"model":"m","prompt":"Hi","temperature":0.5,"max_tokens":91,"min_tokens":12,)"
     R"("skip_special_tokens":false,"stream":true,"top_p":0.25,"top_k":30,)"
     R"("repetition_penalty":1.5,"n":2,"stop":["s"],"presence_penalty":0.125,)"
     R"("frequency_penalty":-0.75,"seed":44,"stream_options":{"include_usage":true},)"
     R"("ignore_eos":true,"other":7})"},
    {Api::sglang, R"({"other":7,"stop":["s"]})",
     R"({"text":"Hi","sampling_params":{"max_new_tokens":91,"temperature":0.5,)"
     R"("top_k":30,"top_p":0.25,"repetition_penalty":1.5,"presence_penalty":0.125,)"
     R"("frequency_penalty":-0.75,"min_new_tokens":12,"ignore_eos":true,)"
     R"("skip_special_tokens":false,"stop":["s"]},"stream":true,"other":7})"},
    {Api::openai_responses, R"({"other":7,"stop":["s"]})",
     R"({"model":"m","instructions":"Be brief.","input":"Hi","max_output_tokens":91,)"
     R"("temperature":0.5,"top_p":0.25,"top_k":30,"seed":44,"repetition_penalty":1.5,)"
     R"("presence_penalty":0.125,"frequency_penalty":-0.75,"stream":true,)"
     R"("store":false,"ignore_eos":true,"other":7,"stop":["s"]})"},
    {Api::anthropic_messages, R"({"other":7,"stop":["s"]})",
     R"({"model":"m","max_tokens":91,"system":"Be brief.","messages":[{"role":"user",)"
     R"("content":"Hi"}],"temperature":0.5,"top_p":0.25,"top_k":30,"stream":true,)"
     R"("stop_sequences":["s"],"other":7})"},
    {Api::ollama_chat, R"({"other":7,"stop":"s"})",
     R"({"model":"m","messages":[{"role":"system","content":"Be brief."},)"
     R"({"role":"user","content":"Hi"}],"stream":true,"options":{"num_predict":91,)"
     R"("temperature":0.5,"seed":44,"top_k":30,"top_p":0.25,"repeat_penalty":1.5,)"
     R"("presence_penalty":0.125,"frequency_penalty":-0.75,"stop":["s"]},"other":7})"},
    {Api::ollama_generate, R"({"other":7,"stop":["s"]})",
     R"({"model":"m","system":"Be brief.","prompt":"Hi","stream":true,)"
     R"("options":{"num_predict":91,"temperature":0.5,"seed":44,"top_k":30,)"
     R"("top_p":0.25,"repeat_penalty":1.5,"presence_penalty":0.125,)"
     R"("frequency_penalty":-0.75,"stop":["s"]},"other":7})"},
    {Api::openai_images, R"({"other":7,"response_format":"url","size":"1x2","n":2})",
     R"({"model":"m","prompt":"Hi","n":2,"size":"1x2","response_format":"url",)"
     R"("seed":44,"other":7})"},
    {Api::openai_transcriptions, R"({"other":7,"language":"de"})",
     R"({"model":"m","prompt":"Hi","language":"de","temperature":0.5,"seed":44,)"
     R"("other":7,"response_format":"json","stream":true})"},
    {Api::openai_speech, R"({"other":7,"response_format":"wav","voice":"v"})",
     R"({"model":"m","input":"Hi","voice":"v","response_format":"wav",)"
     R"("instructions":"Be brief.","other":7})"},
    {Api::openai_videos, R"({"other":7,"size":"1x2","seconds":"4","seed":5})",
     R"({"model":"m","prompt":"Hi","seconds":"4","size":"1x2","seed":44,"other":7})"},
    {Api::videogen,
     R"({"other":7,"latent_path":"l","negative_prompt":"no","num_frames":3,"fps":4,)"
     R"("size":"1x2","seconds":6,"num_inference_steps":8,"guidance_scale":9,)"
     R"("guidance_scale_2":10,"seed":11,"boundary_ratio":0.5,"output_format":"o",)"
     R"("response_format":"r"})",
     R"({"prompt":"Hi","negative_prompt":"no","size":"1x2","seconds":6,"fps":4,)"
     R"("num_inference_steps":8,"guidance_scale":9,"guidance_scale_2":10,"seed":11,)"
     R"("num_frames":3,"boundary_ratio":0.5,"latent_path":"l","output_format":"o",)"
     R"("response_format":"r","other":7})"},
    {Api::kserve_json,
     R"({"other":7,"parameters":{"p":1},"outputs":[{"name":"y"}],)"
     R"("inputs":[{"name":"x"}]})",
     R"({"inputs":[{"name":"x"}],"outputs":[{"name":"y"}],"parameters":{"p":1},)"
     R"("other":7})"},
    {Api::openai_embeddings, R"({"other":7,"input":["a","b"]})",
     R"({"model":"m","input":["a","b"],"other":7})"},
    {Api::rerank, R"({"other":7,"documents":["a","b"]})",
     R"({"model":"m","query":"Hi","documents":["a","b"],"other":7})"},
    {Api::score, R"({"other":7,"documents":["a","b"]})",
     R"({"model":"m","text_1":"Hi","text_2":["a","b"],"other":7})"},
    {Api::realtime, R"({"other":7,"output_modalities":["text"],"voice":"v"})",
     R"({"model":"m","output_modalities":["text"],"instructions":"Be brief.",)"
     R"("audio":{"input":{"format":{"type":"audio/pcm","rate":24000},)"
     R"("turn_detection":null},"output":{"format":{"type":"audio/pcm","rate":24000},)"
     R"("voice":"alloy"}},"temperature":0.5,"max_output_tokens":91,"other":7,)"
     R"("voice":"v","items":[{"type":"message","role":"user",)"
     R"("content":[{"type":"input_text","text":"Hi"}]}]})"},
};

TEST(FullRows, each_value_stands_at_its_own_place) {
  for (const FullRow& one : kFullRows) {
    EXPECT_EQ(full_body(one.api, one.row), one.body) << row_of(one.api).name;
  }
}

}  // namespace
}  // namespace assay::protocol
