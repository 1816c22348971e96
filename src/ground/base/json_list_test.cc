#include "base/json_list.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace assay {
namespace {

struct Listed {
  std::string name{};
};

TEST(JsonList, values_stand_in_their_order_and_none_is_an_empty_array) {
  EXPECT_EQ(json_list(std::vector<std::string>{"b", "a"}).dump(), R"(["b","a"])");
  EXPECT_EQ(json_list(std::vector<bool>{true, false}).dump(), "[true,false]");
  EXPECT_EQ(json_list(std::vector<int>{}).dump(), "[]");
}

TEST(JsonList, a_value_is_written_by_a_function_or_a_member) {
  const std::array<Listed, 2> all = {{{"x"}, {"y"}}};
  EXPECT_EQ(json_list(all, &Listed::name).dump(), R"(["x","y"])");
  const auto object = [](const Listed& one) { return Json().set("name", one.name); };
  EXPECT_EQ(json_list(all, object).dump(), R"([{"name":"x"},{"name":"y"}])");
}

}  // namespace
}  // namespace assay
