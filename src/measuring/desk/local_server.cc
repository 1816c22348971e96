#include "desk/local_server.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "protocol/endpoint_capture.h"

namespace assay::desk {
namespace {

constexpr std::array<std::uint16_t, 4> kUsualPorts{8080, 11434, 1234, 8000};
constexpr Duration kPatience = 2_s;
constexpr std::size_t kModelsMax = 1000;

// The page's JSON; null where there is none.
Json page(const std::string& url, const Clock& clock) {
  protocol::ProbeQuestion question;
  question.url = url;
  question.timeout = kPatience;
  auto reader = protocol::PageReader::open(question, clock);
  if (!reader) return {};
  const auto reply = reader->read();
  if (!reply || reply->status != 200) return {};
  auto json = Json::parse(reply->body);
  return json ? *std::move(json) : Json();
}

}  // namespace

std::span<const std::uint16_t> usual_ports() { return kUsualPorts; }

std::optional<LocalServer> server_of(const std::string& url, const ServerAnswers& answers) {
  if (!answers.models["data"].is_array()) return std::nullopt;
  LocalServer out{.kind = "OpenAI-compatible", .url = url};
  if (answers.props["default_generation_settings"].is_object()) {
    out.kind = "llama.cpp";
    out.version = std::string(answers.props["build_info"].as_string());
  } else if (answers.version["version"].is_string()) {
    out.kind = "Ollama";
    out.version = std::string(answers.version["version"].as_string());
  } else if (answers.lm_studio["data"].is_array()) {
    out.kind = "LM Studio";
    for (const Json& model : answers.lm_studio["data"].items()) {
      const std::string_view id = model["id"].as_string();
      if (model["state"].as_string() == "loaded" && !id.empty()) out.models.emplace_back(id);
    }
  }
  for (const Json& model : answers.models["data"].items()) {
    const std::string_view id = model["id"].as_string();
    if (id.empty() || out.models.size() == kModelsMax) continue;
    if (std::ranges::find(out.models, id) == out.models.end()) out.models.emplace_back(id);
  }
  return out;
}

std::vector<LocalServer> find_local_servers(std::span<const std::uint16_t> ports,
                                            const Clock& clock) {
  std::vector<LocalServer> out;
  for (const std::uint16_t port : ports) {
    const std::string url = format("http://127.0.0.1:{}", port);
    ServerAnswers answers{.models = page(url + "/v1/models", clock)};
    if (!answers.models["data"].is_array()) continue;
    answers.props = page(url + "/props", clock);
    if (answers.props.is_null()) answers.version = page(url + "/api/version", clock);
    if (answers.version.is_null()) answers.lm_studio = page(url + "/api/v0/models", clock);
    if (auto server = server_of(url, answers)) out.push_back(*std::move(server));
  }
  return out;
}

}  // namespace assay::desk
