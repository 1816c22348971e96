#include "sim/network.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sim/catalogue.h"

namespace assay::sim {
namespace {

// Published kernel times of DeepEP's low-latency mode on H100 servers of eight: 128 tokens each, to
// 8 of 256 experts, 7,168 bytes out and twice that back. One server gives the share of NVLink and
// the fixed time; those of two, four and eight follow.
TEST(Network, all_to_all_over_servers_takes_what_published_kernels_take) {
  const HardwareSpec h100 = *Catalogue::builtin().hardware("h100-sxm");
  struct Way {
    double bytes, fixed_us, nvlink;
    std::array<double, 4> published_us;
  };
  for (const Way& way :
       {Way{7168, 16, 0.39, {40, 102, 143, 167}}, Way{14336, 12, 0.31, {72, 186, 263, 305}}}) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned ranks = 8U << i;
      const double n = ranks;
      const double remote = n * (1 - std::pow(1 - 1 / n, 8)) * (1 - 1 / n);
      const CollectiveTime time = all_to_all(h100, ranks, ranks, remote * way.bytes, way.nvlink);
      const double us = way.fixed_us + 1e6 * (128 * time.token_s + time.fixed_s / 2);
      EXPECT_NEAR(us / way.published_us[i], 1, 0.07) << ranks << " " << way.bytes;
    }
  }
}

// The slow twin: every pair of ranks by itself.
TEST(Network, each_byte_goes_over_the_tier_that_joins_its_ends) {
  HardwareSpec card = *Catalogue::builtin().hardware("h200-sxm");
  card.network = {{.name = "rack", .gpus_max = 24, .link = {40e9, 1e-6}, .share = 0.5},
                  {.name = "cluster", .gpus_max = 0, .link = {10e9, 2e-6}, .share = 0.8}};
  for (const unsigned ranks : {2U, 8U, 16U, 24U, 48U}) {
    double slow = 0;
    for (unsigned to = 1; to < ranks; ++to) {  // from rank 0
      const double rate = to < 8 ? 0.6 * 450e9 : to < 24 ? 0.5 * 40e9 : 0.8 * 10e9;
      slow += 1e6 / (ranks - 1) / rate;
    }
    const CollectiveTime time = all_to_all(card, ranks, ranks, 1e6, 0.6);
    EXPECT_NEAR(time.token_s / slow, 1, 1e-12) << ranks;
    EXPECT_EQ(time.fixed_s, ranks <= 8 ? 0 : ranks <= 24 ? 2e-6 : 4e-6);
  }
}

TEST(Network, an_all_reduce_crosses_servers_with_slices) {
  const HardwareSpec h200 = *Catalogue::builtin().hardware("h200-sxm");
  const double inside = all_reduce(h200, 8, 1e6, 0.65).token_s;
  EXPECT_NEAR(inside, 2e6 * 7 / 8 / (0.65 * 450e9), 1e-15);
  const CollectiveTime two = all_reduce(h200, 16, 1e6, 0.65);
  EXPECT_NEAR(two.token_s - inside, 2 * 1e6 / 8 * 0.5 / (0.9 * 50e9), 1e-15);
  EXPECT_GT(two.fixed_s, 0);
  EXPECT_EQ(all_reduce(h200, 4, 1e6, 0.65).fixed_s, 0);
}

TEST(Network, experts_that_are_not_spread_send_nothing) {
  const HardwareSpec h200 = *Catalogue::builtin().hardware("h200-sxm");
  for (const unsigned width : {1U, 8U, 16U}) {
    const CollectiveTime time = all_to_all(h200, width, 1, 0, 0.6);
    EXPECT_EQ(time.token_s, 0) << width;
    EXPECT_EQ(time.fixed_s, 0) << width;
  }
}

TEST(Network, a_cards_tiers_are_checked) {
  Catalogue catalogue = Catalogue::builtin();
  const auto with = [&](std::string_view network, std::string_view source = "network") {
    return catalogue.add_text(
        std::string("kind: hardware\nname: c\ngeneration: g\nmemory_bytes: 1e9\n"
                    "memory_bytes_per_s: 1e9\nflops: {bf16: 1e12}\n"
                    "scale_up: {bytes_per_s: 1e9, gpus_max: 8, latency_us: 1}\n") +
            std::string(network) +
            "\nhost_bytes_per_s: 1e9\npower: {tdp_w: 1, idle_w: 1}\nsources: {memory_bytes: m, "
            "memory_bytes_per_s: m, flops: m, scale_up: m, host_bytes_per_s: m, power: m, " +
            std::string(source) + ": m}\n",
        "c.yaml");
  };
  const auto fault = [&](std::string_view network) {
    const auto read = with(network);
    return read ? std::string() : read.error().message;
  };
  EXPECT_TRUE(with("scale_out: {bytes_per_s: 1e9, latency_us: 1}", "scale_out"));
  EXPECT_EQ(fault("network: [{name: r, gpus_max: 16, bytes_per_s: 1e9, latency_us: 1}, "
                  "{name: c, bytes_per_s: 1e9, latency_us: 1}]"),
            "");
  EXPECT_NE(fault("network: []").find("expected a list of tiers"), std::string::npos);
  EXPECT_NE(fault("network: [{name: r, gpus_max: 16, bytes_per_s: 1e9, latency_us: 1}]")
                .find("the last tier has none"),
            std::string::npos);
  EXPECT_NE(fault("network: [{name: r, gpus_max: 8, bytes_per_s: 1e9, latency_us: 1}, "
                  "{name: c, bytes_per_s: 1e9, latency_us: 1}]")
                .find("must be above 8"),
            std::string::npos);
  EXPECT_NE(
      fault("network: [{name: c, bytes_per_s: 1e9, latency_us: 1, share: 2}]").find("at most 1"),
      std::string::npos);
}

}  // namespace
}  // namespace assay::sim
