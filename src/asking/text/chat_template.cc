#include "text/chat_template.h"

#include <array>
#include <cstdlib>
#include <ctime>
#include <new>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "text/jinja_eval.h"
#include "text/jinja_parse.h"

namespace assay::text {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

Error error_of(const jinja::Fault& fault, std::string_view name) {
  return invalid(fault.line > 0 ? format("{}:{}: {}", name, fault.line, fault.message)
                                : format("{}: {}", name, fault.message));
}

jinja::Value strftime_now(jinja::Call& call, std::int64_t now_unix_s) {
  const std::string pattern = call.required(0, "format").text();
  const std::time_t seconds = now_unix_s;
  std::tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) jinja::fail("strftime_now: no such time");
  std::array<char, 256> text{};
  if (pattern.size() > 100) jinja::fail("strftime_now: the format is too long");
  const std::size_t size = std::strftime(text.data(), text.size(), pattern.c_str(), &parts);
  return std::string(text.data(), size);
}

// Reads a special token: a string, or {"content": …}.
Json special_tokens(const Json& config) {
  Json special = Json::object();
  for (const char* name : {"bos_token", "eos_token", "pad_token", "unk_token", "sep_token",
                           "cls_token", "mask_token"}) {
    const Json& token = config[name];
    const Json& content = token.is_object() ? token["content"] : token;
    if (content.is_string()) special.set(name, content);
  }
  return special;
}

// Reads one template, or "default" from a list of named ones.
std::string template_of(const Json& json) {
  if (json.is_string()) return std::string(json.as_string());
  for (const Json& one : json.items()) {
    if (one["name"].as_string() == "default") return std::string(one["template"].as_string());
  }
  return std::string(json[std::size_t{0}]["template"].as_string());
}

// Parses arguments that are the text of a JSON object.
Json with_parsed_arguments(const Json& calls) {
  Json out = Json::array();
  for (Json call : calls.items()) {
    if (Json* function = call.find("function")) {
      const Json* arguments = function->find("arguments");
      if (arguments != nullptr && arguments->is_string()) {
        auto parsed = Json::parse(arguments->as_string());
        if (parsed && parsed->is_object()) function->set("arguments", *std::move(parsed));
      }
    }
    out.push_back(std::move(call));
  }
  return out;
}

}  // namespace

Json with_parsed_calls(const Json& messages) {
  Json out = Json::array();
  for (Json message : messages.items()) {
    if (message["tool_calls"].size() > 0) {
      message.set("tool_calls", with_parsed_arguments(message["tool_calls"]));
    }
    out.push_back(std::move(message));
  }
  return out;
}

struct ChatTemplate::Parts {
  jinja::Body body{};
  std::string name{};
};

ChatTemplate::ChatTemplate() : parts_(std::make_unique<Parts>()) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, std::string_view name) {
  ChatTemplate made;
  made.parts_->name = name;
  try {
    made.parts_->body = jinja::parse(source);
  } catch (const jinja::Fault& fault) {
    return error_of(fault, name);
  }
  return made;
}

Result<std::string> ChatTemplate::render(const Json& variables, std::int64_t now_unix_s) const {
  try {
    jinja::Dict globals;
    for (const auto& [name, value] : variables.members()) {
      globals.emplace_back(name, jinja::Value::of_json(value));
    }
    globals.emplace_back("strftime_now", jinja::Function([now_unix_s](jinja::Call& call) {
                           return strftime_now(call, now_unix_s);
                         }));
    return jinja::render(parts_->body, std::move(globals));
  } catch (const jinja::Fault& fault) {
    return error_of(fault, parts_->name);
  } catch (const std::bad_alloc&) {
    throw;  // not the input's fault
  } catch (const std::exception& e) {
    return invalid(format("{}: {}", parts_->name, e.what()));
  }
}

Result<ChatFormat> ChatFormat::make(std::string_view source, Json special_tokens) {
  ASSIGN_OR_RETURN(ChatTemplate chat, ChatTemplate::parse(source));
  return ChatFormat(std::move(chat), std::move(special_tokens), std::string(source));
}

Result<ChatFormat> ChatFormat::load(const std::filesystem::path& folder) {
  Json config;
  std::string source;
  std::string name;
  if (const auto bytes = read_file(folder / "tokenizer_config.json", kFileBytesMax)) {
    auto parsed = Json::parse(*bytes);
    if (!parsed) return parsed.error().within((folder / "tokenizer_config.json").string());
    config = *std::move(parsed);
    source = template_of(config["chat_template"]);
    name = (folder / "tokenizer_config.json").string();
  }
  if (const auto bytes = read_file(folder / "chat_template.json", kFileBytesMax)) {
    auto parsed = Json::parse(*bytes);
    if (!parsed) return parsed.error().within((folder / "chat_template.json").string());
    source = template_of((*parsed)["chat_template"]);
    name = (folder / "chat_template.json").string();
  }
  if (auto bytes = read_file(folder / "chat_template.jinja", kFileBytesMax)) {
    source = *std::move(bytes);
    name = (folder / "chat_template.jinja").string();
  }
  if (source.empty()) {
    return Error{Code::not_found,
                 format("'{}': no chat template: neither chat_template.jinja nor \"chat_template\" "
                        "in tokenizer_config.json",
                        folder.string())};
  }
  ASSIGN_OR_RETURN(ChatTemplate chat, ChatTemplate::parse(source, name));
  return ChatFormat(std::move(chat), special_tokens(config), std::move(source));
}

Result<std::string> ChatFormat::render(const ChatRequest& request) const {
  Json variables = special_;
  variables.set("messages", with_parsed_calls(request.messages))
      .set("tools", request.tools)
      .set("documents", nullptr)
      .set("add_generation_prompt", request.add_generation_prompt);
  for (const auto& [name, value] : request.kwargs.members()) variables.set(name, value);
  return chat_.render(variables, request.now_unix_s);
}

Result<std::size_t> ChatFormat::count_input(const Tokenizer& tokenizer,
                                            const ChatRequest& request) const {
  ASSIGN_OR_RETURN(const std::string text, render(request));
  return tokenizer.count_rendered(text);
}

namespace {

// The rule's conversation: an empty question, answered by `reply`.
ChatRequest conversation(const ReplyText& reply) {
  Json user;
  user.set("role", "user").set("content", "");
  Json said;
  said.set("role", "assistant").set("content", reply.content);
  if (!reply.reasoning.empty()) said.set("reasoning_content", reply.reasoning);
  if (reply.tool_calls.size() > 0) said.set("tool_calls", reply.tool_calls);
  ChatRequest request;
  request.add_generation_prompt = false;
  request.messages = Json::array().push_back(std::move(user)).push_back(std::move(said));
  return request;
}

}  // namespace

Result<ReplyCounter> ReplyCounter::make(const Tokenizer& tokenizer, const ChatFormat& format) {
  auto frame = format.count_input(tokenizer, conversation({}));
  if (!frame) return frame.error().within("an empty reply, rendered");
  return ReplyCounter(tokenizer, format, *frame);
}

Result<std::size_t> ReplyCounter::count(const ReplyText& reply) const {
  ASSIGN_OR_RETURN(const std::size_t all, format_->count_input(*tokenizer_, conversation(reply)));
  return all > frame_ ? all - frame_ : 0;
}

namespace {

std::vector<std::filesystem::path> hub_caches() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  std::vector<std::filesystem::path> out;
  if (const std::string hub = variable("HF_HUB_CACHE"); !hub.empty()) out.emplace_back(hub);
  if (const std::string home = variable("HF_HOME"); !home.empty()) {
    out.push_back(std::filesystem::path(home) / "hub");
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    out.push_back(std::filesystem::path(home) / ".cache/huggingface/hub");
  }
  return out;
}

}  // namespace

Result<std::filesystem::path> find_tokenizer(std::string_view name) {
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return std::filesystem::path(name);
  std::string folder = "models--";
  for (const char c : name) folder += c == '/' ? "--" : std::string(1, c);
  for (const std::filesystem::path& cache : hub_caches()) {
    const auto revision = read_file(cache / folder / "refs/main", 256);
    if (!revision) continue;
    const auto snapshot = cache / folder / "snapshots" / trim(*revision);
    if (std::filesystem::is_directory(snapshot, ignored)) return snapshot;
  }
  return Error{Code::not_found,
               format("no tokenizer '{}': neither a folder or file, nor in the Hugging Face cache\n"
                      "  name the folder that holds its tokenizer.json and tokenizer_config.json",
                      name)};
}

}  // namespace assay::text
