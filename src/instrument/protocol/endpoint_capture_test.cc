#include "protocol/endpoint_capture.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace assay::protocol {
namespace {

CapturedReply page(std::string body, std::string server = "") {
  return {.status = 200, .server = std::move(server), .body = std::move(body)};
}

TEST(EndpointFacts, OfVllm) {
  EndpointReplies replies;
  replies.models = page(
      R"({"object":"list","data":[{"id":"m","owned_by":"vllm","max_model_len":4096,"root":"/w"}]})",
      "uvicorn");
  replies.version = page(R"({"version":"0.11.0"})");
  replies.server_info.status = 404;
  replies.metrics = page(
      "# HELP vllm:x y\nvllm:num_requests_running{model_name=\"m\"} 1.0\nvllm:kv 2\nbad-name 3\n");
  const Json facts = endpoint_facts(replies);
  EXPECT_EQ(facts["framework"].as_string(), "vLLM");
  EXPECT_EQ(facts["version"].as_string(), "0.11.0");
  EXPECT_EQ(facts["server"].as_string(), "uvicorn");
  EXPECT_EQ(facts["models"].dump(), R"([{"id":"m","owned_by":"vllm","max_model_len":4096}])");
  EXPECT_EQ(facts["metrics"].dump(), R"(["vllm:kv","vllm:num_requests_running"])");
  EXPECT_EQ(facts["status"]["/get_server_info"].as_int(), 404);
}

TEST(EndpointFacts, OfSglangWithoutItsKeys) {
  EndpointReplies replies;
  replies.models = page(R"({"data":[{"id":"m","owned_by":"sglang"}]})");
  replies.server_info = page(
      R"({"version":"0.5.3","tp_size":8,"dp_size":2,"api_key":"sk-secret","quantization":"fp8"})");
  const Json facts = endpoint_facts(replies);
  EXPECT_EQ(facts["framework"].as_string(), "SGLang");
  EXPECT_EQ(facts["version"].as_string(), "0.5.3");
  EXPECT_EQ(facts["settings"].dump(),
            R"({"tensor_parallel":8,"data_parallel":2,"quantization":"fp8"})");
  EXPECT_EQ(facts.dump().find("secret"), std::string::npos);
}

TEST(EndpointFacts, MetricsTellWhereModelsDoNot) {
  EndpointReplies replies;
  replies.metrics = page("tgi_request_count 3\n");
  EXPECT_EQ(endpoint_facts(replies)["framework"].as_string(), "TGI");
}

// The characters that Prometheus allows, and those beside each range of them.
TEST(EndpointFacts, MetricsAreNamesOfLettersDigitsUnderscoresAndColons) {
  EndpointReplies replies;
  std::string text = "azAZ09_: 1\n";
  for (const char beside : {'`', '|', '@', '[', '/', ';', '^', '-'}) {
    text += format("a{}b 1\n", beside);
  }
  replies.metrics = page(text);
  EXPECT_EQ(endpoint_facts(replies)["metrics"].dump(), R"(["azAZ09_:"])");
}

TEST(EndpointFacts, WhateverComesIsNoHarm) {
  EndpointReplies replies;
  replies.models = page("{\"data\":[{\"id\":\"a\\n\\u0007b\"},{\"id\":3},7]}", "s\x01\xff");
  replies.version = page("[1");
  replies.metrics = page(std::string(5000, 'x') + " 1\n\xff\xfe 2\n{} 3\n");
  const Json facts = endpoint_facts(replies);
  EXPECT_EQ(facts["models"].dump(), R"([{"id":"a  b"}])");
  EXPECT_EQ(facts.find("metrics"), nullptr);
  EXPECT_EQ(facts.find("framework"), nullptr);
  replies.trouble = "no route";
  EXPECT_EQ(endpoint_facts(replies).dump(), R"({"trouble":"no route"})");
}

TEST(EndpointFacts, EachFrameworkIsKnownByItsOwnerOrItsMetrics) {
  const auto framework = [](const std::string& owner, const std::string& metric) {
    EndpointReplies replies;
    replies.models = page(R"({"data":[{"id":"a"},{"id":"m","owned_by":")" + owner + "\"}]}");
    replies.metrics = page(metric + " 1\n");
    return std::string(endpoint_facts(replies)["framework"].as_string());
  };
  EXPECT_EQ(framework("assay", "vllm:x"), "Assay") << "an owner says more than a metric";
  EXPECT_EQ(framework("vllm", ""), "vLLM");
  EXPECT_EQ(framework("sglang", ""), "SGLang");
  EXPECT_EQ(framework("tensorrt_llm", ""), "TensorRT-LLM");
  EXPECT_EQ(framework("llamacpp", ""), "llama.cpp");
  EXPECT_EQ(framework("lmdeploy", ""), "LMDeploy");
  EXPECT_EQ(framework("me", "vllm:num"), "vLLM");
  EXPECT_EQ(framework("me", "sglang:num"), "SGLang");
  EXPECT_EQ(framework("me", "trtllm_num"), "TensorRT-LLM");
  EXPECT_EQ(framework("me", "llamacpp:num"), "llama.cpp");
  EXPECT_EQ(framework("me", "lmdeploy:num"), "LMDeploy");
  EXPECT_EQ(framework("me", "vllm"), "");
  EXPECT_EQ(framework("", "zzz"), "");
}

TEST(EndpointFacts, AModelHasItsLengthUnderEitherName) {
  EndpointReplies replies;
  replies.models =
      page(R"({"data":[{"id":"a","max_model_len":5},{"id":"b","context_length":6},{"id":"c",)"
           R"("max_model_len":"7"},{"max_model_len":8}]})");
  EXPECT_EQ(endpoint_facts(replies)["models"].dump(),
            R"([{"id":"a","max_model_len":5},{"id":"b","max_model_len":6},{"id":"c"}])");
}

TEST(EndpointFacts, EverySettingHasOurNameWhereverItStands) {
  EndpointReplies replies;
  replies.server_info =
      page(R"({"tp_size":1,"pp_size":2,"ep_size":3,"dp_size":4,"server_args":{"quantization":"q",)"
           R"("kv_cache_dtype":"k","context_length":5,"speculative_algorithm":"s","tp_size":9}})");
  EXPECT_EQ(endpoint_facts(replies)["settings"].dump(),
            R"({"tensor_parallel":1,"pipeline_parallel":2,"expert_parallel":3,"data_parallel":4,)"
            R"("quantization":"q","kv_cache_dtype":"k","context_length":5,)"
            R"("speculative_algorithm":"s"})");
  replies.server_info = page(R"({"tp_size":null,"quantization":["x"]})");
  EXPECT_EQ(endpoint_facts(replies).find("settings"), nullptr);
}

TEST(EndpointFacts, WhatIsNoAnswerIsNotRead) {
  EndpointReplies replies;
  replies.models = {.status = 500, .server = "", .body = R"({"data":[{"id":"m"}]})"};
  replies.metrics = {.status = 503, .server = "late", .body = "vllm:x 1\n"};
  replies.version = {.status = 200, .server = "", .body = R"({"version":""})"};
  replies.server_info = page(R"({"version":"2"})", "last");
  const Json facts = endpoint_facts(replies);
  EXPECT_EQ(facts["models"].size(), 0U);
  EXPECT_EQ(facts.find("metrics"), nullptr);
  EXPECT_EQ(facts.find("framework"), nullptr);
  EXPECT_EQ(facts["version"].as_string(), "2");
  EXPECT_EQ(facts["server"].as_string(), "late");
  EXPECT_EQ(facts["status"].dump(),
            R"({"/v1/models":500,"/version":200,"/get_server_info":200,"/metrics":503})");
}

TEST(EndpointFacts, WhatIsLongIsCut) {
  EndpointReplies replies;
  std::string models;
  std::string metrics;
  for (int i = 0; i < 600; ++i) {
    models += format(R"({}{{"id":"m{}"}})", i == 0 ? "" : ",", i);
    metrics += format("name_{:03} 1\n", i);
  }
  replies.models = page("{\"data\":[" + models + "]}", std::string(300, 's'));
  replies.metrics = page(metrics + std::string(256, 'y') + " 1\n");
  const Json facts = endpoint_facts(replies);
  EXPECT_EQ(facts["models"].size(), 64U);
  EXPECT_EQ(facts["metrics"].size(), 512U);
  EXPECT_EQ(facts["server"].as_string().size(), 256U);
  replies.metrics =
      page(std::string(256, 'y') + "{a=\"b\"} 1\n" + std::string(257, 'z') + " 1\nA:_9\t2\n");
  EXPECT_EQ(endpoint_facts(replies)["metrics"].size(), 2U);
  // A character is not cut in two.
  replies.models = page(R"({"data":[]})", std::string(255, 's') + "\u00e9");
  EXPECT_EQ(endpoint_facts(replies)["server"].as_string(), std::string(255, 's'));
}

}  // namespace
}  // namespace assay::protocol
