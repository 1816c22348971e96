#include "meter/query_source.h"

#include <gtest/gtest.h>

namespace assay::meter {
namespace {

TEST(QuerySource, each_series_of_an_instant_query_is_a_meter) {
  const auto read = read_query_answer(
      R"({"status":"success","data":{"resultType":"vector","result":[
          {"metric":{"rack":"1"},"value":[1764000000.5,"412.5"]},
          {"metric":{"rack":"2"},"value":[1764000000.5,"NaN"]},
          {"metric":{},"value":[1764000000.5,"7"]}]}})");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].name, "meter_power_watts");
  EXPECT_EQ((*read)[0].value, 412.5);
  EXPECT_EQ((*read)[0].labels, (observe::Labels{{"label", "rack=1"}}));
  EXPECT_EQ((*read)[1].value, 7);
  const auto scalar = read_query_answer(
      R"({"status":"success","data":{"resultType":"scalar","result":[1764000000.5,"3"]}})");
  EXPECT_EQ(scalar.value().front().value, 3);
}

TEST(QuerySource, an_answer_without_a_value_is_an_error) {
  for (const std::string_view wrong :
       {R"({"status":"error","error":"bad query"})", R"({"status":"success"})", "[]", "no json",
        R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
        R"({"status":"success","data":{"resultType":"vector","result":[]}})",
        R"({"status":"success","data":{"resultType":"vector","result":[{"value":[1]}]}})"}) {
    EXPECT_FALSE(read_query_answer(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace assay::meter
