// events.jsonl in its edge cases: queries that were never sent, phases that were never reported,
// fragments that share characters, tool calls, and the end of a session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/testing_temp_folder.h"
#include "domain/tool_call.h"
#include "interchange/events_jsonl.h"

namespace assay::interchange {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EventsJsonlEdges : public testing::Test {
 protected:
  static RunInfo jsonl_run() {
    RunInfo info{};
    info.run_key = 7;
    info.phases = {{PhaseKind::warmup, "warmup", false},
                   {PhaseKind::performance, "performance", false},
                   {PhaseKind::accuracy, "gsm8k", false},
                   {PhaseKind::tail, "tail", false}};
    return info;
  }

  EventsJsonl make(EventsJsonl::Asked asked = {}) {
    auto made = EventsJsonl::create(path_, jsonl_run(), std::move(asked));
    EXPECT_TRUE(made);
    return std::move(*made);
  }

  // The lines of the closed file, each as "type at data".
  std::vector<std::string> lines(EventsJsonl& events,
                                 const RunEnd& end = {.state = RunState::crashed}) {
    EXPECT_TRUE(events.close(end));
    std::vector<std::string> out;
    const std::string text = read_file(path_).value_or("");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t stop = text.find('\n', at);
      const auto json = Json::parse(std::string_view(text).substr(at, stop - at));
      EXPECT_TRUE(json) << text.substr(at, stop - at);
      std::string line((*json)["event_type"].as_string());
      line += format(" {} ", (*json)["timestamp_ns"].as_int());
      line += (*json)["data"].dump();
      if (json->find("finish_reason") != nullptr) line += (*json)["finish_reason"].dump();
      out.push_back(line);
      at = stop + 1;
    }
    return out;
  }

  static void fragment(EventsJsonl& events, const Query& query, std::int64_t at, Category category,
                       std::string_view text) {
    events.on_stream_event(
        query, {.category = category, .arrival = Instant{at}, .read = Instant{at + 5}}, text);
  }

  static Event end_of(const Query& query, std::int64_t at, Outcome outcome = Outcome::ok) {
    Event event{.query = query, .outcome = outcome, .streamed = true};
    event.sent = Instant{1};
    event.done = Instant{at};
    return event;
  }

  // The output of a completed reply with these fragments.
  std::string output_of(const std::vector<std::pair<Category, std::string>>& fragments,
                        bool streamed = true) {
    EventsJsonl events = make();
    const Query query{.phase = 1};
    for (const auto& [category, text] : fragments) fragment(events, query, 2, category, text);
    Event event = end_of(query, 9);
    event.streamed = streamed;
    events.on_done(event, "");
    return lines(events).back().substr(std::string("sample.complete 9 ").size());
  }

  TempFolder folder_{};
  std::filesystem::path path_ = folder_.path() / "events.jsonl";
};

constexpr const char* kNoPrompt = R"(["PromptData",null,null,null,null,null,null,null])";

TEST_F(EventsJsonlEdges, a_session_starts_once_and_only_measuring_is_tracked) {
  EventsJsonl events = make();
  std::int64_t at = 10;
  for (const std::uint16_t phase : std::vector<std::uint16_t>{0, 1, 2, 3, 9}) {
    for (const PhaseStep step : {PhaseStep::started, PhaseStep::issue_ended, PhaseStep::drained}) {
      events.on_phase({phase, step, Instant{at++}});
    }
  }
  EXPECT_THAT(lines(events),
              ElementsAre("session.started 10 null", "session.start_performance_tracking 13 null",
                          "session.stop_performance_tracking 15 null",
                          "session.start_performance_tracking 22 null",
                          "session.stop_performance_tracking 24 null"))
      << "a phase that the run says nothing of is measured";
}

TEST_F(EventsJsonlEdges, a_session_ends_at_its_last_event_and_a_crashed_one_does_not_end) {
  const auto ends = [this](RunState state) {
    EventsJsonl events = make();
    events.on_sent({.phase = 1}, Instant{}, Instant{50});
    events.on_sent({.index = 1, .phase = 1}, Instant{}, Instant{40});
    auto all = lines(events, {.state = state});
    all.erase(all.begin(), all.begin() + 2);
    return all;
  };
  EXPECT_THAT(ends(RunState::complete), ElementsAre("session.ended 50 null"));
  EXPECT_THAT(ends(RunState::interrupted),
              ElementsAre("session.interrupted 50 null", "session.ended 50 null"));
  EXPECT_THAT(ends(RunState::crashed), IsEmpty());
}

TEST_F(EventsJsonlEdges, a_query_is_issued_when_it_was_sent_and_what_never_went_out_at_its_end) {
  EventsJsonl events = make({.place = {}, .prompt = [](const Query& query) {
                               return EventsJsonl::Prompt{.text = format("p{}", query.index)};
                             }});
  events.on_sent({.index = 0, .phase = 1}, Instant{3}, Instant{5});
  Event refused = end_of({.index = 1, .phase = 1}, 8, Outcome::connect_failed);
  refused.sent = Instant::none();
  events.on_done(refused, "nobody \"listens\"");
  Event given_up = end_of({.index = 2, .phase = 1}, 8, Outcome::cancelled);
  given_up.sent = Instant::none();
  given_up.done = Instant::none();
  events.on_done(given_up, "");
  EXPECT_THAT(
      lines(events),
      ElementsAre(R"(sample.issued 5 ["PromptData","p0",null,null,null,null,null,null])",
                  R"(sample.issued 8 ["PromptData","p1",null,null,null,null,null,null])",
                  R"(error.generic 8 ["ErrorData","connect_failed","nobody \"listens\""])",
                  "sample.complete 8 null", std::string("sample.issued 8 ") + kNoPrompt,
                  R"(error.generic 8 ["ErrorData","cancelled",""])", "sample.complete 8 null"))
      << "an end whose instant nobody knows is of the event before it";
}

TEST_F(EventsJsonlEdges, warm_up_has_no_completion_and_every_other_phase_has) {
  EventsJsonl events = make();
  for (const std::uint16_t phase : std::vector<std::uint16_t>{0, 1, 2, 3}) {
    Event event = end_of({.phase = phase}, 10 + phase);
    event.finish = FinishReason::length;
    events.on_done(event, "");
  }
  const std::string output = R"(["TextModelOutput",[],null,null]"length")";
  EXPECT_THAT(lines(events),
              ElementsAre("sample.complete 11 " + output, "sample.complete 12 " + output,
                          "sample.complete 13 " + output));
}

TEST_F(EventsJsonlEdges, fragments_are_told_at_their_arrival_the_first_by_its_name) {
  EventsJsonl events = make();
  const Query query{.phase = 1};
  fragment(events, query, 3, Category::role, "");
  fragment(events, query, 4, Category::reasoning, "hm");
  fragment(events, query, 5, Category::text, "a");
  fragment(events, query, 6, Category::usage, "");
  fragment(events, query, 7, Category::tool_call, "x");
  EXPECT_THAT(lines(events), ElementsAre("sample.recv_first 4 null", "sample.recv_non_first 5 null",
                                         "sample.recv_non_first 7 null"));
}

TEST_F(EventsJsonlEdges, a_reply_is_its_own_and_is_forgotten_when_it_has_ended) {
  EventsJsonl events = make();
  const Query one{.phase = 1};
  const Query other{.phase = 2};
  fragment(events, one, 2, Category::text, "one");
  fragment(events, other, 3, Category::text, "other");
  events.on_done(end_of(one, 4), "");
  fragment(events, one, 5, Category::text, "again");
  events.on_done(end_of(one, 6), "");
  events.on_done(end_of(other, 7), "");
  EXPECT_THAT(lines(events),
              ElementsAre("sample.recv_first 2 null", "sample.recv_first 3 null",
                          R"(sample.complete 4 ["TextModelOutput",["one"],null,null])",
                          "sample.recv_first 5 null",
                          R"(sample.complete 6 ["TextModelOutput",["again"],null,null])",
                          R"(sample.complete 7 ["TextModelOutput",["other"],null,null])"));
}

TEST_F(EventsJsonlEdges, a_reply_is_first_and_rest_of_what_was_streamed_and_whole_of_the_other) {
  const auto text = Category::text;
  const auto reasoning = Category::reasoning;
  EXPECT_EQ(output_of({}), R"(["TextModelOutput",[],null,null])");
  EXPECT_EQ(output_of({{text, "a"}}), R"(["TextModelOutput",["a"],null,null])");
  EXPECT_EQ(output_of({{text, "a"}, {text, "b"}, {text, "c"}}),
            R"(["TextModelOutput",["a","bc"],null,null])");
  EXPECT_EQ(output_of({{text, ""}, {text, "b"}}), R"(["TextModelOutput",["","b"],null,null])");
  EXPECT_EQ(output_of({{reasoning, "h"}, {reasoning, "m"}, {text, "a"}, {text, "b"}}),
            R"(["TextModelOutput","ab",["h","m"],null])");
  EXPECT_EQ(output_of({{reasoning, "h"}, {reasoning, "m"}, {text, "a"}, {text, "b"}}, false),
            R"(["TextModelOutput","ab","hm",null])");
  EXPECT_EQ(output_of({{text, "a"}, {text, "b"}}, false), R"(["TextModelOutput","ab",null,null])");
}

TEST_F(EventsJsonlEdges, characters_of_two_three_and_four_bytes_are_parted_nowhere) {
  const auto text = Category::text;
  const std::string two = "\xc3\xa4";
  const std::string three = "\xe2\x82\xac";
  const std::string four = "\xf0\x9f\x98\x80";
  for (const std::string& letter : {two, three, four}) {
    for (std::size_t cut = 1; cut < letter.size(); ++cut) {
      EXPECT_EQ(output_of({{text, "a" + letter.substr(0, cut)}, {text, letter.substr(cut) + "b"}}),
                format(R"(["TextModelOutput",["a","{}b"],null,null])", letter))
          << cut;
      EXPECT_EQ(output_of({{text, letter.substr(0, cut)}, {text, letter.substr(cut) + "b"}}),
                format(R"(["TextModelOutput",["","{}b"],null,null])", letter))
          << "a fragment of nothing but a part of a character";
      // Only the fragments after the first are joined.
      EXPECT_EQ(output_of({{text, "a"}, {text, letter.substr(0, cut)}, {text, letter.substr(cut)}}),
                format(R"(["TextModelOutput",["a","{}"],null,null])", letter));
    }
    EXPECT_EQ(output_of({{text, "a" + letter}, {text, "b"}}),
              format(R"(["TextModelOutput",["a{}","b"],null,null])", letter));
  }
}

TEST_F(EventsJsonlEdges, calls_of_tools_stand_each_in_a_list_where_they_were_streamed) {
  const auto call = [](int index, const std::string& id, const std::string& name,
                       const std::string& arguments) {
    return format("{}{}{}{}{}{}{}{}", kToolCallBegins, index, kToolCallField, id, kToolCallField,
                  name, kToolCallField, arguments);
  };
  const auto tools = Category::tool_call;
  const std::string a = R"("id":"c1","type":"function","function":{"name":"f","arguments":"{}"}})";
  const std::string b = R"("id":"c2","type":"function","function":{"name":"g","arguments":"7"}})";
  const std::vector<std::pair<Category, std::string>> calls = {
      {tools, call(0, "c1", "f", "{")}, {tools, "}"}, {tools, call(4, "c2", "g", "7")}};
  EXPECT_EQ(output_of(calls),
            R"(["TextModelOutput",[],null,[[{"index":0,)" + a + R"(],[{"index":4,)" + b + "]]]");
  EXPECT_EQ(output_of(calls, false), R"(["TextModelOutput","",null,[{)" + a + ",{" + b + "]]");
}

TEST_F(EventsJsonlEdges, a_place_in_a_conversation_is_said_from_its_first_turn_on) {
  for (const std::int32_t turn : {0, 1, 2}) {
    EventsJsonl events = make({.place =
                                   [turn](const Query&) {
                                     return EventsJsonl::Place{"talk", turn};
                                   },
                               .prompt = {}});
    events.on_sent({.phase = 1}, {}, {});
    ASSERT_TRUE(events.close({.state = RunState::crashed}));
    const std::string text = *read_file(path_);
    const std::string said = turn == 0 ? R"("conversation_id":"","turn":null,)"
                                       : format(R"("conversation_id":"talk","turn":{},)", turn);
    EXPECT_NE(text.find(said), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace assay::interchange
