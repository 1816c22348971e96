#include "conformance/conformance.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "conformance/material.h"
#include "endpoint/words.h"

namespace assay::conformance {
namespace {

constexpr std::int64_t kMs = 1'000'000;

endpoint::TruthReply reply_of(std::int64_t arrived_ms, std::vector<std::int64_t> tokens_ms,
                              endpoint::TruthOutcome outcome = endpoint::TruthOutcome::served) {
  endpoint::TruthReply out;
  out.request.streamed = true;
  out.request.arrived = Instant{arrived_ms * kMs};
  for (const std::int64_t at : tokens_ms) {
    out.events.push_back({.tokens = 1, .category = Category::text, .at = Instant{at * kMs}});
  }
  out.ended = true;
  out.end.outcome = outcome;
  return out;
}

TEST(TruthFigures, are_first_tokens_gaps_and_mean_gaps) {
  endpoint::TruthRecord record;
  record.replies.push_back(reply_of(100, {150, 160, 170, 200}));  // gaps 10, 10, 30
  record.replies.push_back(reply_of(100, {120, 140}));            // gap 20
  record.replies.push_back(reply_of(100, {900, 901}, endpoint::TruthOutcome::gone));
  record.replies.push_back(reply_of(100, {900}));  // no gap
  record.replies.push_back(reply_of(100, {900, 901}));
  record.replies.back().request.streamed = false;
  record.replies[0].events.insert(
      record.replies[0].events.begin(),
      {.tokens = 0, .category = Category::role, .at = Instant{101 * kMs}});
  const TruthFigures truth = truth_figures(record);
  EXPECT_EQ(truth.replies, 2u);
  EXPECT_DOUBLE_EQ(truth.ttft.p50_ms, 35);  // of 20 and 50
  EXPECT_DOUBLE_EQ(truth.ttft.p99_ms, 20 + 30 * 0.99);
  EXPECT_DOUBLE_EQ(truth.gaps.p50_ms, 15);  // of 10, 10, 20, 30
  EXPECT_NEAR(truth.reply_gaps.p50_ms, (50.0 / 3 + 20) / 2, 1e-9);
  EXPECT_EQ(truth_figures({}).replies, 0u);
}

Job job_in(const std::filesystem::path& folder) {
  return {.url = "http://127.0.0.1:1", .model = "m", .streams = 4, .requests = 8, .folder = folder};
}

TEST(Peer, aiperfs_figures_are_read_from_its_export) {
  const TempFolder folder;
  const Job job = job_in(folder.path());
  ASSERT_TRUE(write_file_atomic(folder.path() / "profile_export_aiperf.json", R"({
    "request_count": {"unit": "requests", "avg": 8.0},
    "time_to_first_token": {"unit": "ms", "avg": 1, "p50": 51.5, "p99": 60.25},
    "inter_token_latency": {"unit": "ms", "avg": 10, "p50": 10, "p99": 10},
    "inter_chunk_latency": {"unit": "ms", "avg": 10, "p50": 10.5, "p99": 27.5}})"));
  const auto figures = peer_aiperf().read(job);
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->completed, 8u);
  EXPECT_EQ(figures->ttft.p99_ms, 60.25);
  EXPECT_EQ(figures->itl->p50_ms, 10.5);
}

TEST(Peer, a_figure_that_is_not_there_or_has_another_unit_is_named) {
  const TempFolder folder;
  const auto file = folder.path() / "profile_export_aiperf.json";
  const auto error = [&](const std::string& text) {
    EXPECT_TRUE(write_file_atomic(file, text));
    const auto figures = peer_aiperf().read(job_in(folder.path()));
    return figures ? std::string("none") : figures.error().message;
  };
  EXPECT_EQ(error(R"({"request_count": {"avg": 8}, "time_to_first_token": {"unit": "s"}})"),
            file.string() + ": time_to_first_token.unit: must be ms");
  EXPECT_EQ(error(R"({"request_count": {"avg": 8},
                      "time_to_first_token": {"unit": "ms", "p50": null}})"),
            file.string() + ": time_to_first_token.p50: must be a number");
  EXPECT_NE(error("no JSON").find(file.string()), std::string::npos);
}

TEST(Peer, guidellms_figures_are_those_of_the_successful) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "guidellm.json", R"({"benchmarks": [{"metrics": {
    "request_totals": {"successful": 7, "errored": 1},
    "time_to_first_token_ms": {"successful": {"percentiles": {"p50": 53.5, "p99": 79.5}}},
    "inter_token_latency_ms": {"successful": {"percentiles": {"p50": 9.75, "p99": 10.25}}}}}]})"));
  const auto figures = peer_guidellm().read(job_in(folder.path()));
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->completed, 7u);
  EXPECT_EQ(figures->ttft.p50_ms, 53.5);
  EXPECT_EQ(figures->itl->p99_ms, 10.25);
}

TEST(Peer, vllms_figures_are_flat) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "vllm.json", R"({"completed": 8,
    "median_ttft_ms": 51.0, "p99_ttft_ms": 52.0, "median_itl_ms": 10.0, "p99_itl_ms": 11.0})"));
  const auto figures = peer_vllm().read(job_in(folder.path()));
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->completed, 8u);
  EXPECT_EQ(figures->ttft.p99_ms, 52);
  EXPECT_EQ(figures->itl->p99_ms, 11);
}

TEST(Peer, the_reference_clients_figures_are_nanoseconds_and_its_failures_are_no_success) {
  const TempFolder folder;
  const std::string head = R"({"n_samples_completed": 8, "n_samples_failed": 1,
    "ttft": {"percentiles": {"50.0": 51200000.0, "99.0": 59300000.0}}, "tpot": {)";
  const auto file = folder.path() / "performance/result_summary.json";
  ASSERT_TRUE(write_file_atomic(
      file, head + R"("percentiles": {"50.0": 10000000.0, "99.0": 10500000.0}}})"));
  auto figures = peer_reference().read(job_in(folder.path()));
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->completed, 7u);
  EXPECT_DOUBLE_EQ(figures->ttft.p99_ms, 59.3);
  EXPECT_DOUBLE_EQ(figures->itl->p99_ms, 10.5);
  ASSERT_TRUE(write_file_atomic(file, head + "}}"));
  figures = peer_reference().read(job_in(folder.path()));
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_FALSE(figures->itl.has_value()) << "no tokens were counted";
}

TEST(Peers, have_names_of_their_own_and_are_found_by_them) {
  for (const Peer& peer : peers()) EXPECT_EQ(find_peer(peer.id), &peer);
  EXPECT_EQ(find_peer("locust"), nullptr);
}

TEST(Program, its_words_its_code_and_its_time_are_kept) {
  const TempFolder folder;
  const auto words = folder.path() / "words.txt";
  const Duration minute{60'000'000'000};
  auto run = run_program("/bin/sh", {"-c", "echo out; echo $WORD >&2; exit 3"}, {"WORD=err"}, words,
                         minute);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->exit_code, 3);
  EXPECT_FALSE(run->timed_out);
  EXPECT_EQ(read_file(words).value_or(""), "out\nerr\n");
  EXPECT_EQ(last_lines(words, 1), "err");
  EXPECT_EQ(last_lines(words, 9), "out\nerr");
  run = run_program("/bin/sh", {"-c", "kill -TERM $$"}, {}, words, minute);
  EXPECT_EQ(run->exit_code, 128 + 15);
  EXPECT_FALSE(run_program("/nonexistent/program", {}, {}, words, minute));
}

TEST(Program, a_limit_ends_it_with_what_it_started) {
  const TempFolder folder;
  // The child would hold the pipe's end, and so the command below, for an hour.
  const auto run = run_program("/bin/sh", {"-c", "sleep 3600 & wait"}, {},
                               folder.path() / "words.txt", Duration{1});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->timed_out);
  EXPECT_EQ(run->exit_code, 128 + 9);
}

TEST(Program, is_found_in_the_path_or_where_it_is_said_to_be) {
  EXPECT_FALSE(find_program("sh").empty());
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_TRUE(find_program("/bin").empty());
  EXPECT_TRUE(find_program("no-such-program-anywhere").empty());
}

TEST(Material, the_tokenizer_has_each_word_of_a_reply_as_one_token) {
  const auto json = Json::parse(tokenizer_json());
  ASSERT_TRUE(json);
  const Json& vocabulary = (*json)["model"]["vocab"];
  EXPECT_TRUE(vocabulary[" the"].is_integer());
  EXPECT_TRUE(vocabulary[".\n\n"].is_integer());
  EXPECT_EQ(vocabulary.size(), 1u + endpoint::kWords) << "and the end";
  const std::string cut((*json)["pre_tokenizer"]["pattern"]["Regex"].as_string());
  EXPECT_NE(cut.find(" there(?![a-z])"), std::string::npos);
  EXPECT_LT(cut.find(" there(?![a-z])"), cut.find(" the(?![a-z])")) << "longer ones first";
  EXPECT_NE(cut.find("\\.\n\n"), std::string::npos);
}

TEST(Material, prompts_differ) {
  const std::string lines = prompt_lines(3);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  EXPECT_NE(lines.find("Story 2:"), std::string::npos);
}

Row row_of(std::string_view id, std::optional<Figures> figures) {
  Row row{.who = {.peer = find_peer(id), .version = "1.2"}, .streams = 4, .requests = 8};
  row.truth = {.ttft = {50, 51}, .gaps = {10, 12}, .reply_gaps = {10, 10}, .replies = 8};
  row.figures = figures;
  if (!figures) row.failure = "exit code 1: it fell";
  return row;
}

// Jobs that take these cores from others, one after another.
Result<Row> tried(const std::filesystem::path& folder, std::uint32_t tries,
                  const std::vector<double>& taken) {
  std::size_t next = 0;
  return least_disturbed(folder, tries, [&]() -> Result<Row> {
    EXPECT_LT(next, taken.size());
    EXPECT_TRUE(make_folders(folder));
    EXPECT_TRUE(write_file_atomic(folder / "job", format("{}", next)));
    Row row = row_of("assay", {});
    row.taken_cores = taken[next++];
    return row;
  });
}

TEST(Job, is_measured_again_while_it_is_disturbed_and_the_least_disturbed_is_kept) {
  const TempFolder temp;
  const auto folder = temp.path() / "assay-1";
  const auto kept = [&] { return read_file(folder / "job").value_or(""); };
  auto row = tried(folder, 3, {0.02});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->tries, 1u);
  row = tried(folder, 3, {0.5, 0.02});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->tries, 2u);
  EXPECT_FALSE(row->disturbed());
  EXPECT_EQ(kept(), "1");
  row = tried(folder, 3, {0.9, 0.4, 0.6});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->tries, 3u);
  EXPECT_EQ(row->taken_cores, 0.4);
  EXPECT_EQ(kept(), "1");
  row = tried(folder, 3, {-1});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_FALSE(row->disturbed()) << "what is not known is not called disturbed";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(temp.path()), {}), 1);
}

TEST(Rows, tell_which_jobs_were_disturbed) {
  std::vector<Row> rows{row_of("assay", {}), row_of("vllm", {})};
  rows[1].taken_cores = 0.25;
  rows[1].cores = 2;
  rows[1].tries = 3;
  const std::string words =
      "vllm bench at 4 streams: other programs took 0.25 of 2 cores, the least of 3 tries\n";
  EXPECT_NE(rows_text({}, rows).find("with --repeat:\n  " + words), std::string::npos);
  EXPECT_NE(rows_markdown({}, rows).find("\n- " + words), std::string::npos);
  EXPECT_TRUE(rows_json({}, rows)["rows"][1]["disturbed"].as_bool());
  rows.pop_back();
  EXPECT_EQ(rows_text({}, rows).find("Disturbed"), std::string::npos);
  EXPECT_TRUE(rows_json({}, rows)["rows"][0]["others_cores"].is_null());
}

TEST(Rows, tell_errors_in_each_peers_own_definition_and_failures) {
  const std::vector<Row> rows{
      row_of("aiperf", Figures{.ttft = {52.5, 51.25}, .itl = Spread{10, 11.5}, .completed = 8}),
      row_of("guidellm", Figures{.ttft = {50, 50}, .itl = Spread{10, 11.5}, .completed = 7}),
      row_of("vllm", {})};
  const std::string text = rows_text({}, rows);
  EXPECT_NE(text.find("AIPerf 1.2"), std::string::npos);
  EXPECT_NE(text.find("+2.50 ms   +250 us    +0 us   -500 us   8 of 8"), std::string::npos) << text;
  EXPECT_NE(text.find("+1.50 ms   7 of 8"), std::string::npos) << text;  // of mean gaps
  EXPECT_NE(text.find("failed: exit code 1: it fell"), std::string::npos);
  EXPECT_NE(rows_markdown({}, rows).find("| AIPerf 1.2 | 4 | +2.50 ms | +250 us |"),
            std::string::npos);
  const Json json = rows_json({}, rows);
  EXPECT_EQ(json["rows"][1]["truth"]["itl"]["p99_ms"].as_double(), 10);
  EXPECT_EQ(json["rows"][0]["said"]["ttft"]["p50_ms"].as_double(), 52.5);
  EXPECT_EQ(json["rows"][2]["failure"].as_string(), "exit code 1: it fell");
}

}  // namespace
}  // namespace assay::conformance
