// PlugTarget against small programs of the shell. Each test waits for what the program writes or
// for its end, and none for time to pass.
#include "plug/plug_target.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "domain/quiet_sink.h"

namespace assay::plug {
namespace {

// Reads each query's number into $n.
constexpr std::string_view kLoop = "while read -r l; do n=${l#*:}; n=${n%%,*}; ";

class Heard final : public QuietSink {
 public:
  void on_sent(const Query&, Instant, Instant) override { ++sent; }
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view words) override {
    events.push_back(event);
    text += words;
  }
  void on_done(const Event& event, std::string_view why) override {
    done.push_back(event);
    details.emplace_back(why);
  }
  int sent = 0;
  std::vector<StreamEvent> events{};
  std::string text{};
  std::vector<Event> done{};
  std::vector<std::string> details{};
};

class PlugTest : public testing::Test {
 protected:
  Result<void> open(std::string_view program, Duration query_timeout = Duration::max()) {
    Endpoints endpoints{.urls = {std::string(kScheme) + std::string(program)}};
    endpoints.query_timeout = query_timeout;
    plan_.phases.push_back({.kind = PhaseKind::performance, .name = "performance"});
    std::vector<PlannedDataset> datasets(1);
    datasets[0].dataset.samples = {Sample{.prompt = "say \"hi\"\n"}};
    datasets[0].generation.model = "m";
    auto bodies =
        protocol::PreparedBodies::make(plan_, datasets, without_programs(endpoints)).value();
    auto made = PlugTarget::create(
        plan_, std::make_shared<const protocol::PreparedBodies>(std::move(bodies)), endpoints, {},
        clock_);
    if (!made) return made.error();
    target_ = *std::move(made);
    return {};
  }
  void ask(std::uint32_t index) { target_->submit(Query{.index = index}, clock_.now(), heard_); }
  // Polls until this many queries have ended.
  void await(std::size_t queries) {
    while (heard_.done.size() < queries) target_->poll(clock_.now() + 60_s, heard_);
  }

  Plan plan_{};
  OsClock clock_{};
  std::unique_ptr<PlugTarget> target_{};
  Heard heard_{};
};

TEST_F(PlugTest, a_query_is_a_line_and_its_reply_are_lines) {
  const auto opened = open(format(
      "printf '{{\"ready\":true,\"name\":\"t\"}}\\n'; {}"
      "printf "
      "'{{\"query\":%s,\"reasoning\":\"r\"}}\\n{{\"query\":%s,\"text\":\"ab\"}}\\n{{\"query\":%s,"
      "\"text\":\"c\",\"done\":true,\"finish\":\"stop\",\"usage\":{{\"completion_tokens\":3}}}}\\n'"
      " "
      "$n $n $n; done",
      kLoop));
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(target_->name(), "t");
  for (std::uint32_t i = 0; i < 3; ++i) ask(i);
  EXPECT_EQ(target_->in_flight(), 3U);
  await(3);
  EXPECT_EQ(heard_.sent, 3);
  EXPECT_EQ(heard_.text, "rabcrabcrabc");
  for (const Event& event : heard_.done) {
    EXPECT_EQ(event.outcome, Outcome::ok);
    EXPECT_EQ(event.fragments, 3U);
    EXPECT_EQ(event.output_bytes, 4U);
    EXPECT_EQ(event.usage.completion_tokens, 3);
    EXPECT_EQ(event.finish, FinishReason::stop);
    EXPECT_TRUE(event.streamed && event.done_marker);
    EXPECT_GE(event.first_token, event.sent);
    EXPECT_GE(event.first_visible, event.first_token);
    EXPECT_GE(event.done, event.first_visible);
    // It came after it was asked for.
    EXPECT_LE(event.first_token_uncertainty, event.first_token - event.sent);
  }
  EXPECT_EQ(heard_.events[0].category, Category::reasoning);
  EXPECT_EQ(target_->in_flight(), 0U);
  EXPECT_EQ(target_->starts(), 1U);
}

TEST_F(PlugTest, the_request_is_the_body_that_the_kind_of_api_would_send) {
  // It answers with its own line, cut behind the number.
  ASSERT_TRUE(
      open(format("printf '{{\"ready\":true}}\\n'; {}r=${{l#*request\\\":}}; r=${{r%\\}}}}; "
                  "printf '{{\"query\":%s,\"done\":true,\"error\":%s}}\\n' \"$n\" \"$r\"; done",
                  kLoop)));
  ask(0);
  await(1);
  EXPECT_EQ(heard_.done[0].outcome, Outcome::stream_error);
  const Json request = Json::parse(heard_.details[0]).value();
  EXPECT_EQ(request["model"].as_string(), "m");
  EXPECT_EQ(request["messages"][0]["content"].as_string(), "say \"hi\"\n");
}

TEST_F(PlugTest, a_program_that_ends_fails_its_queries_and_is_started_again) {
  ASSERT_TRUE(open("printf '{\"ready\":true}\\n'; read -r l; exit 3"));
  ask(0);
  await(1);
  EXPECT_EQ(heard_.done[0].outcome, Outcome::reset);
  EXPECT_EQ(heard_.details[0], "the program ended with exit code 3");
  EXPECT_EQ(target_->starts(), 1U);
  for (std::uint32_t i = 1; i < 6; ++i) {
    ask(i);
    await(i + 1);
  }
  // Not for ever.
  EXPECT_EQ(target_->starts(), static_cast<std::uint64_t>(kStartsMax));
  EXPECT_EQ(heard_.done[5].outcome, Outcome::connect_failed);
  EXPECT_EQ(heard_.details[5], "the program ended 3 times in a row without a reply");
}

// The first time it is ready, and not the second: a mark tells it which one it is.
TEST_F(PlugTest, a_program_that_is_started_again_is_not_waited_for_by_the_loop) {
  const TempFolder folder;
  const std::string mark = (folder.path() / "mark").string();
  ASSERT_TRUE(
      open(format("if [ -e {0} ]; then exit 5; fi; touch {0}; "
                  "printf '{{\"ready\":true}}\\n'; read -r l; exit 3",
                  mark)));
  ask(0);
  await(1);
  ask(1);
  EXPECT_EQ(target_->in_flight(), 1U) << "it waits for the program, which is being started";
  EXPECT_EQ(heard_.sent, 1);
  await(2);
  EXPECT_EQ(heard_.done[1].outcome, Outcome::connect_failed);
  EXPECT_EQ(heard_.details[1], "the program ended with exit code 5 before it was ready");
  EXPECT_FALSE(heard_.done[1].sent.known());
}

TEST_F(PlugTest, a_line_that_is_none_is_named_and_ends_the_program) {
  ASSERT_TRUE(open("printf '{\"ready\":true}\\n'; read -r l; echo Loading; cat > /dev/null"));
  ask(0);
  ask(1);
  await(2);
  for (const int i : {0, 1}) {
    EXPECT_EQ(heard_.done[static_cast<std::size_t>(i)].outcome, Outcome::bad_reply);
    EXPECT_EQ(heard_.details[static_cast<std::size_t>(i)],
              "the program wrote a line with no JSON object: Loading");
  }
}

TEST_F(PlugTest, a_silent_program_is_timed_out) {
  ASSERT_TRUE(open("printf '{\"ready\":true}\\n'; cat > /dev/null", 1_ms));
  ask(0);
  await(1);
  EXPECT_EQ(heard_.done[0].outcome, Outcome::timed_out);
  EXPECT_GE(heard_.done[0].done - heard_.done[0].sent, 1_ms);
}

TEST_F(PlugTest, queries_in_flight_are_cancelled_once) {
  ASSERT_TRUE(open("printf '{\"ready\":true}\\n'; cat > /dev/null"));
  ask(0);
  ask(1);
  target_->cancel_all(heard_);
  ASSERT_EQ(heard_.done.size(), 2U);
  EXPECT_EQ(heard_.done[0].outcome, Outcome::cancelled);
  EXPECT_EQ(target_->in_flight(), 0U);
}

TEST_F(PlugTest, a_program_that_is_not_ready_is_refused_with_the_reason) {
  const auto why = [this](std::string_view program) {
    const auto opened = open(program);
    return opened ? std::string("opened") : opened.error().message;
  };
  EXPECT_NE(why("exit 4").find("ended with exit code 4 before it was ready"), std::string::npos);
  EXPECT_NE(why("echo hello").find("wrote a first line that is no JSON object: hello"),
            std::string::npos);
  EXPECT_NE(why("echo '{\"query\":1,\"text\":\"a\"}'").find("answered before it was ready"),
            std::string::npos);
}

TEST(PlugEndpoints, a_program_is_told_from_a_url) {
  EXPECT_EQ(command_of("program:python3 x.py"), "python3 x.py");
  EXPECT_EQ(command_of("http://program:80"), "");
  const Endpoints endpoints{.urls = {"program:x"}};
  EXPECT_TRUE(is_program(endpoints));
  EXPECT_FALSE(is_program(without_programs(endpoints)));
  EXPECT_FALSE(is_program(Endpoints{.urls = {"http://h:1"}}));
}

}  // namespace
}  // namespace assay::plug
