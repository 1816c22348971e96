#include "plan/chaos.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "base/yaml.h"
#include "plan/config_reader.h"
#include "plan/saved_config.h"

namespace assay::plan {
namespace {

Result<std::vector<ChaosAct>> parse_acts(std::string_view text) {
  const auto root = yaml::parse(text);
  EXPECT_TRUE(root);
  return parse_chaos(root->to_json());
}

std::string trouble(std::string_view text) {
  const auto acts = parse_acts(text);
  EXPECT_FALSE(acts) << text;
  return acts ? std::string() : acts.error().message;
}

TEST(Chaos, every_kind_of_act_is_read_with_its_end) {
  const auto acts = parse_acts(R"(acts:
  - {name: freeze, at: 10s, pause: {pid_file: s.pid}, for: 500ms}
  - {at: 12, signal: {name: SIGKILL, pid: 4711}}
  - {at: 13s, command: ./limit.sh, until: 20s, undo: {command: ./free.sh}, timeout: 3s}
  - {at: 30s, http: {url: "http://localhost:1/x", body: {a: 1}, headers: {X-A: b}}}
)");
  ASSERT_TRUE(acts) << acts.error().message;
  ASSERT_EQ(acts->size(), 4U);
  const ChaosAct& freeze = (*acts)[0];
  EXPECT_EQ(freeze.name, "freeze");
  EXPECT_EQ(freeze.at, 10_s);
  EXPECT_EQ(freeze.lasts, 500_ms);
  EXPECT_EQ(freeze.deed.kind, ChaosKind::pause);
  EXPECT_EQ(freeze.deed.pid_file, "s.pid");
  const ChaosAct& killed = (*acts)[1];
  EXPECT_EQ(killed.name, "signal");
  EXPECT_EQ(killed.at, 12_s);
  EXPECT_EQ(killed.deed.signal, SIGKILL);
  EXPECT_EQ(killed.deed.pid, 4711);
  EXPECT_EQ(killed.lasts, Duration{});
  const ChaosAct& limited = (*acts)[2];
  EXPECT_EQ(limited.lasts, 7_s);
  ASSERT_TRUE(limited.undo);
  EXPECT_EQ(limited.undo->command, "./free.sh");
  EXPECT_EQ(limited.timeout, 3_s);
  const ChaosDeed& call = (*acts)[3].deed;
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.body, R"({"a":1})");
  const std::vector<std::pair<std::string, std::string>> headers{
      {"Content-Type", "application/json"}, {"X-A", "b"}};
  EXPECT_EQ(call.headers, headers);
}

TEST(Chaos, what_is_wrong_is_named_with_its_place) {
  const std::pair<const char*, const char*> cases[] = {
      {"acts: []", "acts: expected a list"},
      {"act: 1", "chaos.act: unknown key; one of: acts"},
      {"acts: [{command: x}]", "acts[0].at: missing"},
      {"acts: [{at: soon, command: x}]", "acts[0].at: expected a time"},
      {"acts: [{at: 1s}]", "acts[0]: expected exactly one of: command, http, signal, pause"},
      {"acts: [{at: 1s, command: x, pause: {pid: 9}}]", "acts[0]: expected exactly one of"},
      {"acts: [{at: 1s, comand: x}]", "acts[0].comand: unknown key"},
      {"acts: [{at: 1s, command: x, for: 2s}]", "acts[0].for: nothing ends this act"},
      {"acts: [{at: 1s, command: x, undo: {command: y}}]", "acts[0].undo: say when"},
      {"acts: [{at: 5s, command: x, until: 5s, undo: {command: y}}]",
       "acts[0].until: the act would end before it begins"},
      {"acts: [{at: 5s, command: x, for: 1s, undo: {pause: {pid: 9}}}]",
       "acts[0].undo.pause: unknown key"},
      {"acts: [{at: 1s, pause: {pid: 9}}]", "acts[0].for: a pause needs its time"},
      {"acts: [{at: 1s, pause: {pid: 1}, for: 1s}]", "acts[0].pause.pid: expected the number"},
      {"acts: [{at: 1s, pause: {}, for: 1s}]", "acts[0].pause: name the process"},
      {"acts: [{at: 1s, signal: {name: SEGV, pid: 9}}]", "acts[0].signal.name: unknown signal"},
      {"acts: [{at: 1s, http: {url: 'ftp://x'}}]", "acts[0].http.url: \"ftp://x\" is not an http"},
      {"acts: [{at: 1s, http: {url: 'http://x', headers: {'A b': c}}}]", "is not a header"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_NE(trouble(text).find(expected), std::string::npos) << trouble(text);
  }
}

TEST(Chaos, a_saved_config_holds_the_acts_of_the_file_without_their_secrets) {
  const TempFolder folder;
  const auto file = folder.path() / "chaos.yaml";
  ASSERT_TRUE(write_file_atomic(file, R"(acts:
  - at: 1s
    http: {url: "http://localhost:1/drain", headers: {Authorization: "Bearer ${ADMIN}"}}
)"));
  const Environment environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "ADMIN") return "open-sesame";
    return std::nullopt;
  };
  ConfigReader reader(environment, 1000);
  reader.flag("--endpoint", "http://localhost:1");
  reader.flag("--model", "m");
  reader.flag("--chaos", file.string());
  const auto loaded = reader.finish();
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto acts = parse_chaos(loaded->config.settings.chaos);
  ASSERT_TRUE(acts);
  EXPECT_EQ((*acts)[0].deed.headers[0].second, "Bearer open-sesame");
  const std::string saved = config_to_yaml(loaded->config);
  EXPECT_NE(saved.find("/drain"), std::string::npos);
  EXPECT_EQ(saved.find("sesame"), std::string::npos) << saved;
}

TEST(Chaos, a_file_that_is_wrong_is_named) {
  const TempFolder folder;
  const auto file = folder.path() / "chaos.yaml";
  ASSERT_TRUE(write_file_atomic(file, "acts: [{at: 1s}]\n"));
  for (const std::string& path : {file.string(), (folder.path() / "none.yaml").string()}) {
    ConfigReader reader([](const std::string&) { return std::nullopt; }, 1000);
    reader.flag("--endpoint", "http://localhost:1");
    reader.flag("--model", "m");
    reader.flag("--chaos", path);
    const auto loaded = reader.finish();
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().message.find(path), std::string::npos) << loaded.error().message;
    EXPECT_NE(loaded.error().message.find("--chaos"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::plan
