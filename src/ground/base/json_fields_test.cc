#include "base/json_fields.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace assay {
namespace {

struct Leg {
  std::string name{"?"};
  Duration took{};
};
struct Trip {
  std::uint32_t stops = 0;
  std::int64_t height = 0;
  double share = 0;
  bool late = false;
  std::optional<double> price{};
  Leg first{};
  std::vector<Leg> legs{};
};

constexpr auto kLegFields = [](auto& io, auto& leg) {
  io.field("name", leg.name);
  io.field("took_ns", leg.took);
};
constexpr auto kTripFields = [](auto& io, auto& trip) {
  io.field("stops", trip.stops);
  io.field("height", trip.height);
  io.field("share", trip.share);
  io.field("late", trip.late);
  io.field("price", trip.price);
  io.part("first", trip.first, kLegFields);
  io.list("legs", trip.legs, kLegFields);
};

TEST(JsonFields, members_stand_in_the_order_of_the_description) {
  const Trip trip{.stops = 3,
                  .height = -2,
                  .share = 0.5,
                  .late = true,
                  .first = {.name = "a", .took = {7}},
                  .legs = {{.name = "b", .took = {8}}}};
  EXPECT_EQ(json_of(trip, kTripFields).dump(),
            R"({"stops":3,"height":-2,"share":0.5,"late":true,"price":null,)"
            R"("first":{"name":"a","took_ns":7},"legs":[{"name":"b","took_ns":8}]})");
}

TEST(JsonFields, what_was_written_is_read_back) {
  const Trip trip{.stops = 3,
                  .height = -2,
                  .share = 0.5,
                  .late = true,
                  .price = 1.25,
                  .first = {.name = "a", .took = {7}},
                  .legs = {{.name = "b", .took = {8}}, {.name = "", .took = {-9}}}};
  const Json json = json_of(trip, kTripFields);
  Trip back;
  read_fields(json, back, kTripFields);
  EXPECT_EQ(back.price, 1.25);
  ASSERT_EQ(back.legs.size(), 2U);
  EXPECT_EQ(json_of(back, kTripFields), json);
}

TEST(JsonFields, what_is_missing_or_of_another_kind_leaves_the_field_as_it_was) {
  Trip trip{.stops = 4, .share = 0.25, .late = true, .price = 2.0};
  const auto json = Json::parse(
      R"({"stops":"many","share":null,"late":1,"price":"free","first":[],"legs":[{"took_ns":"x"}]})");
  ASSERT_TRUE(json);
  read_fields(*json, trip, kTripFields);
  EXPECT_EQ(trip.stops, 4U);
  EXPECT_EQ(trip.share, 0.25);
  EXPECT_TRUE(trip.late);
  EXPECT_EQ(trip.price, 2.0);
  EXPECT_EQ(trip.first.name, "?");
  ASSERT_EQ(trip.legs.size(), 1U);
  EXPECT_EQ(trip.legs.front().name, "?");
  EXPECT_EQ(trip.legs.front().took.ns, 0);
}

}  // namespace
}  // namespace assay
