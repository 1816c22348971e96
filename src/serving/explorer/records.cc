#include "explorer/records.h"

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "dataset/croissant_fact.h"
#include "dataset/datasheet.h"

namespace assay::explorer {
namespace {

std::string text_of(const Json& value) {
  if (value.is_string()) return clean_name(value.as_string());
  if (value.is_integer()) return format("{}", value.as_int());
  return {};
}

// The first of the keys with a text.
std::string first_text(const Json& json, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    std::string text = text_of(json[key]);
    if (!text.empty()) return text;
  }
  return {};
}

std::int64_t count_of(const Json& value) {
  if (value.is_integer()) return value.as_int();
  return parse_int(trim(value.as_string())).value_or(0);
}

Json node_type(const Json& node, std::vector<std::string>& accelerators, std::int64_t& count) {
  const Json& first = node["accelerator_info"].is_array() ? node["accelerator_info"][0] : node;
  const std::string accelerator = first_text(first, {"accelerator_model_name"});
  const std::int64_t nodes = std::max<std::int64_t>(1, count_of(node["number_of_nodes"]));
  std::int64_t per_node = 0;
  if (node["accelerator_info"].is_array()) {
    for (const Json& one : node["accelerator_info"].items()) {
      per_node += count_of(one["accelerators_per_node"]);
    }
  } else {
    per_node = count_of(node["accelerators_per_node"]);
  }
  if (!accelerator.empty() && std::ranges::find(accelerators, accelerator) == accelerators.end()) {
    accelerators.push_back(accelerator);
  }
  count += nodes * per_node;
  return Json()
      .set("nodes", nodes)
      .set("accelerator", accelerator)
      .set("accelerators_per_node", per_node)
      .set("accelerator_memory", trim(first_text(first, {"accelerator_memory_capacity"}) + " " +
                                      first_text(first, {"accelerator_memory_type"})))
      .set("interconnect", first_text(first, {"accelerator_interconnect"}))
      .set("host", first_text(node, {"host_processor_model_name"}))
      .set("host_memory", first_text(node, {"host_memory_capacity"}))
      .set("network", first_text(node, {"host_networking", "host_network_card_count"}))
      .set("operating_system", first_text(node, {"operating_system"}))
      .set("driver", first_text(node, {"driver"}))
      .set("backend", first_text(node, {"inference_backend"}))
      .set("container", first_text(node, {"container_link"}))
      .set("role", first_text(node, {"role", "node_role"}));
}

std::string parallel_text(const Json& description) {
  std::string out;
  for (const auto& [name, key] :
       {std::pair{"TP", "tensor_parallel"}, std::pair{"PP", "pipeline_parallel"},
        std::pair{"EP", "expert_parallel"}, std::pair{"DP", "data_parallel"}}) {
    const std::int64_t ways = count_of(description[key]);
    if (ways > 0) out += format("{}{} {}", out.empty() ? "" : ", ", name, ways);
  }
  return out;
}

void set_text(Json& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out.set(key, value);
}

void set_number(Json& out, std::string_view key, double value) {
  if (value > 0) out.set(key, value);
}

void set_power(Json& out, double kilowatts, const std::string& basis) {
  set_number(out, "power_kw", kilowatts);
  if (kilowatts > 0) set_text(out, "power_basis", basis);
}

// Fields that System and Curve share.
void set_system_facts(Json& out, const SystemFacts& facts) {
  set_text(out, "organisation", facts.organisation);
  out.set("kind", facts.kind);
  set_text(out, "division", facts.division);
  set_text(out, "availability", facts.availability);
  set_text(out, "accelerator", facts.accelerator);
  if (facts.accelerators > 0) out.set("accelerators", facts.accelerators);
  if (facts.nodes > 0) out.set("nodes", facts.nodes);
  set_text(out, "software", facts.software);
  set_power(out, facts.power_kw, facts.power_basis);
  set_number(out, "price_per_hour", facts.price_per_hour);
}

store::SystemRecord make_system(const SystemFacts& facts) {
  // The description distinguishes systems with the same name; a per-point figure in it must not.
  Json description = facts.description;
  description.erase("tps_utilization");
  store::SystemRecord out{
      .id = id_of({"system", facts.kind, facts.organisation, facts.name, facts.accelerator,
                   format("{}", facts.accelerators), facts.software}),
      .name = facts.name};
  Json document;
  document.set("id", out.id).set("name", facts.name);
  set_text(document, "short_name", facts.short_name);
  set_system_facts(document, facts);
  set_text(document, "availability_url", facts.availability_url);
  document.set("disaggregated", facts.disaggregated);
  set_text(document, "parallel", facts.parallel);
  if (facts.node_types.size() > 0) document.set("node_types", facts.node_types);
  if (description.size() > 0) document.set("description", std::move(description));
  out.document = document.dump();
  return out;
}

// Failed if any failed; passed if one passed and none failed.
std::string verdict_of(const Json& accuracy) {
  std::string out = "unknown";
  for (const Json& one : accuracy.items()) {
    if (!one["passed"].is_bool()) continue;
    if (!one["passed"].as_bool()) return "failed";
    out = "passed";
  }
  return out;
}

store::PointRecord make_point(const std::string& curve, const PointFacts& facts) {
  store::PointRecord out{.id = id_of({"point", curve, facts.key}),
                         .concurrency = facts.concurrency};
  out.accuracy = verdict_of(facts.accuracy);
  out.findings = static_cast<std::int64_t>(std::ranges::count_if(
      facts.findings.items(),
      [](const Json& finding) { return finding["severity"].as_string() != "info"; }));
  Json point;
  point.set("id", out.id).set("concurrency", facts.concurrency);
  for (const auto& [key, value] : facts.point.members()) {
    if (key != "concurrency") point.set(key, value);
  }
  set_text(point, "region", facts.region);
  set_text(point, "offline", facts.offline);
  point.set("accuracy", out.accuracy);
  set_power(point, facts.power_kw, facts.power_basis);
  if (facts.safety.is_object()) point.set("safety", facts.safety);
  point.set("findings", out.findings);
  if (facts.run["started"].is_string()) point.set("started", facts.run["started"]);
  if (facts.point["system_tps"].is_number()) out.system_tps = facts.point["system_tps"].as_double();
  out.document = point.dump();
  Json run = facts.run;
  run.set("accuracy", facts.accuracy.is_array() ? facts.accuracy : Json::array());
  if (facts.findings.is_array()) run.set("findings", facts.findings);
  if (!facts.datasheets.empty()) {
    Json sheets = Json::array();
    for (const store::DatasheetRecord& one : facts.datasheets) {
      sheets.push_back(Json().set("id", one.id).set("name", one.name));
    }
    run.set("datasheets", std::move(sheets));
  }
  out.run = run.dump();
  out.source = facts.source;
  out.datasheets = facts.datasheets;
  return out;
}

const rulebook::AccuracyGate* gate_for(const rulebook::Benchmark* benchmark,
                                       std::string_view metric) {
  if (benchmark == nullptr) return nullptr;
  // A score without a name is that of the benchmark's only metric.
  if (metric == "score" && benchmark->gates.size() == 1) return &benchmark->gates.front();
  for (const rulebook::AccuracyGate& gate : benchmark->gates) {
    if (lower(gate.metric) == lower(metric)) return &gate;
  }
  return nullptr;
}

void add_score(Json& out, const Json& entry, std::string_view name, std::string_view metric,
               double value, const rulebook::Benchmark* benchmark) {
  Json one;
  one.set("dataset", clean_name(name)).set("metric", clean_name(metric)).set("score", value);
  const rulebook::AccuracyGate* gate = gate_for(benchmark, metric);
  if (gate != nullptr) {
    // A fraction, while the gate is in percent.
    const double score = gate->lower > 1 && value >= 0 && value <= 1 ? value * 100 : value;
    one.set("gate", gate->lower);
    one.set("passed", score >= gate->lower && (!gate->upper || score <= *gate->upper));
  } else {
    one.set("passed", nullptr);
  }
  const Json& samples =
      entry["unit_samples"].is_null() ? entry["num_samples"] : entry["unit_samples"];
  const Json& repeats = entry["num_repeats"].is_null() ? entry["n_repeats"] : entry["num_repeats"];
  one.set("samples", samples.as_int()).set("repeats", repeats.as_int(1));
  out.push_back(std::move(one));
}

}  // namespace

std::string id_of(std::initializer_list<std::string_view> parts) {
  std::string text;
  // Includes lengths, so that different lists of parts never give the same text.
  for (const std::string_view part : parts) text += format("{}:", part.size()) + std::string(part);
  return sha256_hex(text).substr(0, 16);
}

std::string clean_name(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (const char c : text.substr(0, bytes_max)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  // A character may have been cut, or the bytes may not be text at all.
  while (!out.empty() && !valid_utf8(out) && text.size() > bytes_max &&
         out.size() + 4 > bytes_max) {
    out.pop_back();
  }
  if (!valid_utf8(out)) {
    for (char& c : out) {
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
  }
  return std::string(trim(out));
}

std::string model_name(std::string_view text) {
  static const auto edition = rulebook::edition_named("v1.0");
  const std::string name = clean_name(text);
  return edition ? edition->name_of(name) : name;
}

SystemFacts facts_of_description(const Json& description) {
  SystemFacts out;
  out.name = first_text(description, {"system_name"});
  out.short_name = first_text(description, {"shortened_system_name"});
  out.organisation = first_text(description, {"submitter", "organisation", "organization"});
  out.division = first_text(description, {"division"});
  out.availability = first_text(description, {"system_availability_status", "publication_status",
                                              "availability_status", "status"});
  out.availability_url = first_text(description, {"availability_url"});
  out.software = first_text(description, {"serving_framework", "framework", "sw_stack"});
  const Json& disaggregated = description["disaggregated"];
  out.disaggregated =
      disaggregated.is_bool() ? disaggregated.as_bool() : count_of(disaggregated) > 1;
  out.parallel = parallel_text(description);
  std::vector<std::string> accelerators;
  out.node_types = Json::array();
  if (description["node_types"].is_array()) {
    for (const Json& node : description["node_types"].items()) {
      out.node_types.push_back(node_type(node, accelerators, out.accelerators));
      out.nodes += std::max<std::int64_t>(1, count_of(node["number_of_nodes"]));
    }
  } else if (!first_text(description, {"accelerator_model_name"}).empty()) {
    // The flat form of v0.7.
    out.node_types.push_back(node_type(description, accelerators, out.accelerators));
    out.nodes = std::max<std::int64_t>(1, count_of(description["number_of_nodes"]));
  }
  for (const std::string& name : accelerators) {
    out.accelerator += (out.accelerator.empty() ? "" : " + ") + name;
  }
  out.price_per_hour = std::max(0.0, description["price_per_hour"].as_double());
  if (description["max_supported_concurrency"].is_integer()) {
    out.concurrency_max = description["max_supported_concurrency"].as_int();
  }
  out.description = description;
  return out;
}

store::DatasheetRecord make_datasheet(const Json& described) {
  const Json croissant = dataset::without_rows(described);
  Json sheet = dataset::datasheet_of(croissant);
  store::DatasheetRecord out{.id = id_of({"datasheet", croissant.dump()}),
                             .name = clean_name(sheet["name"].as_string("unnamed dataset"))};
  Json document = Json().set("id", out.id).set("name", out.name);
  for (const auto& [key, value] : sheet.members()) {
    if (key != "name") document.set(key, value);
  }
  out.document = document.dump();
  return out;
}

std::vector<store::DatasheetRecord> datasheets_of(const Json& facts) {
  std::vector<store::DatasheetRecord> out;
  for (const Json& one : facts[dataset::kCroissantFact].items()) {
    if (one["document"].is_object()) out.push_back(make_datasheet(one["document"]));
  }
  return out;
}

store::CurveRecord make_curve(const CurveFacts& facts, const std::vector<PointFacts>& points) {
  store::CurveRecord out{.system = make_system(facts.system)};
  out.id =
      id_of({"curve", out.system.id, facts.model, facts.dataset, facts.submission, facts.curve_id});
  out.model = facts.model;
  out.dataset = facts.dataset;
  out.organisation = facts.system.organisation;
  out.accelerator = facts.system.accelerator;
  out.software = facts.system.software;
  out.division = facts.system.division;
  out.availability = facts.system.availability;
  out.kind = facts.system.kind;
  out.submission = facts.submission;
  Json document;
  document.set("id", out.id).set("system", out.system.id).set("system_name", facts.system.name);
  document.set("model", facts.model).set("dataset", facts.dataset);
  set_system_facts(document, facts.system);
  set_text(document, "origin", facts.origin);
  set_text(document, "layout", facts.layout);
  set_text(document, "submission", facts.submission);
  set_text(document, "cohort", facts.cohort);
  set_text(document, "published", facts.published);
  set_text(document, "precision", facts.precision);
  set_text(document, "curve_id", facts.curve_id);
  set_text(document, "twin_of", facts.twin_of);
  if (facts.system.concurrency_max) document.set("concurrency_max", *facts.system.concurrency_max);
  if (facts.agentic) document.set("agentic", true);
  set_text(document, "path", facts.path);
  out.document = document.dump();
  for (const PointFacts& point : points) out.points.push_back(make_point(out.id, point));
  return out;
}

Json judge_accuracy(const Json& results, std::string_view model, const rulebook::Edition& edition) {
  const rulebook::Benchmark* benchmark = edition.benchmark(model);
  Json out = Json::array();
  const Json& scores = results["accuracy_scores"].is_null() ? results : results["accuracy_scores"];
  const auto add = [&](std::string_view name, const Json& entry) {
    if (entry["dataset_type"].as_string() == "performance") return;
    const Json& score = entry["score"];
    if (score.is_number()) add_score(out, entry, name, "score", score.as_double(), benchmark);
    for (const auto& [metric, value] : score.members()) {
      if (value.is_number()) add_score(out, entry, name, metric, value.as_double(), benchmark);
    }
  };
  for (const Json& entry : scores.items()) add(entry["dataset_name"].as_string(), entry);
  for (const auto& [name, entry] : scores.members()) {
    if (entry.is_object()) add(name, entry);
  }
  return out;
}

}  // namespace assay::explorer
