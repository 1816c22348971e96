#include "rulebook/power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::rulebook {
namespace {

Json sourced(double watts) {
  return Json()
      .set("value_w", watts)
      .set("source_type", "vendor_spec")
      .set("source", "https://x.example");
}

// One component_sum set of `nodes` nodes; each has these CPUs and accelerators.
Json components(int nodes, int cpus, double cpu_w, int accelerators, double accelerator_w,
                Json scale_up) {
  Json parts;
  parts.set(
      "cpu",
      Json().set("model", "CPU").set("count_per_node", cpus).set("tdp_per_unit", sourced(cpu_w)));
  parts.set("accelerator", Json()
                               .set("model", "GPU")
                               .set("count_per_node", accelerators)
                               .set("tdp_per_unit", sourced(accelerator_w)));
  parts.set("scale_up_network", std::move(scale_up));
  return Json()
      .set("node_set_id", 0)
      .set("system_node_ensemble_id", 0)
      .set("nodes_provisioned", nodes)
      .set("power_method", "component_sum")
      .set("components", std::move(parts));
}

Json file(std::string_view cooling, Json set, Json scale_out = Json().set("present", false)) {
  return Json()
      .set("system_desc_id", "x")
      .set("cooling", cooling)
      .set("node_sets", Json().push_back(std::move(set)))
      .set("scale_out", std::move(scale_out));
}

Json none() { return Json().set("method", "none"); }
Json bandwidth(double terabytes) {
  return Json()
      .set("method", "bandwidth_estimate")
      .set("aggregate_bandwidth_tbps", terabytes)
      .set("energy_per_bit_pj",
           Json().set("value_pj", 5).set("source_type", "mlc_default").set("source", "D.1"));
}

double kilowatts(const Json& power_file) {
  const Power power = compute_power(power_file, {});
  EXPECT_TRUE(power.good()) << power.errors.at(0).pointer << ": " << power.errors.at(0).found;
  return power.provisioned_kw();
}

Json rack(std::string_view method, int nodes, int in_rack, double kw) {
  return Json()
      .set("node_set_id", 0)
      .set("system_node_ensemble_id", 0)
      .set("nodes_provisioned", nodes)
      .set("nodes_in_published_rack", in_rack)
      .set("power_method", method)
      .set("published_power", sourced(kw * 1000));
}

Json fabric(std::string_view cabling, bool counted, int nodes = 10) {
  Json out;
  out.set("present", true)
      .set("cabling", cabling)
      .set("required_bandwidth_tbps", nodes * 8 * 800 / 1000.0);
  out.set(
      "nics",
      Json().set("count_per_node", 8).set("bandwidth_per_nic_gbps", 800).set("counted", counted));
  out.set(
      "switches",
      Json().push_back(Json().set("model", "SN5610").set("count", 2).set("bandwidth_tbps", 51.2)));
  return out;
}

// The rules' own vectors, by their numbers.
TEST(Power, reproduces_the_vectors_of_the_rules) {
  EXPECT_DOUBLE_EQ(kilowatts(file("air", components(1, 2, 350, 8, 1000, none()))), 13.05);
  const Json nine_switches = Json()
                                 .set("method", "declared_tdp")
                                 .set("switch_count", 9)
                                 .set("tdp_per_switch", sourced(2000));
  EXPECT_DOUBLE_EQ(kilowatts(file("liquid", components(1, 36, 350, 72, 1200, nine_switches))),
                   152.10);
  EXPECT_DOUBLE_EQ(kilowatts(file("air", components(1, 2, 350, 4, 1000, none()))), 7.05);
  EXPECT_DOUBLE_EQ(
      compute_power(file("air", components(1, 2, 350, 8, 1100, bandwidth(14.4))), {}).total_w,
      15'114);
  EXPECT_DOUBLE_EQ(kilowatts(file("liquid", components(1, 36, 300, 72, 1400, bandwidth(130)))),
                   151.84);
  const Json seven = Json()
                         .set("method", "declared_tdp")
                         .set("switch_count", 6)
                         .set("tdp_per_switch", sourced(7000));
  EXPECT_DOUBLE_EQ(kilowatts(file("liquid", components(1, 18, 500, 72, 2500, seven))), 300.30);
}

TEST(Power, a_part_of_a_published_rack_counts_by_its_nodes) {
  const Power power = compute_power(file("liquid", rack("node_scaling", 6, 18, 140)), {});
  EXPECT_DOUBLE_EQ(power.provisioned_kw(), 46.67);
  EXPECT_DOUBLE_EQ(point_power_kw(power, {{0, 2}}), 15.56);
  EXPECT_DOUBLE_EQ(point_power_kw(power, {}), 46.67);
}

TEST(Power, two_racks_add_up) {
  Json two = file("air", rack("node_scaling", 5, 8, 120));
  Json second = rack("node_scaling", 3, 8, 96);
  second.set("node_set_id", 1).set("system_node_ensemble_id", 1);
  two.find("node_sets")->push_back(second);
  EXPECT_DOUBLE_EQ(kilowatts(two), 111.00);
}

TEST(Power, switches_are_outside_the_overhead_and_counted_nics_inside) {
  EXPECT_DOUBLE_EQ(
      kilowatts(file("air", rack("published_system", 10, 0, 14.5), fabric("passive", false))),
      146.80);
  EXPECT_DOUBLE_EQ(kilowatts(file("air", rack("published_system", 10, 0, 14.5),
                                  fabric("active_optical", false))),
                   149.16);
  EXPECT_DOUBLE_EQ(kilowatts(file("air", components(10, 2, 350, 8, 1100, bandwidth(14.4)),
                                  fabric("passive", true))),
                   161.94);
}

TEST(Power, a_point_on_part_of_the_nodes_counts_their_share) {
  const Power power = compute_power(file("liquid", rack("published_system", 18, 0, 8.45)), {});
  EXPECT_DOUBLE_EQ(power.provisioned_kw(), 152.10);
  EXPECT_DOUBLE_EQ(point_power_kw(power, {{0, 16}}), 135.20);
}

TEST(Power, a_declared_power_overrides_the_sum) {
  Json declared = file("air", components(1, 2, 350, 8, 1000, none()));
  declared.set("declared_provisioned_power", Json()
                                                 .set("value_kw", 10.5)
                                                 .set("source_type", "publication")
                                                 .set("source", "https://x.example"));
  EXPECT_DOUBLE_EQ(kilowatts(declared), 10.5);
}

TEST(Power, a_part_without_a_figure_takes_the_default_and_says_so) {
  Json set = components(1, 2, 350, 8, 1000, none());
  Json& parts = *set.find("components");
  parts.find("accelerator")->erase("tdp_per_unit");
  parts.find("accelerator")->set("model", "Example GB300");
  const Power power = compute_power(file("air", set), {});
  EXPECT_TRUE(power.good());
  ASSERT_EQ(power.estimated.size(), 1U);
  EXPECT_EQ(power.estimated[0].pointer, "/node_sets/0/components/accelerator/tdp_per_unit");
  EXPECT_DOUBLE_EQ(power.major_w, 700 + 8 * 1400);

  parts.find("accelerator")->set("model", "Unknown");
  EXPECT_FALSE(compute_power(file("air", set), {}).good());
}

TEST(Power, what_is_wrong_is_said_with_its_place) {
  const auto first = [](const Json& power_file) {
    const Power power = compute_power(power_file, Json().set("node_types", Json::array()));
    return power.errors.empty() ? std::string("none") : power.errors[0].pointer;
  };
  const Json good = file("air", components(1, 2, 350, 8, 1000, none()));
  EXPECT_EQ(first(good), "none");
  EXPECT_EQ(first(Json(good).set("cooling", "wind")), "/cooling");
  EXPECT_EQ(first(Json(good).set("node_sets", Json::array())), "/node_sets");
  EXPECT_EQ(first(Json(good).set("provisioned_power_kw", 13.06)), "/provisioned_power_kw");
  EXPECT_EQ(first(Json(good).set("provisioned_power_kw", 13.05)), "none");
  EXPECT_EQ(first(file("air", components(4, 2, 350, 8, 1000, none()))), "/scale_out/present");
  Json no_cables = file("air", rack("published_system", 10, 0, 14.5), fabric("", false));
  EXPECT_EQ(first(no_cables), "/scale_out/cabling");
  Json narrow = file("air", rack("published_system", 40, 0, 14.5), fabric("passive", false, 40));
  EXPECT_EQ(first(narrow), "/scale_out/switches");
  EXPECT_EQ(first(Json(3)), "/cooling");
  EXPECT_EQ(first(file("air", components(10, 2, 350, 8, 1000, none()), fabric("passive", false))),
            "/scale_out/nics/counted");
  EXPECT_EQ(
      first(file(
          "air",
          components(
              1, 2, 350, 8, 1000,
              Json().set("method", "bandwidth_estimate").set("aggregate_bandwidth_tbps", 14.4)))),
      "/node_sets/0/components/scale_up_network/energy_per_bit_pj");
}

// As the official checker has it, also for one node.
TEST(Power, nics_are_counted_where_node_power_is_added_up) {
  const auto errors = [](const Json& power_file) {
    std::vector<std::string> out;
    for (const PowerIssue& issue : compute_power(power_file, {}).errors)
      out.push_back(issue.pointer);
    return out;
  };
  const Json sum = components(1, 2, 350, 8, 1000, none());
  EXPECT_THAT(errors(file("air", sum, fabric("passive", false, 1))),
              testing::ElementsAre("/scale_out/nics/counted"));
  EXPECT_THAT(errors(file("air", sum, fabric("passive", true, 1))), testing::IsEmpty());
  const Json published = rack("published_system", 10, 0, 14.5);
  Json evidence = fabric("passive", true);
  evidence.find("nics")->set("excluded_from_published_power", "");
  EXPECT_THAT(errors(file("air", published, evidence)),
              testing::ElementsAre("/scale_out/nics/counted"));
  evidence.find("nics")->set("excluded_from_published_power", "https://example.org/without-nics");
  const Power with_nics = compute_power(file("air", published, evidence), {});
  EXPECT_TRUE(with_nics.good());
  EXPECT_DOUBLE_EQ(with_nics.major_w, 10 * 8 * kDefaultNicW);
  for (const char* const part : {"required_bandwidth_tbps", "nics", "switches"}) {
    Json lacking = fabric("passive", false);
    lacking.erase(part);
    EXPECT_THAT(errors(file("air", published, lacking)),
                testing::Contains(std::string("/scale_out/") + part));
  }
  Json more = fabric("passive", false);
  more.set("required_bandwidth_tbps", 70);
  EXPECT_EQ(compute_power(file("air", published, more), {}).warnings.size(), 1U);
}

TEST(Power, a_set_that_a_point_does_not_name_is_used_as_a_whole) {
  Json two = file("air", rack("published_system", 10, 0, 10));
  Json second = rack("published_system", 10, 0, 5);
  second.set("node_set_id", 1).set("system_node_ensemble_id", 1);
  two.find("node_sets")->push_back(second);
  const Power power = compute_power(two, {});
  EXPECT_DOUBLE_EQ(point_power_kw(power, {{0, 5}}), 100.0);
  EXPECT_DOUBLE_EQ(point_power_kw(power, {{0, 5}, {1, 2}}), 60.0);
}

TEST(Power, names_are_matched_as_the_official_checker_matches_them) {
  EXPECT_EQ(default_accelerator_w("TPUv7"), 1000);
  EXPECT_EQ(default_accelerator_w("Google TPU v7 (Ironwood)"), 1000);
  EXPECT_EQ(default_accelerator_w("GB-300"), 1400);
  EXPECT_EQ(default_accelerator_w("AWS Trainium"), std::nullopt);
  EXPECT_EQ(default_accelerator_w("trn3 / TN3"), 700);
  EXPECT_EQ(default_switch_w("SN6810LD", false), 1960);
  EXPECT_EQ(default_cpu_w("Ampere Altra Max 128 core", 0), 300);
  EXPECT_EQ(default_cpu_w("x86_64, 32core", 0), 350);
  EXPECT_EQ(default_cpu_w("Vera", 88), std::nullopt);
  EXPECT_EQ(default_cpu_w("Charm CPU", 64), std::nullopt) << "no arm in it";
}

TEST(Power, defaults_are_found_by_the_longest_word) {
  EXPECT_EQ(default_accelerator_w("Example GB300 NVL72"), 1400);
  EXPECT_EQ(default_accelerator_w("Example B300"), 1100);
  EXPECT_EQ(default_accelerator_w("H900"), std::nullopt);
  EXPECT_EQ(default_cpu_w("Xeon 96-core", 0), 500);
  EXPECT_EQ(default_cpu_w("Grace", 72), 300);
  EXPECT_EQ(default_cpu_w("Neoverse", 192), std::nullopt);
  EXPECT_EQ(default_switch_w("SN4700", true), std::nullopt);
  EXPECT_EQ(cooling_fraction("Liquid and air"), 0.30);
}

}  // namespace
}  // namespace assay::rulebook
