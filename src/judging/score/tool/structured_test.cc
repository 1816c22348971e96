#include <gtest/gtest.h>

#include "base/format.h"
#include "score/scorer.h"
#include "score/tool/json_schema.h"

namespace assay::score {
namespace {

Json read(std::string_view text) { return Json::parse(text).value(); }

std::string fault(std::string_view value, std::string_view schema) {
  auto found = schema_fault(read(value), read(schema));
  return found ? *found : "error: " + found.error().message;
}

TEST(JsonSchema, each_word_takes_what_it_allows_and_refuses_what_it_does_not) {
  struct Case {
    const char* schema;
    const char* good;
    const char* bad;
  };
  const Case cases[] = {
      {R"({"type":"integer"})", "2.0", "2.5"},
      {R"({"type":["string","null"]})", "null", "0"},
      {R"({"enum":[1,"a",{"x":[1]}]})", R"({"x":[1.0]})", R"({"x":[2]})"},
      {R"({"const":3})", "3.0", "\"3\""},
      {R"({"minimum":2,"maximum":4})", "4", "4.5"},
      {R"({"minimum":2})", "2", "1.9"},
      {R"({"exclusiveMinimum":2})", "2.1", "2"},
      {R"({"exclusiveMaximum":2})", "1.9", "2"},
      {R"({"multipleOf":0.1})", "0.3", "0.35"},
      {R"({"minLength":2,"maxLength":3})", "\"äöü\"", "\"ä\""},
      {R"({"maxLength":3})", "\"abc\"", "\"abcd\""},
      {R"({"pattern":"^[a-z]+$"})", "\"abc\"", "\"aBc\""},
      {R"({"minItems":1})", "[0]", "[]"},
      {R"({"maxItems":1})", "[0]", "[0,1]"},
      {R"({"items":{"type":"string"}})", R"(["a"])", R"(["a",1])"},
      {R"({"prefixItems":[{"type":"string"}],"items":{"type":"number"}})", R"(["a",1])",
       R"(["a","b"])"},
      {R"({"contains":{"type":"null"}})", "[1,null]", "[1]"},
      {R"({"contains":{"type":"null"},"minContains":2})", "[null,null]", "[null]"},
      {R"({"contains":{"type":"null"},"maxContains":1})", "[null,1]", "[null,null]"},
      {R"({"uniqueItems":true})", "[1,2]", "[1,2,1.0]"},
      {R"({"required":["a"]})", R"({"a":null})", R"({"b":1})"},
      {R"({"properties":{"a":{"type":"string"}}})", R"({"b":1})", R"({"a":1})"},
      {R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1})", R"({"b":1})"},
      {R"({"patternProperties":{"^x":{"type":"null"}},"additionalProperties":{"type":"number"}})",
       R"({"x1":null,"y":2})", R"({"y":null})"},
      {R"({"minProperties":1,"maxProperties":1})", R"({"a":1})", R"({"a":1,"b":2})"},
      {R"({"propertyNames":{"maxLength":1}})", R"({"a":1})", R"({"ab":1})"},
      {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1,"b":1})", R"({"a":1})"},
      {R"({"allOf":[{"minimum":1},{"maximum":3}]})", "2", "4"},
      {R"({"anyOf":[{"type":"string"},{"minimum":3}]})", "3", "2"},
      {R"({"oneOf":[{"minimum":1},{"maximum":3}]})", "4", "2"},
      {R"({"not":{"type":"string"}})", "1", "\"a\""},
      {R"({"if":{"type":"string"},"then":{"minLength":1},"else":{"minimum":1}})", "1", "0"},
      {R"({"if":{"type":"string"},"then":{"minLength":1}})", "\"a\"", "\"\""},
      {R"({"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"string"}}})", "\"a\"", "1"},
      {R"({"properties":{"next":{"$ref":"#"}},"additionalProperties":false})",
       R"({"next":{"next":{}}})", R"({"next":{"other":1}})"},
      {"true", "1", "1"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(fault(one.good, one.schema), "") << one.schema;
    if (std::string_view(one.schema) == "true") continue;
    const std::string wrong = fault(one.bad, one.schema);
    EXPECT_FALSE(wrong.empty() || wrong.starts_with("error")) << one.schema << ": " << wrong;
  }
  EXPECT_EQ(fault("1", "false"), "the value: nothing may be here");
}

TEST(JsonSchema, a_fault_names_its_place) {
  EXPECT_EQ(fault(R"({"a":[{"b":300}]})",
                  R"({"properties":{"a":{"items":{"properties":{"b":{"maximum":255}}}}}})"),
            "/a/0/b: 300 is above 255");
}

TEST(JsonSchema, a_schema_that_cannot_be_used_is_an_error_and_no_verdict) {
  for (const char* schema :
       {R"({"$ref":"#/$defs/none"})", R"({"$ref":"http://x/y"})", R"({"type":"int"})", "3",
        R"({"$ref":"#"})", R"({"pattern":"["})", R"({"type":["string","int"]})"}) {
    EXPECT_TRUE(fault("\"a\"", schema).starts_with("error: ")) << schema;
  }
}

struct Reply {
  std::string columns{};
  std::string content{};
  std::string calls{};
  bool answered = true;
};

Verdict judge(std::string_view name, const std::vector<Reply>& replies, Json* last = nullptr) {
  auto scorer = make_scorer(name, {}).value();
  std::uint32_t number = 0;
  for (const Reply& reply : replies) {
    const Json columns = read(reply.columns);
    Row row;
    row.columns = &columns;
    row.reply = row.content = reply.content;
    if (!reply.calls.empty()) row.tool_calls = read(reply.calls);
    row.answered = reply.answered;
    row.sample = number++;
    const auto added = scorer->add(row);
    EXPECT_TRUE(added) << added.error().message;
    if (last != nullptr) *last = scorer->last_judged();
  }
  return scorer->finish().value();
}

TEST(Structured, shares_of_json_of_valid_and_of_equal_replies) {
  const std::string schema =
      R"({"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":
         {"type":"object","required":["age"],"properties":{"age":{"type":"integer"}}}}},
         "expected":{"age":4}})";
  Json last;
  const Verdict verdict = judge("json_schema",
                                {{schema, " {\"age\": 4.0}\n"},
                                 {schema, R"({"age":5})"},
                                 {schema, R"({"age":"4"})"},
                                 {schema, "age: 4"},
                                 {.columns = schema, .answered = false}},
                                &last);
  EXPECT_EQ(verdict.score["json"].as_double(), 60);
  EXPECT_EQ(verdict.score["valid"].as_double(), 40);
  EXPECT_EQ(verdict.score["equal"].as_double(), 20);
  ASSERT_EQ(verdict.figures.size(), 3U);
  EXPECT_EQ(last["rule"].as_string(), "no reply");
  judge("json_schema", {{schema, R"({"age":"4"})"}}, &last);
  EXPECT_EQ(last["rule"].as_string(), "/age: \"4\" is not of type integer");
}

TEST(Structured, the_schema_is_where_each_kind_of_api_sends_it) {
  for (const char* columns :
       {R"({"schema":{"type":"null"}})", R"({"schema":"{\"type\":\"null\"}"})",
        R"({"response_format":{"json_schema":{"schema":{"type":"null"}}}})",
        R"({"text":{"format":{"type":"json_schema","schema":{"type":"null"}}}})",
        R"({"format":{"type":"null"}})", R"({"guided_json":"{\"type\":\"null\"}"})",
        R"({"structured_outputs":{"json":{"type":"null"}}})"}) {
    EXPECT_EQ(judge("json_schema", {{columns, "null"}, {columns, "1"}}).score["valid"].as_double(),
              50)
        << columns;
  }
  const Json none = read(R"({"format":"json"})");
  Row row;
  row.columns = &none;
  EXPECT_FALSE(make_scorer("json_schema", {}).value()->add(row));
  const ScorerOptions of_all{.extra = read(R"({"schema":{"type":"null"}})")};
  EXPECT_TRUE(make_scorer("json_schema", of_all).value()->add(row));
}

TEST(ToolCalls, each_share_has_its_own_reason_to_miss_one) {
  const std::string tools =
      R"("tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object",
          "required":["city"],"properties":{"city":{"type":"string"},"days":{"type":"integer"}}}}},
          {"name":"stop","input_schema":{"type":"object"}}])";
  const std::string wanted =
      "{" + tools +
      R"(,"expected_calls":[{"name":"weather","arguments":{"city":"Bern","days":2}}]})";
  const std::string nothing = "{" + tools + R"(,"expected_calls":[]})";
  const auto call = [](std::string_view name, std::string_view arguments) {
    return format(R"([{{"type":"function","function":{{"name":"{}","arguments":{}}}}}])", name,
                  json_quote(arguments));
  };
  const std::string right = call("weather", R"({"days":2.0,"city":"Bern"})");
  struct Case {
    Reply reply{};
    const char* rule = "";
    std::vector<int> shares{};  // called, right_tool, valid (-1: does not count), right_arguments
  };
  const Case cases[] = {
      {{wanted, "", right}, "right", {1, 1, 1, 1}},
      {{wanted, "", call("weather", R"({"city":"Basel","days":2})")},
       "other arguments",
       {1, 1, 1, 0}},
      {{wanted, "", call("weather", R"({"days":2})")},
       "weather: the value: no member \"city\"",
       {1, 1, 0, 0}},
      {{wanted, "", call("weather", "{\"city\":")},
       "weather: arguments that are not a JSON object",
       {1, 1, 0, 0}},
      {{wanted, "", call("stop", "")}, "another tool", {1, 0, 1, 0}},
      {{wanted, "It rains.", ""}, "no call", {0, 0, 0, 0}},
      {{.columns = wanted, .answered = false}, "no reply", {0, 0, 0, 0}},
      {{nothing, "Hello.", ""}, "right", {1, 1, -1, 1}},
      {{nothing, "", right}, "a call where none is wanted", {0, 0, 1, 0}},
  };
  const char* names[] = {"called", "right_tool", "valid", "right_arguments"};
  for (const Case& one : cases) {
    Json last;
    const Verdict verdict = judge("tool_calls", {one.reply}, &last);
    for (std::size_t i = 0; i < 4; ++i) {
      if (one.shares[i] < 0) {
        EXPECT_EQ(verdict.score.find(names[i]), nullptr) << one.rule;
      } else {
        EXPECT_EQ(verdict.score[names[i]].as_double(), 100.0 * one.shares[i])
            << one.rule << ", " << names[i];
      }
    }
    EXPECT_EQ(last["rule"].as_string(), one.rule);
  }
  // Two calls, in any order; a call made twice is not both.
  const std::string both =
      "{" + tools +
      R"(,"expected_calls":[{"name":"stop"},{"name":"weather","arguments":{"city":"Bern"}}]})";
  const std::string one = call("weather", R"({"city":"Bern"})");
  const std::string two = call("stop", "{}");
  const auto joined = [](const std::string& a, const std::string& b) {
    return a.substr(0, a.size() - 1) + "," + b.substr(1);
  };
  EXPECT_EQ(
      judge("tool_calls", {{both, "", joined(one, two)}}).score["right_arguments"].as_double(),
      100);
  EXPECT_EQ(judge("tool_calls", {{both, "", joined(one, one)}}).score["right_tool"].as_double(), 0);
}

}  // namespace
}  // namespace assay::score
