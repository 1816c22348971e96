#include "rulebook/inference.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/format.h"

namespace assay::rulebook {
namespace {

constexpr std::array<std::string_view, 10> kLanguageModels{"llama2-70b-99",
                                                           "llama2-70b-99.9",
                                                           "llama2-70b-interactive-99",
                                                           "llama2-70b-interactive-99.9",
                                                           "mixtral-8x7b",
                                                           "llama3.1-405b",
                                                           "llama3.1-8b",
                                                           "llama3.1-8b-edge",
                                                           "deepseek-r1",
                                                           "gpt-oss-120b"};

std::vector<std::string> texts_of(const Json& json) {
  std::vector<std::string> out;
  for (const Json& one : json.items()) out.emplace_back(one.as_string());
  return out;
}

std::optional<std::int64_t> number_of(const Json& json) {
  if (!json.is_number()) return std::nullopt;
  return json.as_int();
}

// A member by scenario, or the value itself where it is for all of them.
const Json& of_scenario(const Json& json, std::string_view scenario) {
  const auto& members = json.members();
  if (!members.empty() && members.front().second.is_object()) return json[scenario];
  return json;
}

MetricBounds bounds_of(const Json& json) {
  MetricBounds out;
  for (const auto& [metric, bound] : json.members()) out.emplace_back(metric, bound.as_double());
  return out;
}

InferenceModel model_of(const std::string& name, const Json& facts) {
  InferenceModel out{.name = name,
                     .performance_samples = facts["performance_samples"].as_int(),
                     .offline_samples_min = facts["offline_samples_min"].as_int(),
                     .tests = texts_of(facts["tests"]),
                     .facts = facts};
  for (const std::string kind : {"datacenter", "edge", "datacenter-edge"}) {
    out.required[kind] = texts_of(facts["required_" + kind]);
    out.optional[kind] = texts_of(facts["optional_" + kind]);
  }
  for (const auto& [folder, names] : facts["accuracy_files"].members()) {
    out.accuracy_files[folder] = texts_of(names);
  }
  return out;
}

const Json& rounds() {
  static const Json kRounds = [] {
    auto parsed = Json::parse(inference_rounds_json());
    CHECK(parsed.has_value());
    return std::move(*parsed);
  }();
  return kRounds;
}

}  // namespace

MetricBounds InferenceModel::at_least(std::string_view scenario) const {
  return bounds_of(of_scenario(facts["at_least"], scenario));
}

MetricBounds InferenceModel::at_most(std::string_view scenario) const {
  return bounds_of(of_scenario(facts["at_most"], scenario));
}

std::int64_t InferenceModel::accuracy_samples(std::string_view scenario) const {
  const Json& own = facts["accuracy_samples"];
  if (own.is_object()) return own[scenario].as_int();
  return own.is_null() ? facts["rows"].as_int() : own.as_int();
}

std::optional<std::int64_t> InferenceModel::latency_ns(std::string_view scenario) const {
  return number_of(facts["latency_ns"][scenario]);
}

std::optional<std::int64_t> InferenceModel::queries_min(std::string_view scenario) const {
  return number_of(facts["queries_min"][scenario]);
}

std::optional<InferenceModel::TokenLimits> InferenceModel::token_limits(
    std::string_view scenario) const {
  const Json& limits = facts["tokens_ns"][scenario];
  if (!limits.is_object()) return std::nullopt;
  return TokenLimits{limits["ttft"].as_int(), limits["tpot"].as_int()};
}

bool InferenceModel::language_model() const {
  return std::ranges::find(kLanguageModels, name) != kLanguageModels.end();
}

std::string InferenceModel::metric_key(std::string_view scenario) const {
  const Json& own = facts["metric_keys"][scenario];
  if (own.is_string()) return std::string(own.as_string());
  if (scenario == "Offline") return "result_samples_per_second";
  if (scenario == "SingleStream") return "early_stopping_latency_ss";
  if (scenario == "MultiStream") return "early_stopping_latency_ms";
  return "result_completed_samples_per_sec";
}

double InferenceModel::accuracy_delta_percent(std::string_view metric) const {
  const Json& own = facts["accuracy_delta_percent"][metric];
  if (own.is_number()) return own.as_double();
  return name.find("99.9") == std::string::npos ? 1 : 0.1;
}

const InferenceModel* InferenceRound::model(std::string_view folder, const Json& own) const {
  const auto official = [&](std::string_view wanted) -> const InferenceModel* {
    const auto found = std::ranges::find(models, wanted, &InferenceModel::name);
    return found == models.end() ? nullptr : &*found;
  };
  if (const auto* const found = official(folder)) return found;
  if (const auto other = names.find(folder); other != names.end()) return official(other->second);
  if (own[folder].is_string()) return official(own[folder].as_string());
  // What the checker guesses from a part of the name.
  const auto has = [&](std::string_view part) {
    return folder.find(part) != std::string_view::npos;
  };
  if (has("mobilenet") || has("efficientnet") || has("resnet50")) return official("resnet");
  for (const std::string_view one : {"bert-99.9", "bert-99"}) {
    if (has(one)) return official(one);
  }
  return has("llama3_1-405b") ? official("llama3.1-405b") : nullptr;
}

std::vector<std::string> inference_round_names() {
  std::vector<std::string> out;
  for (const auto& [name, facts] : rounds().members()) out.push_back(name);
  return out;
}

Result<InferenceRound> inference_round(std::string_view name) {
  const Json* const facts = rounds().find(name);
  if (facts == nullptr) {
    std::string known;
    for (const std::string& one : inference_round_names()) {
      known += (known.empty() ? "" : ", ") + one;
    }
    return invalid(
        format("\"{}\" is not a round of MLPerf Inference here; known: {}", name, known));
  }
  const Json& seeds = (*facts)["seeds"];
  InferenceRound out{.name = std::string(name),
                     .qsl_rng_seed = seeds["qsl_rng_seed"].as_uint(),
                     .sample_index_rng_seed = seeds["sample_index_rng_seed"].as_uint(),
                     .schedule_rng_seed = seeds["schedule_rng_seed"].as_uint()};
  for (const auto& [model, values] : (*facts)["models"].members()) {
    out.models.push_back(model_of(model, values));
  }
  for (const auto& [other, official] : (*facts)["names"].members()) {
    out.names.emplace(other, official.as_string());
  }
  return out;
}

}  // namespace assay::rulebook
