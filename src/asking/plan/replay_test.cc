#include "plan/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::plan {
namespace {

Dataset two_conversations(bool system) {
  Dataset out{.name = "c"};
  for (const char* id : {"a", "b"}) {
    Conversation one;
    for (int turn = 0; turn < 2; ++turn) {
      Json messages = Json::array();
      if (system) messages.push_back(Json().set("role", "system").set("content", "be brief"));
      messages.push_back(Json().set("role", "user").set("content", "x"));
      one.turns.push_back({static_cast<std::uint32_t>(out.samples.size()), 2_s});
      out.samples.push_back({.messages = std::move(messages),
                             .columns = Json().set("conversation_id", id),
                             .session = id});
    }
    out.conversations.push_back(std::move(one));
  }
  return out;
}

TEST(Replay, ARepeatIsMarkedAndNamedAsTheReferenceClientDoes) {
  Dataset data = two_conversations(true);
  AgenticConfig config;
  config.enable_salt = true;
  config.num_trajectories_to_issue = 3;
  const auto planned = make_trajectories(config, data);
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_EQ(planned->size(), 3U);
  EXPECT_EQ(data.samples.size(), 6U);
  const auto sample = [&](std::size_t trajectory) -> const Sample& {
    return data.samples[(*planned)[trajectory].turns[1].sample];
  };
  // hashlib.blake2b(…, digest_size=2) of b"1", b"2" and b"a".
  const auto system = [&](std::size_t k) { return sample(k).messages[0]["content"].as_string(); };
  EXPECT_EQ(system(0), "[salt: 4461]\n\nbe brief\n\n[salt: 1e1b]");
  EXPECT_EQ(system(2), "[salt: ba75]\n\nbe brief\n\n[salt: 1e1b]");
  EXPECT_NE(system(0), system(1));
  EXPECT_EQ(sample(1).session, "b");
  EXPECT_EQ(sample(2).session, "a__repeat_2");
  EXPECT_EQ(sample(1).columns["conversation_id"].as_string(), "b");
  EXPECT_EQ(sample(2).columns["conversation_id"].as_string(), "a__repeat_2") << "for the scorer";
  EXPECT_EQ(data.rows_of_pass, 4U);
  EXPECT_EQ((*planned)[0].turns[1].delay, Duration{}) << "inject_tool_delay is off";
}

TEST(Replay, ASaltWithoutASystemMessageIsAnErrorBeforeAnyRequest) {
  Dataset data = two_conversations(false);
  AgenticConfig config;
  config.enable_salt = true;
  const auto planned = make_trajectories(config, data);
  ASSERT_FALSE(planned);
  EXPECT_THAT(planned.error().message, testing::HasSubstr("'a' has no system message"));
}

}  // namespace
}  // namespace assay::plan
