#include "plan/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/format.h"
#include "base/text.h"
#include "plan/saved_config.h"

namespace assay::plan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint32_t kPorts = 28232;

Environment variables(std::map<std::string, std::string> set) {
  return [set = std::move(set)](const std::string& name) -> std::optional<std::string> {
    const auto found = set.find(name);
    if (found == set.end()) return std::nullopt;
    return found->second;
  };
}

Result<LoadedConfig> load(std::string_view yaml, std::map<std::string, std::string> set = {}) {
  ConfigReader reader(variables(std::move(set)), kPorts);
  reader.read_text(yaml, "config.yaml");
  return reader.finish();
}

std::string errors(std::string_view yaml, std::map<std::string, std::string> set = {}) {
  const auto loaded = load(yaml, std::move(set));
  return loaded ? "no error" : loaded.error().message;
}

constexpr std::string_view kOnline = R"(
type: online
model_params: {name: m}
datasets: [{path: data.jsonl}]
settings:
  load_pattern: {type: concurrency, target_concurrency: 8}
endpoint_config: {endpoints: ['http://localhost:8000']}
)";

std::string online(std::string_view settings, std::string_view rest = "") {
  return format(
      "type: online\nmodel_params: {{name: m}}\ndatasets: [{{path: data.jsonl}}]\n"
      "endpoint_config: {{endpoints: ['http://localhost:8000']}}\nsettings:\n{}\n{}",
      settings, rest);
}

Config config_of(const Result<LoadedConfig>& loaded) {
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? loaded->config : Config{};
}

TEST(ConfigReader, reads_a_reference_config) {
  const Config config = config_of(load(R"(
name: run-1
version: '1.0'
type: online
model_params: {name: my-model, max_new_tokens: 512, streaming: 'on', top_p: 0.9, top_k: -1}
datasets:
  - path: data/prompts.jsonl
    parser: {prompt: question, system: sys_text}
  - name: aime
    path: aime.jsonl
    type: accuracy
    generation_config_override: {max_new_tokens: 32768}
    accuracy_config: {eval_method: pass_at_1, ground_truth: answer,
                      extractor: boxed_math_extractor, num_repeats: 8}
settings:
  runtime:
    min_duration_ms: 600s
    max_duration_ms: 900000
    scheduler_random_seed: 18209322760996052031
  load_pattern: {type: poisson, target_qps: 25}
  warmup: {enabled: true, n_requests: 64, salt: true, drain: true}
  drain: {performance_timeout_s: null}
endpoint_config: {endpoints: ['http://a:8000', 'https://b'], api_type: openai}
report_dir: results/x
)"));
  EXPECT_EQ(config.name, "run-1");
  EXPECT_EQ(config.model_params.max_new_tokens, 512);
  EXPECT_EQ(config.model_params.top_k, -1);
  EXPECT_EQ(config.model_params.streaming, Switch::on);
  ASSERT_EQ(config.datasets.size(), 2U);
  EXPECT_EQ(config.datasets[0].name, "prompts");
  EXPECT_THAT(config.datasets[0].parser,
              ElementsAre(std::pair("prompt", "question"), std::pair("system", "sys_text")));
  EXPECT_EQ(config.datasets[1].accuracy_config->num_repeats, 8U);
  EXPECT_EQ(config.settings.runtime.min_duration, 600_s);
  EXPECT_EQ(config.settings.runtime.max_duration, 900_s);
  EXPECT_EQ(config.settings.runtime.scheduler_random_seed, 18209322760996052031U);
  EXPECT_EQ(config.settings.load_pattern.target_qps, 25.0);
  EXPECT_EQ(config.settings.warmup.n_requests, 64U);
  EXPECT_EQ(config.settings.drain.performance_timeout, Duration::max());
  EXPECT_EQ(config.settings.drain.warmup_timeout, 240_s);
  EXPECT_EQ(config.settings.recording.keep_text, Switch::on);
  EXPECT_EQ(config.report_dir, "results/x");
}

// 1. Unknown keys anywhere are rejected.
TEST(ConfigReader, unknown_keys_are_refused_with_their_line_and_a_suggestion) {
  EXPECT_THAT(errors(online("  load_pattern: {type: concurrency, target_concurency: 8}")),
              HasSubstr("config.yaml:6: settings.load_pattern.target_concurency: unknown key\n"
                        "       did you mean \"target_concurrency\"?"));
  EXPECT_THAT(errors("typ: online\n"), HasSubstr("config.yaml:1: typ: unknown key"));
  EXPECT_THAT(errors("datasets:\n- path: x\n  paser: {}\n"),
              HasSubstr("config.yaml:3: datasets[0].paser: unknown key\n       did you mean "
                        "\"parser\"?"));
  EXPECT_THAT(errors("model_params: {zzz: 1}"), HasSubstr("known here: name, temperature"));
}

TEST(ConfigReader, a_list_of_keys_is_said_once_and_a_file_of_another_kind_by_what_it_is_for) {
  const std::string two = errors("model_params: {zzz: 1, yyy: 2}");
  EXPECT_THAT(two, HasSubstr("model_params.yyy: unknown key"));
  EXPECT_EQ(two.find("known here: name, temperature"), two.rfind("known here: name, temperature"));
  EXPECT_EQ(
      errors("model: m\nhardware: h100-sxm\nbackend: vllm\n"),
      "config.yaml: this is a scenario, a system to simulate, and no config of a run\n"
      "       assay simulate --scenario config.yaml, or assay endpoint --scenario config.yaml "
      "to have it behind a URL");
  EXPECT_THAT(errors("workload: letters\nmetric: queries/s\n"),
              HasSubstr("--workload config.yaml in place of --config"));
}

TEST(ConfigReader, that_nobody_named_a_load_is_known) {
  const auto unsaid = [](std::string_view head) {
    ConfigReader reader;
    reader.read_text(format("{}model_params: {{name: m}}\ndatasets: [{{path: data.jsonl}}]\n"
                            "endpoint_config: {{endpoints: [http://127.0.0.1:8000]}}\n",
                            head),
                     "config.yaml");
    const auto loaded = reader.finish();
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded && loaded->load_unsaid;
  };
  EXPECT_TRUE(unsaid(""));
  EXPECT_FALSE(unsaid("type: offline\n"));
  EXPECT_FALSE(unsaid("settings: {load_pattern: {type: max_throughput}}\n"));
  EXPECT_FALSE(unsaid("settings: {load_pattern: {type: concurrency, target_concurrency: 2}}\n"));
}

TEST(ConfigReader, unknown_values_name_their_line_and_what_there_is) {
  EXPECT_THAT(errors(online("\n\n\n  load_pattern:\n    type: concurency")),
              HasSubstr("config.yaml:10: settings.load_pattern.type: unknown value \"concurency\"\n"
                        "       did you mean \"concurrency\"?   one of: max_throughput, poisson, "
                        "concurrency"));
}

TEST(ConfigReader, all_errors_are_reported_at_once) {
  const std::string text = errors(
      "type: onlin\nmodel_params: {top_p: 2, max_new_tokens: x}\nsettings: {runtime: 5}\n"
      "endpoint_config: {endpoints: ['localhost:8000'], api_type: OpenAI}\n");
  for (const char* part :
       {"config.yaml:1: type: unknown value \"onlin\"",
        "\nconfig.yaml:2: model_params.top_p: must be at least 0 and at most 1, not 2",
        "\nconfig.yaml:2: model_params.max_new_tokens: expected a whole number of at least 1",
        "\nconfig.yaml:3: settings.runtime: expected a map",
        "\nconfig.yaml:4: endpoint_config.api_type: unknown value \"OpenAI\"",
        "did you mean http://localhost:8000?", "the model has no name"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(ConfigReader, a_value_that_could_not_be_read_is_not_complained_of_twice) {
  const std::string text = errors(online("  load_pattern: {type: poisson, target_qps: fast}"));
  EXPECT_THAT(text, HasSubstr("expected a number, found \"fast\""));
  EXPECT_THAT(text, Not(HasSubstr("needs a rate")));
}

TEST(ConfigReader, what_is_not_yaml_says_where) {
  EXPECT_THAT(errors("type: [online\n"), HasSubstr("config.yaml:"));
  EXPECT_THAT(errors("a: 1\nb: 2\na: 3\n"),
              HasSubstr("config.yaml:3: 'a' is given twice; the first is on line 1"));
  EXPECT_THAT(errors("- a\n"), HasSubstr("expected a map of settings, found a list"));
  EXPECT_THAT(errors(""), HasSubstr("expected a map of settings, found nothing"));
  EXPECT_THAT(errors("a: !python/object x\n"), HasSubstr("config.yaml:1: the tag"));
  EXPECT_THAT(errors("a: b\n---\nc: d\n"), HasSubstr("more than one YAML document"));
  EXPECT_THAT(errors("a: \xFF\n"), HasSubstr("UTF-8"));
}

TEST(ConfigReader, aliases_and_merge_keys_are_followed_but_not_into_a_bomb) {
  const Config config = config_of(load(R"(
type: online
model_params: {name: m}
datasets: [{path: a.jsonl}]
settings:
  load_pattern: &load {type: concurrency, target_concurrency: 8}
  client: {insecure: true}
endpoint_config: {endpoints: &urls ['http://x']}
)"));
  EXPECT_TRUE(config.settings.client.insecure);
  const Config merged =
      config_of(load("type: online\nmodel_params: &p {name: m, top_k: 3}\ndatasets:\n"
                     "- path: a.jsonl\n  generation_config_override: {<<: {top_k: 4}, top_p: 0.5}\n"
                     "settings: {load_pattern: {type: concurrency, target_concurrency: 1}}\n"
                     "endpoint_config: {endpoints: [http://x]}\n"));
  EXPECT_EQ(merged.datasets[0].generation_config_override.dump(), R"({"top_p":0.5,"top_k":4})");
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) bomb += format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  EXPECT_THAT(errors(bomb), HasSubstr("more than 1000000 values"));
  EXPECT_THAT(errors(std::string(5000, '[')), HasSubstr("config.yaml:1: "));
}

// 2. `auto` streaming.
TEST(ConfigReader, streaming_auto_is_off_for_offline_runs_and_on_otherwise) {
  const auto streaming = [](std::string_view head, std::string_view pattern) {
    return config_of(load(format("{}\nmodel_params: {{name: m}}\ndatasets: [{{path: d.jsonl}}]\n"
                                 "settings: {{load_pattern: {}}}\n"
                                 "endpoint_config: {{endpoints: ['http://x']}}\n",
                                 head, pattern)))
        .model_params.streaming;
  };
  EXPECT_EQ(streaming("type: offline", "{type: max_throughput}"), Switch::off);
  EXPECT_EQ(streaming("type: submission\nbenchmark_mode: offline", "{}"), Switch::off);
  EXPECT_EQ(streaming("type: submission\nbenchmark_mode: online",
                      "{type: concurrency, target_concurrency: 1}"),
            Switch::on);
  EXPECT_EQ(streaming("type: online", "{type: poisson, target_qps: 1}"), Switch::on);
  EXPECT_EQ(streaming("type: eval", "{}"), Switch::on);
}

TEST(ConfigReader, a_bare_on_or_off_is_understood) {
  for (const char* on : {"on", "'on'", "true", "yes"}) {
    const Config config = config_of(load(format(
        "type: online\nmodel_params: {{name: m, streaming: {}}}\ndatasets: [{{path: d.jsonl}}]\n"
        "settings: {{load_pattern: {{type: concurrency, target_concurrency: 1}}}}\n"
        "endpoint_config: {{endpoints: ['http://x']}}\n",
        on)));
    EXPECT_EQ(config.model_params.streaming, Switch::on) << on;
  }
}

// 3 and 4. Types and patterns.
TEST(ConfigReader, the_type_decides_which_patterns_fit) {
  EXPECT_THAT(errors("type: offline\nmodel_params: {name: m}\ndatasets: [{path: d.jsonl}]\n"
                     "settings: {load_pattern: {type: poisson, target_qps: 1}}\n"
                     "endpoint_config: {endpoints: ['http://x']}\n"),
              HasSubstr("config.yaml:4: settings.load_pattern.type: an offline run is "
                        "max_throughput, not poisson"));
  EXPECT_THAT(errors(online("  runtime: {}")), HasSubstr("an online run cannot be max_throughput"));
  EXPECT_THAT(errors(online("  load_pattern: {type: burst}")), HasSubstr("cannot be burst"));
  for (const char* pattern : {"poisson", "constant", "gamma"}) {
    EXPECT_THAT(errors(online(format("  load_pattern: {{type: {}}}", pattern))),
                HasSubstr(format("{} needs a rate", pattern)));
  }
  EXPECT_THAT(errors(online("  load_pattern: {type: concurrency}")),
              HasSubstr("concurrency needs a number in flight"));
  EXPECT_THAT(errors(online("  load_pattern: {type: ramp}")), HasSubstr("its last level"));
  EXPECT_THAT(errors(online("  load_pattern: {type: poisson, target_qps: 0}")),
              HasSubstr("target_qps: must be above 0"));
}

// 5 and 6. Durations.
TEST(ConfigReader, durations_have_suffixes_and_bounds) {
  const auto min_of = [](const char* text) {
    return config_of(load(online(format("  runtime: {{min_duration_ms: {}}}\n  load_pattern: "
                                        "{{type: concurrency, target_concurrency: 1}}",
                                        text))))
        .settings.runtime.min_duration;
  };
  EXPECT_EQ(min_of("600s"), 600_s);
  EXPECT_EQ(min_of("10m"), 600_s);
  EXPECT_EQ(min_of("500ms"), 500_ms);
  EXPECT_EQ(min_of("'10'"), 10_ms);
  EXPECT_EQ(min_of("1.5s"), 1500_ms);
  EXPECT_EQ(min_of("10_000"), 10_s);
  const std::string load_pattern = "\n  load_pattern: {type: concurrency, target_concurrency: 1}";
  EXPECT_THAT(
      errors(online("  runtime: {min_duration_ms: 10s, max_duration_ms: 5s}" + load_pattern)),
      HasSubstr("max_duration_ms: is below min_duration_ms"));
  const Config none = config_of(
      load(online("  runtime: {min_duration_ms: 10s, max_duration_ms: 0}" + load_pattern)));
  EXPECT_EQ(none.settings.runtime.max_duration, Duration::max());
  EXPECT_THAT(errors(online("  runtime: {min_duration_ms: 10 parsecs}" + load_pattern)),
              HasSubstr("expected a duration such as 500ms, 10s"));
}

// 7. The environment.
TEST(ConfigReader, variables_are_filled_in) {
  const std::string yaml = R"(
type: online
model_params:
  {name: '${MODEL}', extra_body: {a: "$$5", b: "${EMPTY:-x}", c: "${NONE:-}", d: $MODEL}}
datasets: [{path: '${NONE:-data}.jsonl'}]
settings: {load_pattern: {type: concurrency, target_concurrency: $N}}
endpoint_config: {endpoints: ['http://${HOST:-localhost}:8000']}
)";
  const Config config = config_of(load(yaml, {{"MODEL", "m"}, {"N", "4"}, {"EMPTY", ""}}));
  EXPECT_EQ(config.model_params.name, "m");
  EXPECT_EQ(config.model_params.extra_body.dump(), R"({"a":"$5","b":"","c":"","d":"m"})");
  EXPECT_EQ(config.datasets[0].path, "data.jsonl");
  EXPECT_EQ(config.settings.load_pattern.target_concurrency, 4U);
  EXPECT_EQ(config.endpoint_config.endpoints[0], "http://localhost:8000");
  EXPECT_THAT(errors(yaml, {{"N", "4"}, {"EMPTY", ""}}),
              HasSubstr("config.yaml:4: model_params.name: the environment variable MODEL is not "
                        "set"));
}

TEST(Expand, follows_the_reference_clients_rules) {
  const Environment environment = variables({{"A", "x"}, {"_b1", "y"}, {"E", ""}});
  const auto expanded = [&](const char* text) {
    const auto out = expand(text, environment);
    return out ? *out : "error";
  };
  EXPECT_EQ(expanded("$A/${A}/$_b1"), "x/x/y");
  EXPECT_EQ(expanded("$$A $${A} $"), "$A ${A} $");
  EXPECT_EQ(expanded("${E}|${E:-d}|${N:-d}|${N:-}"), "||d|");
  EXPECT_EQ(expanded("$1 ${1} ${A"), "$1 ${1} ${A");
  EXPECT_EQ(expanded("${N:-a}b}"), "ab}");
  EXPECT_EQ(expanded("$N"), "error");
  EXPECT_EQ(expanded("${N}"), "error");
}

// 8. Datasets as one line.
TEST(ConfigReader, datasets_may_be_lines_of_text) {
  const Config config = config_of(load(R"(
type: online
model_params: {name: m}
datasets:
- data/x.jsonl,parser.prompt=article,rows_max=5
- 'acc:y.csv,accuracy_config.eval_method=rouge,accuracy_config.extractor=abcd_extractor,name=why'
settings: {load_pattern: {type: concurrency, target_concurrency: 1}}
endpoint_config: {endpoints: ['http://x']}
)"));
  EXPECT_EQ(config.datasets[0].path, "data/x.jsonl");
  EXPECT_EQ(config.datasets[0].rows_max, 5U);
  EXPECT_THAT(config.datasets[0].parser, ElementsAre(std::pair("prompt", "article")));
  EXPECT_EQ(config.datasets[1].type, DatasetType::accuracy);
  EXPECT_EQ(config.datasets[1].name, "why");
  EXPECT_EQ(config.datasets[1].accuracy_config->extractor, "abcd_extractor");
}

TEST(ConfigReader, a_dataset_line_that_is_wrong_says_how_to_write_it) {
  const auto error = [](std::string_view line) { return errors(format("datasets: ['{}']", line)); };
  EXPECT_THAT(
      error("x.jsonl,parser.prompt:article"),
      HasSubstr("config.yaml:1: datasets[0]: \"parser.prompt:article\": options are written "
                "with '=': parser.prompt=article"));
  EXPECT_THAT(error("x.jsonl,parser=1,parser.prompt=a"),
              HasSubstr("\"parser\" is given a value, and keys below it too"));
  EXPECT_THAT(error("x.jsonl,parser.prompt=a,parser=1"),
              HasSubstr("\"parser\" is given a value, and keys below it too"));
  EXPECT_THAT(error("x.jsonl,format=csv,format=json"), HasSubstr("\"format\" is given twice"));
  EXPECT_THAT(error("acc:"), HasSubstr("a dataset needs a path"));
  EXPECT_THAT(error("format=csv"), HasSubstr("a dataset begins with its path"));
  EXPECT_THAT(error("x.jsonl,nonsense=1"), HasSubstr("datasets[0].nonsense: unknown key"));
  // Only the literal words perf and acc are prefixes.
  EXPECT_THAT(error("aime25::gptoss"), Not(HasSubstr("datasets[0]")));
}

// 9. Names.
TEST(ConfigReader, a_name_may_stand_once_for_each_type) {
  const std::string head =
      "type: online\nmodel_params: {name: m}\nendpoint_config: {endpoints: ['http://x']}\n"
      "settings: {load_pattern: {type: concurrency, target_concurrency: 1}}\ndatasets:\n";
  const std::string accuracy =
      ", type: accuracy, accuracy_config: {eval_method: rouge, extractor: identity_extractor}}\n";
  EXPECT_EQ(errors(head + "- {path: a.jsonl}\n- {path: a.jsonl" + accuracy), "no error");
  EXPECT_THAT(errors(head + "- {path: a.jsonl}\n- {path: a.jsonl" + accuracy +
                     "- {name: a, path: b.jsonl" + accuracy),
              HasSubstr("config.yaml:8: datasets[2]: another accuracy dataset is called \"a\""));
}

// 11. Overrides.
TEST(ConfigReader, an_override_is_checked_as_the_params_are) {
  const auto error = [](std::string_view over) {
    return errors(
        format("type: online\nmodel_params: {{name: m, chat_template_kwargs: {{a: 1}}}}\n"
               "settings: {{load_pattern: {{type: concurrency, target_concurrency: 1}}}}\n"
               "endpoint_config: {{endpoints: ['http://x']}}\n"
               "datasets: [{{path: a.jsonl, generation_config_override: {}}}]\n",
               over));
  };
  EXPECT_EQ(error("{max_new_tokens: 5, chat_template_kwargs: {b: 2}}"), "no error");
  for (const char* name : {"name", "streaming", "tokenizer_name"}) {
    EXPECT_THAT(error(format("{{{}: 'on'}}", name)),
                HasSubstr(format("config.yaml:5: datasets[0].generation_config_override.{}: "
                                 "cannot differ",
                                 name)));
  }
  EXPECT_THAT(error("{max_new_token: 5}"), HasSubstr("max_new_token: unknown key"));
  EXPECT_THAT(error("{top_p: 7}"),
              HasSubstr("generation_config_override.top_p: must be at least 0"));
  EXPECT_THAT(error("{min_new_tokens: 5}"), HasSubstr("only api_type: openai_completions has it"));
  EXPECT_THAT(error("5"), HasSubstr("generation_config_override: expected a map"));
}

// 12. Controls that only one API has.
TEST(ConfigReader, completion_only_controls_are_refused_elsewhere) {
  const auto error = [](std::string_view params, std::string_view api) {
    return errors(
        format("type: online\nmodel_params: {{name: m, {}}}\ndatasets: [{{path: "
               "a.jsonl}}]\nsettings: {{load_pattern: {{type: concurrency, "
               "target_concurrency: 1}}}}\nendpoint_config: {{endpoints: ['http://x'], "
               "api_type: {}}}\n",
               params, api));
  };
  EXPECT_THAT(error("min_new_tokens: 2", "openai"), HasSubstr("model_params.min_new_tokens"));
  EXPECT_THAT(error("skip_special_tokens: false", "sglang"),
              HasSubstr("model_params.skip_special_tokens"));
  EXPECT_EQ(error("min_new_tokens: 2", "openai_completions"), "no error");
  EXPECT_THAT(error("min_new_tokens: 20, max_new_tokens: 10", "openai_completions"),
              HasSubstr("20 is above max_new_tokens, 10"));
}

// 13. Rulesets.
TEST(ConfigReader, a_ruleset_pins_the_seeds) {
  const auto with = [](std::string_view type, std::string_view name) {
    return format(
        "{}\nsubmission_ref: {{model: m, ruleset: {}}}\ndatasets: [{{path: a.jsonl}}]\n"
        "settings: {{runtime: {{scheduler_random_seed: 7}}, load_pattern: {{type: "
        "concurrency, target_concurrency: 1}}}}\n"
        "endpoint_config: {{endpoints: ['http://x']}}\n",
        type, name);
  };
  const std::string submission = "type: submission\nbenchmark_mode: online";
  const Config config = config_of(load(with(submission, "mlperf-inference-v6.1")));
  EXPECT_EQ(config.settings.runtime.scheduler_random_seed, 16159082839903944936U);
  EXPECT_EQ(config.settings.runtime.dataloader_random_seed, 2747215439041700203U);
  EXPECT_EQ(config.settings.warmup.warmup_random_seed, 2747215439041700203U);
  EXPECT_EQ(config.model_params.name, "m");
  EXPECT_THAT(errors(with(submission, "mlperf-inference-v6.2")),
              HasSubstr("config.yaml:3: submission_ref.ruleset: unknown ruleset "
                        "\"mlperf-inference-v6.2\"\n       did you mean \"mlperf-inference-v"));
  const auto other = load(with("type: online", "house-rules"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->config.settings.runtime.scheduler_random_seed, 7U);
  EXPECT_THAT(other->notes, Contains(HasSubstr("unknown ruleset \"house-rules\"")));
  EXPECT_THAT(errors(with("type: submission", "mlcommons-current")),
              HasSubstr("a submission needs benchmark_mode"));
}

// 14 and 15. Workers and connections.
TEST(ConfigReader, workers_and_connections_fit_the_endpoints) {
  const auto error = [](std::string_view client, std::string_view urls) {
    return errors(
        format("type: online\nmodel_params: {{name: m}}\ndatasets: [{{path: a.jsonl}}]\n"
               "settings: {{client: {}, load_pattern: {{type: concurrency, "
               "target_concurrency: 1}}}}\nendpoint_config: {{endpoints: {}}}\n",
               client, urls));
  };
  EXPECT_THAT(error("{num_workers: 3}", "['http://a', 'http://b']"),
              HasSubstr("must be a multiple of the number of endpoints, 2"));
  EXPECT_THAT(error("{num_workers: 0}", "['http://a']"), HasSubstr("must be -1 or at least 1"));
  EXPECT_EQ(error("{num_workers: 4}", "['http://a', 'http://b']"), "no error");
  EXPECT_THAT(error("{max_connections: 0}", "['http://a']"), HasSubstr("at least 1"));
  EXPECT_THAT(error("{max_connections: 28233}", "['http://a', 'http://A:80/x']"),
              HasSubstr("28233 is more than the 28232 ports"));
  EXPECT_EQ(error("{max_connections: 28233}", "['http://a', 'http://a:81']"), "no error");
}

// 17. Conversations.
TEST(ConfigReader, agentic_constraints) {
  const auto error = [](std::string_view data, std::string_view settings) {
    return errors(
        format("type: online\nmodel_params: {{name: m}}\ndatasets: [{{path: a.jsonl, {}}}]"
               "\nsettings: {{{}}}\nendpoint_config: {{endpoints: ['http://x']}}\n",
               data, settings));
  };
  const char* pattern = "load_pattern: {type: agentic_inference, target_concurrency: 2}";
  EXPECT_EQ(error("agentic_inference: {turn_timeout_s: 5}", pattern), "no error");
  EXPECT_THAT(error("format: jsonl", pattern), HasSubstr("needs a performance dataset of conv"));
  EXPECT_THAT(
      error("agentic_inference: {}", "load_pattern: {type: concurrency, target_concurrency: 2}"),
      HasSubstr("load_pattern.type: agentic_inference"));
  EXPECT_THAT(error("agentic_inference: {enable_salt: true}",
                    format("runtime: {{n_samples_to_issue: 5}}, {}", pattern)),
              HasSubstr("conversations are counted, not queries"));
}

// 18. SWE-bench.
TEST(ConfigReader, swe_bench_takes_one_endpoint_and_as_many_workers_as_the_run) {
  const auto yaml = [](std::string_view urls) {
    return format(
        "type: online\nmodel_params: {{name: m}}\ndatasets:\n- {{path: a.jsonl}}\n"
        "- {{name: swe_bench, type: accuracy, accuracy_config: {{eval_method: "
        "swe_bench_scorer}}}}\nsettings: {{load_pattern: {{type: concurrency, "
        "target_concurrency: 12}}}}\nendpoint_config: {{endpoints: {}}}\n",
        urls);
  };
  EXPECT_THAT(errors(yaml("['http://a', 'http://b']")), HasSubstr("exactly one endpoint"));
  const Config config = config_of(load(yaml("['http://a']")));
  EXPECT_EQ(config.datasets[1].accuracy_config->extras["workers"].as_int(), 12);
}

TEST(ConfigReader, accuracy_datasets_need_a_scorer_that_exists) {
  const auto error = [](std::string_view accuracy) {
    return errors(
        format("type: eval\nmodel_params: {{name: m}}\ndatasets: [{{path: a.jsonl, type: "
               "accuracy{}}}]\nendpoint_config: {{endpoints: ['http://x']}}\n",
               accuracy));
  };
  EXPECT_THAT(error(""), HasSubstr("an accuracy dataset needs a scorer"));
  EXPECT_THAT(error(", accuracy_config: {eval_method: pass_at_one}"),
              HasSubstr("did you mean \"pass_at_1\"?"));
  EXPECT_THAT(error(", accuracy_config: {eval_method: pass_at_1}"),
              HasSubstr("needs an extractor"));
  EXPECT_THAT(error(", accuracy_config: {eval_method: vbench, num_repeats: 2}"),
              HasSubstr("takes each row once"));
  EXPECT_EQ(error(", accuracy_config: {eval_method: bfcl_v4}"), "no error");
}

TEST(ConfigReader, a_file_that_says_nothing_of_its_length_lasts_as_there) {
  const auto older = load(kOnline);
  ASSERT_TRUE(older);
  EXPECT_EQ(older->config.settings.runtime.min_duration, 600_s);
  EXPECT_THAT(older->notes, Contains(HasSubstr("min_duration_ms is 600000")));
  const Config newer = config_of(load(online(
      "  timeouts: {run_timeout_s: 60}\n  load_pattern: {type: concurrency, target_concurrency: "
      "1}")));
  EXPECT_EQ(newer.settings.runtime.min_duration, Duration{});
  EXPECT_EQ(newer.settings.timeouts->performance_drain_timeout, Duration::max());
  EXPECT_THAT(errors(online("  timeouts: {}\n  drain: {}\n  load_pattern: {type: concurrency, "
                            "target_concurrency: 1}")),
              HasSubstr("keep one of the two"));
}

TEST(ConfigReader, keys_without_effect_are_accepted_and_named) {
  const auto loaded =
      load(online("  client: {num_workers: 4, worker_gc_mode: system}\n"
                  "  load_pattern: {type: concurrency, target_concurrency: 1}\n"
                  "  runtime: {enable_live_metrics: false}\n  metrics_tokenizer_workers: 2",
                  "timeout: 60\nverbose: true\n"));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(loaded->notes,
              Contains(HasSubstr("settings.client.num_workers, settings.client.worker_gc_mode")));
  EXPECT_THAT(loaded->notes, Contains(HasSubstr("timeout, verbose")));
}

TEST(ConfigReader, upcoming_keys_are_accepted) {
  EXPECT_EQ(errors(online("  runtime: {no_progress_timeout_s: 30, enable_live_metrics: true}\n"
                          "  client: {transport_max_retries: 2}\n"
                          "  timeouts: {run_timeout_s: 5, performance_drain_timeout_s: 0}\n"
                          "  load_pattern: {type: concurrency, target_concurrency: 1}",
                          "system_info: {system_name: x, ssh_ids: [a]}\n")),
            "no error");
  EXPECT_THAT(errors(online("  client: {transport_max_retries: 6}")),
              HasSubstr("must be at least 0 and at most 5, not 6"));
}

TEST(ConfigReader, urls_are_checked_before_anything_is_sent) {
  const auto error = [](std::string_view url) {
    return errors(
        format("type: online\nmodel_params: {{name: m}}\ndatasets: [{{path: a.jsonl}}]\n"
               "settings: {{load_pattern: {{type: concurrency, target_concurrency: "
               "1}}}}\nendpoint_config: {{endpoints: ['{}']}}\n",
               url));
  };
  for (const char* url : {"http://localhost:8000", "https://h/v1?x=1", "http://[::1]:80/",
                          "http+unix:///run/x.sock:/v1", "HTTP://H"}) {
    EXPECT_EQ(error(url), "no error") << url;
  }
  for (const char* url :
       {"localhost", "ftp://x", "http://", "http://h:0", "http://h:70000",
        "http://h:", "http://::1:80", "http://a b", "http://h/#x", "http+unix://", "http://[::1"}) {
    EXPECT_THAT(error(url), HasSubstr("config.yaml:5: endpoint_config.endpoints[0]: ")) << url;
  }
  const std::string secret = error("http://user:hunter2@h");
  EXPECT_THAT(secret, HasSubstr("--api-key-env"));
  EXPECT_THAT(secret, Not(HasSubstr("hunter2")));
}

TEST(ConfigReader, the_key_comes_from_the_environment) {
  const std::string yaml =
      "type: online\nmodel_params: {name: m}\ndatasets: [{path: a.jsonl}]\nsettings: "
      "{load_pattern: {type: concurrency, target_concurrency: 1}}\nendpoint_config: {endpoints: "
      "['http://x'], api_key_env: MY_KEY}\n";
  EXPECT_EQ(config_of(load(yaml, {{"MY_KEY", "sk-1"}})).endpoint_config.api_key, "sk-1");
  EXPECT_THAT(errors(yaml), HasSubstr("the environment variable MY_KEY is not set"));
}

}  // namespace
}  // namespace assay::plan
