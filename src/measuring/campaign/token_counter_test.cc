#include "campaign/token_counter.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::campaign {
namespace {

using metrics::at_ms;
using metrics::steady_query;
using metrics::TokenSource;

// Each word is a token, and so is each space-separated mark of the template.
std::unique_ptr<const text::Tokenizer> words() {
  return text::parse_tokenizer_json(R"({"pre_tokenizer":{"type":"WhitespaceSplit"},
                       "model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0}}})",
                                    "t")
      .value();
}

text::ChatFormat chat() {
  auto made = text::ChatFormat::make(
      "{% for m in messages %}[ {{ m.role }} ] {% if m.content == 'no' %}"
      "{{ raise_exception('never') }}{% endif %}{{ m.reasoning_content or '' }} {{ m.content }} "
      "{% for c in m.tool_calls or [] %}call {{ c.function.name }} {{ c.function.arguments.x }} "
      "{% endfor %}end {% endfor %}{% if add_generation_prompt %}[ assistant ]{% endif %}",
      Json::object());
  return std::move(made.value());
}

struct Told {
  explicit Told(TokenCounter& sink) : counter(sink) {}
  TokenCounter& counter;

  void fragment(std::uint32_t index, Category category, std::string_view text) {
    StreamEvent event{};
    event.category = category;
    event.bytes = static_cast<std::uint32_t>(text.size());
    counter.on_stream_event(query(index), event, text);
  }
  void done(std::uint32_t index, Outcome outcome = Outcome::ok) {
    Event event{};
    event.query = query(index);
    event.outcome = outcome;
    event.streamed = true;
    counter.on_done(event, "");
  }
  static Query query(std::uint32_t index) {
    Query out{};
    out.index = index;
    out.sample = index % 2;
    return out;
  }
};

Result<Json> body(const Query& query) {
  return Json::parse(query.sample == 0
                         ? R"({"messages":[{"role":"user","content":"one two three"}]})"
                         : R"({"messages":[{"role":"user","content":"one"}],
                               "chat_template":"{{ messages[0].content }} . ."})");
}

TEST(TokenCounter, counts_replies_as_the_rules_do) {
  const auto tokenizer = words();
  const auto format = chat();
  auto made = TokenCounter::make(*tokenizer, &format, body, {.threads = 2, .phases = {{0, false}}});
  ASSERT_TRUE(made) << made.error().message;
  Told told(**made);
  told.fragment(0, Category::reasoning, "let me");
  told.fragment(0, Category::reasoning, " see");
  told.fragment(0, Category::text, "four words are here");
  told.done(0);
  told.fragment(1, Category::text, "only");
  told.done(1);
  told.fragment(2, Category::text, "x");
  told.fragment(2, Category::tool_call,
                "\x1E"
                "0\x1Fid\x1F"
                "f\x1F{\"x\": 1}");
  told.done(2);
  told.fragment(3, Category::text, "lost");
  told.done(3, Outcome::truncated);
  const metrics::TokenCounts counts = made.value()->finish();
  EXPECT_EQ(counts.size(), 3u);
  // [ user ] one two three end [ assistant ]
  EXPECT_EQ(*counts.find(Told::query(0)), (metrics::TokenCount{10, 7, 5}));
  EXPECT_EQ(*counts.find(Told::query(1)), (metrics::TokenCount{3, 1, 0}));
  EXPECT_EQ(*counts.find(Told::query(2)), (metrics::TokenCount{10, 4, 3}));
  EXPECT_EQ(counts.find(Told::query(3)), nullptr);
  EXPECT_TRUE(counts.source["trouble"].is_null());
}

TEST(TokenCounter, a_reply_that_the_template_refuses_is_counted_as_it_is_and_said) {
  const auto tokenizer = words();
  const auto format = chat();
  auto made = TokenCounter::make(*tokenizer, &format, body, {});
  ASSERT_TRUE(made) << made.error().message;
  Told told(**made);
  told.fragment(0, Category::text, "no");
  told.done(0);
  const metrics::TokenCounts counts = made.value()->finish();
  EXPECT_EQ(counts.find(Told::query(0))->output, 1);
  EXPECT_EQ(counts.source["refused_by_template"].as_int(), 1);
  EXPECT_NE(counts.source["trouble"].as_string().find("never"), std::string_view::npos);
}

// A template that iterates over the arguments, like Hermes' and Qwen's, and refuses no content.
text::ChatFormat strict_chat() {
  return std::move(
      text::ChatFormat::make(
          "{% for m in messages %}{% if m.content is none and not m.tool_calls %}"
          "{{ raise_exception('no content') }}{% endif %}{{ m.content or '' }} "
          "{% for c in m.tool_calls or [] %}{% for k, v in c.function.arguments | items "
          "%}{{ k }} = {{ v }} {% endfor %}{% endfor %}{% endfor %}{{ tool_choice }}",
          Json::object())
          .value());
}

TEST(TokenCounter, arguments_of_earlier_tool_calls_are_objects_to_the_template) {
  const auto tokenizer = words();
  const auto format = strict_chat();
  const auto asked = [](const Query& query) {
    const char* const arguments =
        query.sample == 0 ? R"("{\"a\": 1, \"b\": \"x y\"}")" : R"({"a": 1, "b": "x y"})";
    return Json::parse(R"({"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1",
        "type":"function","function":{"name":"f","arguments":)" +
                       std::string(arguments) + R"(}}]}],"tool_choice":"auto"})");
  };
  auto made = TokenCounter::make(*tokenizer, &format, asked, {});
  ASSERT_TRUE(made) << made.error().message;
  Told told(**made);
  told.done(0);
  told.done(1);
  const metrics::TokenCounts counts = made.value()->finish();
  EXPECT_EQ(counts.find(Told::query(0))->input, 8) << "a = 1 b = x y auto";
  EXPECT_EQ(counts.find(Told::query(1))->input, 8) << "as an object it was always right";
  EXPECT_EQ(counts.source["inputs_refused_by_template"].as_int(), 0);
  EXPECT_TRUE(counts.source["trouble"].is_null());
}

TEST(TokenCounter, a_prompt_that_the_template_refuses_is_counted_as_json_and_said) {
  const auto tokenizer = words();
  const auto format = strict_chat();
  const auto asked = [](const Query& query) {
    return Json::parse(query.sample == 0 ? R"({"messages":[{"role":"assistant","content":null},
                                 {"role":"user","content":"a b c"}],"tools":[{"x":"d e"}]})"
                                         : R"({"messages":[{"role":"user","content":"one two"}]})");
  };
  // Each query has its own prompt, or all share one.
  for (const bool salted : {true, false}) {
    auto made = TokenCounter::make(*tokenizer, &format, asked, {.phases = {{0, salted}}});
    ASSERT_TRUE(made) << made.error().message;
    Told told(**made);
    for (const std::uint32_t i : {0U, 1U, 2U}) told.done(i);
    const metrics::TokenCounts counts = made.value()->finish();
    // {"messages":[…"a · b · c"}],"tools":[{"x":"d · e"}]}
    EXPECT_EQ(counts.find(Told::query(0))->input, 4);
    EXPECT_EQ(counts.find(Told::query(1))->input, 2);
    EXPECT_EQ(counts.source["inputs_refused_by_template"].as_int(), 2) << salted;
    EXPECT_EQ(counts.source["inputs_uncounted"].as_int(), 0);
    EXPECT_NE(counts.source["trouble"].as_string().find("no content"), std::string_view::npos);
  }
}

TEST(TokenCounter, a_prompt_without_a_count_is_told) {
  const auto tokenizer = words();
  const auto format = chat();
  const auto asked = [](const Query& query) -> Result<Json> {
    if (query.sample == 0) return invalid("no such row");
    return Json::parse(R"({"messages":[{"role":"user","content":"one"}]})");
  };
  auto made = TokenCounter::make(*tokenizer, &format, asked, {});
  ASSERT_TRUE(made) << made.error().message;
  Told told(**made);
  told.done(0);
  told.done(1);
  const metrics::TokenCounts counts = made.value()->finish();
  EXPECT_EQ(counts.source["inputs_uncounted"].as_int(), 1);
  metrics::PointFold fold(RunInfo{.phases = {{PhaseKind::performance, "performance", false}}},
                          {.counts = &counts});
  const metrics::Point point = fold.finish({RunState::complete, ""}, 0);
  EXPECT_EQ(point.warnings,
            (std::vector<std::string>{"1 prompts could not be counted (no such row): ISL is of the "
                                      "others"}));
}

TEST(TokenCounter, a_split_character_goes_with_the_second_fragment) {
  const auto tokenizer = words();
  auto made = TokenCounter::make(*tokenizer, nullptr, {}, {});
  ASSERT_TRUE(made) << made.error().message;
  Told told(**made);
  told.fragment(0, Category::text, "a \xC3");
  told.fragment(0, Category::text, "\xA9 b");
  told.done(0);
  const metrics::TokenCounts counts = made.value()->finish();
  EXPECT_EQ(*counts.find(Told::query(0)), (metrics::TokenCount{-1, 3, 2}));
}

TEST(TokenCounter, batches_and_threads_change_nothing) {
  const auto tokenizer = words();
  const auto format = chat();
  std::vector<metrics::TokenCounts> all;
  for (const unsigned threads : {1U, 3U}) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{1} << 20}) {
      auto made =
          TokenCounter::make(*tokenizer, &format, body,
                             {.threads = threads, .batch_bytes = bytes, .phases = {{0, false}}});
      ASSERT_TRUE(made) << made.error().message;
      Told told(**made);
      for (std::uint32_t i = 0; i < 50; ++i) {
        for (std::uint32_t k = 0; k < i; ++k) told.fragment(i, Category::text, "w ");
        told.done(i);
      }
      all.push_back(made.value()->finish());
      for (std::uint32_t i = 0; i < 50; ++i) {
        EXPECT_EQ(*all.back().find(Told::query(i)), *all.front().find(Told::query(i))) << i;
        EXPECT_EQ(all.back().find(Told::query(i))->output, static_cast<int>(i));
      }
    }
  }
}

TEST(TokenCounts, are_read_as_they_were_written) {
  const TempFolder folder;
  metrics::TokenCounts counts;
  counts.source.set("tokenizer", "t");
  counts.set(Told::query(7), {1, 2, -1});
  Query last{};
  last.phase = 3;
  last.index = 0xffffffff;
  counts.set(last, {100, 0, 0});
  const auto path = folder.path() / "counts.jsonl";
  ASSERT_TRUE(counts.write(path));
  const auto again = metrics::TokenCounts::read(path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->size(), 2u);
  EXPECT_EQ(*again->find(last), (metrics::TokenCount{100, 0, 0}));
  EXPECT_EQ(again->source["tokenizer"].as_string(), "t");
  for (const char* line :
       {"[0,1,2,3]", "[0,-1,2,3,4]", "[70000,1,2,3,4]", "{}", "[0,1,2,3,4e99]"}) {
    ASSERT_TRUE(write_file_atomic(
        path, "{\"format\":\"assay-token-counts\",\"version\":1}\n" + std::string(line) + "\n"));
    const auto broken = metrics::TokenCounts::read(path);
    ASSERT_FALSE(broken) << line;
    EXPECT_NE(broken.error().message.find("counts.jsonl:2"), std::string::npos);
  }
}

TEST(PointFold, takes_the_tokenizers_counts_before_the_servers) {
  metrics::TokenCounts counts;
  counts.source.set("tokenizer", "t");
  counts.set(Told::query(0), {11, 21, 20});
  metrics::PointFold fold(RunInfo{.phases = {{PhaseKind::performance, "performance", false}}},
                          {.counts = &counts});
  const Query query = Told::query(0);
  fold.on_sent(query, Instant{0}, Instant{0});
  StreamEvent fragment{.category = Category::text, .arrival = Instant{100}, .read = Instant{100}};
  fold.on_stream_event(query, fragment, "a");
  fragment.arrival = fragment.read = Instant{200};
  fold.on_stream_event(query, fragment, "b");
  Event event{.query = query, .streamed = true};
  event.due = event.sent = Instant{0};
  event.first_token = Instant{100};
  event.done = Instant{2100};
  event.fragments = 2;
  event.usage = {1000, 1000, -1, -1};
  fold.on_done(event, "");
  const metrics::Point point = fold.finish({RunState::complete, ""});
  EXPECT_EQ(point.tokens.source, TokenSource::tokenizer);
  EXPECT_EQ(point.tokens.output, 21);
  EXPECT_EQ(point.isl.total_whole, 11);
  EXPECT_DOUBLE_EQ(point.arrival.tpot.mean, 100);
  EXPECT_FALSE(point.tokens.first_fragment_taken_for_one);
}

TEST(PointFold, TheSteadyWindowHasTheTokenizersCountsToo) {
  constexpr std::uint32_t kRows = 8;
  metrics::TokenCounts counts;
  RunInfo info{.phases = {{PhaseKind::performance, "performance", false}}};
  info.facts = Json().set("steady_state", Json().set("super_pass", kRows).set("window_min_s", 1));
  for (std::uint32_t i = 0; i < 8 * kRows; ++i) {
    counts.set(Query{.index = i}, {.input = 30, .output = 10, .after_first = 9});
  }
  const auto window_of = [&](const metrics::TokenCounts* given) {
    metrics::PointFold fold(info, {.counts = given});
    fold.on_phase({0, PhaseStep::started, at_ms(0)});
    for (std::uint32_t i = 0; i < 8 * kRows; ++i) {
      tell(steady_query(0, i, 100 * i, 20, 10, 4), fold);
    }
    fold.on_phase({0, PhaseStep::drained, at_ms(100 * 8 * kRows)});
    return fold.finish({RunState::complete, ""}).steady;
  };
  const auto said = window_of(nullptr);
  const auto counted = window_of(&counts);
  ASSERT_TRUE(said && counted && said->tps && counted->tps);
  EXPECT_NEAR(*counted->tps / *said->tps, 10.0 / 4.0, 1e-9);
  EXPECT_NEAR(said->tpot.percentile(90.0) / counted->tpot.percentile(90.0), 9.0 / 3.0, 1e-9);
}

}  // namespace
}  // namespace assay::campaign
