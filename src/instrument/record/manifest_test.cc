#include "record/manifest.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/testing_temp_folder.h"

namespace assay::record {
namespace {

RunInfo small_run() {
  RunInfo info{};
  info.run_id = "r";
  info.phases = {{PhaseKind::performance, "performance", false}};
  return info;
}

std::string read_text(const std::filesystem::path& path) {
  auto text = read_file(path);
  EXPECT_TRUE(text.has_value()) << text.error().message;
  return text ? *text : std::string();
}

RunReplay some_replay() {
  RunReplay replay{};
  replay.info = small_run();
  replay.end.end = {RunState::complete, ""};
  replay.shards.push_back(replay.end);
  return replay;
}

TEST(Manifest, finds_what_changed_what_is_gone_and_what_is_new) {
  const TempFolder folder;
  const auto put = [&](const char* name, std::string_view text) {
    ASSERT_TRUE(write_file_atomic(folder.path() / name, text).has_value());
  };
  put("config.yaml", "a: 1\n");
  put("report.txt", "hello\n");
  put("performance/result_summary.json", "{}\n");
  const std::vector<std::string> command = {"assay", "run"};
  ASSERT_TRUE(write_manifest(folder.path(), some_replay(), command).has_value());
  auto faults = check_manifest(folder.path());
  ASSERT_TRUE(faults.has_value()) << faults.error().message;
  EXPECT_TRUE(faults->empty());

  put("config.yaml", "a: 2\n");
  put("report.txt", "hello, longer\n");
  put("stray", "");
  std::filesystem::remove(folder.path() / "performance/result_summary.json");
  faults = check_manifest(folder.path());
  ASSERT_TRUE(faults.has_value());
  EXPECT_EQ(*faults, (std::vector<std::string>{
                         "config.yaml: its content has changed",
                         "performance/result_summary.json: missing",
                         "report.txt: 14 bytes; it had 6",
                         "stray: not listed",
                     }));
  ASSERT_TRUE(write_manifest(folder.path(), some_replay(), command).has_value());
  faults = check_manifest(folder.path());
  ASSERT_TRUE(faults.has_value()) << faults.error().message;
  EXPECT_EQ(*faults, std::vector<std::string>{}) << "written again, it is true again";

  // A bundle's own list, where tar unpacked it; but only at the top.
  for (const char* name : {"MANIFEST.json", "MANIFEST.sha256", "MANIFEST.sig", "croissant.json"}) {
    put(name, "of the bundle");
  }
  put("performance/MANIFEST.json", "");
  EXPECT_EQ(*check_manifest(folder.path()),
            std::vector<std::string>{"performance/MANIFEST.json: not listed"});
}

// Every byte of the manifest counts, also those that a JSON reader ignores.
TEST(Manifest, a_byte_that_changed_in_itself_is_found) {
  const TempFolder folder;
  const std::vector<std::string> command = {"assay", "run"};
  ASSERT_TRUE(write_file_atomic(folder.path() / "config.yaml", "a: 1\n").has_value());
  ASSERT_TRUE(write_manifest(folder.path(), some_replay(), command).has_value());
  const std::string good = read_text(folder.path() / kManifestName);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    std::ofstream(folder.path() / kManifestName, std::ios::binary) << bad;
    const auto faults = check_manifest(folder.path());
    EXPECT_TRUE(!faults || !faults->empty()) << "byte " << at << " of " << good.size();
  }
}

TEST(Manifest, what_it_says_of_the_run_is_what_the_event_log_says) {
  const TempFolder folder;
  RunReplay replay = some_replay();
  replay.info.command = Json::array().push_back("assay").push_back("run");
  const std::vector<std::string> command = {"assay", "run"};
  ASSERT_TRUE(write_manifest(folder.path(), replay, command).has_value());
  EXPECT_TRUE(check_manifest_against(folder.path(), replay)->empty());
  const auto forged = [&](auto change) {
    RunReplay other = replay;
    change(other);
    return check_manifest_against(folder.path(), other)->size();
  };
  EXPECT_EQ(forged([](RunReplay& r) { r.info.version = "9"; }), 1U);
  EXPECT_EQ(forged([](RunReplay& r) { r.info.git_sha = "abc"; }), 1U);
  EXPECT_EQ(forged([](RunReplay& r) { r.info.facts = Json().set("model", "another"); }), 1U);
  EXPECT_EQ(forged([](RunReplay& r) { r.info.command.push_back("--spin"); }), 2U);
  EXPECT_EQ(forged([](RunReplay& r) { r.end.end.state = RunState::interrupted; }), 1U);
  EXPECT_EQ(forged([](RunReplay& r) { r.shards[0].lost_records = 5; }), 1U);
  EXPECT_EQ(forged([](RunReplay& r) { r.shards.push_back({}); }), 1U);
}

TEST(Manifest, a_fault_names_the_value_and_both_sayings) {
  const TempFolder folder;
  RunReplay replay = some_replay();
  replay.info.version = "1";
  replay.info.facts = Json().set("model", Json().set("name", "m"));
  replay.shards.push_back(replay.end);
  replay.shards[0].bytes = replay.shards[1].bytes = 10;
  replay.shards[1].trouble = "torn";
  const std::vector<std::string> command = {"assay"};
  ASSERT_TRUE(write_manifest(folder.path(), replay, command).has_value());
  const auto faults = [&](auto change) {
    RunReplay other = replay;
    change(other);
    std::string out;
    const auto found = check_manifest_against(folder.path(), other);
    for (const std::string& one : *found) out += one + "|";
    return out;
  };
  const std::string name(kManifestName);
  EXPECT_EQ(faults([](RunReplay&) {}), "");
  EXPECT_EQ(faults([](RunReplay& r) { r.info.version = "2"; }),
            name + R"(: run.version: "1"; the event log says "2"|)");
  EXPECT_EQ(faults([](RunReplay& r) { r.info.facts = Json().set("gpus", 2); }),
            name + ": run.facts.model: the event log does not say it|");
  EXPECT_EQ(faults([](RunReplay& r) { r.info.facts = Json().set("model", "m"); }),
            name + R"(: run.facts.model: {"name":"m"}; the event log says "m"|)");
  EXPECT_EQ(faults([](RunReplay& r) { r.info.facts = Json().set("model", Json::object()); }),
            name + ": run.facts.model.name: the event log does not say it|");
  EXPECT_EQ(faults([](RunReplay& r) { r.shards[1].bytes = 11; }),
            name + ": logs.1.bytes: 10; the event log says 11|");
  EXPECT_EQ(faults([](RunReplay& r) { r.shards[1].trouble = ""; }),
            name + R"(: logs.1.trouble: "torn"; the event log says ""|)");
  EXPECT_EQ(faults([](RunReplay& r) { r.shards.pop_back(); }),
            name + ": logs: 2 of them; there are 1|");
  EXPECT_EQ(faults([](RunReplay& r) { r.end.end.reason = "Ctrl-C"; }),
            name + R"(: end.reason: ""; the event log says "Ctrl-C"|)");
  // A value that only the log has was not written by the version that made the manifest.
  EXPECT_EQ(faults([](RunReplay& r) { r.info.facts.set("more", 1); }), "");
}

// Manifests of 0.1.0 have seven members and no digest of themselves.
TEST(Manifest, an_older_one_without_its_own_digest_is_read) {
  const TempFolder folder;
  const std::vector<std::string> command = {"assay"};
  const auto faults_without = [&](std::string_view left_out) {
    EXPECT_TRUE(write_manifest(folder.path(), some_replay(), command).has_value());
    const Json whole = *Json::parse(read_text(folder.path() / kManifestName));
    Json older = Json::object();
    for (const auto& [name, value] : whole.members()) {
      if (name != "sha256" && name != left_out) older.set(name, value);
    }
    EXPECT_TRUE(write_file_atomic(folder.path() / kManifestName, older.dump(2) + "\n"));
    return *check_manifest(folder.path());
  };
  const std::string name(kManifestName);
  EXPECT_EQ(faults_without(""), std::vector<std::string>{});
  EXPECT_EQ(faults_without("command"),
            std::vector<std::string>{name + ": its content has changed"});
  EXPECT_TRUE(write_manifest(folder.path(), some_replay(), command).has_value());
  const std::string text = read_text(folder.path() / kManifestName);
  EXPECT_TRUE(write_file_atomic(folder.path() / kManifestName, Json::parse(text)->dump() + "\n"));
  EXPECT_EQ(*check_manifest(folder.path()),
            std::vector<std::string>{name + ": it was written again by another hand"});
}

TEST(Manifest, a_folder_without_one_is_refused) {
  const TempFolder folder;
  EXPECT_FALSE(check_manifest(folder.path()).has_value());
  for (const char* const text : {R"({"format":"x"})", R"({"format":"x","version":1})",
                                 R"({"format":"assay-run","version":2})"}) {
    ASSERT_TRUE(write_file_atomic(folder.path() / kManifestName, text).has_value());
    const auto faults = check_manifest(folder.path());
    ASSERT_FALSE(faults.has_value()) << text;
    EXPECT_EQ(faults.error().code, Code::unsupported);
  }
}

TEST(RedactCommand, hides_keys_and_headers_and_nothing_else) {
  const std::vector<std::string> command = {"assay",
                                            "run",
                                            "--endpoint",
                                            "http://me:pw@host:8000/v1?x=1",
                                            "--api-key",
                                            "sk-123",
                                            "--header=Authorization: Bearer x",
                                            "--concurrency",
                                            "64",
                                            "--hf-token",
                                            "-odd-token",
                                            "--model",
                                            "m@v2"};
  EXPECT_EQ(
      redact_command(command),
      (std::vector<std::string>{"assay", "run", "--endpoint", "http://<redacted>@host:8000/v1?x=1",
                                "--api-key", "<redacted>", "--header=<redacted>", "--concurrency",
                                "64", "--hf-token", "<redacted>", "--model", "m@v2"}));
}

TEST(RedactCommand, what_follows_a_secret_option_is_hidden_and_another_option_does_not) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> cases{
      {{"--api-key", "--json", "x"}, {"--api-key", "--json", "x"}},
      {{"--TOKEN", "x", "x"}, {"--TOKEN", "<redacted>", "x"}},
      {{"token", "x", "token=x"}, {"token", "x", "token=x"}},
      {{"-", "x"}, {"-", "x"}},
      {{"-H", "x", "-key", "x"}, {"-H", "x", "-key", "<redacted>"}},
      {{"--secret=a=b", "c"}, {"--secret=<redacted>", "c"}},
      {{"--password=", "c"}, {"--password=<redacted>", "c"}},
      {{"--name=key", "c"}, {"--name=key", "c"}},
      {{"--url=http://u:p@h/x@y"}, {"--url=http://<redacted>@h/x@y"}},
      {{"http://h/u@v", "http://h?u@v", "http://h#u@v", "a@b://c", "http://h"},
       {"http://h/u@v", "http://h?u@v", "http://h#u@v", "a@b://c", "http://h"}},
      {{"http://a@b@h", "http://@h"}, {"http://<redacted>@h", "http://<redacted>@h"}}};
  for (const auto& [said, shown] : cases) EXPECT_EQ(redact_command(said), shown) << said[0];
}

}  // namespace
}  // namespace assay::record
