#include "plan/power.h"

#include <gtest/gtest.h>

namespace assay::plan {
namespace {

TelemetryConfig telemetry(PowerConfig power) {
  Settings settings;
  settings.power = std::move(power);
  return telemetry_with_power(settings).value();
}

std::string power_trouble(PowerConfig power) {
  Settings settings;
  settings.power = std::move(power);
  const auto made = telemetry_with_power(settings);
  return made ? std::string("none") : made.error().message;
}

TEST(Power, each_source_of_the_block_is_one_of_ours) {
  EXPECT_EQ(telemetry({.source = "nvidia_smi"}).meters, std::vector<std::string>{"nvml"});
  PowerConfig some{.source = "nvidia_smi", .interval = 200_ms};
  some.options = Json::parse(R"({"gpu_indices": [0, 3]})").value();
  EXPECT_EQ(telemetry(some).meters, std::vector<std::string>{"nvml:0,3"});
  EXPECT_EQ(telemetry(some).interval, 200_ms);
  PowerConfig asked{.source = "prometheus"};
  asked.options = Json().set("url", "http://p:9090/").set("query", R"q(sum(rack_watts{r="1"}))q");
  EXPECT_EQ(telemetry(asked).meters,
            std::vector<std::string>{
                "query:http://p:9090/api/v1/query?query=sum%28rack_watts%7Br%3D%221%22%7D%29"});
  PowerConfig run{.source = "command", .env = {{"ZONE", "it's"}}};
  run.options = Json::parse(R"({"argv": ["/bin/meter", "--rack", "a b"]})").value();
  EXPECT_EQ(telemetry(run).command, R"(ZONE='it'\''s' '/bin/meter' '--rack' 'a b')");
}

TEST(Power, without_a_source_the_telemetry_stays_as_it_is) {
  EXPECT_TRUE(telemetry({}).meters.empty());
  EXPECT_EQ(telemetry({}).interval, 1_s);
}

TEST(Power, what_the_block_lacks_is_named) {
  EXPECT_NE(power_trouble({.source = "redfish"}).find("one of: nvidia_smi"), std::string::npos);
  EXPECT_NE(power_trouble({.source = "prometheus"}).find("url and query"), std::string::npos);
  EXPECT_NE(power_trouble({.source = "command"}).find("argv"), std::string::npos);
  EXPECT_NE(power_trouble({.source = "nvidia_smi", .value_kind = "energy"}).find("value_kind"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::plan
