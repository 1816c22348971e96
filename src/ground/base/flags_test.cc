#include "base/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Options {
  std::string url{};
  std::string load = "concurrency";
  std::int64_t offset = 0;
  std::uint64_t seed = 7;
  double rate = 0;
  Duration ttft{50'000'000};
  std::optional<Duration> duration{};
  std::optional<std::uint64_t> samples{};
  std::vector<std::string> headers{};
  bool json = false;
};

struct Parsed {
  Options options{};
  Result<bool> go{false};
  std::string help{};
  bool seed_given = false;
};

Parsed parse_flags(const std::vector<std::string>& args) {
  Parsed out;
  Flags flags("try", "a command for tests");
  Options& o = out.options;
  flags.add("URL", &o.url, "where").required();
  flags.group("Load");
  flags.add("--load,-l", &o.load, "kind").choices({"concurrency", "poisson"});
  flags.group("");
  flags.add("--offset=N", &o.offset, "any whole number");
  flags.add("--seed=N", &o.seed, "a seed");
  flags.group("Load");
  flags.add("--rate=N", &o.rate, "queries a second");
  flags.group("");
  flags.add("--ttft=TIME", &o.ttft, "time to first token").bare_unit(1_ms);
  flags.add("--duration=TIME", &o.duration, "how long");
  flags.add("--samples=N", &o.samples, "how many");
  flags.add("--header,-H=NAME:VALUE", &o.headers, "extra header");
  flags.add("--json", &o.json, "print JSON");
  flags.example("assay try http://localhost");
  out.go = flags.parse(args);
  out.help = flags.help();
  out.seed_given = flags.given("--seed");
  return out;
}

TEST(Flags, reads_every_kind_of_value) {
  const Parsed p =
      parse_flags({"http://a", "--load=poisson", "--offset", "-5", "--seed", "18446744073709551615",
                   "--rate", "2.5", "--ttft", "20", "--duration", "1.5m", "--samples=3", "-H",
                   "a: b", "--header", "c: d=e", "--json"});
  ASSERT_TRUE(p.go) << p.go.error().message;
  EXPECT_TRUE(*p.go);
  EXPECT_EQ(p.options.url, "http://a");
  EXPECT_EQ(p.options.load, "poisson");
  EXPECT_EQ(p.options.offset, -5);
  EXPECT_EQ(p.options.seed, 18446744073709551615U);
  EXPECT_EQ(p.options.rate, 2.5);
  EXPECT_EQ(p.options.ttft, 20_ms);
  EXPECT_EQ(p.options.duration, 90_s);
  EXPECT_EQ(p.options.samples, 3U);
  EXPECT_THAT(p.options.headers, testing::ElementsAre("a: b", "c: d=e"));
  EXPECT_TRUE(p.options.json);
  EXPECT_TRUE(p.seed_given);
}

TEST(Flags, what_is_not_given_keeps_its_default) {
  const Parsed p = parse_flags({"http://a"});
  ASSERT_TRUE(p.go);
  EXPECT_EQ(p.options.ttft, 50_ms);
  EXPECT_EQ(p.options.seed, 7U);
  EXPECT_FALSE(p.options.duration.has_value());
  EXPECT_FALSE(p.options.json);
  EXPECT_FALSE(p.seed_given);
}

TEST(Flags, two_dashes_end_the_flags) {
  EXPECT_EQ(parse_flags({"--", "--json"}).options.url, "--json");
  EXPECT_EQ(parse_flags({"-"}).options.url, "-");
}

TEST(Flags, reports_all_mistakes_at_once_with_did_you_mean) {
  const Parsed p =
      parse_flags({"--duraton", "5s", "--load", "poison", "--samples", "many", "--ttft"});
  ASSERT_FALSE(p.go);
  EXPECT_EQ(p.go.error().code, Code::invalid);
  const std::string& message = p.go.error().message;
  EXPECT_THAT(message, HasSubstr("unknown flag --duraton\n  did you mean --duration?"));
  EXPECT_THAT(message, HasSubstr("--load: unknown value \"poison\"\n  did you mean \"poisson\"?"));
  EXPECT_THAT(message, HasSubstr("--samples: 'many' is not a whole number of 0 or more"));
  EXPECT_THAT(message, HasSubstr("--ttft: needs a value"));
  EXPECT_THAT(message, HasSubstr("URL: is required"));
}

TEST(Flags, what_other_tools_call_a_flag_is_known_where_the_command_has_it) {
  const auto message = [](std::string_view flag) {
    return parse_flags({"http://a", std::string(flag), "5"}).go.error().message;
  };
  EXPECT_THAT(message("--num-prompts"), HasSubstr("did you mean --samples?"));
  EXPECT_THAT(message("--request-rate"), HasSubstr("did you mean --rate?"));
  EXPECT_THAT(message("--base-url"), Not(HasSubstr("--endpoint"))) << "no flag of this command";
}

TEST(Flags, refuses_what_it_cannot_mean) {
  const auto message = [](const std::vector<std::string>& args) {
    const Parsed p = parse_flags(args);
    return p.go ? std::string("accepted") : p.go.error().message;
  };
  EXPECT_EQ(message({"a", "b"}),
            "unexpected argument \"b\"\n  assay try --help says what it takes");
  EXPECT_THAT(message({"a", "-8"}), HasSubstr("unexpected argument \"-8\""));
  EXPECT_EQ(message({}), "URL: is required: where");
  EXPECT_EQ(message({"a", "--seed", "1", "--seed", "2"}), "--seed: given 2 times");
  EXPECT_EQ(message({"a", "--json=yes"}), "--json: takes no value");
  EXPECT_EQ(message({"a", "--seed", "--json"}), "--seed: needs a value");
  EXPECT_EQ(message({"a", "--seed="}), "--seed: '' is not a whole number of 0 or more");
  EXPECT_EQ(message({"a", "--seed", "-1"}), "--seed: '-1' is not a whole number of 0 or more");
}

TEST(Flags, help_names_values_defaults_choices_and_examples) {
  const std::string help = parse_flags({"a"}).help;
  EXPECT_THAT(help, HasSubstr("assay try URL [flags]\n"));
  EXPECT_THAT(help, HasSubstr("--ttft TIME"));
  EXPECT_THAT(help, HasSubstr("(default 7)"));
  EXPECT_THAT(help, HasSubstr("kind: concurrency, poisson (default concurrency)"));
  EXPECT_THAT(help, HasSubstr("\nExamples\n  assay try http://localhost\n"));
}

TEST(Flags, help_json_describes_each_flag_for_programs) {
  std::string text;
  bool go = true;
  {
    const HelpCapture capture(text);
    go = *parse_flags({"--help-json"}).go;
  }
  EXPECT_FALSE(go);
  const auto json = Json::parse(text);
  ASSERT_TRUE(json) << text;
  EXPECT_EQ((*json)["command"].as_string(), "try");
  const auto flag = [&](std::string_view name) -> const Json& {
    for (const Json& one : (*json)["flags"].items()) {
      if (one["names"][0].as_string() == name) return one;
    }
    return (*json)["none"];
  };
  EXPECT_EQ(flag("URL")["kind"].as_string(), "text");
  EXPECT_TRUE(flag("URL")["required"].as_bool());
  EXPECT_EQ(flag("--load")["choices"].dump(), R"(["concurrency","poisson"])");
  EXPECT_EQ(flag("--load")["names"][1].as_string(), "-l");
  EXPECT_EQ(flag("--offset")["kind"].as_string(), "integer");
  EXPECT_EQ(flag("--seed")["default"].as_string(), "7");
  EXPECT_EQ(flag("--rate")["kind"].as_string(), "number");
  EXPECT_EQ(flag("--duration")["kind"].as_string(), "duration");
  EXPECT_EQ(flag("--samples")["kind"].as_string(), "count");
  EXPECT_EQ(flag("--header")["kind"].as_string(), "texts");
  EXPECT_EQ(flag("--json")["kind"].as_string(), "bool");
  EXPECT_EQ((*json)["examples"][0].as_string(), "assay try http://localhost");
}

TEST(Flags, a_wide_example_goes_on_at_a_flag_after_a_backslash) {
  Flags flags("try", "a command for tests");
  flags.example(
      "assay try http://localhost --model a-long-name-of-a-model --hardware a-card --rate 200 "
      "--header 'a: b' --json");
  EXPECT_THAT(flags.help(), HasSubstr("  assay try http://localhost --model "
                                      "a-long-name-of-a-model --hardware a-card \\\n"
                                      "      --rate 200 --header 'a: b' --json\n"));
}

}  // namespace
}  // namespace assay
