#include "endpoint/typed_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_talk.h"

namespace assay::endpoint {
namespace {

using testing::HasSubstr;

std::string refusal(const TypedEndpoint& typed) {
  EndpointOptions options;
  const auto understood = understand(typed, options);
  return understood ? std::string() : understood.error().message;
}

TEST(TypedEndpoint, an_error_names_its_flag) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_THAT(refusal({.port = 65536}), HasSubstr("--port"));
  EXPECT_THAT(refusal({.ttft = "fast"}), HasSubstr("--ttft"));
  EXPECT_THAT(refusal({.osl = "none"}), HasSubstr("--osl"));
  EXPECT_THAT(refusal({.threads = -1}), HasSubstr("--threads"));
  EXPECT_THAT(refusal({.certificate = "c.pem"}), HasSubstr("--certificate"));
  EXPECT_THAT(refusal({.faults = {"reset=2"}}), HasSubstr("--fault"));
  EXPECT_THAT(refusal({.speedup = 2.0}), HasSubstr("--scenario FILE"));
}

TEST(TypedEndpoint, a_modelled_system_takes_the_place_of_timing_and_threads) {
  Heard heard;
  EndpointOptions options;
  EXPECT_THAT(use_scenario({.scenario = "s.yaml"}, true, options, heard.talk()).error().message,
              HasSubstr("takes the place of --ttft"));
  options.threads = 2;
  EXPECT_THAT(use_scenario({.scenario = "s.yaml"}, false, options, heard.talk()).error().message,
              HasSubstr("leave out --threads"));
  EXPECT_EQ(heard.said, "");
}

}  // namespace
}  // namespace assay::endpoint
