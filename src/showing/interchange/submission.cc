#include "interchange/submission.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "rulebook/edition.h"

namespace assay::interchange {
namespace {

constexpr double kNs = 1e-9;

// The warm-up's part of the summary: its duration and number of queries.
Json warmup_block(const PackedPoint& point) {
  double seconds = 0;
  std::int64_t issued = 0;
  std::int64_t completed = 0;
  for (const Json& phase : point.summary["assay"]["phases"].items()) {
    if (phase["kind"].as_string() != "warmup") continue;
    const double from = phase["started_ns"].as_double();
    const double to = phase["drained_ns"].as_double(phase["issue_ended_ns"].as_double(from));
    seconds += std::max(0.0, to - from) * kNs;
    issued += phase["counts"]["issued"].as_int();
    completed += phase["counts"]["completed"].as_int();
  }
  const bool any = issued > 0;
  return Json()
      .set("duration_s", seconds)
      .set("requests_issued", issued)
      .set("requests_completed", completed)
      .set("data_source", any ? Json(point.warmup_source) : Json("none"))
      .set("concurrency", any ? point.concurrency : std::int64_t{0})
      .set("initialization_steps", Json::array())
      .set("logs_retained", true)
      .set("link_logs", any ? Json(format("docs/warmup/{}.jsonl", point.name)) : Json(""));
}

Json runtime_block(const PackedCurve& curve, const PackedPoint& point) {
  Json seeds;
  for (const char* key : {"scheduler_rng_seed", "sample_index_rng_seed", "model_seed"}) {
    seeds.set(key, curve.seeds[key]);
  }
  Json out;
  out.set("load_pattern", point.offline == "dedicated" ? "max_throughput" : "concurrency")
      .set("min_duration_ms", static_cast<std::int64_t>(std::llround(point.min_duration_s * 1000)))
      .set("min_sample_count", point.min_samples)
      .set("stream_all_chunks", curve.stream_all_chunks)
      .set("runtime", std::move(seeds))
      .set("warmup", Json().set("salt", point.summary["run_config"]["warmup"]["salt"].as_bool()));
  return out;
}

// Fields of point.yaml; the others are only in our own summary.
Json steady_block(const Json& steady) {
  Json out;
  for (const char* key : {"status", "verdict", "window", "state", "anomaly"}) {
    if (const Json* const value = steady.find(key)) out.set(key, *value);
  }
  return out;
}

std::size_t written(const Json& value) { return value.dump().size(); }

}  // namespace

Json merged(Json under, const Json& over) {
  if (over.is_null()) return under;
  if (under.is_object() && over.is_object()) {
    for (const auto& [key, value] : over.members()) {
      const Json* const old = under.find(key);
      under.set(key, old == nullptr ? value : merged(*old, value));
    }
    return under;
  }
  if (under.is_array() && over.is_array()) {
    Json out = Json::array();
    for (std::size_t i = 0; i < std::max(under.size(), over.size()); ++i) {
      if (i >= over.size()) break;  // the answer is a shorter list
      out.push_back(i < under.size() && over[i].is_object() ? merged(under[i], over[i]) : over[i]);
    }
    return out;
  }
  return over;
}

Json point_yaml(const PackedCurve& curve, const PackedPoint& point, const Json& answers) {
  Json out;
  out.set("concurrency", point.concurrency)
      .set("region", point.region)
      .set("dataset", curve.dataset)
      .set("runtime_settings", runtime_block(curve, point))
      .set("warmup", warmup_block(point))
      .set("division",
           answers["system"]["division"].is_null() ? Json("") : answers["system"]["division"])
      .set("max_supported_concurrency", curve.c_max)
      .set("model_name", curve.model)
      .set("model_precision", curve.precision)
      .set("link_to_model", "")
      .set("dataset_name", curve.dataset)
      .set("dataset_type", point.accuracy.is_null() ? "Performance" : "Accuracy + Performance")
      .set("dataset_link", "")
      .set("offline", point.offline);
  if (point.summary["steady_state"].is_object()) {
    out.set("steady_state", steady_block(point.summary["steady_state"]));
  }
  out.set("shared_src", "src/" + curve.implementation)
      .set("shared_docs", "docs")
      .set("seed_set", curve.seeds["seed_set"])
      .set("target_cohort", curve.seeds["target_cohort"]);
  out = merged(std::move(out), answers["point"]);
  return merged(std::move(out), answers["points"][point.name]);
}

namespace {

// "vLLM 0.11.0"; "" when unknown.
std::string framework_text(const Json& captured) {
  std::string out(captured["framework"].as_string());
  const std::string_view version = captured["version"].as_string();
  if (!version.empty()) out += (out.empty() ? "version " : " ") + std::string(version);
  return out;
}

// The endpoint's own description: its layout, and the evidence unchanged.
void add_captured(const Json& captured, Json& out) {
  if (!captured.is_object()) return;
  for (const char* key :
       {"tensor_parallel", "pipeline_parallel", "expert_parallel", "data_parallel"}) {
    if (const Json* const value = captured["settings"].find(key)) out.set(key, *value);
  }
  Json evidence = Json::object();
  for (const char* key : {"captured_at", "server", "framework", "version", "models", "settings"}) {
    if (const Json* const value = captured.find(key)) evidence.set(key, *value);
  }
  out.set("endpoint_capture", std::move(evidence));
}

}  // namespace

Json system_description(const PackedCurve& curve, const Json& node, const Json& answers,
                        std::optional<double> utilization) {
  Json nodes = Json::array();
  if (node.is_object()) {
    Json one = node;
    // Fields that the rules require and the kernel does not give.
    for (const char* key :
         {"host_processor_model_name", "host_memory_capacity", "host_memory_configuration",
          "host_network_card_count", "driver", "filesystem", "operating_system"}) {
      if (one.find(key) == nullptr) one.set(key, "");
    }
    if (one.find("accelerator_info") == nullptr) one.set("accelerator_info", Json::array());
    nodes.push_back(std::move(one));
  }
  Json out;
  out.set("division", "")
      .set("system_name", "")
      .set("system_availability_status", "")
      .set("availability_url", "")
      .set("system_size", "")
      .set("system_node_ensemble_count", 1)
      .set("system_node_ensemble_total", 1)
      .set("max_supported_concurrency", curve.c_max)
      .set("endpoint_url", curve.endpoint)
      .set("serving_framework", framework_text(curve.captured))
      .set("node_types", std::move(nodes));
  add_captured(curve.captured, out);
  out = merged(std::move(out), answers["system"]);
  if (out.find("shortened_system_name") == nullptr) {
    // A short enough name is its own short form; for a longer one a person chooses.
    const std::string name(out["system_name"].as_string());
    out.set("shortened_system_name",
            character_count(name) <= rulebook::kShortSystemNameMax ? name : "");
  }
  if (utilization) out.set("tps_utilization", *utilization);
  return out;
}

Json packed_summary(const PackedPoint& point, std::optional<double> point_kw) {
  Json out = point.summary;
  const double tps = out["system_tps"].as_double(out["tps"].as_double());
  if (point_kw && *point_kw > 0 && tps > 0) out.set("system_tps_per_kw", tps / *point_kw);
  return out;
}

Json cut_responses(Json accuracy, std::size_t bytes_max) {
  const Json* const responses = accuracy.find("responses");
  if (responses == nullptr || written(*responses) <= bytes_max) return accuracy;
  std::size_t bytes = 2;
  if (responses->is_array()) {
    Json kept = Json::array();
    for (const Json& one : responses->items()) {
      bytes += written(one) + 1;
      if (bytes > bytes_max) break;
      kept.push_back(one);
    }
    accuracy.set("responses", std::move(kept));
  } else if (responses->is_object()) {
    Json kept = Json::object();
    for (const auto& [key, value] : responses->members()) {
      bytes += written(Json(key)) + written(value) + 2;
      if (bytes > bytes_max) break;
      kept.set(key, value);
    }
    accuracy.set("responses", std::move(kept));
  }
  return accuracy;
}

std::string folder_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_';
    out += plain ? c : '_';
  }
  while (!out.empty() && out.front() == '.') out.erase(out.begin());
  return out.empty() ? "system" : out;
}

void WarmupLog::on_phase(const PhaseMark& mark) {
  if (!began_.known()) began_ = mark.at;
}

void WarmupLog::on_done(const Event& event, std::string_view detail) {
  if (event.query.phase >= info_.phases.size() ||
      info_.phases[event.query.phase].kind != PhaseKind::warmup) {
    return;
  }
  const auto seconds = [this](Instant at) {
    return at.known() && began_.known() ? Json((at - began_).seconds()) : Json();
  };
  const auto uuid = query_uuid(info_.run_key, event.query.phase, event.query.index);
  Json line;
  line.set("request", std::string_view(uuid.data(), uuid.size()))
      .set("prompt", event.query.sample)
      .set("sent_s", seconds(event.sent))
      .set("first_token_s", seconds(event.first_token))
      .set("done_s", seconds(event.done))
      .set("outcome", to_string(event.outcome))
      .set("output_tokens", event.usage.completion_tokens);
  if (!detail.empty()) line.set("detail", detail);
  lines_ += line.dump() + "\n";
}

}  // namespace assay::interchange
