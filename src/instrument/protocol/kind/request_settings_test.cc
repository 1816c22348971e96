// Every setting and every field of a row in the body of each kind: what is set is sent once, under
// the kind's own name and in its own place; what the kind has no word for is not sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "protocol/codec.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

Json settings_json(std::string_view text) { return Json::parse(text).value(); }

Generation all_settings() {
  Generation generation;
  generation.model = "m";
  generation.temperature = 0.5;
  generation.seed = 3;
  generation.top_k = 40;
  generation.top_p = 0.25;
  generation.repetition_penalty = 1.5;
  generation.presence_penalty = 0.75;
  generation.frequency_penalty = 0.125;
  generation.max_new_tokens = 9;
  generation.min_new_tokens = 2;
  generation.skip_special_tokens = false;
  generation.ignore_eos = true;
  generation.chat_template_kwargs = settings_json(R"({"t":1})");
  return generation;
}

Sample full_row() {
  Sample sample;
  sample.prompt = "Hi";
  sample.body = settings_json(
      R"({"stop":["E"],"logit_bias":{"5":1},"user":"u","chat_template":"T","name":"N",)"
      R"("other":7,"nothing":null})");
  return sample;
}

std::string settings_body(Api api, const Generation& generation, const Sample& sample) {
  const auto body = make_body(api, generation, sample, false);
  EXPECT_TRUE(body) << body.error().message;
  return body ? body->bytes : "";
}

TEST(RequestSettings, chat_has_a_word_for_each) {
  EXPECT_EQ(settings_body(Api::openai, all_settings(), full_row()),
            R"({"model":"m","messages":[{"role":"user","content":"Hi","name":"N"}],"temperatu)"
            R"(re":0.5,"max_completion_tokens":9,"stream":true,"seed":3,"top_p":0.25,"top_k":)"
            R"(40,"repetition_penalty":1.5,"stop":["E"],"presence_penalty":0.75,"frequency_pe)"
            R"(nalty":0.125,"logit_bias":{"5":1},"user":"u","chat_template":"T","chat_templat)"
            R"(e_kwargs":{"t":1},"stream_options":{"include_usage":true},"min_tokens":2,"igno)"
            R"(re_eos":true,"other":7})");
}

TEST(RequestSettings, completions_have_no_word_for_the_template) {
  EXPECT_EQ(settings_body(Api::openai_completions, all_settings(), full_row()),
            R"({"model":"m","prompt":"Hi","temperature":0.5,"max_tokens":9,"min_tokens":2,"sk)"
            R"(ip_special_tokens":false,"stream":true,"top_p":0.25,"top_k":40,"repetition_pen)"
            R"(alty":1.5,"stop":["E"],"presence_penalty":0.75,"frequency_penalty":0.125,"seed)"
            R"(":3,"stream_options":{"include_usage":true},"ignore_eos":true,"logit_bias":{"5)"
            R"(":1},"user":"u","chat_template":"T","other":7})");
}

TEST(RequestSettings, sglang_has_them_in_its_sampling_params) {
  EXPECT_EQ(settings_body(Api::sglang, all_settings(), full_row()),
            R"({"text":"Hi","sampling_params":{"max_new_tokens":9,"temperature":0.5,"top_k":4)"
            R"(0,"top_p":0.25,"repetition_penalty":1.5,"presence_penalty":0.75,"frequency_pen)"
            R"(alty":0.125,"min_new_tokens":2,"ignore_eos":true,"skip_special_tokens":false,")"
            R"(stop":["E"]},"stream":true,"logit_bias":{"5":1},"user":"u","chat_template":"T")"
            R"(,"other":7})");
}

TEST(RequestSettings, responses_have_no_least_length) {
  EXPECT_EQ(settings_body(Api::openai_responses, all_settings(), full_row()),
            R"({"model":"m","input":"Hi","max_output_tokens":9,"temperature":0.5,"top_p":0.25)"
            R"(,"top_k":40,"seed":3,"repetition_penalty":1.5,"presence_penalty":0.75,"frequen)"
            R"(cy_penalty":0.125,"stream":true,"store":false,"chat_template_kwargs":{"t":1},")"
            R"(ignore_eos":true,"stop":["E"],"logit_bias":{"5":1},"user":"u","chat_template":)"
            R"("T","other":7})");
}

TEST(RequestSettings, messages_have_neither_seed_nor_penalties) {
  EXPECT_EQ(settings_body(Api::anthropic_messages, all_settings(), full_row()),
            R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"tempe)"
            R"(rature":0.5,"top_p":0.25,"top_k":40,"stream":true,"stop_sequences":["E"],"logi)"
            R"(t_bias":{"5":1},"user":"u","chat_template":"T","other":7})");
}

TEST(RequestSettings, ollama_has_them_in_its_options) {
  EXPECT_EQ(settings_body(Api::ollama_chat, all_settings(), full_row()),
            R"({"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"option)"
            R"(s":{"num_predict":9,"temperature":0.5,"seed":3,"top_k":40,"top_p":0.25,"repeat)"
            R"(_penalty":1.5,"presence_penalty":0.75,"frequency_penalty":0.125,"stop":["E"]},)"
            R"("logit_bias":{"5":1},"user":"u","chat_template":"T","other":7})");
  EXPECT_EQ(settings_body(Api::ollama_generate, all_settings(), full_row()),
            R"({"model":"m","prompt":"Hi","stream":true,"options":{"num_predict":9,"temperatu)"
            R"(re":0.5,"seed":3,"top_k":40,"top_p":0.25,"repeat_penalty":1.5,"presence_penalt)"
            R"(y":0.75,"frequency_penalty":0.125,"stop":["E"]},"logit_bias":{"5":1},"user":"u)"
            R"(","chat_template":"T","other":7})");
}

TEST(RequestSettings, pictures_have_a_seed_and_videos_their_own_fields) {
  Generation whole = all_settings();
  whole.stream = false;
  EXPECT_EQ(settings_body(Api::openai_images, whole, full_row()),
            R"({"model":"m","prompt":"Hi","response_format":"b64_json","seed":3,"stop":["E"],)"
            R"("logit_bias":{"5":1},"user":"u","chat_template":"T","other":7})");
  Sample row = full_row();
  row.body = settings_json(R"({"negative_prompt":"p","size":"1x1","seconds":1.5,"fps":2,)"
                           R"("num_inference_steps":3,"guidance_scale":4.5,"guidance_scale_2":5.5,)"
                           R"("seed":6,"num_frames":7,"boundary_ratio":0.5,"latent_path":"l",)"
                           R"("output_format":"mp4","response_format":"video_bytes"})");
  EXPECT_EQ(settings_body(Api::videogen, whole, row),
            R"({"prompt":"Hi","negative_prompt":"p","size":"1x1","seconds":1.5,"fps":2,)"
            R"("num_inference_steps":3,"guidance_scale":4.5,"guidance_scale_2":5.5,"seed":6,)"
            R"("num_frames":7,"boundary_ratio":0.5,"latent_path":"l","output_format":"mp4",)"
            R"("response_format":"video_bytes"})");
}

// A run without a model and without limits: the server's defaults are left alone.
TEST(RequestSettings, what_is_not_set_is_left_to_the_server) {
  Generation none;
  none.max_new_tokens = 0;
  none.stream = false;
  Sample sample;
  sample.prompt = "Hi";
  std::string all;
  for (const ApiRow& row : kApis) {
    const Kind& kind = kind_of(row.api);
    if (kind.body == nullptr || kind.encode != nullptr || !kind.check(sample)) continue;
    all += format("{} {}\n", row.name, settings_body(row.api, none, sample));
  }
  EXPECT_EQ(
      all,
      R"(openai {"messages":[{"role":"user","content":"Hi"}]})"
      "\n"
      R"(openai_completions {"prompt":"Hi","min_tokens":1,"skip_special_tokens":true,"stream":false})"
      "\n"
      R"(sglang {"text":"Hi","sampling_params":{},"stream":false})"
      "\n"
      R"(videogen {"prompt":"Hi","size":"720x1280","seconds":5.0,"fps":16,"num_inference_steps":20,)"
      R"("guidance_scale":4.0,"guidance_scale_2":3.0,"seed":42,"num_frames":81,)"
      R"("boundary_ratio":0.875,"output_format":"auto","response_format":"video_path"})"
      "\n"
      R"(openai_responses {"input":"Hi","stream":false,"store":false})"
      "\n"
      R"(anthropic_messages {"max_tokens":16384,"messages":[{"role":"user","content":"Hi"}],)"
      R"("stream":false})"
      "\n"
      R"(ollama_chat {"messages":[{"role":"user","content":"Hi"}],"stream":false})"
      "\n"
      R"(ollama_generate {"prompt":"Hi","stream":false})"
      "\n"
      R"(openai_embeddings {"input":"Hi"})"
      "\n"
      R"(classify {"input":"Hi"})"
      "\n"
      R"(openai_images {"prompt":"Hi","response_format":"b64_json"})"
      "\n");
}

}  // namespace
}  // namespace assay::protocol
