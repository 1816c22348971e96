#include "desk/client_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/format.h"
#include "base/json.h"
#include "base/text.h"

namespace assay::desk {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kScenariosMax = 100;
constexpr std::size_t kPromptsMax = 1000;
constexpr std::int64_t kIterationsMax = 1000;
constexpr double kDelayMax = 5;

constexpr std::array<std::string_view, 2> kTopKeys{"SystemConfig", "Scenarios"};
constexpr std::array<std::string_view, 14> kScenarioKeys{
    "Name",           "Comment",
    "Models",         "InputFilePath",
    "AssetsPath",     "ResultsVerificationFile",
    "DataPath",       "DataVerificationFile",
    "Iterations",     "WarmUp",
    "Delay",          "IsAgentic",
    "ToolsExecution", "ExecutionProviders"};
constexpr std::array<std::string_view, 12> kProviders{
    "NativeOpenVINO", "OrtGenAI", "OrtGenAI-RyzenAI", "llama-cpp", "Vulkan",   "CUDA", "Metal",
    "NativeQNN",      "MLX",      "WindowsML",        "ROCm",      "Diffusers"};
constexpr std::array<std::string_view, 2> kImageScenarios{"txt2img", "flux2klein"};

class ConfigWalk {
 public:
  Result<ClientConfig> read(const Json& json) {
    if (!json.is_object()) return invalid("the file is not an object");
    known_keys(json, kTopKeys, "");
    ClientConfig out;
    out.comment = std::string(json["SystemConfig"]["Comment"].as_string());
    const Json* const list = json.find("Scenarios");
    if (list == nullptr || !list->is_array() || list->size() == 0) {
      problem("Scenarios", "must be a list with at least one scenario");
    } else if (list->size() > kScenariosMax) {
      problem("Scenarios", format("at most {} are read", kScenariosMax));
    } else {
      for (std::size_t i = 0; i < list->size(); ++i) {
        out.scenarios.push_back(scenario((*list)[i], format("Scenarios[{}]", i)));
      }
    }
    if (!problems_.empty()) return Error{code_, problems_};
    return out;
  }

 private:
  void problem(std::string_view place, std::string_view what) {
    if (!problems_.empty()) problems_ += '\n';
    problems_ += format("{}: {}", place, what);
  }

  void known_keys(const Json& json, std::span<const std::string_view> known,
                  std::string_view place) {
    for (const auto& [key, value] : json.members()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      const std::string_view close = nearest(key, known);
      problem(format("{}{}{}", place, place.empty() ? "" : ".", key),
              close.empty()
                  ? std::string("is not a key of an MLPerf Client config")
                  : format("is not a key of an MLPerf Client config\n  did you mean {}?", close));
    }
  }

  ClientScenario scenario(const Json& json, const std::string& at) {
    ClientScenario out;
    if (!json.is_object()) {
      problem(at, "must be an object");
      return out;
    }
    known_keys(json, kScenarioKeys, at);
    out.name = std::string(json["Name"].as_string());
    if (out.name.empty()) problem(at + ".Name", "must be a text");
    if (std::ranges::find(kImageScenarios, lower(out.name)) != kImageScenarios.end()) {
      code_ = Code::unsupported;
      problem(at + ".Name",
              format("\"{}\" makes images, which this command does not measure\n  `assay run "
                     "--api-type images` measures an endpoint that makes images",
                     out.name));
    }
    models(json["Models"], at, out);
    prompts(json["InputFilePath"], at + ".InputFilePath", out);
    out.iterations = whole(json, "Iterations", 1, at).value_or(0);
    if (json.find("Iterations") == nullptr) problem(at + ".Iterations", "is missing");
    if (const auto count = whole(json, "WarmUp", 0, at)) out.warmups = *count;
    delay(json, at, out);
    flag(json, "IsAgentic", at, out.agentic);
    flag(json, "ToolsExecution", at, out.tools);
    providers(json["ExecutionProviders"], at + ".ExecutionProviders", out);
    return out;
  }

  void models(const Json& json, const std::string& at, ClientScenario& out) {
    if (!json.is_array() || json.size() == 0) {
      problem(at + ".Models", "must be a list with at least one model");
      return;
    }
    out.model = std::string(json[0]["ModelName"].as_string());
    out.model_file = std::string(json[0]["FilePath"].as_string());
    if (out.model.empty()) problem(at + ".Models[0].ModelName", "must be a text");
  }

  void prompt_list(const Json& json, std::string_view group, const std::string& at,
                   ClientScenario& out) {
    if (!json.is_array()) {
      problem(at, "must be a list of prompt files");
      return;
    }
    for (std::size_t i = 0; i < json.size(); ++i) {
      const std::string_view location = json[i].as_string();
      if (location.empty()) problem(format("{}[{}]", at, i), "must be a text");
      if (out.prompts.size() == kPromptsMax) {
        problem(at, format("at most {} prompt files are read", kPromptsMax));
        return;
      }
      out.prompts.push_back({std::string(group), std::string(location)});
    }
  }

  // A list is the group base; else each member is a group.
  void prompts(const Json& json, const std::string& at, ClientScenario& out) {
    if (json.is_object()) {
      for (const auto& [group, list] : json.members()) {
        prompt_list(list, group, at + "." + group, out);
      }
    } else {
      prompt_list(json, "base", at, out);
    }
    if (json.size() == 0) problem(at, "names no prompt file");
  }

  std::optional<std::uint32_t> whole(const Json& json, std::string_view key, std::int64_t least,
                                     const std::string& at) {
    const Json* const found = json.find(key);
    if (found == nullptr) return std::nullopt;
    const std::int64_t value = found->as_int(-1);
    if (!found->is_integer() || value < least || value > kIterationsMax) {
      problem(format("{}.{}", at, key),
              format("must be a whole number from {} to {}", least, kIterationsMax));
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(value);
  }

  void delay(const Json& json, const std::string& at, ClientScenario& out) {
    const Json* const found = json.find("Delay");
    if (found == nullptr) return;
    const double seconds = found->as_double(-1);
    if (!found->is_number() || !(seconds >= 0 && seconds <= kDelayMax)) {
      problem(at + ".Delay", format("must be a number of seconds from 0 to {}", kDelayMax));
      return;
    }
    out.delay = Duration{static_cast<std::int64_t>(seconds * 1e9)};
  }

  void flag(const Json& json, std::string_view key, const std::string& at, bool& out) {
    const Json* const found = json.find(key);
    if (found == nullptr) return;
    if (!found->is_bool()) problem(format("{}.{}", at, key), "must be true or false");
    out = found->as_bool(out);
  }

  void providers(const Json& json, const std::string& at, ClientScenario& out) {
    if (!json.is_array()) {
      problem(at, "must be a list");
      return;
    }
    for (std::size_t i = 0; i < json.size(); ++i) {
      const std::string name(json[i]["Name"].as_string());
      if (std::ranges::find(kProviders, name) == kProviders.end()) {
        problem(format("{}[{}].Name", at, i),
                format("\"{}\" is not an execution provider of MLPerf Client", name));
      }
      out.providers.push_back(name);
    }
  }

  std::string problems_{};
  Code code_ = Code::invalid;
};

}  // namespace

Result<ClientConfig> parse_client_config(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  ASSIGN_OR_RETURN(const Json json, Json::parse(text));
  return ConfigWalk().read(json);
}

}  // namespace assay::desk
