#include "campaign/preflight.h"

#include <gtest/gtest.h>

namespace assay::campaign {
namespace {

Endpoints an_endpoint() {
  Endpoints out;
  out.urls = {"http://localhost:8000"};
  return out;
}

TestAnswer http(int status, std::string detail) {
  return {.outcome = Outcome::http_error, .http_status = status, .detail = std::move(detail)};
}

std::string refused(const TestAnswer& answer, const Endpoints& endpoints = an_endpoint()) {
  const auto error = refusal_of(answer, endpoints);
  return error ? error->message : std::string();
}

TEST(Preflight, each_refusal_says_what_to_change) {
  EXPECT_NE(refused(http(401, "no key")).find("it wants a key: --api-key-env"), std::string::npos);
  Endpoints keyed = an_endpoint();
  keyed.api_key = "k";
  EXPECT_NE(refused(http(401, "Incorrect API key"), keyed).find("does not take this key"),
            std::string::npos);
  EXPECT_NE(refused(http(404, "The model `n` does not exist")).find("--model"), std::string::npos);
  EXPECT_NE(refused(http(404, "Not Found")).find("--endpoint, --api-type"), std::string::npos);
  EXPECT_NE(refused(http(422, "unexpected field top_k")).find("--extra-body"), std::string::npos);
  EXPECT_NE(refused(http(308, "")).find("elsewhere"), std::string::npos);
  const std::string twice = refused(http(401, "HTTP 401: no key"));
  EXPECT_EQ(twice.find("HTTP 401"), twice.rfind("HTTP 401")) << twice;
}

TEST(Preflight, what_passes_is_no_refusal) {
  for (const int status : {408, 429, 500, 502, 503}) EXPECT_EQ(refused(http(status, "busy")), "");
  EXPECT_EQ(refused({.outcome = Outcome::timed_out}), "");
  EXPECT_EQ(refused({.outcome = Outcome::ok, .http_status = 200}), "");
  EXPECT_EQ(refused(http(400, "This model's maximum context length is 512 tokens")), "")
      << "of one row, not of all";
}

TEST(Preflight, another_protocol_and_a_lost_connection_cannot_be_reached) {
  const auto tls = refusal_of({.outcome = Outcome::bad_reply,
                               .detail = "this port speaks TLS: https:// in place of http://"},
                              an_endpoint());
  ASSERT_TRUE(tls.has_value());
  EXPECT_EQ(tls->code, Code::refused);
  EXPECT_EQ(refused({.outcome = Outcome::bad_reply, .detail = "not JSON"}), "");
  ASSERT_TRUE(refusal_of({.outcome = Outcome::connect_failed, .detail = "refused"}, an_endpoint()));
}

TEST(Preflight, a_refused_name_of_the_limit_is_told_from_a_refused_value) {
  const std::string own = "max_completion_tokens";
  for (const char* words :
       {"Unrecognized request argument supplied: max_completion_tokens",
        "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead.",
        R"([{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"input":128}])"}) {
    EXPECT_TRUE(refuses_limit(http(400, words), own)) << words;
    EXPECT_FALSE(refuses_limit(http(500, words), own)) << words;
    EXPECT_FALSE(refuses_limit(http(400, words), "")) << words;
  }
  for (const char* words :
       {"max_completion_tokens is too large: 100000. This model supports at most 16384",
        "max_completion_tokens must be at least 1", "unexpected field 'seed'"}) {
    EXPECT_FALSE(refuses_limit(http(400, words), own)) << words;
  }
}

TEST(Preflight, the_facts_of_several_are_told_apart) {
  const Json all = *Json::parse(
      R"({"outcome":"http_error","http_status":503,"detail":"busy","left_out":["x"],)"
      R"("endpoints":[{"endpoint":"a","outcome":"ok","http_status":200,"detail":""},)"
      R"({"endpoint":"b","outcome":"http_error","http_status":503,"detail":"busy"}]})");
  EXPECT_EQ(preflight_of(all, 0).dump(),
            R"({"outcome":"ok","http_status":200,"detail":"","left_out":["x"]})");
  EXPECT_EQ(preflight_of(all, 1)["outcome"].as_string(), "http_error");
  EXPECT_EQ(preflight_of(preflight_of(all, 1), 0), preflight_of(all, 1));
}

TEST(Preflight, only_a_refusal_by_name_takes_a_field_out) {
  const std::vector<std::string> fields{"ignore_eos", "stream_options"};
  const std::string words = "Unexpected fields in the request: {'ignore_eos'}";
  EXPECT_EQ(refused_fields(http(422, words), fields), std::vector<std::string>{"ignore_eos"});
  EXPECT_TRUE(refused_fields(http(500, words), fields).empty());
  EXPECT_TRUE(refused_fields(http(422, "Unexpected fields: {'top_k'}"), fields).empty());
}

}  // namespace
}  // namespace assay::campaign
