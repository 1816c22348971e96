#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "desk/category.h"
#include "desk/client_config.h"
#include "desk/client_run.h"
#include "desk/edge_round.h"
#include "desk/figures.h"
#include "desk/local_server.h"
#include "desk/prompt_file.h"
#include "desk/series.h"
#include "desk/stand_in.h"

namespace assay::desk {
namespace {

constexpr std::string_view kDeskConfig = R"({
  "SystemConfig": {"Comment": "llama-cpp CUDA", "TempPath": "", "EPDependenciesConfigPath": ""},
  "Scenarios": [{
    "Name": "Llama3",
    "Models": [{"ModelName": "Llama 3.1 8B", "FilePath": "https://host/m.gguf"}],
    "InputFilePath": {"base": ["https://host/a.json", "https://host/b.json"],
                      "extended": ["https://host/c.json"]},
    "AssetsPath": [], "ResultsVerificationFile": "r.json", "DataVerificationFile": "",
    "Iterations": 3, "Delay": 0,
    "ExecutionProviders": [{"Name": "llama-cpp", "Config": {"backend": "CUDA", "gpu_layers": 999}}]
  }]
})";

Result<std::string> no_file(std::string_view) { return invalid("no file"); }

std::string prompt_text(std::string_view category, std::string_view prompts,
                        std::string_view search = R"("method": "greedy", "temperature": 0.6)") {
  return format(
      R"({{"model_config": {{"context_length": 4096, "search": {{{}, "max_length": 128}}}},
      "category": "{}", "apply_chat_template": true, "prompts": {}}})",
      search, category, prompts);
}

PromptFile prompt_file(std::string_view category, std::string_view prompts) {
  auto out = parse_prompt_file(prompt_text(category, prompts), no_file);
  EXPECT_TRUE(out) << out.error().message;
  out->name = std::string(category);
  return *std::move(out);
}

// One inference: TTFT and the time after it in ms.
InferenceRecord took(std::uint32_t row, double ttft_ms, double after_ms, std::int64_t tokens) {
  InferenceRecord out{.row = row, .ok = true, .sent = Instant{1'000'000'000}};
  out.first_token = out.sent + Duration{static_cast<std::int64_t>(ttft_ms * 1e6)};
  out.done = out.first_token + Duration{static_cast<std::int64_t>(after_ms * 1e6)};
  out.tokens_in = 100;
  out.tokens_out = tokens;
  return out;
}

Series required_series(std::uint32_t iterations, std::uint32_t warmups) {
  std::vector<PromptFile> files;
  for (const std::string_view name : kRequiredCategories) {
    files.push_back(prompt_file(name, R"([{"user": "one"}])"));
  }
  auto out = make_series(files, {.iterations = iterations, .warmups = warmups});
  EXPECT_TRUE(out);
  return *std::move(out);
}

TEST(ClientConfig, a_config_as_client_ships_it_is_read) {
  const auto config = parse_client_config(kDeskConfig);
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->scenarios.size(), 1U);
  const ClientScenario& one = config->scenarios[0];
  EXPECT_EQ(one.name, "Llama3");
  EXPECT_EQ(one.model, "Llama 3.1 8B");
  EXPECT_EQ(one.providers, std::vector<std::string>{"llama-cpp"});
  ASSERT_EQ(one.prompts.size(), 3U);
  EXPECT_EQ(one.prompts[2].group, "extended");
  EXPECT_EQ(one.iterations, 3U);
  EXPECT_EQ(one.warmups, 1U);
  EXPECT_EQ(one.delay, Duration{});
  EXPECT_FALSE(one.agentic);
}

TEST(ClientConfig, a_byte_order_mark_before_it_changes_nothing) {
  EXPECT_TRUE(parse_client_config("\xEF\xBB\xBF" + std::string(kDeskConfig)));
}

TEST(ClientConfig, every_problem_is_named_by_its_place_at_once) {
  const auto config = parse_client_config(R"({"SystemConfig": {}, "Scenarios": [{
    "Name": "txt2txt", "Models": [], "InputFilePath": [], "Iterations": 0, "Delay": 9,
    "ExecutionProvider": [], "ExecutionProviders": [{"Name": "Abacus", "Config": {}}]}]})");
  ASSERT_FALSE(config);
  const std::string& words = config.error().message;
  for (const char* place :
       {"Scenarios[0].Models", "Scenarios[0].InputFilePath", "Scenarios[0].Iterations",
        "Scenarios[0].Delay", "\"Abacus\"", "did you mean ExecutionProviders?"}) {
    EXPECT_NE(words.find(place), std::string::npos) << place << "\n" << words;
  }
}

TEST(ClientConfig, a_scenario_that_makes_images_is_unsupported_with_advice) {
  const auto config = parse_client_config(R"({"Scenarios": [{"Name": "Flux2Klein",
    "Models": [{"ModelName": "F"}], "InputFilePath": ["a.json"], "Iterations": 1,
    "ExecutionProviders": [{"Name": "Diffusers", "Config": {}}]}]})");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Code::unsupported);
  EXPECT_NE(config.error().message.find("assay run"), std::string::npos);
}

TEST(PromptFile, roles_stand_in_clients_order_and_agent_is_an_assistant) {
  const PromptFile file =
      prompt_file("SWE Agent", R"([{"user": "u", "system": "s"}, {"agent": "a"}])");
  EXPECT_EQ(file.prompts[0].messages.dump(),
            R"([{"role":"system","content":"s"},{"role":"user","content":"u"}])");
  EXPECT_FALSE(file.prompts[0].recorded);
  EXPECT_EQ(file.prompts[1].messages[0]["role"].as_string(), "assistant");
  EXPECT_TRUE(file.prompts[1].recorded);
}

TEST(PromptFile, greedy_is_greedy_whatever_the_temperature_is) {
  EXPECT_EQ(prompt_file("A", R"(["one"])").sampling.temperature, 0);
  const auto top = parse_prompt_file(
      prompt_text("A", R"(["one"])", R"("method": "top_p", "temperature": 0.6, "top_p": 0.9)"),
      no_file);
  ASSERT_TRUE(top);
  EXPECT_EQ(top->sampling.temperature, 0.6);
  EXPECT_EQ(top->sampling.top_p, 0.9);
}

TEST(PromptFile, texts_in_files_are_read_from_beside_it_and_from_nowhere_else) {
  const TempFolder folder;
  const auto write = [&](std::string_view name, std::string_view text) {
    ASSERT_TRUE(write_file_atomic(folder.path() / "in" / name, text));
  };
  const auto with = [](std::string_view name) {
    return format(R"({{"model_config": {{"search": {{"max_length": 8}}}}, "prompt_files": true,
                      "prompts": [{{"user": "{}"}}]}})",
                  name);
  };
  write("q.md", "the question");
  write("good.json", with("q.md"));
  write("up.json", with("../secret.md"));
  write("root.json", with("/etc/hostname"));
  ASSERT_TRUE(write_file_atomic(folder.path() / "secret.md", "secret"));
  const auto good = read_prompt_file(folder.path() / "in/good.json", "good");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->prompts[0].messages[0]["content"].as_string(), "the question");
  EXPECT_FALSE(read_prompt_file(folder.path() / "in/up.json", "up"));
  EXPECT_FALSE(read_prompt_file(folder.path() / "in/root.json", "root"));
}

TEST(Series, each_prompt_is_asked_warm_up_first_and_then_its_iterations) {
  const auto series = make_series({prompt_file("A", R"(["one", "two"])")}, {});
  ASSERT_TRUE(series);
  ASSERT_EQ(series->inferences.size(), 8U);
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(series->inferences[i],
              (Inference{.item = i / 4, .warmup = i % 4 == 0, .first = i % 4 == 0}));
  }
  EXPECT_EQ(series->rows[5].dump(),
            R"({"messages":[{"role":"user","content":"two"}],"max_tokens":128})");
}

TEST(Series, an_agents_turn_has_the_recorded_answers_before_it) {
  const auto series =
      make_series({prompt_file("SWE Agent", R"([{"system": "wake"}, {"system": "s", "user": "q1"},
        {"agent": "a1"}, {"user": "q2"}, {"agent": "a2"}])")},
                  {.iterations = 2, .agentic = true});
  ASSERT_TRUE(series) << series.error().message;
  ASSERT_EQ(series->inferences.size(), 6U);
  EXPECT_TRUE(series->inferences[3].warmup);
  EXPECT_EQ(series->inferences[5].item, 1U);
  EXPECT_EQ(series->rows[5]["messages"].dump(),
            R"([{"role":"system","content":"s"},{"role":"user","content":"q1"},)"
            R"({"role":"assistant","content":"a1"},{"role":"user","content":"q2"}])");
}

TEST(Series, a_conversation_that_does_not_end_with_a_recorded_answer_is_refused) {
  EXPECT_FALSE(
      make_series({prompt_file("A", R"([{"system": "w"}, {"user": "q"}])")}, {.agentic = true}));
  EXPECT_FALSE(make_series({prompt_file("A", R"([{"system": "w"}, {"user": "q"}, {"user": "r"}])")},
                           {.agentic = true}));
  EXPECT_FALSE(make_series({prompt_file("A", R"([{"agent": "a"}])")}, {}));
}

TEST(Series, salts_differ_between_inferences_also_within_a_conversation) {
  const auto plain =
      make_series({prompt_file("A", R"(["one"])")}, {.iterations = 1, .salt_seed = 7});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->rows[0]["messages"][0]["content"].as_string(), "[00000007.1]\none");
  EXPECT_EQ(plain->rows[1]["messages"][0]["content"].as_string(), "[00000007.2]\none");
  const auto agent = make_series(
      {prompt_file("SWE Agent", R"([{"system": "w"}, {"user": "q1"}, {"agent": "a"}, {"user": "q2"},
                                   {"agent": "b"}])")},
      {.iterations = 1, .agentic = true, .salt_seed = 7});
  ASSERT_TRUE(agent);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(agent->rows[i]["messages"][0]["content"].as_string(),
              format("[00000007.{}]\n{}", i + 1, i == 0 ? "w" : "q1"));
  }
}

TEST(Series, what_the_log_keeps_gives_the_series_back) {
  const Series series = required_series(3, 1);
  const auto again = series_from(series_facts(series));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->items, series.items);
  ASSERT_EQ(again->inferences.size(), series.inferences.size());
  for (std::size_t i = 0; i < series.inferences.size(); ++i) {
    EXPECT_EQ(again->inferences[i].item, series.inferences[i].item);
    EXPECT_EQ(again->inferences[i].warmup, series.inferences[i].warmup);
  }
  EXPECT_FALSE(series_from(Json()));
  EXPECT_FALSE(series_from(*Json::parse(R"({"items": [], "asked": [[0, false]]})")));
}

TEST(ClientFigures, means_are_over_iterations_first_and_then_over_prompts) {
  const auto series = make_series({prompt_file("A", R"(["one", "two"])")}, {.iterations = 2});
  ASSERT_TRUE(series);
  // Prompt one: TTFT 100 and 300, 10 ms and 30 ms a token; prompt two: 50, 5 ms a token.
  const std::vector<InferenceRecord> records{took(0, 999, 999, 2),  took(1, 100, 100, 11),
                                             took(2, 300, 300, 11), took(3, 999, 999, 11),
                                             took(4, 50, 100, 21),  took(5, 50, 100, 21)};
  const ClientFigures figures = client_figures(*series, records);
  const CategoryFigures& a = figures.categories.at(0);
  EXPECT_DOUBLE_EQ(*a.items[0].ttft_s, 0.2);
  EXPECT_DOUBLE_EQ(*a.items[0].latency_s, 0.02);
  EXPECT_DOUBLE_EQ(*a.ttft_s, 0.125);
  EXPECT_DOUBLE_EQ(*a.rate, (50.0 + 200.0) / 2);
  // By tokens: 60 tokens after the first in 0.6 s.
  EXPECT_DOUBLE_EQ(*a.rate_by_tokens, 100.0);
  EXPECT_FALSE(figures.ttft_s);
  EXPECT_NE(figures.why.find("five required categories"), std::string::npos);
}

TEST(ClientFigures, overall_is_the_geometric_mean_of_the_five) {
  const Series series = required_series(1, 0);
  std::vector<InferenceRecord> records;
  // TTFT 100, 200, 400, 800, 1600 ms: 400. Rates 100, 50, 25, 12.5, 6.25 a second: 25.
  for (std::uint32_t i = 0; i < 5; ++i) records.push_back(took(i, 100 << i, 100 << i, 11));
  const ClientFigures figures = client_figures(series, records);
  ASSERT_TRUE(figures.ttft_s && figures.rate) << figures.why;
  EXPECT_NEAR(*figures.ttft_s, 0.4, 1e-12);
  EXPECT_NEAR(*figures.rate, 25, 1e-10);
  const Json json = to_json(figures);
  EXPECT_EQ(json["mlperf_client"]["overall_results"]["Geomean Time to First Token"].as_double(),
            0.4);
}

TEST(ClientFigures, a_short_reply_takes_the_rate_of_its_own_category_alone) {
  const Series series = required_series(1, 0);
  std::vector<InferenceRecord> records;
  for (std::uint32_t i = 0; i < 5; ++i) records.push_back(took(i, 100, 100, i == 2 ? 1 : 11));
  const ClientFigures figures = client_figures(series, records);
  EXPECT_TRUE(figures.categories[1].rate);
  EXPECT_FALSE(figures.categories[2].rate);
  EXPECT_TRUE(figures.categories[2].ttft_s);
  EXPECT_FALSE(figures.rate);
  EXPECT_NE(figures.why.find("Structured Text: 1 of 1 prompts had a reply with fewer"),
            std::string::npos)
      << figures.why;
}

TEST(ClientFigures, a_failed_or_missing_inference_leaves_no_overall_figures) {
  const Series series = required_series(2, 0);
  std::vector<InferenceRecord> records;
  for (std::uint32_t i = 0; i < 10; ++i) records.push_back(took(i, 100, 100, 11));
  ASSERT_TRUE(client_figures(series, records).rate);
  auto failed = records;
  failed[9].ok = false;
  EXPECT_FALSE(client_figures(series, failed).rate);
  EXPECT_NE(client_figures(series, failed).why.find("failed and are left out"), std::string::npos);
  records.pop_back();
  EXPECT_FALSE(client_figures(series, records).rate);
  EXPECT_NE(client_figures(series, records).why.find("not asked as often"), std::string::npos);
}

TEST(ClientFigures, an_agents_duration_is_that_of_its_recorded_answers) {
  auto series = make_series({prompt_file("SWE Agent", R"([{"system": "w"}, {"user": "q1"},
      {"agent": "a"}, {"user": "q2"}, {"agent": "b"}])")},
                            {.iterations = 2, .agentic = true});
  ASSERT_TRUE(series);
  // Turn one: TTFT 200 ms, 20 ms a token; turn two: TTFT 100 ms, 10 ms a token.
  std::vector<InferenceRecord> records{took(0, 999, 999, 2),  took(1, 100, 100, 11),
                                       took(2, 100, 100, 11), took(3, 999, 999, 11),
                                       took(4, 300, 300, 11), took(5, 100, 100, 11)};
  records[5].tokens_in = 300;
  const auto category = [&] { return client_figures(*series, records).categories.at(0); };
  EXPECT_FALSE(category().expected_s || category().tools_s);
  series->items[0].tools_s = 0.5;
  series->items[1].tools_s = 0;
  EXPECT_FALSE(category().expected_s);
  EXPECT_DOUBLE_EQ(*category().tools_s, 0.5);
  series->items[0].recorded_tokens = 100;
  series->items[1].recorded_tokens = 10;
  EXPECT_DOUBLE_EQ(*category().expected_s, (100 * 0.02 + 0.5 + 0.2) + (10 * 0.01 + 0.1));
  EXPECT_DOUBLE_EQ(*category().context_tokens, 200);  // the mean of the last turn's
  const Json json = to_json(client_figures(*series, records));
  const Json& keys = json["mlperf_client"]["category_results"]["SWE Agent"];
  EXPECT_EQ(keys["Avg Expected Duration"].as_double(), 2.9);
  EXPECT_EQ(keys["Avg Tools Duration"].as_double(), 0.5);
  EXPECT_EQ(keys["Context Window Size"].as_int(), 200);
  EXPECT_EQ(keys["Avg Input Tokens"].as_int(), 200);
  series->items[1].tools_s.reset();
  series->items[1].tools_why = "the recorded call of read failed: gone";
  EXPECT_FALSE(category().tools_s);
  EXPECT_EQ(category().why, "no time of tools: turn 2: the recorded call of read failed: gone");
}

TEST(GeometricMean, neither_overflows_nor_underflows_nor_hides_a_zero) {
  EXPECT_NEAR(*geometric_mean(std::vector<double>(400, 1e-300)) / 1e-300, 1, 1e-9);
  EXPECT_NEAR(*geometric_mean(std::vector<double>(400, 1e300)) / 1e300, 1, 1e-9);
  EXPECT_FALSE(geometric_mean(std::vector<double>{1, 0, 2}));
  EXPECT_FALSE(geometric_mean({}));
}

TEST(StandIn, every_category_has_two_prompts_and_all_agree_in_their_sampling) {
  const auto files = stand_in_prompts(false);
  EXPECT_EQ(files.size(), 12U);
  for (const std::string_view name : kRequiredCategories) {
    EXPECT_EQ(std::ranges::count(files, name, &PromptFile::category), 2) << name;
  }
  EXPECT_TRUE(make_series(files, {}));
  const auto agents = make_series(stand_in_prompts(true), {.agentic = true});
  ASSERT_TRUE(agents) << agents.error().message;
  EXPECT_EQ(agents->items.size(), 7U);  // 3 turns and 4
}

TEST(LocalServer, a_server_is_known_by_its_own_answers) {
  const auto json = [](const char* text) { return *Json::parse(text); };
  const Json models = json(R"({"object": "list", "data": [{"id": "a"}, {"id": "b"}]})");
  const auto llama = server_of(
      "http://h:1", {.models = models,
                     .props = json(R"({"default_generation_settings": {}, "build_info": "b7"})")});
  ASSERT_TRUE(llama);
  EXPECT_EQ(llama->kind, "llama.cpp");
  EXPECT_EQ(llama->version, "b7");
  const auto ollama =
      server_of("http://h:1", {.models = models, .version = json(R"({"version": "0.9"})")});
  ASSERT_TRUE(ollama);
  EXPECT_EQ(ollama->kind, "Ollama");
  const auto studio =
      server_of("http://h:1", {.models = models, .lm_studio = json(R"({"data": [{"id": "a",
        "state": "not-loaded"}, {"id": "b", "state": "loaded"}]})")});
  ASSERT_TRUE(studio);
  EXPECT_EQ(studio->kind, "LM Studio");
  EXPECT_EQ(studio->models, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(server_of("http://h:1", {.models = models})->kind, "OpenAI-compatible");
  EXPECT_FALSE(server_of("http://h:1", {.models = json(R"({"error": "no"})")}));
}

TEST(ScenarioPrompts, a_location_is_found_by_its_last_parts) {
  const TempFolder folder;
  const std::string text = prompt_text("Code Analysis", R"(["one"])");
  ASSERT_TRUE(write_file_atomic(folder.path() / "llama/code/a.json", text));
  ASSERT_TRUE(write_file_atomic(folder.path() / "a.json", prompt_text("Wrong", R"(["one"])")));
  ClientScenario scenario{.name = "s"};
  scenario.prompts = {{"base", "https://host/deps/2.0/llama/code/a.json"},
                      {"extended", "https://host/gone.json"}};
  const auto files = scenario_prompts(scenario, ".", folder.path(), {"base"});
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ((*files)[0].category, "Code Analysis");
  EXPECT_EQ((*files)[0].name, "deps/2.0/llama/code/a.json");
  const auto gone = scenario_prompts(scenario, ".", folder.path(), {"extended"});
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("--prompts"), std::string::npos);
  const auto remote = scenario_prompts(scenario, ".", "", {"base"});
  ASSERT_FALSE(remote);
  EXPECT_NE(remote.error().message.find("nothing is downloaded"), std::string::npos);
  EXPECT_FALSE(scenario_prompts(scenario, ".", folder.path(), {"image"}));
}

Json edge_config() {
  return *Json::parse(R"({"model_params": {"temperature": 0.0, "seed": 42}, "settings": {
    "runtime": {"dataloader_random_seed": 42}, "client": {"num_workers": 1, "max_connections": 1},
    "load_pattern": {"type": "agentic_inference", "target_concurrency": 1}}})");
}

// The names of the checks that failed, joined.
std::string failed_checks(const Json& config, double overall = 83.65, double single_turn = 85.33,
                          int rows = 995, int missing = 0) {
  Json score;
  score.set("total_samples", rows)
      .set(
          "breakdown",
          Json().set("overall_accuracy", overall).set("normalized_single_turn_score", single_turn));
  Json accuracy;
  accuracy.set("accuracy_scores", Json::array().push_back(std::move(score)));
  Json turns;
  turns.set("expected", 9).set("observed", 9 - missing).set("missing", missing);
  std::string out;
  for (const EdgeFinding& one : judge_edge_round(config, accuracy, turns)) {
    if (!one.passed) out += one.name + " ";
  }
  return out;
}

TEST(EdgeRound, each_rule_is_failed_by_what_breaks_it_and_by_nothing_else) {
  EXPECT_EQ(failed_checks(edge_config()), "");
  Json hot = edge_config();
  hot.find("model_params")->set("temperature", 0.1);
  EXPECT_EQ(failed_checks(hot), "temperature ");
  Json seeded = edge_config();
  seeded.find("model_params")->set("seed", 7);
  EXPECT_EQ(failed_checks(seeded), "model_params.seed ");
  Json unseeded = edge_config();
  unseeded.find("model_params")->erase("seed");
  EXPECT_EQ(failed_checks(unseeded), "");  // only seeds that are set must be 42
  Json wide = edge_config();
  wide.find("settings")->find("client")->set("max_connections", 2);
  EXPECT_EQ(failed_checks(wide), "max_connections ");
  Json two = edge_config();
  two.find("settings")->find("load_pattern")->set("target_concurrency", 2);
  EXPECT_EQ(failed_checks(two), "target_concurrency ");
  EXPECT_EQ(failed_checks(edge_config(), 83.64), "overall_accuracy ");
  EXPECT_EQ(failed_checks(edge_config(), 84, 85.32), "normalized_single_turn_score ");
  EXPECT_EQ(failed_checks(edge_config(), 84, 86, 994), "total_samples ");
  EXPECT_EQ(failed_checks(edge_config(), 84, 86, 995, 1), "turns ");
}

TEST(EdgeRound, what_was_not_measured_has_not_passed) {
  std::string failed;
  for (const EdgeFinding& one : judge_edge_round(Json(), Json(), Json())) {
    if (!one.passed) failed += one.name + " ";
  }
  EXPECT_EQ(failed, "temperature num_workers max_connections accuracy turns ");
}

}  // namespace
}  // namespace assay::desk
