#include "interchange/read/foreign_facts.h"

#include <cmath>
#include <utility>

namespace assay::interchange {
namespace {

std::optional<double> positive(const Json& number) {
  const double value = number.as_double();
  if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
  return value;
}

// "constant" and "gamma" mean the same here; any other pattern with a rate is poisson, the default.
// A burst sends as many requests at once as the concurrency; its rate is not used.
std::string pattern_of(std::string_view said) {
  if (said == "constant" || said == "gamma" || said == "concurrency_burst") {
    return std::string(said);
  }
  return "poisson";
}

// Written as in our own files: a whole number has no fraction.
Json whole_if_whole(const std::optional<double>& number) {
  if (!number) return {};
  const bool whole = std::floor(*number) == *number && *number < 1e15;
  return whole ? Json(static_cast<std::int64_t>(*number)) : Json(*number);
}

void read_aiperf_load(const Json& config, ForeignFacts& out) {
  const Json& load = config["loadgen"];
  out.rate = positive(load["request_rate"]);
  out.concurrency = positive(load["concurrency"]);
  std::string_view pattern =
      load["arrival_pattern"].as_string(load["request_rate_mode"].as_string());
  for (const Json& phase : config["phases"].items()) {
    if (phase["kind"].as_string() == "warmup") continue;
    out.rate = positive(phase["rate"].is_number() ? phase["rate"] : phase["request_rate"]);
    out.concurrency = positive(phase["concurrency"]);
    pattern = phase["type"].as_string(phase["arrival_pattern"].as_string());
  }
  out.pattern = pattern_of(pattern);
  if (out.pattern == "concurrency_burst") out.rate.reset();
  // Without a rate and a concurrency there is one request at a time.
  if (load.is_object() && !out.rate && !out.concurrency) out.concurrency = 1;
}

}  // namespace

std::string foreign_api(std::string_view name) {
  const std::size_t query = name.find('?');
  const std::string_view path = name.substr(0, query);
  if (path == "chat" || path == "openai-chat" || path.ends_with("chat/completions")) {
    return "openai";
  }
  if (path == "completions" || path == "openai" || path == "vllm" ||
      path.ends_with("v1/completions")) {
    return "openai_completions";
  }
  return std::string(name);
}

Result<ForeignFacts> read_aiperf_facts(std::string_view figures) {
  ASSIGN_OR_RETURN(const Json file, Json::parse(figures));
  const Json& config = file["input_config"];
  if (!config.is_object()) return invalid("input_config: missing");
  const Json& endpoint = config["endpoint"];
  const Json& models = endpoint["model_names"];
  const std::string_view model = models.is_array() ? models[0].as_string() : models.as_string();
  ForeignFacts out{.model = std::string(config["models"]["items"][0]["name"].as_string(model))};
  if (endpoint.is_object()) out.api = foreign_api(endpoint["type"].as_string("chat"));
  read_aiperf_load(config, out);
  return out;
}

Json load_pattern_facts(const ForeignFacts& facts) {
  if (!facts.rate && !facts.concurrency) return {};
  const std::string_view open = facts.pattern.empty() ? "poisson" : std::string_view(facts.pattern);
  return Json()
      .set("type", facts.rate ? open : "concurrency")
      .set("target_qps", whole_if_whole(facts.rate))
      .set("target_concurrency", facts.rate ? Json(nullptr) : whole_if_whole(facts.concurrency));
}

void add_facts(RunInfo& info, const ForeignFacts& facts) {
  if (!facts.model.empty()) info.facts.set("model", facts.model);
  if (!facts.api.empty()) info.facts.set("api", facts.api);
  Json pattern = load_pattern_facts(facts);
  if (pattern.is_null()) return;
  info.facts.set("run_config", Json().set("load_pattern", std::move(pattern)));
  for (PhaseInfo& phase : info.phases) {
    if (phase.kind == PhaseKind::performance) phase.open_loop = facts.rate.has_value();
  }
}

}  // namespace assay::interchange
