#include "mcp/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::mcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CommandHelp help_of_try() {
  const auto json = Json::parse(R"({"command":"try","summary":"a command for tests","flags":[
    {"names":["URL"],"kind":"text","help":"where","required":true,"hidden":false},
    {"names":["MORE"],"kind":"texts","help":"more","required":false,"hidden":false},
    {"names":["--load","-l"],"kind":"text","help":"kind","choices":["closed","poisson"]},
    {"names":["--rate"],"kind":"number","help":"queries a second","default":"2.5"},
    {"names":["--max-tokens"],"kind":"count","help":"limit"},
    {"names":["--offset"],"kind":"integer","help":"any"},
    {"names":["--for"],"kind":"duration","help":"how long"},
    {"names":["--header"],"kind":"texts","help":"extra header"},
    {"names":["--spin"],"kind":"bool","help":"never sleep"},
    {"names":["--allow-code"],"kind":"bool","help":"run code"},
    {"names":["--json"],"kind":"bool","help":"print JSON"}],"examples":["assay try http://a"]})");
  return *CommandHelp::from_json(*json);
}

Tool tool() { return {.name = "try", .help = help_of_try(), .effects = effects_of("probe")}; }

std::vector<std::string> line_of(std::string_view arguments) {
  const auto line = tool().command_line(*Json::parse(arguments));
  return line ? *line : std::vector<std::string>{"error: " + line.error().message};
}

TEST(McpTool, arguments_become_the_command_line_that_a_person_would_type) {
  EXPECT_THAT(
      line_of(R"({"header":["a: b","-c: d"],"url":"http://x","spin":true,"rate":2,
                          "offset":-5,"for":"30s","more":["-1","--json"],"load":"poisson"})"),
      ElementsAre("try", "--load=poisson", "--rate=2", "--offset=-5", "--for=30s", "--header=a: b",
                  "--header=-c: d", "--spin", "--json", "--", "http://x", "-1", "--json"));
}

TEST(McpTool, a_number_is_a_text_where_a_flag_takes_a_text) {
  EXPECT_THAT(line_of(R"({"url":"u","load":8})"),
              ElementsAre("try", "--load=8", "--json", "--", "u"));
}

TEST(McpTool, what_is_not_given_or_null_or_false_is_no_flag) {
  EXPECT_THAT(line_of(R"({"url":"u","spin":false,"rate":null})"),
              ElementsAre("try", "--json", "--", "u"));
}

TEST(McpTool, an_argument_cannot_become_another_flag) {
  EXPECT_THAT(line_of(R"({"url":"--allow-code"})"),
              ElementsAre("try", "--json", "--", "--allow-code"));
}

TEST(McpTool, errors_name_the_argument) {
  EXPECT_THAT(line_of(R"({})"), ElementsAre("error: url: is required: where"));
  EXPECT_THAT(line_of(R"({"url":true})"), ElementsAre(HasSubstr("url: is")));
  EXPECT_THAT(line_of(R"({"url":"u","for":30})"), ElementsAre(HasSubstr("for: is")));
  EXPECT_THAT(line_of(R"({"url":"u","rate":"fast"})"), ElementsAre(HasSubstr("rate: is")));
  EXPECT_THAT(line_of(R"({"url":"u","max_tokens":1.5})"), ElementsAre(HasSubstr("max_tokens")));
  EXPECT_THAT(line_of(R"({"url":"u","spin":"yes"})"), ElementsAre(HasSubstr("spin")));
  EXPECT_THAT(line_of(R"({"url":"u","header":{}})"), ElementsAre(HasSubstr("header")));
  EXPECT_THAT(line_of(R"({"url":"u","ratee":7})"), ElementsAre(HasSubstr("did you mean rate?")));
  EXPECT_THAT(line_of(R"({"url":"a\u0000b"})"), ElementsAre(HasSubstr("zero byte")));
  EXPECT_THAT(line_of(R"(["u"])"), ElementsAre(HasSubstr("arguments")));
}

TEST(McpTool, code_of_models_is_no_argument) {
  EXPECT_THAT(line_of(R"({"url":"u","allow_code":true})"), ElementsAre(HasSubstr("allow_code")));
  EXPECT_EQ(tool().to_json({}).dump().find("allow_code"), std::string::npos);
}

TEST(McpTool, the_schema_has_each_flag_with_its_type) {
  const Json json = tool().to_json({});
  const Json& properties = json["inputSchema"]["properties"];
  EXPECT_EQ(properties["url"]["type"].as_string(), "string");
  EXPECT_EQ(properties["load"]["enum"].dump(), R"(["closed","poisson"])");
  EXPECT_EQ(properties["rate"]["type"].as_string(), "number");
  EXPECT_THAT(std::string(properties["rate"]["description"].as_string()), HasSubstr("2.5"));
  EXPECT_EQ(properties["max_tokens"]["minimum"].as_int(-1), 0);
  EXPECT_EQ(properties["header"]["items"]["type"].as_string(), "string");
  EXPECT_EQ(properties["spin"]["type"].as_string(), "boolean");
  EXPECT_EQ(properties.find("json"), nullptr);
  EXPECT_EQ(json["inputSchema"]["required"].dump(), R"(["url"])");
  EXPECT_FALSE(json["inputSchema"]["additionalProperties"].as_bool(true));
}

TEST(McpTool, hints_say_what_a_command_does) {
  const Json reads = tool().to_json({.remote = true});
  EXPECT_TRUE(reads["annotations"]["readOnlyHint"].as_bool());
  EXPECT_TRUE(reads["annotations"]["openWorldHint"].as_bool());
  EXPECT_FALSE(tool().to_json({})["annotations"]["openWorldHint"].as_bool(true));
  const Tool writes{.name = "run", .help = help_of_try(), .effects = effects_of("run")};
  EXPECT_FALSE(writes.to_json({})["annotations"]["readOnlyHint"].as_bool(true));
}

TEST(McpTool, a_command_that_is_not_known_is_taken_to_write) {
  EXPECT_TRUE(effects_of("brand-new").writes);
}

}  // namespace
}  // namespace assay::mcp
