#include "mcp/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::mcp {
namespace {

using testing::HasSubstr;

Tool tool_named(const std::string& name, Effects effects) {
  CommandHelp help;
  help.command = name;
  help.summary = "for tests";
  help.flags = {{.names = {"URL"}, .kind = "text", .help = "where", .required = true},
                {.names = {"--json"}, .kind = "bool", .help = "print JSON"}};
  return {.name = name, .help = help, .effects = effects};
}

Session session(const Rights& rights = {}) {
  return Session({tool_named("probe", {.outside = true}), tool_named("run", {.writes = true}),
                  tool_named("endpoint", {.service = true})},
                 rights);
}

Json only_reply(const Session::Step& step) {
  EXPECT_EQ(step.replies.size(), 1U);
  return step.replies.empty() ? Json() : *Json::parse(step.replies.front());
}

std::string call_line(int id, std::string_view name, std::string_view arguments,
                      std::string_view meta = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":")" + std::string(name) + R"(","arguments":)" +
         std::string(arguments) + R"(,"_meta":)" + std::string(meta) + "}}";
}

TEST(McpSession, agrees_on_the_revision_that_the_client_asks_for) {
  Session s = session();
  for (const char* revision : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    const Json reply = only_reply(
        s.receive(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
                  std::string(revision) + R"("}})"));
    EXPECT_EQ(reply["result"]["protocolVersion"].as_string(), revision);
    EXPECT_EQ(reply["result"]["serverInfo"]["name"].as_string(), "assay");
    EXPECT_TRUE(reply["result"]["capabilities"].find("tools") != nullptr);
  }
  const Json reply = only_reply(s.receive(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"1999-01-01"}})"));
  EXPECT_EQ(reply["result"]["protocolVersion"].as_string(), "2025-11-25");
}

TEST(McpSession, speaks_the_revision_without_a_handshake) {
  Session s = session();
  const std::string meta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})";
  const Json found = only_reply(
      s.receive(R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{)" + meta + "}}"));
  EXPECT_EQ(found["result"]["supportedVersions"][0].as_string(), "2026-07-28");
  EXPECT_EQ(found["result"]["resultType"].as_string(), "complete");
  const Json list = only_reply(
      s.receive(R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{)" + meta + "}}"));
  EXPECT_EQ(list["result"]["resultType"].as_string(), "complete");
  EXPECT_EQ(list["result"]["ttlMs"].as_int(-1), 0);
  const auto step = s.receive(call_line(
      3, "probe", R"({"url":"u"})", R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"})"));
  ASSERT_TRUE(step.start);
  const Json ended = *Json::parse(s.ended(step.start->number, {.out = "{}"}));
  EXPECT_EQ(ended["result"]["resultType"].as_string(), "complete");
  const Json refused = only_reply(
      s.receive(call_line(4, "probe", R"({"url":"u"})",
                          R"({"io.modelcontextprotocol/protocolVersion":"2031-01-01"})")));
  EXPECT_EQ(refused["error"]["code"].as_int(), -32022);
  EXPECT_EQ(refused["error"]["data"]["supported"][0].as_string(), "2026-07-28");
}

TEST(McpSession, lists_what_is_allowed) {
  Session reading = session();
  Session writing = session({.write = true});
  const std::string ask = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  const auto names = [&](Session& s) {
    std::string out;
    const Json reply = only_reply(s.receive(ask));
    for (const Json& tool : reply["result"]["tools"].items()) {
      out += std::string(tool["name"].as_string()) + " ";
    }
    return out;
  };
  EXPECT_EQ(names(reading), "probe endpoint stop_service list_services ");
  EXPECT_EQ(names(writing), "probe run endpoint stop_service list_services ");
  EXPECT_THAT(only_reply(reading.receive(call_line(2, "run", R"({"url":"u"})")))["error"]["message"]
                  .as_string(),
              HasSubstr("--allow-write"));
}

TEST(McpSession, a_call_starts_a_command_and_its_end_is_the_reply) {
  Session s = session();
  const Session::Step step = s.receive(call_line(7, "probe", R"({"url":"http://a"})"));
  ASSERT_TRUE(step.start);
  EXPECT_EQ(step.start->command, (std::vector<std::string>{"probe", "--json", "--", "http://a"}));
  EXPECT_TRUE(step.replies.empty());
  const Json reply =
      *Json::parse(s.ended(step.start->number, {.exit_code = 0, .out = "{\"sane\": true}\n"}));
  EXPECT_EQ(reply["id"].as_int(), 7);
  EXPECT_FALSE(reply["result"]["isError"].as_bool(true));
  EXPECT_TRUE(reply["result"]["structuredContent"]["output"]["sane"].as_bool());
  EXPECT_EQ(reply["result"]["content"][0]["type"].as_string(), "text");
  EXPECT_EQ(s.ended(step.start->number, {}), "");  // replied once
}

TEST(McpSession, findings_are_an_answer_and_bad_input_is_the_tools_error) {
  Session s = session();
  const auto end_with = [&](const Outcome& outcome) {
    const Session::Step step = s.receive(call_line(7, "probe", R"({"url":"http://a"})"));
    return *Json::parse(s.ended(step.start->number, outcome));
  };
  const Json findings = end_with({.exit_code = 1, .out = "{\"findings\": 3}"});
  EXPECT_FALSE(findings["result"]["isError"].as_bool(true));
  EXPECT_EQ(findings["result"]["structuredContent"]["meaning"].as_string(), "done, with findings");
  const Json bad = end_with({.exit_code = 2, .messages = "error: no such file\n"});
  EXPECT_TRUE(bad["result"]["isError"].as_bool());
  EXPECT_THAT(std::string(bad["result"]["content"][0]["text"].as_string()),
              HasSubstr("no such file"));
  // A run that ended before its load has an ending and no result.
  const std::string refused = R"({"exit": {"code": 3, "causes": [{"code": 3, "why": "refused"}]}})";
  EXPECT_TRUE(end_with({.exit_code = 3, .out = refused})["result"]["isError"].as_bool());
  EXPECT_FALSE(
      end_with({.exit_code = 7, .out = R"({"qps": 0, "exit": {"code": 7}})"})["result"]["isError"]
          .as_bool(true));
  EXPECT_TRUE(end_with({.signal = 11})["result"]["isError"].as_bool());
  EXPECT_TRUE(end_with({.trouble = "no process"})["result"]["isError"].as_bool());
  EXPECT_TRUE(end_with({.out_too_long = true})["result"]["isError"].as_bool());
}

TEST(McpSession, wrong_arguments_are_the_tools_error_so_that_an_agent_mends_them) {
  Session s = session();
  const Json reply = only_reply(s.receive(call_line(7, "probe", R"({"ur":"http://a"})")));
  EXPECT_TRUE(reply["result"]["isError"].as_bool());
  EXPECT_THAT(std::string(reply["result"]["content"][0]["text"].as_string()),
              HasSubstr("did you mean url?"));
}

TEST(McpSession, progress_goes_to_calls_that_asked_for_it_and_grows) {
  Session s = session();
  const auto quiet = s.receive(call_line(1, "probe", R"({"url":"u"})"));
  EXPECT_EQ(s.progress(quiet.start->number, "half"), "");
  const auto loud = s.receive(call_line(2, "probe", R"({"url":"u"})", R"({"progressToken":"t"})"));
  const Json first = *Json::parse(s.progress(loud.start->number, "half"));
  const Json second = *Json::parse(s.progress(loud.start->number, "whole"));
  EXPECT_EQ(first["method"].as_string(), "notifications/progress");
  EXPECT_EQ(first["params"]["progressToken"].as_string(), "t");
  EXPECT_EQ(first["params"]["message"].as_string(), "half");
  EXPECT_LT(first["params"]["progress"].as_int(), second["params"]["progress"].as_int());
  s.ended(loud.start->number, {});
  EXPECT_EQ(s.progress(loud.start->number, "late"), "");
}

TEST(McpSession, a_cancelled_call_gets_no_reply) {
  Session s = session();
  const auto step = s.receive(call_line(9, "probe", R"({"url":"u"})"));
  const auto cancel =
      s.receive(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})");
  EXPECT_EQ(cancel.cancel, step.start->number);
  EXPECT_TRUE(cancel.replies.empty());
  EXPECT_EQ(s.ended(step.start->number, {.out = "{}"}), "");
  const auto unknown = s.receive(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"9"}})");
  EXPECT_FALSE(unknown.cancel);
}

TEST(McpSession, a_service_replies_when_it_is_ready_and_is_stopped_by_its_number) {
  Session s = session();
  const auto step = s.receive(call_line(3, "endpoint", R"({"url":"u"})"));
  const Json ready = *Json::parse(s.ready({step.start->number, "http://127.0.0.1:1"}));
  EXPECT_EQ(ready["result"]["structuredContent"]["service"].as_uint(), step.start->number);
  const auto stop = s.receive(call_line(4, "stop_service", R"({"service":1})"));
  EXPECT_EQ(stop.stop, 1U);
  EXPECT_EQ((*Json::parse(s.stopped(1, true)))["id"].as_int(), 4);
  s.receive(call_line(5, "stop_service", R"({"service":8})"));
  EXPECT_TRUE((*Json::parse(s.stopped(8, false)))["result"]["isError"].as_bool());
  EXPECT_TRUE(s.receive(call_line(6, "list_services", "{}")).list_services);
  EXPECT_EQ(
      (*Json::parse(s.services({{1, "x"}})))["result"]["structuredContent"]["services"].size(), 1U);
}

TEST(McpSession, messages_that_are_none_are_refused_by_the_standards_codes) {
  Session s = session();
  const auto code = [&](std::string_view line) {
    return only_reply(s.receive(line))["error"]["code"].as_int();
  };
  EXPECT_EQ(code("{nonsense"), -32700);
  EXPECT_EQ(code("[]"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":[1],"method":"ping"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})"), -32601);
  EXPECT_EQ(code(call_line(1, "nothing", "{}")), -32602);
  s.receive(call_line(5, "probe", R"({"url":"u"})"));
  EXPECT_EQ(code(call_line(5, "probe", R"({"url":"u"})")), -32600);
}

TEST(McpSession, notifications_and_replies_are_not_answered) {
  Session s = session();
  for (const char* line : {R"({"jsonrpc":"2.0","method":"notifications/initialized"})", "", "  ",
                           R"({"jsonrpc":"2.0","id":4,"result":{}})"}) {
    EXPECT_TRUE(s.receive(line).replies.empty()) << line;
  }
  EXPECT_EQ(
      only_reply(s.receive(R"({"jsonrpc":"2.0","id":"a","method":"ping"})"))["id"].as_string(),
      "a");
}

}  // namespace
}  // namespace assay::mcp
