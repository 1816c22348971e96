#include "loadgen/compliance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loadgen/conf_file.h"

namespace assay::loadgen {
namespace {

TestSettings settings_of_audit(std::string_view test, std::string_view model, Scenario scenario) {
  TestSettings out;
  out.scenario = scenario;
  out.min_duration_ms = 600'000;
  out.sample_concatenate_permutation = true;
  const auto text = audit_conf(test, model);
  EXPECT_TRUE(text);
  const auto conf = ConfFile::parse(text.value_or(""));
  EXPECT_TRUE(conf) << (conf ? "" : conf.error().message);
  if (conf) {
    EXPECT_TRUE(conf->unused_keys().empty());
    EXPECT_TRUE(conf->apply("*", scenario, ConfKind::user, out));
  }
  return out;
}

TEST(Compliance, every_tests_file_is_one_that_loadgen_reads) {
  for (const std::string_view test : compliance_tests()) {
    const TestSettings s = settings_of_audit(test, "*", Scenario::Offline);
    EXPECT_EQ(s.mode, Mode::PerformanceOnly);
    EXPECT_EQ(s.performance_issue_same, test == "TEST04") << test;
    EXPECT_EQ(s.accuracy_log_sampling_target > 0, test != "TEST04") << test;
  }
  EXPECT_EQ(settings_of_audit("TEST01", "*", Scenario::Server).accuracy_log_sampling_target, 4096U);
  EXPECT_EQ(settings_of_audit("TEST01", "yolo", Scenario::Server).accuracy_log_sampling_target,
            64U);
  EXPECT_EQ(settings_of_audit("TEST04", "stable-diffusion-xl", Scenario::Offline).min_query_count,
            500U);
  EXPECT_EQ(settings_of_audit("TEST04", "stable-diffusion-xl", Scenario::Server).min_query_count,
            100U);
  const TestSettings test06 = settings_of_audit("TEST06", "*", Scenario::Server);
  EXPECT_EQ(test06.min_duration_ms, 0U);
  EXPECT_EQ(test06.min_query_count, 100U);
  EXPECT_FALSE(test06.sample_concatenate_permutation);
  EXPECT_TRUE(settings_of_audit("TEST07", "*", Scenario::Server).performance_issue_unique);
  EXPECT_EQ(settings_of_audit("TEST09", "*", Scenario::Offline).min_query_count, 6396U);
  EXPECT_FALSE(audit_conf("TEST05", "*"));
}

TEST(Compliance, test09_has_a_number_of_queries_and_lengths_for_each_workload) {
  const TestSettings rag = settings_of_audit("TEST09", "e2e-rag-qna", Scenario::Offline);
  EXPECT_EQ(rag.min_query_count, 824U);
  EXPECT_FALSE(rag.performance_issue_unique);
  EXPECT_EQ(length_limits("e2e-rag-qna")->least, 246.43);
  EXPECT_EQ(length_limits("e2e-rag-qna")->most, 301.19);
  EXPECT_EQ(length_limits("gpt-oss-120b")->least, LengthLimits{}.least);
  EXPECT_EQ(length_limits("gpt-oss-120b")->most, LengthLimits{}.most);
  EXPECT_FALSE(length_limits("*"));
}

TEST(Compliance, an_audits_file_counts_over_the_tests_own_settings) {
  loadgen::Test asked;
  asked.requested.scenario = Scenario::Offline;
  asked.requested.mode = Mode::SubmissionRun;
  asked.requested.min_query_count = 7;
  const auto out = audited(asked, "*.*.mode = 2\n*.Offline.performance_issue_same = 1\n");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->requested.mode, Mode::PerformanceOnly);
  EXPECT_TRUE(out->requested.performance_issue_same);
  EXPECT_EQ(out->requested.min_query_count, 7U);
  EXPECT_NE(out->audit_conf.find("performance_issue_same"), std::string::npos);
  EXPECT_FALSE(audited(asked, "*.*.mode = 9\n"));
}

TEST(Compliance, test06_reads_token_ids_as_its_script_does) {
  const auto words = [](std::vector<TokenAnswer> logged, bool offline = false) {
    const ComplianceVerdict v = verify_tokens(logged, 2, offline);
    std::string out;
    for (std::size_t i = 0; i + 1 < v.lines.size(); ++i) {
      out += v.lines[i].substr(v.lines[i].rfind(' ') + 1, 1);
    }
    return out + (v.passed ? " complete" : " failed");
  };
  using First = std::vector<std::uint64_t>;
  EXPECT_EQ(words({{{5, 6, 2}, First{5}, 3}}), "TTT complete");
  EXPECT_EQ(words({{{5, 2, 2}, First{5}, 3}}), "TFT failed");
  EXPECT_EQ(words({{{5, 2, 6, 2}, First{5}, 4}}), "TTT complete");
  EXPECT_EQ(words({{{2, 2}, First{2}, 2}}), "TTT complete");  // the first token is not looked at
  EXPECT_EQ(words({{{2, 2, 2}, First{2}, 3}}), "TFT failed");
  EXPECT_EQ(words({{{5, 6}, First{6}, 2}}), "FTT failed");
  EXPECT_EQ(words({{{5, 6}, First{5, 6}, 2}, {{5}, First{5, 9}, 1}}), "TTT complete");
  EXPECT_EQ(words({{{5, 6}, std::nullopt, 2}}), "FTT failed");
  EXPECT_EQ(words({{{5, 6}, std::nullopt, 2}}, true), "STT complete");
  EXPECT_EQ(words({{{5, 6}, First{5}, 3}}), "TTF failed");
  EXPECT_EQ(words({{{5, 6}, First{5}, -1}}), "TTF failed");
  EXPECT_EQ(words({{{}, First{}, 0}}), "TTT complete");
  EXPECT_EQ(words({}), "FFF failed");
}

TEST(Compliance, which_answers_are_logged_is_loadgens_chance) {
  TestSettings asked;
  asked.scenario = Scenario::Server;
  asked.min_duration_ms = 0;
  asked.min_query_count = 1000;
  asked.accuracy_log_rng_seed = 720381539243781796;
  asked.accuracy_log_sampling_target = 100;
  const auto settings = effective(asked, {.total = 50, .performance = 50});
  ASSERT_TRUE(settings);
  const auto logged = logged_samples(*settings, 1000);
  ASSERT_TRUE(logged);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(*logged, true)), 100, 30);
  const auto few = logged_samples(*settings, 10);
  ASSERT_TRUE(few);
  EXPECT_TRUE(std::equal(few->begin(), few->end(), logged->begin()));
}

std::vector<Answer> answers(std::initializer_list<std::string> texts) {
  std::vector<Answer> out;
  for (const std::string& text : texts) {
    out.push_back({.sample = static_cast<std::uint32_t>(out.size()), .text = text});
  }
  return out;
}

TEST(Compliance, test01_compares_first_bytes_as_the_script_does) {
  const auto accuracy = answers({"cat", "dog", ""});
  ComplianceVerdict v = verify_answers(accuracy, answers({"cat", "dig", ""}));
  EXPECT_TRUE(v.passed);
  EXPECT_EQ(v.lines[1], "3 compared, 0 differ in their first byte, 2 are equal as a whole");
  EXPECT_EQ(v.lines.back(), "TEST PASS");
  EXPECT_FALSE(verify_answers(accuracy, answers({"cat", "fog"})).passed);
  EXPECT_FALSE(verify_answers(accuracy, answers({"cat", "dog", "x"})).passed) << "one is empty";
  EXPECT_FALSE(verify_answers(accuracy, {}).passed);
  auto other = answers({"cat"});
  other[0].sample = 9;
  EXPECT_FALSE(verify_answers(accuracy, other).passed);
}

Judgement of_rate(double per_second, bool same = false) {
  Judgement out;
  out.settings.scenario = Scenario::Server;
  out.settings.requested.performance_issue_same = same;
  out.verdict.emplace();
  out.verdict->min_duration_met = out.verdict->min_queries_met = true;
  out.metric = {"result_completed_samples_per_sec", "", per_second, "samples/s"};
  return out;
}

Judgement of_latency(double ms, Scenario scenario, bool same = false) {
  Judgement out = of_rate(1, same);
  out.settings.scenario = scenario;
  out.metric = {"early_stopping_latency_ss", "", ms, "ms"};
  return out;
}

TEST(Compliance, test01_wants_the_same_speed) {
  EXPECT_TRUE(verify_speed(of_rate(100), of_rate(109)).passed);
  EXPECT_TRUE(verify_speed(of_rate(100), of_rate(91)).passed);
  EXPECT_FALSE(verify_speed(of_rate(100), of_rate(111)).passed);
  EXPECT_FALSE(verify_speed(of_rate(100), of_rate(89)).passed);
  const auto single = Scenario::SingleStream;
  EXPECT_TRUE(verify_speed(of_latency(0.2, single), of_latency(0.17, single)).passed);
  EXPECT_FALSE(verify_speed(of_latency(0.3, single), of_latency(0.25, single)).passed);
  EXPECT_TRUE(
      verify_speed(of_latency(1.6, Scenario::MultiStream), of_latency(1.4, Scenario::MultiStream))
          .passed);
  Judgement broken = of_rate(100);
  broken.verdict->min_queries_met = false;
  const ComplianceVerdict v = verify_speed(of_rate(100), broken);
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.lines.front(),
            "the audit run is INVALID: The test exited early, before enough queries were issued.");
  Judgement other = of_rate(100);
  other.settings.target_latency_ns = 5;
  EXPECT_FALSE(verify_speed(of_rate(100), other).passed);
}

TEST(Compliance, test04_wants_one_sample_not_to_be_faster) {
  const auto passed = [](const Judgement& reference, const Judgement& audit) {
    const auto v = verify_no_cache(reference, audit);
    EXPECT_TRUE(v) << (v ? "" : v.error().message);
    return v && v->passed;
  };
  EXPECT_TRUE(passed(of_rate(100), of_rate(109, true)));
  EXPECT_TRUE(passed(of_rate(100), of_rate(20, true)));
  EXPECT_FALSE(passed(of_rate(100), of_rate(111, true)));
  const auto single = Scenario::SingleStream;
  // 15 % faster: the script allows 20 % to every such run.
  const auto wide = verify_no_cache(of_latency(11.5, single), of_latency(10, single, true));
  ASSERT_TRUE(wide);
  EXPECT_TRUE(wide->passed);
  EXPECT_TRUE(wide->lines[3].starts_with("note: it is more than 10 % faster"));
  EXPECT_FALSE(passed(of_latency(12.5, single), of_latency(10, single, true)));
  EXPECT_FALSE(verify_no_cache(of_rate(100), of_rate(100)));
  EXPECT_FALSE(verify_no_cache(of_rate(100), of_latency(10, single, true)));
  Judgement broken = of_rate(100, true);
  broken.verdict.reset();
  EXPECT_FALSE(verify_no_cache(of_rate(100), broken));
}

TEST(Compliance, test06_wants_tokens_text_and_first_token_to_agree) {
  Answer good{.text = "a b c", .first = "a", .tokens = 4, .counted = 3};
  good.streamed = true;
  good.stopped = true;
  ComplianceVerdict v = verify_consistency(std::vector{good}, "</s>", false);
  EXPECT_TRUE(v.passed);
  EXPECT_EQ(v.text(),
            "First token check pass: True\nEOS check pass: True\nSample length check pass: True\n"
            "TEST06 verification complete\n");
  Answer first = good;
  first.first = "b";
  EXPECT_FALSE(verify_consistency(std::vector{good, first}, "", false).passed);
  EXPECT_TRUE(verify_consistency(std::vector{good, first}, "", true).passed);
  Answer end = good;
  end.text = "a b</s></s>";
  EXPECT_FALSE(verify_consistency(std::vector{end}, "</s>", false).passed);
  EXPECT_TRUE(verify_consistency(std::vector{end}, "", false).passed);
  Answer length = good;
  length.stopped = false;  // by its limit: no end token explains the fourth
  v = verify_consistency(std::vector{length}, "", false);
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.lines[2], "Sample length check pass: False");
  length.counted = -1;
  EXPECT_FALSE(verify_consistency(std::vector{length}, "", false).passed);
  EXPECT_FALSE(verify_consistency({}, "", false).passed);
}

TEST(Compliance, test07_and_test09_have_their_limits) {
  EXPECT_TRUE(verify_exact_match(60.698).passed);
  EXPECT_FALSE(verify_exact_match(60.69).passed);
  std::vector<Answer> logged(4);
  for (std::size_t i = 0; i < logged.size(); ++i) {
    logged[i].tokens = 1200 + 50 * static_cast<std::int64_t>(i);
  }
  EXPECT_TRUE(verify_length(logged, {}).passed);
  EXPECT_EQ(verify_length(logged, {}).lines[0], "mean output length of 4 answers: 1275.00 tokens");
  EXPECT_FALSE(verify_length(logged, {.least = 1276, .most = 1300}).passed);
  logged[0].tokens = -1;
  EXPECT_FALSE(verify_length(logged, {}).passed);
  EXPECT_FALSE(verify_length({}, {}).passed);
}

TEST(Compliance, test08_compares_the_entropy_of_each_request) {
  const std::vector<Payload> accuracy{{90, 1, .8F, .3F, 1, 0, 1, 1, 2},
                                      {90, 2, .6F, .4F, 0, 1, 1, 1, 2}};
  const std::vector<Payload> same{{90, 2, .6F, .4F}, {90, 1, .8F, .3F}};
  const auto passed = [&](const std::vector<Payload>& performance) {
    const auto v = verify_entropy(accuracy, performance);
    EXPECT_TRUE(v) << (v ? "" : v.error().message);
    return v && v->passed;
  };
  EXPECT_TRUE(passed(same));
  EXPECT_FALSE(passed({{90, 1, .81F, .3F}}));
  EXPECT_TRUE(passed({{90, 1, .80001F, .3F}}));
  EXPECT_FALSE(passed({{91, 1, .8F, .3F}}));
  EXPECT_FALSE(passed({}));
  EXPECT_FALSE(verify_entropy(accuracy, std::vector<Payload>{{90, 1}}));
  EXPECT_FALSE(verify_entropy(std::vector<Payload>{{1, 2, 3}}, same));
}

}  // namespace
}  // namespace assay::loadgen
