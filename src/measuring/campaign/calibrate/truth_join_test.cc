#include "campaign/calibrate/truth_join.h"

#include <gtest/gtest.h>

namespace assay::campaign {
namespace {

struct Heard {
  Category category{};
  std::uint32_t bytes = 0;
};

// "category:ms" of each event as it was written; the client's i-th came at i ms.
std::string written(const std::vector<Heard>& heard,
                    const std::vector<endpoint::TruthEvent>& truth) {
  std::vector<StreamEvent> events;
  for (const Heard& one : heard) {
    StreamEvent event;
    event.category = one.category;
    event.bytes = one.bytes;
    event.arrival = Instant{static_cast<std::int64_t>(events.size()) * 1'000'000};
    events.push_back(event);
  }
  std::string out;
  for (const StreamEvent& one : as_written(events, truth)) {
    out += std::string(to_string(one.category)) + ":" + std::to_string(one.arrival.ns / 1'000'000) +
           " ";
  }
  return out;
}

endpoint::TruthEvent wrote(Category category, std::uint16_t tokens) {
  endpoint::TruthEvent out;
  out.category = category;
  out.tokens = tokens;
  return out;
}

TEST(AsWritten, pieces_of_a_sound_are_one_event_again) {
  const std::vector<endpoint::TruthEvent> truth{
      wrote(Category::other, 0), wrote(Category::sound, 1), wrote(Category::sound, 3),
      wrote(Category::sound, 1), wrote(Category::marker, 0)};
  const Heard head{Category::other, 0};
  const Heard end{Category::marker, 0};
  EXPECT_EQ(
      written({head, {Category::sound, 100}, {Category::sound, 300}, {Category::sound, 100}, end},
              truth),
      "other:0 sound:1 sound:2 sound:3 marker:4 ");
  EXPECT_EQ(written({head,
                     {Category::sound, 60},
                     {Category::sound, 40},
                     {Category::sound, 1},
                     {Category::sound, 250},
                     {Category::sound, 49},
                     {Category::sound, 100},
                     end},
                    truth),
            "other:0 sound:2 sound:5 sound:6 marker:7 ");
  // Two that came as one, or bytes that are no whole tokens, stay what they are.
  EXPECT_EQ(written({head, {Category::sound, 400}, {Category::sound, 100}, end}, truth),
            "other:0 sound:1 sound:2 marker:3 ");
  EXPECT_EQ(written({head, {Category::sound, 60}, {Category::sound, 41}, end}, truth),
            "other:0 sound:1 sound:2 marker:3 ");
}

TEST(AsWritten, other_replies_are_not_touched) {
  const std::vector<endpoint::TruthEvent> truth{wrote(Category::text, 1),
                                                wrote(Category::finish, 0)};
  EXPECT_EQ(written({{Category::text, 5}, {Category::text, 5}}, truth), "text:0 text:1 ");
  EXPECT_EQ(written({}, truth), "");
}

}  // namespace
}  // namespace assay::campaign
