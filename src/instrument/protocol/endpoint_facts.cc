// Reads the replies for endpoint_capture.h.
#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "protocol/endpoint_capture.h"

namespace assay::protocol {
namespace {

constexpr std::size_t kModelsMax = 64;
constexpr std::size_t kNamesMax = 512;
constexpr std::size_t kTextMax = 256;

// One short line: a foreign server's text goes into our files.
std::string short_text(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kTextMax)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  while (!valid_utf8(out)) out.pop_back();
  return out;
}

Json parsed(const CapturedReply& reply) {
  return reply.status == 200 ? Json::parse(reply.body).value_or(Json()) : Json();
}

Json models_of(const Json& page) {
  Json out = Json::array();
  for (const Json& model : page["data"].items()) {
    if (out.size() == kModelsMax) break;
    if (!model["id"].is_string()) continue;
    Json one;
    one.set("id", short_text(model["id"].as_string()));
    if (model["owned_by"].is_string())
      one.set("owned_by", short_text(model["owned_by"].as_string()));
    for (const char* key : {"max_model_len", "context_length"}) {
      if (model[key].is_number()) one.set("max_model_len", model[key].as_int());
    }
    out.push_back(std::move(one));
  }
  return out;
}

// The names of a Prometheus page's series, without their labels.
std::set<std::string> names_of(std::string_view page) {
  std::set<std::string> out;
  for (const std::string_view line : split(page, '\n')) {
    const std::string_view name = line.substr(0, line.find_first_of("{ \t\r"));
    const bool plain = std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == ':';
    });
    // A comment's first word is "#", which is not plain.
    const bool fits = !name.empty() && name.size() <= kTextMax && out.size() < kNamesMax;
    if (fits && plain) out.emplace(name);
  }
  return out;
}

struct Framework {
  std::string_view name{};
  std::string_view owner{};   // owned_by in /v1/models
  std::string_view prefix{};  // of its metrics
};
// `assay`'s metrics have vLLM's names, so owners are checked first.
constexpr std::array<Framework, 7> kFrameworks{{{"Assay", "assay", ""},
                                                {"vLLM", "vllm", "vllm:"},
                                                {"SGLang", "sglang", "sglang:"},
                                                {"TensorRT-LLM", "tensorrt_llm", "trtllm_"},
                                                {"TGI", "", "tgi_"},
                                                {"llama.cpp", "llamacpp", "llamacpp:"},
                                                {"LMDeploy", "lmdeploy", "lmdeploy:"}}};

std::string framework_of(const Json& models, const std::set<std::string>& names) {
  for (const Framework& one : kFrameworks) {
    if (one.owner.empty()) continue;
    for (const Json& model : models.items()) {
      if (model["owned_by"].as_string() == one.owner) return std::string(one.name);
    }
  }
  for (const Framework& one : kFrameworks) {
    if (one.prefix.empty()) continue;
    const auto at = names.lower_bound(std::string(one.prefix));
    if (at != names.end() && at->starts_with(one.prefix)) return std::string(one.name);
  }
  return {};
}

struct Setting {
  std::string_view theirs{};
  std::string_view ours{};  // the key in system_desc.json
};
constexpr std::array<Setting, 8> kSettings{{{"tp_size", "tensor_parallel"},
                                            {"pp_size", "pipeline_parallel"},
                                            {"ep_size", "expert_parallel"},
                                            {"dp_size", "data_parallel"},
                                            {"quantization", "quantization"},
                                            {"kv_cache_dtype", "kv_cache_dtype"},
                                            {"context_length", "context_length"},
                                            {"speculative_algorithm", "speculative_algorithm"}}};

Json settings_of(const Json& info) {
  Json out = Json::object();
  for (const Setting& setting : kSettings) {
    const Json* value = info.find(setting.theirs);
    if (value == nullptr) value = info["server_args"].find(setting.theirs);
    if (value == nullptr) continue;
    if (value->is_number()) out.set(setting.ours, value->as_int());
    if (value->is_string()) out.set(setting.ours, short_text(value->as_string()));
  }
  return out;
}

std::string first_known(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    if (!text.empty()) return short_text(text);
  }
  return {};
}

}  // namespace

Json endpoint_facts(const EndpointReplies& replies) {
  Json out = Json::object();
  if (!replies.trouble.empty()) return out.set("trouble", short_text(replies.trouble));
  const Json models = models_of(parsed(replies.models));
  const Json version = parsed(replies.version);
  const Json info = parsed(replies.server_info);
  const std::set<std::string> names =
      names_of(replies.metrics.status == 200 ? std::string_view(replies.metrics.body) : "");
  const std::string framework = framework_of(models, names);
  const std::string number =
      first_known({version["version"].as_string(), info["version"].as_string()});
  if (!framework.empty()) out.set("framework", framework);
  if (!number.empty()) out.set("version", number);
  const std::string server = first_known({replies.models.server, replies.metrics.server,
                                          replies.version.server, replies.server_info.server});
  if (!server.empty()) out.set("server", server);
  out.set("models", models);
  if (Json settings = settings_of(info); settings.size() > 0) out.set("settings", settings);
  if (!names.empty()) {
    Json list = Json::array();
    for (const std::string& name : names) list.push_back(name);
    out.set("metrics", std::move(list));
  }
  return out.set("status", Json()
                               .set("/v1/models", replies.models.status)
                               .set("/version", replies.version.status)
                               .set("/get_server_info", replies.server_info.status)
                               .set("/metrics", replies.metrics.status));
}

}  // namespace assay::protocol
