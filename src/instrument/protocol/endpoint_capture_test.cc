#include "protocol/endpoint_capture.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace assay::protocol
