#include "plan/saved_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/yaml.h"
#include "plan/config_reader.h"

namespace assay::plan {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Result<LoadedConfig> load_saved(std::string_view yaml) {
  ConfigReader reader(
      [](const std::string& name) -> std::optional<std::string> {
        if (name == "KEY") return "sk-very-secret-key";
        return std::nullopt;
      },
      28232);
  reader.read_text(yaml, "config.yaml");
  return reader.finish();
}

constexpr std::string_view kFull = R"(
name: everything
type: online
submission_ref: {model: m, ruleset: mlperf-inference-v6.1}
model_params:
  name: org/model
  temperature: 0.7
  top_k: -1
  max_new_tokens: 512
  chat_template_kwargs: {preserve_thinking: true, level: "on", n: 3}
  extra_body: {min_p: 0.1, api_key: sk-in-the-body, note: "uses sk-very-secret-key here"}
datasets:
- {path: data.jsonl, parser: {prompt: "question: text"}}
- name: it's
  path: b.csv
  type: accuracy
  accuracy_config: {eval_method: pass_at_1, extractor: abcd_extractor, num_repeats: 4}
  generation_config_override: {max_new_tokens: 9, top_k: null}
- name: syn
  type: accuracy
  path: c.jsonl
  accuracy_config: {eval_method: bfcl_v4}
settings:
  runtime: {duration_ms: 20s, query_timeout_s: 2.5}
  load_pattern: {type: gamma, target_qps: 2.5, burstiness: 0.5, max_in_flight: 7}
  drain: {performance_timeout_s: null, warmup_timeout_s: 5}
  warmup: {enabled: true, n_requests: 3}
endpoint_config:
  endpoints: ['http://h:1/v1?token=t0k3n&x=1', 'https://h2']
  api_key_env: KEY
  session_id_headers: []
  headers: {X-Api-Key: hush-hush, X-Team: "yes"}
)";

TEST(SavedConfig, reads_back_as_the_same_config) {
  const auto first = load_saved(kFull);
  ASSERT_TRUE(first) << first.error().message;
  const std::string saved = config_to_yaml(first->config);
  const auto second = load_saved(saved);
  ASSERT_TRUE(second) << second.error().message << "\n" << saved;
  EXPECT_EQ(config_to_yaml(second->config), saved);
  const Config& config = second->config;
  EXPECT_EQ(config.settings.runtime.scheduler_random_seed, 16159082839903944936U);
  EXPECT_EQ(config.settings.drain.performance_timeout, Duration::max());
  EXPECT_EQ(config.settings.drain.warmup_timeout, 5_s);
  EXPECT_EQ(config.settings.load_pattern.burstiness, 0.5);
  EXPECT_EQ(config.settings.runtime.query_timeout, 2500_ms);
  EXPECT_EQ(config.model_params.streaming, Switch::on);
  EXPECT_EQ(config.model_params.chat_template_kwargs,
            first->config.model_params.chat_template_kwargs);
  EXPECT_EQ(config.datasets[0].parser, first->config.datasets[0].parser);
  EXPECT_EQ(config.datasets[1].name, "it's");
  EXPECT_TRUE(config.endpoint_config.session_id_headers.empty());
  EXPECT_EQ(config.endpoint_config.api_key, "sk-very-secret-key");
}

TEST(SavedConfig, keeps_dollar_signs) {
  const auto first = load_saved(R"(
model_params: {name: m, extra_body: {a: "$$HOME", b: "$$$$x$", c: "5$ $9", d: ["$${A}"]}}
datasets: [{path: data.jsonl}]
settings: {load_pattern: {type: concurrency, target_concurrency: 8}}
endpoint_config: {endpoints: ['http://localhost:8000']}
)");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->config.model_params.extra_body["b"].as_string(), "$$x$");
  const auto second = load_saved(config_to_yaml(first->config));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->config.model_params.extra_body, first->config.model_params.extra_body);
}

TEST(SavedConfig, of_assay_s_own_parts_has_what_was_changed) {
  const auto loaded = load_saved(R"(
type: online
model_params: {name: m}
datasets: [{path: data.jsonl}]
settings:
  load_pattern: {type: concurrency, target_concurrency: 8}
  recording: {keep_text: on}
  guard: {preflight: false, stop_when_refused: true}
endpoint_config: {endpoints: ['http://localhost:8000']}
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const std::string saved = yaml::write(config_to_json(loaded->config));
  EXPECT_THAT(saved, HasSubstr("  recording:\n    keep_text: 'on'\n"));
  EXPECT_THAT(saved, HasSubstr("  guard:\n    preflight: false\n"));
  EXPECT_THAT(saved, Not(HasSubstr("stop_when_refused")));
}

constexpr std::string_view kOwn = R"(
type: online
model_params: {name: m, extra_body: {min_p: 0.1, note: "#assay| no: mark"}}
datasets:
- {path: data.jsonl}
- {path: b.jsonl, name: second, type: accuracy, rows_max: 7,
   accuracy_config: {eval_method: pass_at_1, extractor: abcd_extractor}}
settings:
  load_pattern: {type: concurrency, target_concurrency: 8}
  guard: {preflight: false}
endpoint_config: {endpoints: ['http://localhost:8000']}
)";

TEST(SavedConfig, keeps_assay_s_own_keys_in_comments) {
  const auto loaded = load_saved(kOwn);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const std::string saved = config_to_yaml(loaded->config);
  EXPECT_THAT(saved, HasSubstr("\n#assay| datasets:\n#assay| - {}\n#assay| - rows_max: 7\n"));
  EXPECT_THAT(saved,
              HasSubstr("\n#assay| settings:\n#assay|   guard:\n#assay|     preflight: false"));
  // For who skips comments there is no key of ours.
  const auto theirs = yaml::parse(saved);
  ASSERT_TRUE(theirs) << theirs.error().message;
  EXPECT_EQ(theirs->find("model_params")->find("extra_body"), nullptr);
  EXPECT_EQ(theirs->find("settings")->find("guard"), nullptr);
  EXPECT_EQ(theirs->find("datasets")->items[1].find("rows_max"), nullptr);

  const auto again = load_saved(saved);
  ASSERT_TRUE(again) << again.error().message << "\n" << saved;
  EXPECT_EQ(again->config.model_params.extra_body, loaded->config.model_params.extra_body);
  EXPECT_EQ(again->config.datasets[0].rows_max, 0U);
  EXPECT_EQ(again->config.datasets[1].rows_max, 7U);
  EXPECT_FALSE(again->config.settings.guard.preflight);
  EXPECT_EQ(config_to_yaml(again->config), saved);
}

TEST(SavedConfig, without_own_keys_has_no_such_lines) {
  const auto loaded = load_saved(R"(
model_params: {name: m}
datasets: [{path: data.jsonl}]
endpoint_config: {endpoints: ['http://localhost:8000']}
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(config_to_yaml(loaded->config), Not(HasSubstr("#assay|")));
}

struct WrongLines {
  std::string_view lines{};
  std::string_view said{};
};

TEST(SavedConfig, own_lines_that_are_wrong_are_named_with_their_line) {
  constexpr std::string_view kFile =
      "model_params: {name: m}\ndatasets: [{path: d.jsonl}]\n"
      "settings: {load_pattern: {type: concurrency, target_concurrency: 8}}\n"
      "endpoint_config: {endpoints: ['http://localhost:8000']}\n# a comment\n";
  for (const auto& [lines, said] : {
           WrongLines{"#assay| settings:\n#assay|   guard:\n#assay|     preflite: 1\n",
                      "config.yaml:8: settings.guard.preflite"},
           WrongLines{"#assay| settings: {guard\n", "config.yaml:"},
           WrongLines{"#assay| - 1\n", "config.yaml:6: expected a map of settings behind #assay|"},
           WrongLines{"#assay| model_params: {name: n}\n",
                      "config.yaml:6: model_params.name: this is given twice"},
           WrongLines{"#assay|datasets: [{}, {rows_max: 1}]\n",
                      "lines with #assay| have 2 items, the file has 1"},
       }) {
    const auto loaded = load_saved(std::string(kFile) + std::string(lines));
    ASSERT_FALSE(loaded) << lines;
    EXPECT_THAT(loaded.error().message, HasSubstr(said));
  }
}

TEST(SavedConfig, holds_no_secret) {
  const auto loaded = load_saved(kFull);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const std::string saved = config_to_yaml(loaded->config);
  for (const char* secret : {"sk-very-secret-key", "sk-in-the-body", "hush-hush", "t0k3n"}) {
    EXPECT_THAT(saved, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(saved, HasSubstr("  api_key: <redacted>\n"));
  EXPECT_THAT(saved, HasSubstr("note: uses <redacted> here"));
  EXPECT_THAT(saved, HasSubstr("http://h:1/v1?token=%3Credacted%3E&x=1"));
  EXPECT_THAT(saved, HasSubstr("max_new_tokens: 512"));
}

TEST(SavedConfig, is_spelled_as_the_reference_clients) {
  const auto loaded = load_saved(R"(
type: online
model_params: {name: m, streaming: on}
datasets: [{path: data.jsonl}]
settings:
  runtime: {min_duration_ms: 600s}
  load_pattern: {type: concurrency, target_concurrency: 8}
endpoint_config: {endpoints: ['http://localhost:8000']}
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(config_to_yaml(loaded->config), StartsWith("# Written by Assay "));
  const std::string saved = yaml::write(config_to_json(loaded->config));
  EXPECT_THAT(saved, StartsWith(R"(name: online_benchmark
version: '1.0'
type: online
model_params:
  name: m
  max_new_tokens: 1024
  min_new_tokens: 1
  skip_special_tokens: true
  streaming: 'on'
datasets:
- name: data
  type: performance
  path: data.jsonl
settings:
  runtime:
    min_duration_ms: 600000
    max_duration_ms: 0
    scheduler_random_seed: 42
    dataloader_random_seed: 42
)"));
  EXPECT_THAT(saved, HasSubstr("  load_pattern:\n    type: concurrency\n"
                               "    target_concurrency: 8\n  client:\n    num_workers: -1\n"));
  EXPECT_THAT(saved, HasSubstr("  drain:\n    warmup_timeout_s: 240.0\n"
                               "    performance_timeout_s: 240.0\n    accuracy_timeout_s: null\n"));
  // Assay's own keys are written only if they were changed: the file stays the reference client's.
  for (const char* ours : {"ignore_eos", "include_usage", "burstiness", "synthetic", "rows_max"}) {
    EXPECT_THAT(saved, Not(HasSubstr(ours)));
  }
  // Nor are keys of its newer releases, which the older ones refuse.
  for (const char* newer : {"session_id_headers", "transport_max_retries", "no_progress_timeout_s",
                            "enable_live_metrics", "recording", "guard", "power"}) {
    EXPECT_THAT(saved, Not(HasSubstr(newer)));
  }
}

TEST(SavedConfig, a_redacted_key_cannot_be_used_by_mistake) {
  const auto loaded = load_saved(
      "type: online\nmodel_params: {name: m}\ndatasets: [{path: a.jsonl}]\nsettings: "
      "{load_pattern: {type: concurrency, target_concurrency: 1}}\nendpoint_config: {endpoints: "
      "['http://x'], api_key: <redacted>}\n");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("--api-key-env NAME"));
}

TEST(RedactUrl, hides_users_and_secret_queries_only) {
  EXPECT_EQ(redact_url("http://u:p@h:1/x?a=1"), "http://<redacted>@h:1/x?a=1");
  EXPECT_EQ(redact_url("http://h/x@y"), "http://h/x@y");
  EXPECT_EQ(redact_url("https://h?api-key=1&b=2&my_secret=3#f"),
            "https://h?api-key=%3Credacted%3E&b=2&my_secret=%3Credacted%3E#f");
  EXPECT_EQ(redact_url("plain text"), "plain text");
}

TEST(Yaml, what_is_written_is_read_back) {
  const char* text = R"({"a":"on","b":"1","c":"it's: x","d":"line\nbreak","e":[],"f":{},
    "g":[1,[2,"- x"],{"h":null,"i":true}],"j":"","k":1e+300,"l":-0.5,"m":" pad ","n":"null",
    "o":"é","p":"#x","q":"0x10","r":"2024-01-01","s":18446744073709551615,"t":"~","u":"a #b",
    "1":2,"v":"\u0007","w":"a:","x":"=","y":"1_000"})";
  const auto json = Json::parse(text);
  ASSERT_TRUE(json);
  const std::string yaml = yaml::write(*json);
  const auto node = yaml::parse(yaml);
  ASSERT_TRUE(node) << node.error().message << "\n" << yaml;
  EXPECT_EQ(node->to_json().dump(), json->dump()) << yaml;
}

}  // namespace
}  // namespace assay::plan
