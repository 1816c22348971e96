// The reference client's files that are made from a replay: sample_idx_map.json, events.jsonl.
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "base/testing_golden.h"
#include "base/testing_temp_folder.h"
#include "domain/tool_call.h"
#include "interchange/events_jsonl.h"
#include "interchange/sample_index.h"

namespace assay::interchange {
namespace {

RunInfo small_run() {
  RunInfo info{};
  info.run_id = "r";
  info.run_key = 7;
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", false},
                 {PhaseKind::accuracy, "aime25::gptoss", false}};
  return info;
}

Query query_at(std::uint16_t phase, std::uint32_t index) {
  Query query{};
  query.phase = phase;
  query.index = index;
  query.sample = 100 + index;
  return query;
}

struct Word {
  Category category = Category::text;
  std::string text{};
};

// Reports one query from send to end, an event every millisecond.
void tell_query(EventSink& sink, const Query& query, std::int64_t ms,
                const std::vector<Word>& words, Outcome outcome = Outcome::ok,
                bool streamed = true) {
  const auto at = [](std::int64_t t) { return Instant{t * 1'000'000}; };
  sink.on_sent(query, at(ms), at(ms));
  Event event{};
  event.query = query;
  event.due = event.sent = at(ms);
  for (const Word& word : words) {
    StreamEvent e{};
    e.category = word.category;
    e.bytes = static_cast<std::uint32_t>(word.text.size());
    e.arrival = e.read = at(++ms);
    sink.on_stream_event(query, e, word.text);
  }
  event.done = at(ms + 1);
  event.outcome = outcome;
  event.streamed = streamed;
  event.finish = outcome == Outcome::ok ? FinishReason::stop : FinishReason::none;
  sink.on_done(event, outcome == Outcome::ok ? "" : "HTTP 503: \"busy\"\n");
}

void tell_run(EventSink& sink) {
  sink.on_phase({0, PhaseStep::started, Instant{0}});
  tell_query(sink, query_at(0, 0), 1, {{Category::text, "warm"}});
  sink.on_phase({0, PhaseStep::drained, Instant{9'000'000}});
  sink.on_phase({1, PhaseStep::started, Instant{10'000'000}});
  tell_query(sink, query_at(1, 0), 10,
             {{Category::role, ""},
              {Category::text, "Hel"},
              {Category::text, "lo "},
              {Category::text, "\xc3\xa4\"\n"},
              {Category::usage, ""}});
  tell_query(sink, query_at(1, 1), 20,
             {{Category::reasoning, "hm"},
              {Category::reasoning, ", so"},
              {Category::text, "Yes"},
              {Category::text, "."}});
  std::string call{kToolCallBegins};
  call +=
      "0\x1F"
      "c1\x1F"
      "weather\x1F{\"city\":";
  tell_query(sink, query_at(1, 2), 30,
             {{Category::tool_call, call}, {Category::tool_call, "\"Bern\"}"}});
  tell_query(sink, query_at(1, 3), 40, {{Category::text, "cut"}}, Outcome::http_error);
  tell_query(sink, query_at(1, 4), 50, {});
  sink.on_phase({1, PhaseStep::drained, Instant{60'000'000}});
  sink.on_phase({2, PhaseStep::started, Instant{61'000'000}});
  tell_query(sink, query_at(2, 0), 61, {{Category::text, "42"}});
}

std::string read_text(const std::filesystem::path& path) {
  auto text = read_file(path);
  EXPECT_TRUE(text.has_value()) << text.error().message;
  return text ? *text : std::string();
}

TEST(EventsJsonl, of_a_hand_made_run) {
  const TempFolder folder;
  const auto path = folder.path() / "events.jsonl";
  auto events = EventsJsonl::create(
      path, small_run(),
      {.place = {}, .prompt = [](const Query& query) {
         return EventsJsonl::Prompt{.text = "prompt " + std::to_string(query.sample)};
       }});
  ASSERT_TRUE(events.has_value());
  tell_run(*events);
  EXPECT_FALSE(std::filesystem::exists(path)) << "not before it is whole";
  ASSERT_TRUE(events->close({RunState::interrupted, ""}).has_value());
  expect_golden("record/events.jsonl", read_text(path));
}

// As in the reference client's file: id and turn on every event of a conversation, "" and null
// elsewhere. A conversation's prompt has messages and tools; a cancelled turn is issued without a
// prompt.
TEST(EventsJsonl, of_conversations_every_event_names_its_conversation_and_turn) {
  const TempFolder folder;
  const auto path = folder.path() / "events.jsonl";
  auto events = EventsJsonl::create(
      path, small_run(),
      {.place = [](const Query& query) -> EventsJsonl::Place {
         if (query.phase == 2) return {"session of a row that is replayed nowhere", 0};
         return {"sim_1__repeat_2", static_cast<std::int32_t>(2 * query.index + 1)};
       },
       .prompt =
           [](const Query&) {
             return EventsJsonl::Prompt{
                 .messages = Json::array().push_back(Json().set("role", "user")),
                 .tools = Json::array().push_back(Json().set("type", "function")),
                 .chat_template_kwargs = Json().set("thinking", true),
                 .tool_choice = "auto"};
           }});
  ASSERT_TRUE(events.has_value());
  tell_query(*events, query_at(1, 0), 0, {{Category::text, "a"}, {Category::text, "b"}});
  tell_query(*events, query_at(1, 1), 9, {}, Outcome::http_error);
  Event given_up{};
  given_up.query = query_at(1, 2);
  given_up.outcome = Outcome::cancelled;
  given_up.due = given_up.done = Instant{12'000'000};
  events->on_done(given_up, "TurnAbortedByPriorFailure: prior turn errored: http_error");
  tell_query(*events, query_at(2, 0), 20, {{Category::text, "c"}});
  ASSERT_TRUE(events->close({RunState::complete, ""}).has_value());
  std::ifstream in(path);
  std::vector<std::string> told;
  for (std::string line; std::getline(in, line);) {
    const auto json = Json::parse(line);
    ASSERT_TRUE(json.has_value()) << line;
    told.push_back((*json)["event_type"].dump() + (*json)["conversation_id"].dump() +
                   (*json)["turn"].dump());
    if (told.size() == 1) {
      EXPECT_EQ((*json)["data"].dump(),
                R"(["PromptData",null,null,[{"role":"user"}],[{"type":"function"}],)"
                R"({"thinking":true},null,"auto"])");
    }
    if (told.size() == 8) {
      EXPECT_EQ((*json)["data"].dump(), R"(["PromptData",null,null,null,null,null,null,null])");
    }
  }
  const std::string id = "\"sim_1__repeat_2\"";
  EXPECT_EQ(told, (std::vector<std::string>{
                      "\"sample.issued\"" + id + "1", "\"sample.recv_first\"" + id + "1",
                      "\"sample.recv_non_first\"" + id + "1", "\"sample.complete\"" + id + "1",
                      "\"sample.issued\"" + id + "3", "\"error.generic\"" + id + "3",
                      "\"sample.complete\"" + id + "3", "\"sample.issued\"" + id + "5",
                      "\"error.generic\"" + id + "5", "\"sample.complete\"" + id + "5",
                      R"("sample.issued"""null)", R"("sample.recv_first"""null)",
                      R"("sample.complete"""null)", R"("session.ended"""null)"}));
}

TEST(EventsJsonl, replies_that_are_not_streamed_come_in_one_piece) {
  const TempFolder folder;
  const auto path = folder.path() / "events.jsonl";
  RunInfo info = small_run();
  info.facts.set("streaming", false);
  auto events = EventsJsonl::create(path, info);
  ASSERT_TRUE(events.has_value());
  tell_query(*events, query_at(1, 0), 0,
             {{Category::reasoning, "hm"}, {Category::text, "Yes"}, {Category::text, "."}},
             Outcome::ok, false);
  ASSERT_TRUE(events->close({RunState::complete, ""}).has_value());
  const std::string text = read_text(path);
  EXPECT_EQ(text.find("recv"), std::string::npos);
  EXPECT_NE(text.find(R"(["TextModelOutput","Yes.","hm",null])"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(["PromptData",null,)"), std::string::npos);
}

TEST(EventsJsonl, a_character_that_two_fragments_share_stays_whole) {
  const TempFolder folder;
  const auto path = folder.path() / "events.jsonl";
  auto events = EventsJsonl::create(path, small_run());
  tell_query(*events, query_at(1, 0), 0,
             {{Category::text, "a\xe2\x82"}, {Category::text, "\xac!"}});
  tell_query(*events, query_at(1, 1), 9,
             {{Category::text, "\xff\xff\xff\xff"}, {Category::text, "b"}});
  ASSERT_TRUE(events->close({RunState::complete, ""}).has_value());
  const std::string text = read_text(path);
  EXPECT_NE(text.find("[\"a\",\"\xe2\x82\xac!\"]"), std::string::npos) << text;
  EXPECT_NE(text.find("\",\"b\"]"), std::string::npos) << text;
}

TEST(EventsJsonl, each_line_is_json_with_the_keys_in_their_order) {
  const TempFolder folder;
  const auto path = folder.path() / "events.jsonl";
  auto events = EventsJsonl::create(path, small_run());
  tell_run(*events);
  ASSERT_TRUE(events->close({RunState::complete, ""}).has_value());
  std::ifstream in(path);
  int lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const auto json = Json::parse(line);
    ASSERT_TRUE(json.has_value()) << line;
    const char* const keys[] = {"event_type",      "timestamp_ns", "sample_uuid",
                                "conversation_id", "turn",         "data"};
    for (std::size_t i = 0; i < std::size(keys); ++i) {
      ASSERT_EQ(json->members().at(i).first, keys[i]) << line;
    }
  }
  EXPECT_GT(lines, 20);
}

TEST(EventsJsonl, what_is_not_closed_leaves_nothing) {
  const TempFolder folder;
  {
    auto events = EventsJsonl::create(folder.path() / "events.jsonl", small_run());
    tell_run(*events);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SampleIndex, names_each_query_of_all_but_warm_up) {
  const TempFolder folder;
  SampleIndex index(small_run());
  tell_run(index);
  Event never_sent{};
  never_sent.query = query_at(1, 9);
  never_sent.outcome = Outcome::connect_failed;
  index.on_done(never_sent, "");
  ASSERT_TRUE(index.write(folder.path() / "map.json").has_value());
  const std::string text = read_text(folder.path() / "map.json");
  expect_golden("record/sample_idx_map.json", text);
  const auto json = Json::parse(text);
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->size(), 2u);
  EXPECT_EQ((*json)["performance"].size(), 6u);
  const QueryUuid uuid = query_uuid(7, 2, 0);
  EXPECT_EQ((*json)["aime25::gptoss"][std::string_view(uuid.data(), 32)].as_int(), 100);
}

TEST(SampleIndex, of_a_replay_has_every_turn_by_the_row_of_the_first_pass) {
  const TempFolder folder;
  RunInfo info = small_run();
  info.phases = {{PhaseKind::performance, "performance", false}, {PhaseKind::tail, "tail", false}};
  info.facts.set("rows_of_pass", 101);
  SampleIndex index(info);
  for (const Query& query : {query_at(0, 0), query_at(1, 0), query_at(0, 1), query_at(1, 1)}) {
    index.on_sent(query, Instant{0}, Instant{0});
  }
  ASSERT_TRUE(index.write(folder.path() / "map.json").has_value());
  const auto json = Json::parse(read_text(folder.path() / "map.json"));
  ASSERT_TRUE(json.has_value());
  ASSERT_EQ(json->size(), 1u);
  std::vector<std::int64_t> rows;
  for (const auto& [uuid, row] : (*json)["performance"].members()) rows.push_back(row.as_int());
  EXPECT_EQ(rows, (std::vector<std::int64_t>{100, 100, 0, 0})) << "in the order of issue";
  const QueryUuid uuid = query_uuid(7, 1, 1);
  EXPECT_NE((*json)["performance"].find(std::string_view(uuid.data(), 32)), nullptr);
}

TEST(SampleIndex, phases_without_queries_are_there_and_empty) {
  const TempFolder folder;
  ASSERT_TRUE(SampleIndex(small_run()).write(folder.path() / "map.json").has_value());
  EXPECT_EQ(read_text(folder.path() / "map.json"),
            "{\n  \"performance\": {},\n  \"aime25::gptoss\": {}\n}\n");
}

}  // namespace
}  // namespace assay::interchange
