#include "desk/prompt_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/files.h"
#include "base/format.h"

namespace assay::desk {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";
constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;
constexpr std::size_t kEntriesMax = 10'000;
constexpr std::int64_t kTokensMax = 1'000'000;
constexpr std::array<std::string_view, 4> kRoles{"system", "user", "assistant", "agent"};
constexpr std::array<std::string_view, 6> kFileKeys{"model_config",    "prompts",
                                                    "category",        "apply_chat_template",
                                                    "enable_thinking", "prompt_files"};

std::optional<bool> bool_of(const Json& json, std::string_view key) {
  const Json* const found = json.find(key);
  if (found == nullptr || !found->is_bool()) return std::nullopt;
  return found->as_bool();
}

Result<Sampling> sampling_of(const Json& search) {
  Sampling out;
  const std::string_view method = search["method"].as_string("greedy");
  if (method == "top_k") {
    out.method = SearchMethod::top_k;
  } else if (method == "top_p") {
    out.method = SearchMethod::top_p;
  } else if (method != "greedy") {
    return invalid(
        format("model_config.search.method: \"{}\" is none of greedy, top_k, top_p", method));
  }
  out.stop_on_eos = search["stop_on_eos"].as_bool(true);
  if (out.method == SearchMethod::greedy) return out;  // the other numbers have no effect
  out.temperature = search["temperature"].as_double(1);
  if (!(out.temperature >= 0))
    return invalid("model_config.search.temperature: must be at least 0");
  if (out.method == SearchMethod::top_k) {
    out.top_k = search["top_k"].as_int();
    if (out.top_k < 1) return invalid("model_config.search.top_k: must be at least 1");
  } else {
    out.top_p = search["top_p"].as_double();
    if (!(out.top_p > 0 && out.top_p <= 1)) {
      return invalid("model_config.search.top_p: must be above 0 and at most 1");
    }
  }
  return out;
}

struct EntryRules {
  bool from_files = false;
  bool apply_template = false;
  std::optional<bool> thinking{};
};

Result<std::string> content_of(const Json& value, const EntryRules& rules, const PromptText& read) {
  if (!value.is_string()) return invalid("must be a text");
  if (!rules.from_files) return std::string(value.as_string());
  return read(value.as_string());
}

Result<ClientPrompt> prompt_of(const Json& entry, const EntryRules& rules, const PromptText& read) {
  ClientPrompt out{.messages = Json::array(), .thinking = rules.thinking};
  if (entry.is_string()) {
    if (!rules.apply_template) {
      return Error{
          Code::unsupported,
          "a text without apply_chat_template goes to the model without roles, which a "
          "chat server cannot do\n  set apply_chat_template, or write it as {\"user\": …}"};
    }
    ASSIGN_OR_RETURN(std::string text, content_of(entry, rules, read));
    out.messages.push_back(Json().set("role", "user").set("content", std::move(text)));
    return out;
  }
  if (!entry.is_object()) return invalid("must be a text or an object of roles");
  for (const auto& [key, value] : entry.members()) {
    if (key == "enable_thinking" || std::ranges::find(kRoles, key) != kRoles.end()) continue;
    return invalid(format("\"{}\" is not a role: system, user, assistant, agent", key));
  }
  if (const auto own = bool_of(entry, "enable_thinking")) out.thinking = own;
  for (const std::string_view role : kRoles) {
    const Json* const value = entry.find(role);
    if (value == nullptr) continue;
    auto text = content_of(*value, rules, read);
    if (!text) return text.error().within(role);
    out.recorded = role == "assistant" || role == "agent";
    out.messages.push_back(
        Json().set("role", role == "agent" ? "assistant" : role).set("content", *std::move(text)));
  }
  if (out.messages.size() == 0) return invalid("has no role");
  return out;
}

}  // namespace

Result<PromptFile> parse_prompt_file(std::string_view text, const PromptText& read) {
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  ASSIGN_OR_RETURN(const Json json, Json::parse(text));
  if (!json.is_object()) return invalid("the file is not an object");
  for (const auto& [key, value] : json.members()) {
    if (std::ranges::find(kFileKeys, key) == kFileKeys.end()) {
      return invalid(format("\"{}\" is not a key of an MLPerf Client prompt file", key));
    }
  }
  PromptFile out;
  if (const std::string_view category = json["category"].as_string(); !category.empty()) {
    out.category = std::string(category);
  }
  const Json& search = json["model_config"]["search"];
  if (!search.is_object()) return invalid("model_config.search: must be an object");
  ASSIGN_OR_RETURN(out.sampling, sampling_of(search));
  out.tokens_max = search["max_length"].as_int();
  if (out.tokens_max < 1 || out.tokens_max > kTokensMax) {
    return invalid(
        format("model_config.search.max_length: must be a whole number from 1 to {}", kTokensMax));
  }
  const EntryRules rules{.from_files = json["prompt_files"].as_bool(),
                         .apply_template = json["apply_chat_template"].as_bool(),
                         .thinking = bool_of(json, "enable_thinking")};
  const Json& prompts = json["prompts"];
  if (!prompts.is_array() || prompts.size() == 0 || prompts.size() > kEntriesMax) {
    return invalid(format("prompts: must be a list of 1 to {} prompts", kEntriesMax));
  }
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    auto prompt = prompt_of(prompts[i], rules, read);
    if (!prompt) return prompt.error().within(format("prompts[{}]", i));
    out.prompts.push_back(*std::move(prompt));
  }
  return out;
}

Result<PromptFile> read_prompt_file(const std::filesystem::path& path, std::string name) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, kFileBytesMax));
  // A name stays in the file's folder: what a config names is not trusted with other files.
  const PromptText beside = [&path](std::string_view file) -> Result<std::string> {
    const std::filesystem::path part(file);
    const bool leaves = part.is_absolute() || std::ranges::find(part, "..") != part.end();
    if (file.empty() || leaves) {
      return invalid(format("\"{}\": a prompt's file stands beside the prompt file", file));
    }
    return read_file(path.parent_path() / part, kFileBytesMax);
  };
  auto out = parse_prompt_file(text, beside);
  if (!out) return out.error().within(path.string());
  out->name = std::move(name);
  return out;
}

}  // namespace assay::desk
