#include "mcp/session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/exit_code.h"
#include "base/format.h"
#include "base/text.h"
#include "base/version.h"

namespace assay::mcp {
namespace {

constexpr std::array<std::string_view, 4> kRevisions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                     "2024-11-05"};
// JSON-RPC 2.0, section 5.1.
constexpr int kNoJson = -32700;
constexpr int kNoRequest = -32600;
constexpr int kNoMethod = -32601;
constexpr int kBadParams = -32602;
// The protocol's own, since 2026-07-28.
constexpr int kNoRevision = -32022;
constexpr std::string_view kModern = "2026-07-28";
constexpr std::string_view kRevisionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kServerKey = "io.modelcontextprotocol/serverInfo";

constexpr std::string_view kStopService = "stop_service";
constexpr std::string_view kListServices = "list_services";

std::string response(const Json& id, Json result, bool modern) {
  if (modern) result.set("resultType", "complete");
  return Json::object().set("jsonrpc", "2.0").set("id", id).set("result", std::move(result)).dump();
}

std::string refusal(const Json& id, int code, std::string_view why) {
  Json error = Json::object();
  error.set("code", code).set("message", why);
  return Json::object().set("jsonrpc", "2.0").set("id", id).set("error", std::move(error)).dump();
}

// The refusal of a revision that this server does not speak.
std::string no_such_revision(const Json& id, const Json& asked) {
  Json data = Json::object();
  data.set("supported", Json::array().push_back(kModern)).set("requested", asked);
  Json error = Json::object();
  error.set("code", kNoRevision).set("message", "Unsupported protocol version");
  error.set("data", std::move(data));
  return Json::object().set("jsonrpc", "2.0").set("id", id).set("error", std::move(error)).dump();
}

Json text_result(std::string_view text, bool is_error) {
  Json item = Json::object();
  item.set("type", "text").set("text", text);
  Json out = Json::object();
  out.set("content", Json::array().push_back(std::move(item)));
  return out.set("isError", is_error);
}

// What an exit code says, in the words of `assay --help`.
std::string_view meaning_of(int code) {
  constexpr std::array<std::string_view, 9> kMeanings{
      "done",
      "done, with findings",
      "bad input",
      "the endpoint or a file cannot be reached",
      "the client was the bottleneck: the figures are not the endpoint's",
      "worse than the baseline, or a requirement is not met",
      "the runs are not comparable",
      "too many queries failed",
      "out of memory or of space on a disk"};
  if (code == exit_code(ExitCode::interrupted)) return "interrupted";
  const auto at = static_cast<std::size_t>(code);
  return code >= 0 && at < kMeanings.size() ? kMeanings[at] : "unknown";
}

// Whether a command said how it ended and nothing else.
bool is_ending_alone(std::string_view text) {
  const auto said = Json::parse(text);
  return said && said->size() == 1 && !(*said)["exit"].is_null();
}

// A verdict on what was asked is an answer. Only where nothing was answered is it the tool's error.
bool is_error(const Outcome& outcome) {
  if (!outcome.trouble.empty() || outcome.signal != 0 || outcome.out_too_long) return true;
  return outcome.exit_code == exit_code(ExitCode::bad_input) || outcome.out.empty() ||
         is_ending_alone(outcome.out);
}

Json outcome_json(const Outcome& outcome) {
  if (!outcome.trouble.empty()) return text_result(outcome.trouble, true);
  Json structured = Json::object();
  structured.set("exit_code", outcome.exit_code).set("meaning", meaning_of(outcome.exit_code));
  std::string text;
  if (outcome.signal != 0) {
    structured.set("signal", outcome.signal);
    text = format("the command was ended by signal {}\n", outcome.signal);
  } else if (outcome.exit_code != 0) {
    text = format("exit code {}: {}\n", outcome.exit_code, meaning_of(outcome.exit_code));
  }
  if (outcome.out_too_long) {
    text += "the command printed more than an answer may have; ask for less\n";
  } else if (!outcome.out.empty()) {
    auto parsed = Json::parse(outcome.out);
    structured.set("output", parsed ? std::move(*parsed) : Json(outcome.out));
    text += outcome.out;
  }
  if (!outcome.messages.empty()) {
    structured.set("messages", outcome.messages);
    text += outcome.messages;
  }
  Json out = text_result(text, is_error(outcome));
  return out.set("structuredContent", std::move(structured));
}

Json builtin_tool(std::string_view name, std::string_view description, Json properties) {
  Json schema = Json::object();
  schema.set("type", "object").set("properties", std::move(properties));
  if (name == kStopService) schema.set("required", Json::array().push_back("service"));
  schema.set("additionalProperties", false);
  Json hints = Json::object();
  hints.set("readOnlyHint", name == kListServices)
      .set("destructiveHint", false)
      .set("idempotentHint", true)
      .set("openWorldHint", false);
  return Json::object()
      .set("name", name)
      .set("description", description)
      .set("inputSchema", std::move(schema))
      .set("annotations", std::move(hints));
}

Json capabilities_json() {
  return Json::object().set("tools", Json::object().set("listChanged", false));
}

Json server_json() {
  return Json::object().set("name", "assay").set("title", "Assay").set("version", version());
}

Json service_json(const Service& service) {
  return Json::object().set("service", service.number).set("said", service.first_line);
}

}  // namespace

Session::Session(std::vector<Tool> tools, Rights rights)
    : tools_(std::move(tools)), rights_(rights) {
  std::erase_if(tools_, [&](const Tool& tool) { return tool.effects.writes && !rights_.write; });
}

Session::Step Session::receive(std::string_view line) {
  Step step;
  if (trim(line).empty()) return step;
  const auto message = Json::parse(line);
  if (!message) {
    step.replies.push_back(refusal(nullptr, kNoJson, message.error().message));
  } else if (!message->is_object()) {
    step.replies.push_back(refusal(nullptr, kNoRequest, "a message is a JSON object"));
  } else {
    answer(*message, step);
  }
  return step;
}

void Session::answer(const Json& message, Step& step) {
  const Json* const id = message.find("id");
  const Json* const method = message.find("method");
  const Json& params = message["params"];
  if (method == nullptr) {
    // A reply to a request of ours; this server makes none.
    if (id == nullptr || message.find("result") != nullptr || message.find("error") != nullptr) {
      return;
    }
    step.replies.push_back(refusal(*id, kNoRequest, "method: is missing"));
    return;
  }
  const std::string_view name = method->as_string();
  if (id == nullptr) {
    if (name == "notifications/cancelled") cancel(params, step);
    return;  // other notifications need nothing
  }
  if (!id->is_string() && !id->is_integer()) {
    step.replies.push_back(refusal(nullptr, kNoRequest, "id: must be a text or a whole number"));
    return;
  }
  const Json& revision = params["_meta"][kRevisionKey];
  const bool modern = revision.as_string() == kModern;
  if (!revision.is_null() && !modern) {
    step.replies.push_back(no_such_revision(*id, revision));
  } else if (name == "initialize") {
    step.replies.push_back(response(*id, initialize(params), false));
  } else if (name == "server/discover") {
    step.replies.push_back(response(*id, discover(), true));
  } else if (name == "ping") {
    step.replies.push_back(response(*id, Json::object(), modern));
  } else if (name == "tools/list") {
    Json tools = list();
    if (modern) tools.set("ttlMs", 0).set("cacheScope", "private");
    step.replies.push_back(response(*id, std::move(tools), modern));
  } else if (name == "tools/call") {
    call({.id = *id, .modern = modern}, params, step);
  } else {
    step.replies.push_back(refusal(*id, kNoMethod, format("{}: no such method", name)));
  }
}

std::string Session::instructions() const {
  std::string words =
      "Measures endpoints of generative models. Begin with `probe`; `run` measures one point, "
      "`curve` a whole curve, `simulate` needs no endpoint, `endpoint` starts one whose truth is "
      "known. Look at `client_limited` before any figure of a run. ";
  words += rights_.write ? "" : "Commands that leave files are not allowed. ";
  words += rights_.remote ? "" : "Only addresses of this machine are allowed.";
  return words;
}

Json Session::initialize(const Json& params) const {
  const std::string_view asked = params["protocolVersion"].as_string();
  const auto* const known = std::ranges::find(kRevisions, asked);
  return Json::object()
      .set("protocolVersion", known == kRevisions.end() ? kRevisions.front() : *known)
      .set("capabilities", capabilities_json())
      .set("serverInfo", server_json())
      .set("instructions", instructions());
}

Json Session::discover() const {
  Json versions = Json::array();
  versions.push_back(kModern);
  for (const std::string_view revision : kRevisions) versions.push_back(revision);
  return Json::object()
      .set("supportedVersions", std::move(versions))
      .set("capabilities", capabilities_json())
      .set("instructions", instructions())
      .set("ttlMs", 0)
      .set("cacheScope", "private")
      .set("_meta", Json::object().set(kServerKey, server_json()));
}

Json Session::list() const {
  Json tools = Json::array();
  for (const Tool& tool : tools_) tools.push_back(tool.to_json(rights_));
  const bool services =
      std::ranges::any_of(tools_, [](const Tool& tool) { return tool.effects.service; });
  if (services) {
    Json number = Json::object();
    number.set("type", "integer").set("description", "its number, from the call that started it");
    tools.push_back(builtin_tool(kStopService, "ends an endpoint or a server that was started here",
                                 Json::object().set("service", std::move(number))));
    tools.push_back(builtin_tool(kListServices, "endpoints and servers that were started here",
                                 Json::object()));
  }
  return Json::object().set("tools", std::move(tools));
}

void Session::builtin_call(Open open, std::string_view name, const Json& arguments, Step& step) {
  if (name == kListServices) {
    waiting_.push_back(std::move(open));
    step.list_services = true;
    return;
  }
  const Json& service = arguments["service"];
  if (!service.is_integer()) {
    step.replies.push_back(
        response(open.id, text_result("service: is a whole number", true), open.modern));
    return;
  }
  waiting_.push_back(std::move(open));
  step.stop = service.as_uint();
}

void Session::call(Open asked, const Json& params, Step& step) {
  const Json id = asked.id;
  const std::string_view name = params["name"].as_string();
  if (name == kStopService || name == kListServices) {
    builtin_call(std::move(asked), name, params["arguments"], step);
    return;
  }
  const auto tool = std::ranges::find_if(tools_, [&](const Tool& t) { return t.name == name; });
  if (tool == tools_.end()) {
    const bool forbidden = !rights_.write && effects_of(name).writes;
    step.replies.push_back(refusal(
        id, kBadParams,
        forbidden ? format("{}: not allowed or unknown; assay mcp --allow-write lets commands "
                           "leave files",
                           name)
                  : format("{}: no such tool", name)));
    return;
  }
  for (const auto& [number, open] : open_) {
    if (open.id == id) {
      step.replies.push_back(refusal(id, kNoRequest, "id: a call with this id is still open"));
      return;
    }
  }
  auto command = tool->command_line(params["arguments"]);
  if (!command) {
    // The agent can mend this and try again, so it is the tool's error.
    step.replies.push_back(response(id, text_result(command.error().message, true), asked.modern));
    return;
  }
  step.start = Call{.number = ++calls_, .tool = &*tool, .command = std::move(*command)};
  asked.progress_token = params["_meta"]["progressToken"];
  open_[calls_] = std::move(asked);
}

void Session::cancel(const Json& params, Step& step) {
  for (const auto& [number, open] : open_) {
    if (open.id != params["requestId"]) continue;
    step.cancel = number;
    open_.erase(number);
    return;
  }
}

std::optional<Session::Open> Session::take(std::uint64_t call) {
  const auto at = open_.find(call);
  if (at == open_.end()) return std::nullopt;
  Open out = std::move(at->second);
  open_.erase(at);
  return out;
}

std::string Session::ended(std::uint64_t call, const Outcome& outcome) {
  const auto open = take(call);
  return open ? response(open->id, outcome_json(outcome), open->modern) : std::string();
}

std::string Session::ready(const Service& service) {
  const auto open = take(service.number);
  if (!open) return {};
  Json out =
      text_result(format("service {} is ready: {}", service.number, service.first_line), false);
  return response(open->id, out.set("structuredContent", service_json(service)), open->modern);
}

std::string Session::stopped(std::uint64_t service, bool was_there) {
  if (waiting_.empty()) return {};
  const Open open = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  return response(open.id,
                  text_result(was_there ? format("service {} is ended", service)
                                        : format("service: {} is not running", service),
                              !was_there),
                  open.modern);
}

std::string Session::services(const std::vector<Service>& running) {
  if (waiting_.empty()) return {};
  const Open open = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  Json list = Json::array();
  for (const Service& service : running) list.push_back(service_json(service));
  Json structured = Json::object();
  structured.set("services", list);
  Json out = text_result(list.dump(2), false);
  return response(open.id, out.set("structuredContent", std::move(structured)), open.modern);
}

std::string Session::progress(std::uint64_t call, std::string_view text) {
  const auto at = open_.find(call);
  if (at == open_.end() || at->second.progress_token.is_null()) return {};
  Json params = Json::object();
  params.set("progressToken", at->second.progress_token)
      .set("progress", ++at->second.steps)
      .set("message", text);
  return Json::object()
      .set("jsonrpc", "2.0")
      .set("method", "notifications/progress")
      .set("params", std::move(params))
      .dump();
}

}  // namespace assay::mcp
