#include "score/picture/boxes_3d.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace assay::score {
namespace {

Box3d unit_cube(float x, float turn = 0) {
  return {.location = {x, 1, 5}, .dimensions = {1, 1, 1}, .rotation_y = turn};
}

TEST(Boxes3d, an_overlap_is_of_volumes_whatever_the_turn) {
  constexpr auto kPi = std::numbers::pi_v<float>;
  EXPECT_NEAR(box_overlap(unit_cube(0), unit_cube(0)), 1, 1e-6);
  EXPECT_NEAR(box_overlap(unit_cube(0), unit_cube(0.5F)), 1.0 / 3, 1e-6);
  EXPECT_NEAR(box_overlap(unit_cube(0), unit_cube(0, kPi / 2)), 1, 1e-6);
  const double octagon = 2 * (std::numbers::sqrt2 - 1);
  EXPECT_NEAR(box_overlap(unit_cube(0), unit_cube(0, kPi / 4)), octagon / (2 - octagon), 1e-6);
  EXPECT_EQ(box_overlap(unit_cube(0), unit_cube(2)), 0);
  Box3d above = unit_cube(0);
  above.location[1] -= 0.75F;  // y points down, and names the bottom
  EXPECT_NEAR(box_overlap(unit_cube(0), above), 0.25 / 1.75, 1e-6);
  // A long box turned the other way: only one sense of rotation meets it.
  const Box3d lath{.location = {0, 1, 0}, .dimensions = {4, 1, 0.2F}, .rotation_y = 0.5F};
  Box3d other = lath;
  other.rotation_y = -0.5F;
  EXPECT_LT(box_overlap(lath, other), 0.2);
  const Box3d flat{.location = {0, 1, 5}, .dimensions = {0, 1, 1}};
  EXPECT_EQ(box_overlap(flat, flat), 0);
}

constexpr std::size_t kCar = 2;

std::array<double, 3> precisions_of(std::vector<TrueBox> truths, std::vector<FoundBox> found) {
  const BoxFrame frame(std::move(truths), std::move(found));
  const BoxFrame* const one = &frame;
  return box_precisions({&one, 1});
}

TEST(Boxes3d, precision_is_of_the_points_that_the_original_takes) {
  const TrueBox car{.box = unit_cube(0), .box_class = kCar};
  const FoundBox right{.box = unit_cube(0), .box_class = kCar, .score = 0.9};
  // One right detection is one point of eleven.
  EXPECT_NEAR(precisions_of({car}, {right})[kCar], 100.0 / 11, 1e-9);
  EXPECT_EQ(precisions_of({car}, {right})[0], 0);
  FoundBox wrong{.box = unit_cube(9), .box_class = kCar, .score = 0.95};
  EXPECT_NEAR(precisions_of({car}, {right, wrong})[kCar], 50.0 / 11, 1e-9);
  wrong.score = 0.1;  // below the only threshold
  EXPECT_NEAR(precisions_of({car}, {right, wrong})[kCar], 100.0 / 11, 1e-9);
  wrong.score = 0.95;
  wrong.is_upside_down = true;  // counts nowhere
  EXPECT_NEAR(precisions_of({car}, {right, wrong})[kCar], 100.0 / 11, 1e-9);
  EXPECT_EQ(precisions_of({car}, {})[kCar], 0);
  EXPECT_EQ(precisions_of({}, {right})[kCar], 0);
}

TEST(Boxes3d, what_is_hard_or_near_a_class_is_neither_missed_nor_found) {
  const TrueBox car{.box = unit_cube(0), .box_class = kCar};
  const TrueBox van{.box = unit_cube(9), .box_class = kCar, .is_near_class = true};
  const FoundBox right{.box = unit_cube(0), .box_class = kCar, .score = 0.9};
  const FoundBox at_van{.box = unit_cube(9), .box_class = kCar, .score = 0.95};
  EXPECT_NEAR(precisions_of({car, van}, {right, at_van})[kCar], 100.0 / 11, 1e-9);
  EXPECT_NEAR(precisions_of({car}, {right, at_van})[kCar], 50.0 / 11, 1e-9);
  // A walker needs half of the volume, a car seven tenths.
  const TrueBox walker{.box = unit_cube(0), .box_class = 0};
  EXPECT_NEAR(precisions_of({walker}, {{.box = unit_cube(0.25F), .box_class = 0, .score = 1}})[0],
              100.0 / 11, 1e-9);
  EXPECT_EQ(precisions_of({car}, {{.box = unit_cube(0.25F), .box_class = kCar, .score = 1}})[kCar],
            0);
}

}  // namespace
}  // namespace assay::score
