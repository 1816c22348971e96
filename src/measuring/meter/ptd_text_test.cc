#include "meter/ptd_text.h"

#include <gtest/gtest.h>

#include "meter/ptd_source.h"

namespace assay::meter {
namespace {

TEST(PtdText, a_sample_has_its_instant_and_its_three_values) {
  const auto sample = read_ptd_sample(
      "Time,11-23-2026 10:00:00.123,Watts,24.980000,Volts,227.370000,Amps,0.225410,PF,0.48,Mark,x");
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->stamp.ns, 1'795'428'000'123'000'000);
  EXPECT_EQ(sample->watts, 24.98);
  EXPECT_EQ(sample->volts, 227.37);
  EXPECT_EQ(sample->amps, 0.22541);
}

TEST(PtdText, several_channels_have_their_sum_and_no_voltage) {
  const auto sample = read_ptd_sample(
      "Time,02-29-2024 00:00:00.000,Watts,183.0,Volts,-1.0,Amps,-1.0,PF,-1.0,Mark,r,Ch1,Watts,91.5,"
      "Volts,120.75,Amps,0.81,PF,0.9");
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->stamp.ns, 1'709'164'800'000'000'000);
  EXPECT_EQ(sample->watts, 183);
  EXPECT_FALSE(sample->volts);
  EXPECT_FALSE(sample->amps);
}

TEST(PtdText, what_is_no_sample_is_none) {
  for (const char* line :
       {"", "Time", "Watts,1", "Time,11-23-2026 10:00:00.123,Watts,-1.0",
        "Time,11-23-2026 10:00:00.123,Watts,nan", "Time,13-23-2026 10:00:00.123,Watts,1",
        "Time,11-23-2026,Watts,1", "Notice,11-23-2026 10:00:00.123,Watts,1"}) {
    EXPECT_FALSE(read_ptd_sample(line)) << line;
  }
}

TEST(PtdText, ranges_are_read_as_they_are_set_again) {
  const auto ranges = read_ptd_ranges("Ranges,1,0.5,0,300");
  ASSERT_TRUE(ranges);
  EXPECT_EQ(ranges->amps, "Auto");
  EXPECT_EQ(ranges->volts, "300");
  EXPECT_FALSE(read_ptd_ranges("Ranges,1,0.5"));
  EXPECT_EQ(read_ptd_count("Last 12 samples"), 12U);
  EXPECT_FALSE(read_ptd_count("Last -1 samples"));
  EXPECT_FALSE(read_ptd_count("Last 9999999 samples"));
}

TEST(PtdPlace, has_a_port_and_ranges_of_its_own_or_the_usual_ones) {
  const auto usual = parse_ptd_place("power-host");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->port, 8888);
  EXPECT_EQ(usual->ranges.volts, "Auto");
  const auto own = parse_ptd_place("[::1]:9/227.37/0.25");
  ASSERT_TRUE(own);
  EXPECT_EQ(own->host, "::1");
  EXPECT_EQ(own->port, 9);
  EXPECT_EQ(own->ranges.amps, "0.25");
  for (const char* wrong : {"", ":8888", "h:0", "h:x", "h:1/300", "h:1/300/-1", "h:1/a/b"}) {
    EXPECT_FALSE(parse_ptd_place(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace assay::meter
