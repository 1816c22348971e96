#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/config_reader.h"

namespace assay::plan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Given = std::vector<std::pair<std::string, std::string>>;

Environment only_a_key() {
  return [](const std::string& name) -> std::optional<std::string> {
    if (name == "KEY") return "sk-secret-1";
    return std::nullopt;
  };
}

Result<LoadedConfig> with_file(std::string_view yaml, const Given& flags) {
  ConfigReader reader(only_a_key(), 28232);
  if (!yaml.empty()) reader.read_text(yaml, "config.yaml");
  for (const auto& [name, value] : flags) reader.flag(name, value);
  return reader.finish();
}

// Parses the two required flags, and then `flags`.
Result<LoadedConfig> parse(Given flags) {
  flags.insert(flags.begin(), {{"--endpoint", "http://localhost:8000"}, {"--model", "m"}});
  return with_file("", flags);
}

Config parsed_config(const Result<LoadedConfig>& loaded) {
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? loaded->config : Config{};
}

std::string error_of(const Result<LoadedConfig>& loaded) {
  return loaded ? "no error" : loaded.error().message;
}

constexpr std::string_view kFlagsFile = R"(
type: online
model_params: {name: m, max_new_tokens: 77}
datasets: [{path: data.jsonl}]
settings:
  runtime: {n_samples_to_issue: 500, min_duration_ms: 10s}
  load_pattern: {type: poisson, target_qps: 5}
endpoint_config: {endpoints: ['http://a', 'http://b']}
)";

TEST(Flags, an_endpoint_and_a_model_are_enough) {
  const auto loaded = parse({});
  const Config config = parsed_config(loaded);
  EXPECT_EQ(config.type, RunType::online);
  EXPECT_EQ(config.name, "online_benchmark");
  EXPECT_EQ(config.settings.load_pattern.type, Pattern::concurrency);
  EXPECT_EQ(config.settings.load_pattern.target_concurrency, 1U);
  EXPECT_EQ(config.settings.runtime.n_samples_to_issue, 100U);
  EXPECT_EQ(config.model_params.streaming, Switch::on);
  ASSERT_EQ(config.datasets.size(), 1U);
  EXPECT_EQ(config.datasets[0].synthetic->isl, dataset::LengthSpec::fixed(256));
  EXPECT_EQ(config.datasets[0].synthetic->count, 100U);
  EXPECT_THAT(loaded->notes, Contains(HasSubstr("one query at a time")));
  EXPECT_THAT(loaded->notes, Contains(HasSubstr("100 synthetic prompts")));
}

TEST(Flags, a_command_may_have_a_length_of_its_own_for_what_nothing_is_said_of) {
  const auto with = [](const Given& flags, std::string_view yaml = "") {
    ConfigReader reader(only_a_key(), 28232);
    reader.set_time_unsaid(60_s);
    if (!yaml.empty()) reader.read_text(yaml, "config.yaml");
    reader.flag("--endpoint", "http://localhost:8000");
    reader.flag("--model", "m");
    for (const auto& [name, value] : flags) reader.flag(name, value);
    return reader.finish();
  };
  const auto unsaid = with({});
  EXPECT_EQ(parsed_config(unsaid).settings.runtime.duration, 60_s);
  EXPECT_FALSE(parsed_config(unsaid).settings.runtime.n_samples_to_issue);
  EXPECT_THAT(unsaid->notes, Contains(HasSubstr("no length was named: 60 s")));
  EXPECT_EQ(parsed_config(with({{"--samples", "9"}})).settings.runtime.duration, std::nullopt);
  EXPECT_EQ(parsed_config(with({{"--duration", "5s"}})).settings.runtime.duration, 5_s);
  EXPECT_EQ(parsed_config(with({}, kFlagsFile)).settings.runtime.duration, std::nullopt);
  // A load that is sent all at once cannot last for a time.
  const auto burst = with({{"--load-pattern", "max_throughput"}});
  EXPECT_EQ(parsed_config(burst).settings.runtime.n_samples_to_issue, 100U);
}

TEST(Flags, the_flags_of_the_guide) {
  const Config config = parsed_config(parse({{"--endpoint", "http://b:1"},
                                             {"--concurrency", "64"},
                                             {"--samples", "1000"},
                                             {"--isl", "uniform:100-200"},
                                             {"--osl", "64"},
                                             {"--api-type", "openai_completions"},
                                             {"--api-key-env", "KEY"},
                                             {"--header", "X-Team: blue: sky"},
                                             {"--header", "X-Empty:"},
                                             {"--streaming", "off"},
                                             {"--warmup", ""},
                                             {"--report-dir", "out"},
                                             {"--insecure", ""},
                                             {"--http", "1.1"},
                                             {"--max-in-flight", "32"},
                                             {"--query-timeout", "30s"},
                                             {"--idle-timeout", "1m"},
                                             {"--max-duration", "90s"},
                                             {"--run-seed", "18446744073709551610"},
                                             {"--extra-body", R"({"min_p": 0.1})"}}));
  EXPECT_THAT(config.endpoint_config.endpoints, ElementsAre("http://localhost:8000", "http://b:1"));
  EXPECT_EQ(config.settings.load_pattern.type, Pattern::concurrency);
  EXPECT_EQ(config.settings.load_pattern.target_concurrency, 64U);
  EXPECT_EQ(config.settings.load_pattern.max_in_flight, 32U);
  EXPECT_EQ(config.settings.runtime.n_samples_to_issue, 1000U);
  EXPECT_EQ(config.settings.runtime.query_timeout, 30_s);
  EXPECT_EQ(config.settings.runtime.no_progress_timeout, 60_s);
  EXPECT_EQ(config.settings.runtime.max_duration, 90_s);
  EXPECT_EQ(config.settings.runtime.scheduler_random_seed, 18446744073709551610U);
  EXPECT_EQ(config.settings.runtime.dataloader_random_seed, 18446744073709551610U);
  EXPECT_EQ(config.endpoint_config.api_type, Api::openai_completions);
  EXPECT_EQ(config.endpoint_config.api_key, "sk-secret-1");
  EXPECT_THAT(config.endpoint_config.headers,
              ElementsAre(std::pair("X-Team", "blue: sky"), std::pair("X-Empty", "")));
  EXPECT_EQ(config.model_params.streaming, Switch::off);
  EXPECT_EQ(config.model_params.extra_body.dump(), R"({"min_p":0.1})");
  EXPECT_TRUE(config.settings.warmup.enabled);
  EXPECT_EQ(config.report_dir, "out");
  EXPECT_TRUE(config.settings.client.insecure);
  EXPECT_EQ(config.settings.client.http, HttpVersion::http1);
  const SyntheticConfig& synthetic = *config.datasets[0].synthetic;
  EXPECT_EQ(dataset::to_string(*synthetic.isl), "uniform:100-200");
  EXPECT_EQ(synthetic.osl, dataset::LengthSpec::fixed(64));
  EXPECT_EQ(synthetic.token_ids, Switch::on);
  EXPECT_EQ(synthetic.seed, 18446744073709551610U);
}

TEST(Flags, a_rate_is_poisson_unless_another_load_is_named) {
  const auto pattern = [](const Given& flags) {
    return parsed_config(parse(flags)).settings.load_pattern.type;
  };
  EXPECT_EQ(pattern({{"--rate", "5"}}), Pattern::poisson);
  EXPECT_EQ(pattern({{"--rate", "5"}, {"--load-pattern", "constant"}}), Pattern::constant);
  EXPECT_EQ(pattern({{"--load-pattern", "constant"}, {"--rate", "5"}}), Pattern::constant);
  EXPECT_EQ(pattern({{"--rate", "5"}, {"--burstiness", "0.5"}}), Pattern::gamma);
  EXPECT_EQ(pattern({{"--target-qps", "5"}}), Pattern::poisson);
  EXPECT_THAT(error_of(parse({{"--rate", "5"}, {"--concurrency", "5"}})),
              HasSubstr("--max-in-flight"));
  EXPECT_THAT(error_of(parse({{"--rate", "0"}})), HasSubstr("--rate: must be above 0"));
}

TEST(Flags, max_throughput_is_an_offline_run) {
  const Config config =
      parsed_config(parse({{"--load-pattern", "max_throughput"}, {"--samples", "10"}}));
  EXPECT_EQ(config.type, RunType::offline);
  EXPECT_EQ(config.model_params.streaming, Switch::off);
  EXPECT_THAT(error_of(parse({{"--load-pattern", "max_throughput"}, {"--duration", "10s"}})),
              HasSubstr("sends everything at once and cannot last"));
  EXPECT_EQ(
      error_of(parse(
          {{"--load-pattern", "max_throughput"}, {"--duration", "10s"}, {"--max-in-flight", "4"}})),
      "no error");
}

TEST(Flags, a_ramp_is_one_flag) {
  const Config config = parsed_config(parse({{"--ramp", "rate:10-100,steps=4,step=1.5s"}}));
  EXPECT_EQ(config.settings.load_pattern.type, Pattern::ramp);
  EXPECT_EQ(config.settings.load_pattern.ramp->of, RampOf::rate);
  EXPECT_EQ(config.settings.load_pattern.ramp->from, 10);
  EXPECT_EQ(config.settings.load_pattern.ramp->to, 100);
  EXPECT_EQ(config.settings.load_pattern.ramp->steps, 4U);
  EXPECT_EQ(config.settings.load_pattern.ramp->step_duration, 1500_ms);
  EXPECT_THAT(error_of(parse({{"--ramp", "10-100"}})), HasSubstr("--ramp concurrency:1-64"));
  EXPECT_THAT(error_of(parse({{"--ramp", "rate:1-2,stops=3"}})), HasSubstr("steps=N"));
  EXPECT_THAT(error_of(parse({{"--ramp", "rate:1-2,step=3"}})), HasSubstr("say the unit: 3s"));
  EXPECT_THAT(error_of(parse({{"--ramp", "concurrency:0-8"}})), HasSubstr("from 1 up"));
}

TEST(Flags, times_name_their_unit) {
  for (const char* flag : {"--duration", "--min-duration", "--max-duration", "--query-timeout",
                           "--idle-timeout", "--timeout", "--connect-timeout"}) {
    EXPECT_THAT(error_of(parse({{flag, "10"}})),
                HasSubstr(std::string(flag) + ": 10 of what?\n       say the unit: 10s, 10ms"));
  }
  // The reference client's own spelling has the same meaning here.
  EXPECT_EQ(
      parsed_config(parse({{"--runtime.min-duration-ms", "600000"}})).settings.runtime.min_duration,
      600_s);
}

TEST(Flags, flags_overrule_the_file) {
  const Config config = parsed_config(with_file(kFlagsFile, {{"--concurrency", "3"},
                                                             {"--duration", "20s"},
                                                             {"--endpoint", "http://c"},
                                                             {"--model", "other"},
                                                             {"--osl", "9"}}));
  EXPECT_EQ(config.settings.load_pattern.type, Pattern::concurrency);
  EXPECT_FALSE(config.settings.runtime.n_samples_to_issue);
  EXPECT_FALSE(config.settings.runtime.min_duration);
  EXPECT_EQ(config.settings.runtime.duration, 20_s);
  EXPECT_THAT(config.endpoint_config.endpoints, ElementsAre("http://c"));
  EXPECT_EQ(config.model_params.name, "other");
  EXPECT_EQ(config.model_params.max_new_tokens, 9);
  EXPECT_EQ(config.datasets[0].path, "data.jsonl");
  EXPECT_THAT(error_of(with_file(kFlagsFile, {{"--isl", "9"}})), HasSubstr("there is a file"));
  EXPECT_THAT(error_of(with_file(kFlagsFile, {{"--osl", "uniform:1-5"}})), HasSubstr("one limit"));
}

TEST(Flags, samples_are_exact_even_with_a_duration) {
  const auto loaded = parse({{"--samples", "5"}, {"--duration", "10s"}});
  const Config config = parsed_config(loaded);
  EXPECT_EQ(config.settings.runtime.n_samples_to_issue, 5U);
  EXPECT_EQ(config.settings.runtime.duration, 10_s);
  EXPECT_THAT(loaded->notes, Contains(HasSubstr("--samples is exact")));
}

TEST(Flags, datasets_take_the_place_of_the_files) {
  const Config config = parsed_config(
      with_file(kFlagsFile, {{"--dataset", "x.jsonl,parser.prompt=q"},
                             {"--dataset",
                              "acc:y.jsonl,accuracy_config.eval_method=pass_at_1,"
                              "accuracy_config.extractor=abcd_extractor,parser.ground_truth=a"}}));
  ASSERT_EQ(config.datasets.size(), 2U);
  EXPECT_EQ(config.datasets[0].path, "x.jsonl");
  EXPECT_EQ(config.datasets[1].type, DatasetType::accuracy);
  EXPECT_THAT(error_of(with_file(kFlagsFile, {{"--dataset", "x.jsonl,parser.nonsense=q"}})),
              HasSubstr("\"nonsense\" is not a column that is asked"));
  EXPECT_THAT(error_of(with_file(kFlagsFile, {{"--dataset", "x.jsonl,a:b"}})), HasSubstr("a=b"));
}

TEST(Flags, a_run_timeout_keeps_the_drains_of_the_file) {
  const Config config =
      parsed_config(with_file(std::string(kFlagsFile) + "\n",
                              {{"--timeout", "1h"}, {"--performance-drain-timeout", "7s"}}));
  EXPECT_EQ(config.settings.timeouts->run_timeout, 3600_s);
  EXPECT_EQ(config.settings.timeouts->performance_drain_timeout, 7_s);
  EXPECT_EQ(config.settings.timeouts->warmup_drain_timeout, 240_s);
}

TEST(Flags, mistakes_name_the_flag_and_come_together) {
  const std::string text =
      error_of(with_file("", {{"--concurency", "5"}, {"--api-type", "openia"}, {"--http", "3"}}));
  EXPECT_THAT(text, HasSubstr("--concurency: unknown flag\n       did you mean --concurrency?"));
  EXPECT_THAT(text,
              HasSubstr("--api-type: unknown value \"openia\"\n       did you mean \"openai\""));
  EXPECT_THAT(text,
              HasSubstr("--http: unknown value \"3\"\n       did you mean \"2\"?   one of: auto"));
  EXPECT_THAT(text, HasSubstr("there is no endpoint to ask\n       --endpoint http://"));
  EXPECT_THAT(text, HasSubstr("the model has no name"));
}

TEST(Flags, a_switch_has_an_opposite) {
  EXPECT_FALSE(parsed_config(parse({{"--no-early-stopping", ""}})).settings.early_stopping.enabled);
  EXPECT_FALSE(parsed_config(parse({{"--no-include-usage", ""}})).model_params.include_usage);
  EXPECT_TRUE(parsed_config(parse({{"--no-no-include-usage", ""}})).model_params.include_usage);
  EXPECT_FALSE(parsed_config(parse({{"--no-request-ids", ""}})).endpoint_config.request_ids);
  EXPECT_FALSE(
      parsed_config(parse({{"--insecure", ""}, {"--no-insecure", ""}})).settings.client.insecure);
  EXPECT_THAT(error_of(parse({{"--no-model", ""}})), HasSubstr("unknown flag"));
}

TEST(Flags, modes) {
  EXPECT_EQ(parsed_config(parse({{"--mode", "perf"}})).mode, Mode::perf);
  EXPECT_THAT(error_of(parse({{"--accuracy-only", ""}})),
              HasSubstr("acc needs a dataset of type accuracy"));
}

TEST(Flags, synthetic_prompts_are_enough_for_the_run_up_to_a_million) {
  const auto count = [](Given flags) {
    return parsed_config(parse(std::move(flags))).datasets[0].synthetic->count;
  };
  EXPECT_EQ(count({{"--samples", "5000"}}), 5000U);
  EXPECT_EQ(count({{"--samples", "5000000"}, {"--isl", "100"}}), 1000000U);
  EXPECT_GE(count({{"--rate", "10"}, {"--duration", "60s"}}), 660U);
  EXPECT_EQ(count({{"--concurrency", "10"}, {"--duration", "60s"}}), 10000U);
  EXPECT_EQ(count({{"--samples", "5"}, {"--isl", "10000000"}}), 5U);
  EXPECT_EQ(count({{"--samples", "5000"}, {"--prompts", "7"}}), 7U);
}

TEST(Flags, every_flag_has_a_name_of_its_own_and_a_help) {
  std::set<std::string_view> names;
  for (const FlagInfo& flag : run_flags()) {
    EXPECT_TRUE(flag.name.starts_with("--")) << flag.name;
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
    for (const std::string_view alias : flag.aliases) {
      EXPECT_TRUE(names.insert(alias).second) << alias;
    }
    EXPECT_FALSE(flag.help.empty()) << flag.name;
  }
  // The command line offers --no-NAME for each switch.
  for (const FlagInfo& flag : run_flags()) {
    if (!flag.value.empty()) continue;
    const std::string opposite = "--no-" + std::string(flag.name.substr(2));
    EXPECT_FALSE(names.contains(opposite)) << opposite;
  }
  // Every flag sets a known setting.
  for (const FlagInfo& flag : run_flags()) {
    const std::string error = error_of(parse({{std::string(flag.name), "1"}}));
    EXPECT_THAT(error, testing::Not(HasSubstr("unknown flag"))) << flag.name;
  }
}

}  // namespace
}  // namespace assay::plan
