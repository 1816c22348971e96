#include "base/yaml.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace assay::yaml {
namespace {

std::string error_of(std::string_view text, const Limits& limits = {}) {
  const auto node = parse(text, limits);
  return node ? "" : node.error().message;
}

TEST(Yaml, scalars_are_what_yaml_1_1_says_unless_they_are_quoted) {
  const auto node = parse("{a: 1, b: '1', c: yes, d: 2.5, e: ~, f: x, g: +7}");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->to_json().dump(), R"({"a":1,"b":"1","c":true,"d":2.5,"e":null,"f":"x","g":7})");
}

TEST(Yaml, a_merge_key_gives_way_to_the_maps_own_keys) {
  const auto node = parse("base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\n");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->to_json()["own"]["x"].as_int(), 1);
  EXPECT_EQ(node->to_json()["own"]["y"].as_int(), 3);
}

TEST(Yaml, a_key_given_twice_is_an_error_with_both_lines_or_the_last_one_counts) {
  constexpr std::string_view kTwice = "a: 1\nb: 2\na: 3\n";
  EXPECT_EQ(error_of(kTwice), "3: 'a' is given twice; the first is on line 1");
  const auto node = parse(kTwice, {.keys_once = false});
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->to_json().dump(), R"({"a":3,"b":2})");
}

TEST(Yaml, every_limit_holds_at_its_number) {
  EXPECT_EQ(error_of("a: 1", {.bytes = 4}), "");
  EXPECT_EQ(error_of("a: 1", {.bytes = 3}), "1: larger than 3 bytes");
  EXPECT_EQ(error_of("[1, 2]", {.nodes = 3}), "");
  EXPECT_EQ(error_of("[1, 2]", {.nodes = 2}), "1: more than 2 values");
  EXPECT_EQ(error_of("{a: 1, b: 2}", {.keys = 2}), "");
  EXPECT_EQ(error_of("{a: 1, b: 2}", {.keys = 1}), "1: more than 1 keys in one map");
  EXPECT_EQ(error_of("[[1]]", {.depth = 2}), "");
  EXPECT_EQ(error_of("[[1]]", {.depth = 1}), "1: nested more than 1 deep");
}

TEST(Yaml, an_alias_counts_as_what_it_stands_for) {
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += format("a{}: &a{} [*a{}, *a{}, *a{}, *a{}, *a{}, *a{}, *a{}, *a{}]\n", i, i, i - 1,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
  }
  EXPECT_NE(error_of(bomb).find("more than 1000000 values"), std::string::npos) << error_of(bomb);
}

TEST(Yaml, what_is_written_is_read_as_it_was) {
  const Json json = Json()
                        .set("plain", "word")
                        .set("number_like", "12")
                        .set("switch_like", "yes")
                        .set("list", Json::array().push_back(1).push_back(Json().set("k", "v: w")))
                        .set("lines", "two\nlines")
                        .set("nothing", Json());
  const auto node = parse(write(json));
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->to_json().dump(), json.dump());
}

}  // namespace
}  // namespace assay::yaml
