#include "interchange/read/reference_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "domain/quiet_sink.h"
#include "domain/tool_call.h"
#include "interchange/events_jsonl.h"
#include "interchange/read/reference_events.h"
#include "interchange/read/run_view.h"
#include "interchange/sample_index.h"
#include "metrics/point_fold.h"
#include "record/event_log.h"

namespace assay::interchange {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One line of the reference client's file.
std::string line_of(std::string_view type, std::int64_t ns, std::string_view uuid = "",
                    std::string_view data = "null", std::string_view more = "") {
  return format(
      R"({{"event_type":"{}","timestamp_ns":{},"sample_uuid":"{}","conversation_id":"","turn":null,)"
      R"("data":{}{}}})"
      "\n",
      type, ns, uuid, data, more);
}

constexpr std::string_view kPrompt = R"(["PromptData","hi",null,null,null,null,null,null])";

// Two measured queries, one that failed, one of an accuracy dataset, one of the warm-up.
std::string small_file() {
  std::string out = line_of("session.started", 100);
  out += line_of("sample.issued", 150, "w", kPrompt);
  out += line_of("sample.recv_first", 160, "w");
  out += line_of("session.start_performance_tracking", 1000);
  out += line_of("sample.issued", 1100, "a", kPrompt);
  out += line_of("sample.issued", 1200, "b", kPrompt);
  out += line_of("sample.recv_first", 1500, "a");
  out += line_of("sample.issued", 1600, "c", kPrompt);
  out += line_of("sample.recv_non_first", 1700, "a");
  out += line_of("sample.recv_non_first", 1900, "a");
  out += line_of("sample.complete", 2100, "a", R"(["TextModelOutput",["Hel","lo you"],null,null])",
                 R"(,"finish_reason":"stop","worker_id":3)");
  out += line_of("error.generic", 2200, "b", R"(["ErrorData","error","HTTP 503: busy"])");
  out += line_of("sample.complete", 2201, "b");
  out += line_of("sample.recv_first", 2300, "c");
  out += line_of("sample.complete", 2500, "c", R"(["TextModelOutput","Yes",["hm",", so"],null])",
                 R"(,"finish_reason":"length")");
  out += line_of("session.stop_performance_tracking", 2600);
  out += line_of("sample.issued", 2700, "d", kPrompt);
  out += line_of("sample.new_kind", 0, "d", R"({"any":1})");
  out += line_of("sample.complete", 2900, "d", R"(["TextModelOutput","42"])");
  return out + line_of("session.ended", 3000);
}

constexpr std::string_view kIndex =
    R"({"performance": {"a": 1, "b": 0, "c": 1}, "aime25": {"d": 7}, "swe_bench": {}})";
constexpr std::string_view kConfig =
    "model_params: {name: m}\n"
    "endpoint_config: {endpoints: ['http://h:1'], api_type: openai}\n"
    "datasets: [{name: d, type: performance}]\n";
constexpr std::string_view kSummaryText =
    R"({"version": "0.1.0", "git_sha": "ea33275", "test_started_at": 0, "complete": true,
        "run_config": {"load_pattern": {"type": "concurrency", "target_concurrency": 2}}})";

struct ReferenceFolder {
  TempFolder temp{};
  std::filesystem::path path() const { return temp.path(); }
  void put(std::string_view name, std::string_view text) const {
    ASSERT_TRUE(write_file_atomic(path() / name, text));
  }
};

void put_small_run(const ReferenceFolder& folder) {
  folder.put("events.jsonl", small_file());
  folder.put("sample_idx_map.json", kIndex);
  folder.put("config.yaml", kConfig);
  folder.put("performance/result_summary.json", kSummaryText);
}

// What a replay says of each query that ended.
class Told final : public QuietSink {
 public:
  std::vector<Event> events{};
  std::vector<std::string> replies{};
  std::vector<std::string> details{};
  std::vector<std::int64_t> arrivals{};
  std::size_t sent = 0;
  void on_sent(const Query&, Instant, Instant) override {
    ++sent;
    reply_.clear();
  }
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view text) override {
    arrivals.push_back(event.arrival.ns);
    reply_ += format("[{} {}]", to_string(event.category), text);
  }
  void on_done(const Event& event, std::string_view detail) override {
    events.push_back(event);
    replies.push_back(std::exchange(reply_, {}));
    details.emplace_back(detail);
  }

 private:
  std::string reply_{};
};

TEST(ReferenceRun, a_folder_of_the_reference_client_becomes_a_run) {
  const ReferenceFolder folder;
  put_small_run(folder);
  ASSERT_TRUE(is_reference_folder(folder.path()));
  auto run = read_reference_run(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->info.phases.size(), 2U) << "without phases in which nothing was asked";
  EXPECT_EQ(run->info.phases[0].kind, PhaseKind::performance);
  EXPECT_EQ(run->info.phases[1].name, "aime25");
  EXPECT_EQ(run->info.facts["model"].as_string(), "m");
  EXPECT_EQ(run->info.facts["steady_state"]["super_pass"].as_int(), 2);
  EXPECT_EQ(run->info.facts["imported"]["git_sha"].as_string(), "ea33275");
  EXPECT_EQ(run->info.facts["imported"]["chunks"].as_string(), "all");
  EXPECT_THAT(run->info.facts["imported"]["lacks"].dump(), HasSubstr("1 warm-up queries"));
  EXPECT_EQ(run->end.state, RunState::complete);
  Told told;
  ASSERT_TRUE(replay_reference_run(*run, told));
  EXPECT_THAT(told.replies, ElementsAre("[text Hel][text lo you][text ]", "",
                                        "[reasoning hm][reasoning , so][text Yes]", "[text 42]"));
  EXPECT_THAT(told.arrivals, ElementsAre(1500, 1700, 1900, 2300, 2500, 2500, 2900))
      << "a text without an instant of its own is at its reply's end";
  ASSERT_EQ(told.events.size(), 4U);
  const Event& a = told.events[0];
  EXPECT_EQ(a.sent.ns, 1100);
  EXPECT_EQ(a.first_token.ns, 1500);
  EXPECT_EQ(a.done.ns, 2100);
  EXPECT_EQ(a.query.sample, 1U);
  EXPECT_EQ(a.finish, FinishReason::stop);
  EXPECT_EQ(a.first_fragment_bytes, 3U);
  EXPECT_EQ(told.events[1].outcome, Outcome::http_error);
  EXPECT_EQ(told.events[1].http_status, 503);
  EXPECT_EQ(told.details[1], "HTTP 503: busy");
  EXPECT_FALSE(told.events[2].first_visible.known()) << "the file does not have it";
  EXPECT_EQ(told.events[3].query.phase, 1);
  EXPECT_EQ(told.events[3].query.sample, 7U);
  EXPECT_FALSE(told.events[3].streamed);
}

TEST(ReferenceRun, without_all_chunks_no_gap_is_reported) {
  const ReferenceFolder folder;
  put_small_run(folder);
  std::string text;
  const std::string whole = small_file();
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t end = whole.find('\n', at) + 1;
    const std::string line = whole.substr(at, end - at);
    if (line.find("recv_non_first") == std::string::npos) text += line;
    at = end;
  }
  folder.put("events.jsonl", text);
  auto run = read_reference_run(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  metrics::PointFold fold(run->info);
  ASSERT_TRUE(replay_reference_run(*run, fold));
  const metrics::Point point = fold.finish(run->end);
  EXPECT_EQ(point.arrival.ttft.count, 2U);
  EXPECT_EQ(point.arrival.itl.count, 0U);
  EXPECT_EQ(point.counts.completed, 2U);
  EXPECT_EQ(point.counts.failed, 1U);
}

// Reports a random run of ours to all sinks: three phases of 40 queries, some of which fail.
class RandomRun {
 public:
  explicit RandomRun(std::vector<EventSink*> sinks) : sinks_(std::move(sinks)) {}

  void run() {
    for (std::uint16_t phase = 0; phase < 3; ++phase) {
      all([&](EventSink& s) { s.on_phase({phase, PhaseStep::started, Instant{now_}}); });
      for (std::uint32_t i = 0; i < 40; ++i) query({.index = i, .phase = phase, .sample = i % 7});
      all([&](EventSink& s) { s.on_phase({phase, PhaseStep::drained, Instant{now_}}); });
    }
  }

 private:
  template <typename Call>
  void all(Call&& call) {
    for (EventSink* const sink : sinks_) call(*sink);
  }

  std::int64_t roll(std::uint64_t below) {
    dice_ = dice_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((dice_ >> 33) % below);
  }

  void query(const Query& query) {
    Event event{};
    event.query = query;
    event.due = event.sent = Instant{now_ += 100 + roll(1000)};
    all([&](EventSink& s) { s.on_sent(event.query, event.due, event.sent); });
    event.streamed = true;
    for (std::int64_t k = 0, n = 1 + roll(6); k < n; ++k) {
      StreamEvent fragment{};
      fragment.category = Category::text;
      fragment.arrival = fragment.read = Instant{now_ += 1 + roll(500)};
      fragment.bytes = 2;
      all([&](EventSink& s) { s.on_stream_event(event.query, fragment, "ab"); });
      if (event.fragments++ == 0) event.first_token = event.first_visible = fragment.arrival;
      event.last_token = fragment.arrival;
    }
    event.done = Instant{now_ += roll(50)};
    event.outcome = roll(8) == 0 ? Outcome::reset : Outcome::ok;
    event.finish = event.outcome == Outcome::ok ? FinishReason::length : FinishReason::none;
    all([&](EventSink& s) { s.on_done(event, "gone"); });
  }

  std::vector<EventSink*> sinks_;
  std::uint64_t dice_ = 1;
  std::int64_t now_ = 1'000;
};

void expect_same(const metrics::Distribution& a, const metrics::Distribution& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.percentiles, b.percentiles);
  EXPECT_EQ(a.max, b.max);
}

// A run of ours, written as the reference client's files and read back, has the same figures.
TEST(ReferenceRun, our_own_event_file_read_back_gives_the_same_figures) {
  const ReferenceFolder folder;
  RunInfo info{};
  info.run_id = "r";
  info.run_key = 7;
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", false},
                 {PhaseKind::accuracy, "gpqa", false}};
  auto jsonl = EventsJsonl::create(folder.path() / "events.jsonl", info);
  ASSERT_TRUE(jsonl);
  SampleIndex index(info);
  metrics::PointFold ours(info);
  RandomRun({&*jsonl, &index, &ours}).run();
  ASSERT_TRUE(jsonl->close({RunState::complete, ""}));
  ASSERT_TRUE(index.write(folder.path() / "sample_idx_map.json"));
  const metrics::Point wanted = ours.finish({RunState::complete, ""});
  auto run = read_reference_run(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  metrics::PointFold theirs(run->info);
  ASSERT_TRUE(replay_reference_run(*run, theirs));
  const metrics::Point got = theirs.finish(run->end);
  EXPECT_EQ(got.counts.issued, 40U);
  EXPECT_EQ(got.counts.completed, wanted.counts.completed);
  EXPECT_GT(got.counts.failed, 0U);
  EXPECT_EQ(got.counts.finish, wanted.counts.finish);
  ASSERT_EQ(got.failures.size(), 1U);
  EXPECT_EQ(got.failures[0].outcome, Outcome::reset);
  expect_same(got.arrival.ttft, wanted.arrival.ttft);
  expect_same(got.arrival.itl, wanted.arrival.itl);
  expect_same(got.arrival.latency, wanted.arrival.latency);
  expect_same(got.arrival.ttft_visible, wanted.arrival.ttft_visible);
  EXPECT_EQ(got.rates.qps, wanted.rates.qps);
  EXPECT_EQ(got.rates.duration.ns, wanted.rates.duration.ns);
}

TEST(ReferenceRun, a_turn_that_was_given_up_was_never_sent) {
  const ReferenceFolder folder;
  std::string text =
      line_of("session.started", 1) + line_of("session.start_performance_tracking", 2) +
      line_of("sample.issued", 3, "a", kPrompt) +
      line_of("error.generic", 5, "a", R"(["ErrorData","TurnTimeout","too long"])") +
      line_of("sample.complete", 6, "a") + line_of("sample.recv_non_first", 7, "a") +
      line_of("sample.issued", 8, "b", kPrompt) +
      line_of("error.generic", 8, "b",
              R"(["ErrorData","TurnAbortedByPriorFailure","prior turn errored"])") +
      line_of("sample.complete", 9, "b") + line_of("session.stop_performance_tracking", 10) +
      line_of("sample.issued", 11, "c", kPrompt) +
      line_of("sample.complete", 12, "c", R"(["TextModelOutput","x",null,null])") +
      line_of("session.ended", 13);
  folder.put("events.jsonl", text);
  folder.put("sample_idx_map.json", R"({"performance": {"a": 0, "b": 1, "c": 2}})");
  auto run = read_reference_run(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  Told told;
  ASSERT_TRUE(replay_reference_run(*run, told)) << "chunks after the end of a turn are left out";
  ASSERT_EQ(told.events.size(), 3U);
  EXPECT_EQ(told.sent, 2U);
  EXPECT_EQ(told.events[0].outcome, Outcome::timed_out);
  EXPECT_EQ(told.events[1].outcome, Outcome::cancelled);
  EXPECT_FALSE(told.events[1].sent.known());
  EXPECT_EQ(run->info.phases[told.events[2].query.phase].kind, PhaseKind::tail)
      << "issued after the measurement had ended";
}

TEST(ReferenceRun, tool_calls_and_outputs_of_each_form) {
  const auto output = [](std::string_view text) {
    const auto json = Json::parse(text);
    EXPECT_TRUE(json);
    return read_reference_output(*json);
  };
  const auto streamed = output(
      R"(["TextModelOutput", [], null, [[{"index":0,"id":"c1","function":{"name":"f","arguments":""}}],
          [{"index":1,"id":"c2","function":{"name":"g","arguments":"{}"}}],
          [{"index":0,"function":{"arguments":"{\"x\":1}"}}]]])");
  ASSERT_TRUE(streamed) << streamed.error().message;
  ASSERT_EQ(streamed->parts.size(), 1U);
  const auto calls = tool_calls_from(streamed->parts[0].first + streamed->parts[0].rest);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].arguments, "{\"x\":1}");
  EXPECT_EQ(calls[1].name, "g");
  const auto whole = output(
      R"(["TextModelOutput", "", null, [{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]])");
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->streamed);
  EXPECT_EQ(tool_calls_from(whole->parts[0].first)[0].id, "c");
  ASSERT_TRUE(output(R"(["TextModelOutput"])"));
  EXPECT_TRUE(output("null")->parts.empty());
}

// Each damage is refused, with the file, the line and the field.
TEST(ReferenceRun, damage_is_refused_where_it_stands) {
  struct Damage {
    std::string_view from;
    std::string_view to;
    std::string_view place;
    std::string_view field;
  };
  const Damage damages[] = {
      {R"("timestamp_ns":1500)", R"("timestamp_ns":-1)", "events.jsonl:7", "timestamp_ns"},
      {R"("timestamp_ns":1500)", R"("timestamp_ns":"1500")", "events.jsonl:7", "timestamp_ns"},
      {R"("timestamp_ns":1500)", R"("timestamp_ns":1e300)", "events.jsonl:7", "timestamp_ns"},
      {R"("timestamp_ns":1500)", R"("timestamp_ns":1050)", "events.jsonl:11", "timestamp_ns"},
      {R"("timestamp_ns":2100)", R"("timestamp_ns":1000)", "events.jsonl:11", "timestamp_ns"},
      {R"("sample.issued","timestamp_ns":1200,"sample_uuid":"b")",
       R"("sample.issued","timestamp_ns":1200,"sample_uuid":"a")", "events.jsonl:6", "sample_uuid"},
      {R"("sample.issued","timestamp_ns":1200,"sample_uuid":"b")",
       R"("sample.issued","timestamp_ns":1200,"sample_uuid":"x")", "events.jsonl:6", "sample_uuid"},
      {R"("sample.issued","timestamp_ns":1200,"sample_uuid":"b")",
       R"("sample.issued","timestamp_ns":1200,"sample_uuid":"")", "events.jsonl:6", "sample_uuid"},
      {R"("timestamp_ns":1700,"sample_uuid":"a")", R"("timestamp_ns":1700,"sample_uuid":"q")",
       "events.jsonl:9", "sample_uuid"},
      {R"(["Hel","lo you"])", R"(["Hel",5])", "events.jsonl:11", "data[1]"},
      {R"(["TextModelOutput",["Hel)", R"(["PromptData",["Hel)", "events.jsonl:11", "data"},
      {R"(["ErrorData")", R"(["Error")", "events.jsonl:12", "data"},
      {R"("event_type":"session.start_performance_tracking")", R"("event_type":7)",
       "events.jsonl:4", "event_type"},
      {R"("turn":null,"data":null})", R"("turn":null,"data":null)", "events.jsonl:1", ""},
  };
  for (const Damage& damage : damages) {
    const ReferenceFolder folder;
    put_small_run(folder);
    std::string text = small_file();
    const std::size_t at = text.find(damage.from);
    ASSERT_NE(at, std::string::npos) << damage.from;
    folder.put("events.jsonl", text.replace(at, damage.from.size(), damage.to));
    auto run = read_reference_run(folder.path());
    Told told;
    const Result<void> done = run ? replay_reference_run(*run, told) : Result<void>(run.error());
    ASSERT_FALSE(done) << damage.to;
    EXPECT_THAT(done.error().message, HasSubstr(format("{}: ", damage.place))) << damage.to;
    EXPECT_THAT(done.error().message, HasSubstr(std::string(damage.field))) << damage.to;
  }
}

TEST(ReferenceRun, a_file_that_ends_early_is_a_run_that_was_cut_off) {
  const ReferenceFolder folder;
  put_small_run(folder);
  const std::string whole = small_file();
  folder.put("events.jsonl", whole.substr(0, whole.find("{\"event_type\":\"error.generic\"")));
  const auto view = RunView::open(folder.path());
  ASSERT_TRUE(view) << view.error().message;
  Told told;
  const auto replay = record::replay_run(std::filesystem::path(view->folder()) / "assay", told);
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_EQ(replay->end.end.state, RunState::crashed);
  EXPECT_EQ(told.events.size(), 1U);
  EXPECT_EQ(replay->end.unfinished, 2U);
  // In the middle of a line.
  folder.put("events.jsonl", whole.substr(0, whole.size() - 9));
  const auto cut = RunView::open(folder.path());
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("ends within this line"));
}

TEST(ReferenceRun, the_summary_says_whether_the_run_was_whole) {
  const ReferenceFolder folder;
  put_small_run(folder);
  folder.put("performance/result_summary.json", R"({"complete": false, "state": "interrupted"})");
  const auto run = read_reference_run(folder.path());
  ASSERT_TRUE(run);
  EXPECT_EQ(run->end.state, RunState::interrupted);
  EXPECT_THAT(run->end.reason, HasSubstr("interrupted"));
}

TEST(ReferenceRun, side_files_that_are_damaged_are_refused_by_name) {
  const ReferenceFolder folder;
  put_small_run(folder);
  folder.put("sample_idx_map.json", R"({"performance": {"a": -1}})");
  EXPECT_THAT(read_reference_run(folder.path()).error().message,
              HasSubstr("sample_idx_map.json: performance.a: no row"));
  folder.put("sample_idx_map.json", R"({"performance": {"a": 1}, "x": {"a": 2}})");
  EXPECT_THAT(read_reference_run(folder.path()).error().message, HasSubstr("another phase"));
  folder.put("sample_idx_map.json", kIndex);
  folder.put("config.yaml", "a: [1\n");
  EXPECT_THAT(read_reference_run(folder.path()).error().message, HasSubstr("config.yaml:"));
}

TEST(ReferenceRun, a_view_never_writes_into_the_folder) {
  const ReferenceFolder folder;
  put_small_run(folder);
  std::filesystem::path seen;
  {
    const auto view = RunView::open(folder.path());
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_TRUE(view->is_reference());
    seen = view->folder();
    EXPECT_TRUE(std::filesystem::exists(seen / "assay/events-0.alog"));
    EXPECT_TRUE(std::filesystem::exists(seen / "config.yaml"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "assay"));
  }
  EXPECT_FALSE(std::filesystem::exists(seen)) << "the copy goes with the view";
  const auto other = RunView::open("/no/such/folder");
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->is_reference());
}

}  // namespace
}  // namespace assay::interchange
