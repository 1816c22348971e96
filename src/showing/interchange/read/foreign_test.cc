#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/enum_name.h"
#include "base/testing_temp_folder.h"
#include "domain/quiet_sink.h"
#include "interchange/read/foreign_facts.h"
#include "interchange/read/foreign_run.h"
#include "record/event_log.h"

namespace assay::interchange {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kVllm = R"({"model_id": "m", "backend": "openai-chat",
  "request_rate": "inf", "max_concurrency": 2, "duration": 1.0, "completed": 1, "failed": 1,
  "my_note": "kept", "queue_times": [0.1, 0.2], "mean_ttft_ms": 20,
  "start_times": [100.0, 100.5], "input_lens": [7, 8], "output_lens": [3, 0],
  "ttfts": [0.020, 0.0], "itls": [[0.010, 0.015], []], "generated_texts": ["abc", ""],
  "errors": ["", "Bad Gateway"]})";

TEST(ForeignRun, vllm_s_gaps_become_fragments) {
  const auto run = read_foreign_run(ForeignFormat::vllm, kVllm);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->replies.size(), 2U);
  const ForeignReply& good = run->replies[0];
  ASSERT_EQ(good.events.size(), 3U);
  EXPECT_EQ(good.events[0].arrival - good.event.sent, 20_ms);
  EXPECT_EQ(good.events[2].arrival - good.event.sent, 45_ms);
  EXPECT_EQ(good.event.done, good.events[2].arrival);
  EXPECT_EQ(good.event.usage.completion_tokens, 3);
  EXPECT_EQ(good.text, "abc");
  EXPECT_EQ(run->replies[1].event.outcome, Outcome::bad_reply);
  EXPECT_EQ(run->replies[1].detail, "Bad Gateway");
  const Json& fields = run->info.facts["imported"]["fields"];
  EXPECT_EQ(fields["my_note"].as_string(), "kept");
  EXPECT_EQ(fields["queue_times"].size(), 2U);
  EXPECT_EQ(fields.find("mean_ttft_ms"), nullptr);
  EXPECT_EQ(run->info.facts["run_config"]["load_pattern"]["target_concurrency"].as_int(), 2);
  EXPECT_EQ(run->info.facts["api"].as_string(), "openai") << "as a run of ours calls it";
}

TEST(ForeignRun, a_summary_without_details_says_how_to_get_them) {
  const auto run = read_vllm_json(R"({"request_throughput": 1, "ttfts": []})");
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("--save-detailed"));
  EXPECT_FALSE(read_vllm_json(R"({"start_times": [1], "ttfts": [1, 2], "itls": [[]],
                                  "input_lens": [1], "output_lens": [1]})"));
}

// Each number of a file in turn is replaced by an impossible value: the reader refuses it, names
// its place, and never reads it as 0.
TEST(ForeignRun, numbers_that_cannot_be_true_are_refused_where_they_stand) {
  const auto with = [](std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::string vllm(kVllm);
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"[0.020", "[-1"},
      {"[0.020", "[9e18"},
      {"[0.020", "[\"x\""},
      {"[0.020", "[null"},
      {"[0.020", "[[]"},
      {"[[0.010", "[[-0.5"},
      {"[[0.010", "[[\"x\""},
      {"[[0.010", "[[9e99"},
      {"[[0.010, 0.015]", "[7"},
      {"[100.0", "[-100.0"},
      {"[100.0", "[1e300"},
      {"[100.0", "[true"},
      {"\"input_lens\": [7", "\"input_lens\": [-7"},
      {"\"input_lens\": [7", "\"input_lens\": [99999999999999999999"},
      {"\"output_lens\": [3", "\"output_lens\": [\"3\""},
      {"\"output_lens\": [3", "\"output_lens\": [4294967299"}};
  for (const auto& [from, to] : bad) {
    const auto run = read_foreign_run(ForeignFormat::vllm, with(vllm, from, to));
    ASSERT_FALSE(run) << to;
    EXPECT_EQ(run.error().code, Code::invalid) << to;
    EXPECT_THAT(run.error().message, testing::AnyOf(HasSubstr("[0]"), HasSubstr("itls"))) << to;
  }
}

// A warm-up, a good request and a refused one.
const std::string kAiperf =
    R"({"metadata": {"request_start_ns": 1000000000, "request_end_ns": 1050000000,)"
    R"( "benchmark_phase": "warmup"}, "metrics": {"request_latency": {"value": 50, "unit": "ms"}},)"
    R"( "error": null})"
    "\n"
    R"({"metadata": {"request_start_ns": 1100000000, "request_end_ns": 1160000000,)"
    R"( "benchmark_phase": "profiling"}, "metrics": {"time_to_first_token": {"value": 20,)"
    R"( "unit": "ms"}, "inter_chunk_latency": {"value": [10, 20], "unit": "ms"},)"
    R"( "request_latency": {"value": 50, "unit": "ms"}, "input_sequence_length": {"value": 9,)"
    R"( "unit": "tokens"}, "output_sequence_length": {"value": 4, "unit": "tokens"}},)"
    R"( "error": null})"
    "\n\n"
    R"({"metadata": {"request_start_ns": 1200000000, "request_end_ns": 1210000000,)"
    R"( "benchmark_phase": "profiling"}, "metrics": {},)"
    R"( "error": {"code": 503, "type": "x", "message": "busy"}})"
    "\n";

TEST(ForeignRun, aiperf_s_lines_keep_their_phase_and_their_failures) {
  const auto run = read_aiperf_jsonl(kAiperf);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->replies.size(), 3U);
  EXPECT_EQ(run->replies[0].event.query.phase, 0);
  EXPECT_TRUE(run->replies[0].events.empty());  // not streamed
  const ForeignReply& good = run->replies[1];
  EXPECT_EQ(good.event.query.phase, 1);
  EXPECT_EQ(good.event.query.index, 0U);
  EXPECT_EQ(good.event.sent, Instant{100'000'000});
  ASSERT_EQ(good.events.size(), 3U);
  EXPECT_EQ(good.events[1].arrival - good.events[0].arrival, 10_ms);
  EXPECT_EQ(good.event.done - good.event.sent, 50_ms);
  EXPECT_EQ(good.event.usage.prompt_tokens, 9);
  EXPECT_EQ(run->replies[2].event.outcome, Outcome::http_error);
  EXPECT_EQ(run->replies[2].event.http_status, 503);
  EXPECT_EQ(run->replies[2].detail, "busy");
  EXPECT_EQ(run->info.started.ns, 1'000'000'000);
  EXPECT_THAT(read_aiperf_jsonl("{}\n").error().message, HasSubstr("line 1"));
}

constexpr std::string_view kGenaiPerf =
    R"({"service_kind": "openai", "endpoint": "v1/chat",
  "experiments": [{"experiment": {"mode": "concurrency", "value": 1},
   "requests": [{"timestamp": 5000000000,
    "request_inputs": {"payload": "{\"model\": \"m\"}"},
    "response_timestamps": [5010000000, 5020000000, 5030000000],
    "response_outputs": [
      {"response": "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n"},)"
    R"(
      {"response": "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]})"
    R"(\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"},)"
    R"(
      {"response": "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,)"
    R"(\"completion_tokens\":2}}\n\ndata: [DONE]\n\n"}
    ]}]}]})";

TEST(ForeignRun, genai_perf_s_responses_are_told_apart) {
  const auto run = read_genai_perf_json(kGenaiPerf);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->replies.size(), 1U);
  std::vector<Category> categories;
  for (const StreamEvent& e : run->replies[0].events) categories.push_back(e.category);
  EXPECT_THAT(categories, ElementsAre(Category::role, Category::text, Category::text,
                                      Category::usage, Category::marker));
  EXPECT_EQ(run->replies[0].event.usage.completion_tokens, 2);
  EXPECT_EQ(run->replies[0].text, "ab");
  EXPECT_EQ(run->info.facts["model"].as_string(), "m");
  EXPECT_EQ(run->info.facts["imported"]["fields"]["service_kind"].as_string(), "openai");
  EXPECT_EQ(run->info.facts["run_config"]["load_pattern"]["target_concurrency"].as_int(), 1);
}

TEST(ForeignRun, lines_of_aiperf_that_cannot_be_true_are_refused_by_number) {
  for (const auto& [from, to] : {std::pair{"1100000000", "-5"},
                                 {"1100000000", "9223372036854775807"},
                                 {"1100000000", "\"x\""},
                                 {"1160000000", "1"},
                                 {"\"value\": 20", "\"value\": -20"},
                                 {"\"value\": 20", "\"value\": \"x\""},
                                 {"[10, 20]", "[10, 1e300]"},
                                 {"[10, 20]", "[10, \"x\"]"},
                                 {"{\"value\": 9,", "{\"value\": 1e99,"}}) {
    std::string text = kAiperf;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string_view(from).size(), to);
    const auto run = read_foreign_run(ForeignFormat::aiperf, text);
    ASSERT_FALSE(run) << to;
    EXPECT_THAT(run.error().message, HasSubstr("line 2")) << to;
  }
}

// Parsing such a line would take four times its length in memory, and it holds no request.
TEST(ForeignRun, a_line_that_no_request_has_is_refused_by_number_before_it_is_read) {
  std::string text = kAiperf;
  text += "{\"x\": \"" + std::string(kForeignLineMax, 'x');  // no JSON: parsing never reaches it
  const auto run = read_foreign_run(ForeignFormat::aiperf, text);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::invalid);
  EXPECT_THAT(run.error().message, HasSubstr("and a request has 64 MiB at most"));
  EXPECT_THAT(run.error().message, HasSubstr("line "));
  EXPECT_EQ(guess_foreign_format(text), ForeignFormat::aiperf);
}

TEST(ForeignRun, a_document_is_refused_above_its_limit_and_not_guessed_at) {
  const std::string text = "{\"ttfts\": [" + std::string(kForeignDocumentMax, ' ') + "]}";
  EXPECT_EQ(guess_foreign_format(text), std::nullopt);
  for (const ForeignFormat format : {ForeignFormat::vllm, ForeignFormat::genai_perf}) {
    const auto run = read_foreign_run(format, text);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, Code::invalid);
    EXPECT_THAT(run.error().message, HasSubstr("512 MiB are read at most"));
  }
}

TEST(ForeignRun, aiperf_s_figures_say_what_was_asked_in_either_version_s_words) {
  const auto old = read_aiperf_facts(
      R"({"input_config": {"endpoint": {"model_names": ["m"], "type": "completions"},
                           "loadgen": {"concurrency": 8, "request_rate": 2.5,
                                       "arrival_pattern": "constant"}}})");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->model, "m");
  EXPECT_EQ(old->api, "openai_completions");
  EXPECT_EQ(load_pattern_facts(*old).dump(),
            R"({"type":"constant","target_qps":2.5,"target_concurrency":null})");
  const auto newer = read_aiperf_facts(
      R"({"input_config": {"models": {"items": [{"name": "n"}]}, "endpoint": {"type": "chat"},
                           "phases": [{"kind": "warmup", "concurrency": 1},
                                      {"kind": "profiling", "concurrency": 16}]}})");
  ASSERT_TRUE(newer) << newer.error().message;
  EXPECT_EQ(newer->model, "n");
  EXPECT_EQ(newer->api, "openai");
  EXPECT_EQ(load_pattern_facts(*newer).dump(),
            R"({"type":"concurrency","target_qps":null,"target_concurrency":16})");
  EXPECT_FALSE(read_aiperf_facts("{}"));
  EXPECT_TRUE(load_pattern_facts({}).is_null());
}

TEST(ForeignRun, facts_that_somebody_knows_are_added_and_the_rest_stays) {
  auto run = read_aiperf_jsonl(kAiperf);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->info.facts["streaming"].as_bool());
  add_facts(run->info, {.model = "m", .rate = 4});
  EXPECT_EQ(run->info.facts["model"].as_string(), "m");
  EXPECT_TRUE(run->info.facts["api"].is_null());
  EXPECT_TRUE(run->info.phases[1].open_loop);
  add_facts(run->info, {.api = "openai", .concurrency = 8});
  EXPECT_EQ(run->info.facts["model"].as_string(), "m");
  EXPECT_EQ(run->info.facts["run_config"]["load_pattern"]["target_concurrency"].as_int(), 8);
  EXPECT_FALSE(run->info.phases[1].open_loop);
}

TEST(ForeignRun, an_api_has_one_name_whoever_says_it) {
  for (const char* const name :
       {"chat", "openai-chat", "v1/chat/completions", "/v1/chat/completions?x=1"}) {
    EXPECT_EQ(foreign_api(name), "openai") << name;
  }
  for (const char* const name : {"completions", "vllm", "openai", "/v1/completions"}) {
    EXPECT_EQ(foreign_api(name), "openai_completions") << name;
  }
  EXPECT_EQ(foreign_api("tgi"), "tgi");
}

TEST(ForeignRun, files_are_told_apart) {
  EXPECT_EQ(guess_foreign_format(kVllm), ForeignFormat::vllm);
  EXPECT_EQ(guess_foreign_format(kAiperf), ForeignFormat::aiperf);
  EXPECT_EQ(guess_foreign_format(kGenaiPerf), ForeignFormat::genai_perf);
  EXPECT_FALSE(guess_foreign_format("{\"a\": 1}"));
  EXPECT_FALSE(guess_foreign_format("not JSON"));
}

// The part of the run that our own log keeps.
class Kept final : public QuietSink {
 public:
  void on_sent(const Query&, Instant, Instant sent) override { see(sent); }
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view text) override {
    see(event.arrival);
    texts += text;
  }
  void on_done(const Event& event, std::string_view) override {
    see(event.done);
    done.push_back(event);
  }
  std::vector<Event> done{};
  std::string texts{};

 private:
  void see(Instant at) {
    EXPECT_GE(at, last_);
    last_ = at;
  }
  Instant last_ = Instant::none();
};

TEST(ForeignRun, a_log_is_written_in_the_order_of_time) {
  const TempFolder folder;
  for (const auto& [format, text] : {std::pair{ForeignFormat::vllm, kVllm},
                                     std::pair{ForeignFormat::aiperf, std::string_view(kAiperf)},
                                     std::pair{ForeignFormat::genai_perf, kGenaiPerf}}) {
    auto run = read_foreign_run(format, text);
    ASSERT_TRUE(run);
    const std::size_t replies = run->replies.size();
    const auto path = folder.path() / enum_name(format);
    ASSERT_TRUE(write_foreign_run(std::move(*run), path));
    Kept kept;
    const auto end = record::replay_event_log(path, kept);
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_TRUE(end->whole());
    EXPECT_EQ(kept.done.size(), replies);
    EXPECT_EQ(kept.texts, format == ForeignFormat::vllm     ? "abc"
                          : format == ForeignFormat::aiperf ? ""
                                                            : "ab");
  }
}

}  // namespace
}  // namespace assay::interchange
