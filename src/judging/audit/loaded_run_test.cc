// A run folder, read: what each of its files adds to the run, and what a missing, broken or cut one
// means.
#include "audit/loaded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/testing_temp_folder.h"
#include "domain/row_axes.h"
#include "domain/traffic_class.h"
#include "domain/trajectories.h"
#include "loadgen/measured_fold.h"
#include "metrics/testing_small_run.h"
#include "observe/chaos_log.h"
#include "observe/telemetry.h"
#include "record/block.h"
#include "record/client_audit_json.h"
#include "record/run_info_json.h"

namespace assay::audit {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RunFolder {
 public:
  RunFolder() { std::filesystem::create_directories(log_folder(root())); }
  const std::filesystem::path& root() const { return folder_.path(); }
  void put(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories((root() / name).parent_path());
    std::ofstream(root() / name, std::ios::binary) << text;
  }
  // The small run's log; without an end, as a killed process leaves it.
  void log(const std::optional<RunEnd>& end = RunEnd{RunState::complete, ""},
           const RunInfo& info = metrics::named_run("poisson")) const {
    auto writer = record::EventLogWriter::create(log_folder(root()) / "events-0.alog", info);
    ASSERT_TRUE(writer) << writer.error().message;
    metrics::tell_run(**writer);
    if (!end) {
      metrics::tell_sent(metrics::steady_query(1, 30, 2980, 1, 1, 1), **writer);
    } else {
      ASSERT_TRUE((*writer)->close(*end));
    }
  }
  void client(Json json) const { put("assay/client.json", json.dump()); }
  LoadedRun load(LoadOptions options = {}) const {
    auto run = load_run(root(), std::move(options));
    EXPECT_TRUE(run) << run.error().message;
    return run ? std::move(*run) : LoadedRun{};
  }
  std::string refusal() const {
    const auto run = load_run(root());
    return run ? "loaded" : run.error().message;
  }

 private:
  TempFolder folder_{};
};

ClientAudit quiet_client() {
  ClientAudit audit{.wall = 2_s};
  audit.threads = {ThreadFigures{.cpu_share = 0.3}};
  audit.cores = 2;
  return audit;
}

TEST(LoadedRun, a_log_alone_gives_the_point_and_no_verdict) {
  const RunFolder folder;
  folder.log();
  const LoadedRun run = folder.load();
  EXPECT_EQ(run.point.counts.issued, 20U);
  EXPECT_EQ(run.point.counts.completed, 18U);
  EXPECT_EQ(run.replay.end.end.state, RunState::complete);
  EXPECT_EQ(run.folder, folder.root());
  EXPECT_FALSE(run.audit || run.innocence || run.ranks || run.certificate || run.test ||
               run.classes || run.observed || run.reuse);
  EXPECT_TRUE(run.accuracy.is_null());
  EXPECT_EQ(run.config_yaml, "");
  EXPECT_EQ(log_note(run), "");
}

TEST(LoadedRun, each_file_of_the_folder_adds_its_part) {
  const RunFolder folder;
  folder.log();
  folder.put("config.yaml", "name: x\n");
  folder.put("accuracy/accuracy_results.json", R"({"score":0.5})");
  folder.put("accuracy/judged_replies.json", R"([1,2])");
  folder.client(record::client_audit_to_json(quiet_client()));
  const LoadedRun run = folder.load();
  EXPECT_EQ(run.config_yaml, "name: x\n");
  EXPECT_EQ(run.accuracy["score"].as_double(), 0.5);
  EXPECT_EQ(judged_replies(folder.root()).size(), 2U);
  ASSERT_TRUE(run.audit && run.innocence);
  EXPECT_EQ(run.audit->cores, 2);
  EXPECT_EQ(run.innocence->client_limited, ClientLimited::no);
}

TEST(LoadedRun, what_was_done_to_the_server_and_what_it_said_are_read_beside_the_log) {
  const RunFolder folder;
  folder.log();
  EXPECT_FALSE(folder.load().impact || folder.load().observed);
  Json acts = Json::array();
  acts.push_back(Json().set("name", "restart").set("command", "true").set("at_ns", 100'000'000));
  const observe::ChaosStep begun{.at = metrics::at_ms(2100)};
  const observe::ChaosStep ended{.part = observe::ChaosPart::end, .at = metrics::at_ms(2150)};
  folder.put("assay/chaos.jsonl", observe::chaos_head("r-1", acts) + observe::chaos_line(begun) +
                                      observe::chaos_line(ended));
  folder.put("assay/telemetry.jsonl", observe::TelemetryLines::head("r-1"));
  const LoadedRun run = folder.load();
  EXPECT_TRUE(run.observed);
  ASSERT_TRUE(run.impact);
  ASSERT_EQ(run.impact->acts.size(), 1U);
  EXPECT_EQ(run.impact->acts[0].facts.name, "restart");
  EXPECT_EQ(run.impact->acts[0].began, metrics::at_ms(2100));
  EXPECT_EQ(run.impact->start, metrics::at_ms(2000));
}

TEST(LoadedRun, tokens_that_were_counted_replace_the_servers_own) {
  const RunFolder folder;
  folder.log();
  metrics::TokenCounts counts;
  counts.source = Json().set("tokenizer", "t");
  for (std::uint32_t i = 0; i < 20; ++i) {
    counts.set({.index = i, .phase = 1}, {.input = 7, .output = 31, .after_first = 30});
  }
  const std::int64_t said = folder.load().point.tokens.output;
  ASSERT_TRUE(counts.write(token_counts_file(folder.root())));
  const LoadedRun run = folder.load();
  EXPECT_EQ(run.point.tokens.output, 18 * 31);
  EXPECT_EQ(run.token_counts.size(), 20U);
  EXPECT_NE(said, 18 * 31);
  // Counts that were just made need no file.
  std::filesystem::remove(token_counts_file(folder.root()));
  EXPECT_EQ(folder.load({.counts = counts}).point.tokens.output, 18 * 31);
}

TEST(LoadedRun, the_parts_that_a_runs_facts_name_have_figures_of_their_own) {
  const TrafficMix mix = {{.name = "a"}, {.name = "b"}};
  RowAxes axes{.axes = {{.name = "locale", .values = {"en", "de"}}}};
  for (std::uint8_t row = 0; row < 20; ++row) {
    axes.axes[0].rows.push_back(row % 2);
    axes.characters.push_back(10);
  }
  Trajectories traced{.agents = {"main"}, .planned = 20};
  traced.all = {Traced{.id = "t", .nodes = {TracedNode{}}}};
  RunInfo info = metrics::named_run("poisson");
  info.facts.set(kClassesFact, to_json(mix))
      .set(kAxesFact, to_json(axes))
      .set(kTrajectoriesFact, to_json(traced));
  const RunFolder folder;
  folder.log(RunEnd{RunState::complete, ""}, info);
  const LoadedRun run = folder.load();
  ASSERT_TRUE(run.classes);
  ASSERT_EQ(run.classes->classes.size(), 2U);
  EXPECT_EQ(run.classes->classes[0].ended + run.classes->classes[1].ended, 20U);
  ASSERT_EQ(run.axes.size(), 2U);
  EXPECT_EQ(run.axes[1].value, "de");
  EXPECT_EQ(run.axes[1].ended, 10U);
  ASSERT_TRUE(run.trajectories);
  EXPECT_EQ(run.trajectories->planned, 20U);
  // A part that is damaged is no part of a run.
  for (const auto& [fact, damage] :
       {std::pair{kClassesFact, R"([{"name":"x","share":0}])"},
        {kAxesFact, R"({"axes":[{"axis":"x","values":[],"rows":[]}],"characters":[]})"},
        {kTrajectoriesFact, "[]"}}) {
    RunInfo damaged = info;
    damaged.facts.set(fact, Json::parse(damage).value());
    const RunFolder other;
    other.log(RunEnd{RunState::complete, ""}, damaged);
    EXPECT_NE(other.refusal(), "loaded") << fact;
  }
}

TEST(LoadedRun, a_loadgen_test_is_judged_by_its_samples) {
  loadgen::Test test{.name = "x", .edition = "none", .sut_name = "SUT"};
  test.requested.min_query_count = 1;
  test.library = {.total = 100, .performance = 100};
  RunInfo info = metrics::named_run("poisson");
  info.facts.set(loadgen::kTestFact, test.to_json());
  const RunFolder folder;
  folder.log(RunEnd{RunState::complete, ""}, info);
  const LoadedRun run = folder.load();
  ASSERT_TRUE(run.test);
  loadgen::MeasuredFold fold(info);
  metrics::tell_run(fold);
  const auto judged = loadgen::judge(info, fold, RunEnd{RunState::complete, ""});
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_EQ(run.test->reasons(), judged->reasons());
  EXPECT_EQ(run.test->valid(), judged->valid());
}

TEST(LoadedRun, its_certificate_and_its_account_of_prefixes_are_read_beside_the_log) {
  const RunFolder folder;
  folder.log();
  Certificate made;
  made.streams = 77;
  folder.put("assay/certificate.json", certificate_to_json(made).dump());
  folder.put("assay/prefix_reuse.json", R"({"block_tokens":16,"offered_tokens":5})");
  const LoadedRun run = folder.load();
  ASSERT_TRUE(run.certificate);
  EXPECT_EQ(run.certificate->streams, 77U);
  ASSERT_TRUE(run.reuse);
  EXPECT_EQ(run.reuse->block, 16U);
}

TEST(LoadedRun, who_asks_for_the_events_or_the_replies_gets_all_of_them) {
  struct Ends final : metrics::ReplyFold {
    Ends() : metrics::ReplyFold(metrics::named_run("poisson")) {}
    void on_reply(const metrics::Reply& reply) override {
      ++ended;
      if (reply.counted != nullptr) counted += std::max(reply.counted->output, 0);
    }
    int ended = 0;
    std::int64_t counted = 0;
  };
  const RunFolder folder;
  folder.log();
  metrics::TokenCounts counts;
  counts.source = Json().set("tokenizer", "t");
  counts.set({.index = 3, .phase = 1}, {.input = 7, .output = 31, .after_first = 30});
  Ends also;
  Ends replies;
  folder.load({.also = &also, .replies = &replies, .counts = counts});
  EXPECT_EQ(also.ended, 20);
  EXPECT_EQ(also.counted, 0);
  EXPECT_EQ(replies.ended, 20);
  EXPECT_EQ(replies.counted, 31);
  // Each of the two alone.
  Ends events_alone;
  folder.load({.also = &events_alone, .counts = counts});
  EXPECT_EQ(events_alone.ended, 20);
  Ends replies_alone;
  folder.load({.replies = &replies_alone, .counts = counts});
  EXPECT_EQ(replies_alone.counted, 31);
}

TEST(LoadedRun, a_folder_without_a_log_is_none) {
  const RunFolder folder;
  EXPECT_NE(folder.refusal(), "loaded");
  std::filesystem::remove_all(log_folder(folder.root()));
  EXPECT_NE(folder.refusal(), "loaded");
}

TEST(LoadedRun, a_file_that_is_no_json_is_named) {
  for (const char* name : {"client.json", "certificate.json", "prefix_reuse.json"}) {
    const RunFolder folder;
    folder.log();
    folder.put(std::string("assay/") + name, "{");
    EXPECT_THAT(folder.refusal(), HasSubstr(name));
  }
  for (const char* name : {"certificate.json", "prefix_reuse.json"}) {
    const RunFolder folder;
    folder.log();
    folder.put(std::string("assay/") + name, "[]");
    EXPECT_THAT(folder.refusal(), HasSubstr(name)) << "of another shape";
  }
  const RunFolder counted;
  counted.log();
  counted.put("assay/token_counts.jsonl", "{");
  EXPECT_NE(counted.refusal(), "loaded");
  // Scores are not the run's own: without them it is the same run.
  const RunFolder scored;
  scored.log();
  scored.put("accuracy/accuracy_results.json", "{");
  EXPECT_TRUE(scored.load().accuracy.is_null());
}

TEST(LoadedRun, the_clients_words_are_weighed_as_the_load_was_meant) {
  ClientAudit late = quiet_client();
  late.threads[0].send = {.count = 1000, .p99 = 7_ms, .holdups = 9};
  ClientAudit busy = quiet_client();
  busy.threads[0].cpu_share = 0.97;
  const auto verdict = [](const ClientAudit& audit, const RunInfo& info) {
    const RunFolder folder;
    folder.log(RunEnd{RunState::complete, ""}, info);
    folder.client(record::client_audit_to_json(audit));
    return folder.load().innocence->client_limited;
  };
  EXPECT_EQ(verdict(late, metrics::named_run("poisson")), ClientLimited::yes);
  EXPECT_EQ(verdict(late, metrics::named_run("max_throughput")), ClientLimited::no);
  RunInfo spinning = metrics::named_run("poisson");
  EXPECT_EQ(verdict(busy, spinning), ClientLimited::suspected);
  spinning.facts.set("spin", true);
  EXPECT_EQ(verdict(busy, spinning), ClientLimited::no);
}

TEST(LoadedRun, a_killed_run_says_how_far_its_log_goes) {
  const RunFolder folder;
  folder.log(std::nullopt);
  const LoadedRun run = folder.load();
  EXPECT_EQ(run.replay.end.end.state, RunState::crashed);
  const std::string note = log_note(run);
  EXPECT_THAT(note, StartsWith("the run was cut off 1.98 s after its first event (killed, or its "
                               "machine stopped): its event log ends with record "));
  EXPECT_THAT(note, HasSubstr("; 1 queries were in flight"));
}

TEST(LoadedRun, a_client_that_wrote_its_end_knows_better_than_a_log_without_one) {
  const RunFolder folder;
  folder.log(std::nullopt);
  Json client = record::client_audit_to_json(quiet_client());
  client.set("lost_records", 1234);
  client.set("end", record::to_json(RunEnd{RunState::interrupted, "no space", true}));
  folder.client(client);
  const LoadedRun run = folder.load();
  EXPECT_EQ(run.replay.end.end.state, RunState::interrupted);
  EXPECT_EQ(run.replay.end.end.reason, "no space");
  EXPECT_EQ(run.replay.end.lost_records, 1234U);
  EXPECT_EQ(log_note(run), "") << "the full disk is named elsewhere, and was not slow";
  // What was passed in the place of a client.json that could not be written counts as well.
  ClientAudit passed = quiet_client();
  passed.cores = 7;
  const Json other = record::client_audit_to_json(passed);
  const LoadedRun instead = folder.load({.client = &other});
  EXPECT_EQ(instead.replay.end.end.state, RunState::crashed);
  ASSERT_TRUE(instead.audit);
  EXPECT_EQ(instead.audit->cores, 7);
}

// What the log's own end says of its losses, and what its client says: the larger is believed.
TEST(LoadedRun, of_two_counts_of_lost_records_the_larger_counts) {
  for (const std::uint64_t by_client : {3U, 5U, 8U}) {
    const RunFolder folder;
    folder.log(std::nullopt);
    const std::string said =
        record::to_json(RunEnd{RunState::complete, ""}).set("lost_records", 5).dump();
    std::string end = std::string(record::kBlockHeaderBytes, '\0') + said;
    const auto bytes = static_cast<std::uint32_t>(said.size());
    record::seal_block(end.data(), {.type = record::BlockType::end,
                                    .stored_bytes = bytes,
                                    .payload_bytes = bytes,
                                    .sequence = 1000});
    std::ofstream(log_folder(folder.root()) / "events-0.alog", std::ios::binary | std::ios::app)
        << end;
    folder.client(record::client_audit_to_json(quiet_client()).set("lost_records", by_client));
    const LoadedRun run = folder.load();
    EXPECT_EQ(run.replay.end.end.state, RunState::complete) << run.replay.end.trouble;
    EXPECT_EQ(run.replay.end.lost_records, std::max<std::uint64_t>(by_client, 5));
  }
}

// A log that was cut at a block's border, and one that was cut inside a block.
TEST(LoadedRun, a_damage_stays_a_damage_unless_the_disk_was_full) {
  for (const bool torn : {false, true}) {
    for (const bool out_of_space : {false, true}) {
      const RunFolder folder;
      folder.log(std::nullopt);
      if (torn) {
        const auto path = log_folder(folder.root()) / "events-0.alog";
        std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
      }
      Json client = record::client_audit_to_json(quiet_client());
      client.set("end", record::to_json(RunEnd{RunState::interrupted, "x", out_of_space}));
      folder.client(client);
      EXPECT_EQ(folder.load().replay.end.end.state,
                torn && !out_of_space ? RunState::crashed : RunState::interrupted)
          << torn << out_of_space;
    }
  }
}

TEST(LoadedRun, a_cut_off_run_says_what_is_known_of_its_end) {
  LoadedRun run;
  record::LogEnd& end = run.replay.end;
  end.records = 1'234;
  end.bytes_read = 5'000;
  end.bytes = 6'000;
  const std::string rest =
      " (killed, or its machine stopped): its event log ends with record 1,234 at byte 5,000 of "
      "6,000";
  end.last = Instant{3'000'000'000};
  EXPECT_EQ(log_note(run), "the run was cut off" + rest) << "its first event is not known";
  run.point.began = Instant{1'000'000'000};
  EXPECT_EQ(log_note(run), "the run was cut off 2.00 s after its first event" + rest);
  end.last = Instant::none();
  EXPECT_EQ(log_note(run), "the run was cut off" + rest);
  run.point.counts.unfinished = 2;
  end.trouble = "a hole";
  end.lost_records = 1;
  EXPECT_EQ(log_note(run), "the run was cut off" + rest +
                               "; 2 queries were in flight; a hole; 1 records were lost to a slow "
                               "disk");
}

TEST(LoadedRun, a_log_with_an_end_keeps_its_own) {
  const RunFolder folder;
  folder.log();
  Json client = record::client_audit_to_json(quiet_client());
  client.set("end", record::to_json(RunEnd{RunState::interrupted, "no space", true}));
  folder.client(client);
  EXPECT_EQ(folder.load().replay.end.end.state, RunState::complete);
}

TEST(LoadedRun, a_damaged_log_is_a_damage_whatever_its_client_had_seen) {
  const RunFolder folder;
  folder.log();
  const auto path = log_folder(folder.root()) / "events-0.alog";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  Json client = record::client_audit_to_json(quiet_client());
  client.set("end", record::to_json(RunEnd{RunState::complete, ""}));
  folder.client(client);
  const LoadedRun run = folder.load();
  EXPECT_EQ(run.replay.end.end.state, RunState::crashed);
  ASSERT_NE(run.replay.end.trouble, "");
  EXPECT_THAT(log_note(run), HasSubstr("; " + run.replay.end.trouble));
}

TEST(LoadedRun, a_slow_disk_is_named_with_what_it_lost) {
  LoadedRun run;
  run.replay.end.end.state = RunState::complete;
  run.replay.end.lost_records = 12'345;
  EXPECT_EQ(log_note(run), "12,345 records were lost to a slow disk");
  run.replay.end.trouble = "a hole";
  EXPECT_EQ(log_note(run), "a hole; 12,345 records were lost to a slow disk");
  run.replay.end.lost_records = 0;
  EXPECT_EQ(log_note(run), "a hole");
  run.replay.end.trouble.clear();
  EXPECT_EQ(log_note(run), "");
}

TEST(LoadedRun, the_machine_that_measured_is_in_the_runs_facts) {
  LoadedRun run;
  run.point.run.version = "0.1.0";
  run.point.run.facts.set("machine", Json().set("cores", 2).set("kernel", "6.1"));
  EXPECT_EQ(environment_json(run).dump(), R"({"assay":"0.1.0","cores":2,"kernel":"6.1"})");
}

}  // namespace
}  // namespace assay::audit
