#include "sites/act.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"

namespace assay::sites {
namespace {

constexpr std::array kRoles{Role::benchmark_owner, Role::data_owner, Role::model_owner};
constexpr std::array kKinds{ActKind::add_benchmark, ActKind::add_dataset, ActKind::add_model,
                            ActKind::prepare,       ActKind::associate,   ActKind::approve,
                            ActKind::reject,        ActKind::order,       ActKind::take,
                            ActKind::refuse,        ActKind::fail,        ActKind::hold,
                            ActKind::review,        ActKind::release,     ActKind::withhold};
constexpr std::array<std::string_view, 4> kReasons{"policy", "data", "endpoint", "stopped"};

constexpr std::size_t kDescriptionMax = 2000;
constexpr std::size_t kKeyMax = 2000;
constexpr std::size_t kLevelsMax = 32;
constexpr std::size_t kFieldsMax = 64;
constexpr std::int64_t kConcurrencyMax = 65536;
constexpr std::int64_t kSamplesMax = 10'000'000;
constexpr std::int64_t kTokensMax = 1'000'000;
constexpr std::size_t kStepsMax = 256;
constexpr std::int64_t kInstancesMax = std::int64_t{1} << 40;
constexpr std::array<std::string_view, 5> kGrades{"poor", "fair", "good", "very-good", "excellent"};
// The counts of a step, by their names.
constexpr std::array<std::pair<std::string_view, std::int64_t StepCounts::*>, 6> kCounts{
    {{"total", &StepCounts::total},
     {"done", &StepCounts::done},
     {"running", &StepCounts::running},
     {"waiting", &StepCounts::waiting},
     {"failed", &StepCounts::failed},
     {"skipped", &StepCounts::skipped}}};

std::span<const std::string_view> fields_of(ActKind kind) {
  static constexpr std::array<std::string_view, 3> kBenchmark{"id", "description", "measurement"};
  static constexpr std::array<std::string_view, 5> kDataset{"id", "description", "sha256", "rows",
                                                            "public_key"};
  static constexpr std::array<std::string_view, 2> kModel{"id", "description"};
  static constexpr std::array<std::string_view, 3> kPair{"benchmark", "dataset", "model"};
  static constexpr std::array<std::string_view, 4> kOrder{"id", "benchmark", "dataset", "model"};
  static constexpr std::array<std::string_view, 1> kRun{"id"};
  static constexpr std::array<std::string_view, 2> kReason{"id", "reason"};
  static constexpr std::array<std::string_view, 3> kRelease{"id", "document", "signature"};
  static constexpr std::array<std::string_view, 2> kPrepare{"id", "steps"};
  switch (kind) {
    case ActKind::add_benchmark:
      return kBenchmark;
    case ActKind::add_dataset:
      return kDataset;
    case ActKind::add_model:
      return kModel;
    case ActKind::prepare:
      return kPrepare;
    case ActKind::associate:
    case ActKind::approve:
    case ActKind::reject:
      return kPair;
    case ActKind::order:
      return kOrder;
    case ActKind::refuse:
    case ActKind::fail:
      return kReason;
    case ActKind::release:
      return kRelease;
    case ActKind::take:
    case ActKind::hold:
    case ActKind::review:
    case ActKind::withhold:
      return kRun;
  }
  return {};
}

bool is_hex(std::string_view text, std::size_t size) {
  return text.size() == size && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<void> check_keys(const Json& json, std::span<const std::string_view> known) {
  if (!json.is_object()) return invalid(format("{}, not an object", json.type_name()));
  for (const auto& [name, value] : json.members()) {
    if (name == "kind" || name == "key" || std::ranges::find(known, name) != known.end()) continue;
    return invalid(format("{}: is not a field of this act", json_quote(name)));
  }
  return {};
}

Result<std::string> text_of(const Json& json, std::string_view name, std::size_t most) {
  const Json* value = json.find(name);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return invalid(format("{}: not a text", name));
  const std::string_view text = value->as_string();
  if (text.size() > most) return invalid(format("{}: more than {} bytes", name, most));
  if (!valid_utf8(text)) return invalid(format("{}: not UTF-8", name));
  return std::string(text);
}

Result<std::string> id_of(const Json& json, std::string_view name) {
  ASSIGN_OR_RETURN(std::string id, text_of(json, name, 64));
  if (!is_plain_id(id)) {
    return invalid(format("{}: 1 to 64 letters, digits, '-', '_' and single '.'", name));
  }
  return id;
}

Result<std::int64_t> count_of(const Json& json, std::string_view name, std::int64_t most) {
  const Json& value = json[name];
  if (!value.is_integer() || value.as_int(-1) < 1 || value.as_int() > most) {
    return invalid(format("{}: a whole number from 1 to {}", name, most));
  }
  return value.as_int();
}

// One of dataset and model, beside the benchmark.
Result<void> read_pair(const Json& json, Act& act) {
  ASSIGN_OR_RETURN(act.benchmark, id_of(json, "benchmark"));
  const bool dataset = json.find("dataset") != nullptr;
  if (dataset == (json.find("model") != nullptr)) {
    return invalid("either a dataset or a model is associated with a benchmark");
  }
  ASSIGN_OR_RETURN((dataset ? act.dataset : act.model), id_of(json, dataset ? "dataset" : "model"));
  return {};
}

Result<void> read_dataset(const Json& json, Act& act) {
  ASSIGN_OR_RETURN(act.sha256, text_of(json, "sha256", 64));
  if (!is_hex(act.sha256, 64)) return invalid("sha256: not 64 hexadecimal digits");
  ASSIGN_OR_RETURN(act.rows, count_of(json, "rows", std::int64_t{1} << 40));
  ASSIGN_OR_RETURN(act.public_key, text_of(json, "public_key", kKeyMax));
  if (act.public_key.empty()) return invalid("public_key: is missing");
  return {};
}

Result<void> read_fields(const Json& json, Act& act) {
  switch (act.kind) {
    case ActKind::associate:
    case ActKind::approve:
    case ActKind::reject:
      return read_pair(json, act);
    case ActKind::add_benchmark: {
      auto read = parse_measurement(json["measurement"]);
      if (!read) return read.error().within("measurement");
      act.measurement = std::move(*read);
      return {};
    }
    case ActKind::add_dataset:
      return read_dataset(json, act);
    case ActKind::prepare: {
      ASSIGN_OR_RETURN(act.steps, parse_steps(json["steps"]));
      return {};
    }
    case ActKind::order: {
      ASSIGN_OR_RETURN(act.benchmark, id_of(json, "benchmark"));
      ASSIGN_OR_RETURN(act.dataset, id_of(json, "dataset"));
      ASSIGN_OR_RETURN(act.model, id_of(json, "model"));
      return {};
    }
    case ActKind::refuse:
    case ActKind::fail: {
      ASSIGN_OR_RETURN(act.reason, text_of(json, "reason", 64));
      if (!is_reason(act.reason)) return invalid("reason: policy, data, endpoint or stopped");
      return {};
    }
    case ActKind::release: {
      ASSIGN_OR_RETURN(act.document, text_of(json, "document", kDocumentBytesMax));
      ASSIGN_OR_RETURN(act.signature, text_of(json, "signature", 128));
      if (!is_hex(act.signature, 128)) return invalid("signature: not 128 hexadecimal digits");
      return {};
    }
    case ActKind::add_model:
    case ActKind::take:
    case ActKind::hold:
    case ActKind::review:
    case ActKind::withhold:
      return {};
  }
  return {};
}

// What a benchmark asks beside speed at a few levels.
Result<void> read_gates(const Json& json, Measurement& out) {
  if (const Json* curve = json.find("curve")) {
    if (!curve->is_bool()) return invalid("curve: true or false");
    out.curve = curve->as_bool();
  }
  if (const Json* least = json.find("accuracy_min")) {
    const double share = least->as_double(-1);
    if (!least->is_number() || !(share > 0 && share <= 1) || out.scorer.empty()) {
      return invalid("accuracy_min: a share above 0 and up to 1, beside a scorer");
    }
    out.accuracy_min = share;
  }
  if (const Json* grade = json.find("safety_min")) {
    out.safety_min = grade->as_string();
    if (std::ranges::find(kGrades, out.safety_min) == kGrades.end()) {
      return invalid("safety_min: poor, fair, good, very-good or excellent");
    }
  }
  return {};
}

bool has_id(ActKind kind) {
  return kind != ActKind::associate && kind != ActKind::approve && kind != ActKind::reject;
}

}  // namespace

std::string_view to_string(Role role) { return enum_name(role); }

Result<Role> role_named(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kRoles, [name](Role role) { return to_string(role) == name; });
  if (found != kRoles.end()) return *found;
  return invalid(
      format("role {}: one of benchmark_owner, data_owner, model_owner", json_quote(name)));
}

std::string_view to_string(ActKind kind) { return enum_name(kind); }

Result<ActKind> act_kind_named(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kKinds, [name](ActKind kind) { return to_string(kind) == name; });
  if (found != kKinds.end()) return *found;
  return invalid(format("kind {}: is not an act of a hub", json_quote(name)));
}

bool is_reason(std::string_view word) {
  return std::ranges::find(kReasons, word) != kReasons.end();
}

std::span<const std::string_view> safety_grades() { return kGrades; }

Json to_json(const std::vector<StepCounts>& steps) {
  Json out = Json::array();
  for (const StepCounts& step : steps) {
    Json one = Json::object();
    for (const auto& [name, count] : kCounts) one.set(name, step.*count);
    out.push_back(std::move(one));
  }
  return out;
}

Result<std::vector<StepCounts>> parse_steps(const Json& json) {
  if (!json.is_array() || json.size() == 0 || json.size() > kStepsMax) {
    return invalid(format("steps: a list of 1 to {} steps", kStepsMax));
  }
  std::vector<StepCounts> out;
  for (const Json& one : json.items()) {
    StepCounts& step = out.emplace_back();
    if (one.size() != kCounts.size()) return invalid("steps: each has six counts");
    for (const auto& [name, count] : kCounts) {
      const Json& value = one[name];
      if (!value.is_integer() || value.as_int(-1) < 0 || value.as_int() > kInstancesMax) {
        return invalid(format("steps: {}: a whole number from 0 to {}", name, kInstancesMax));
      }
      step.*count = value.as_int();
    }
  }
  return out;
}

Result<Measurement> parse_measurement(const Json& json) {
  static constexpr std::array<std::string_view, 8> kKnown{
      "concurrency", "samples",      "max_output_tokens", "scorer",
      "curve",       "accuracy_min", "safety_min",        "fields"};
  TRY(check_keys(json, kKnown));
  Measurement out;
  const Json& levels = json["concurrency"];
  if (levels.size() == 0 || levels.size() > kLevelsMax) {
    return invalid(format("concurrency: a list of 1 to {} levels", kLevelsMax));
  }
  for (const Json& level : levels.items()) {
    if (!level.is_integer() || level.as_int() < 1 || level.as_int() > kConcurrencyMax) {
      return invalid(format("concurrency: whole numbers from 1 to {}", kConcurrencyMax));
    }
    out.concurrency.push_back(level.as_int());
  }
  ASSIGN_OR_RETURN(out.samples, count_of(json, "samples", kSamplesMax));
  ASSIGN_OR_RETURN(out.max_output_tokens, count_of(json, "max_output_tokens", kTokensMax));
  if (json.find("scorer") != nullptr) {
    ASSIGN_OR_RETURN(out.scorer, id_of(json, "scorer"));
  }
  TRY(read_gates(json, out));
  const Json& fields = json["fields"];
  if (fields.size() == 0 || fields.size() > kFieldsMax) {
    return invalid(format("fields: a list of 1 to {} names", kFieldsMax));
  }
  for (const Json& field : fields.items()) {
    if (!is_plain_id(field.as_string()) || field.as_string().size() > 64) {
      return invalid("fields: names of letters, digits and '_'");
    }
    out.fields.emplace_back(field.as_string());
  }
  return out;
}

Json to_json(const Measurement& measurement) {
  Json out = Json::object();
  out.set("concurrency", json_list(measurement.concurrency))
      .set("samples", measurement.samples)
      .set("max_output_tokens", measurement.max_output_tokens);
  if (measurement.curve) out.set("curve", true);
  if (!measurement.scorer.empty()) out.set("scorer", measurement.scorer);
  if (measurement.accuracy_min) out.set("accuracy_min", *measurement.accuracy_min);
  if (!measurement.safety_min.empty()) out.set("safety_min", measurement.safety_min);
  return out.set("fields", json_list(measurement.fields));
}

Result<Act> parse_act(std::string_view text) {
  if (text.size() > kActBytesMax) return invalid(format("more than {} bytes", kActBytesMax));
  ASSIGN_OR_RETURN(const Json json, Json::parse(text));
  if (!json.is_object()) return invalid("an act is a JSON object");
  Act act;
  ASSIGN_OR_RETURN(act.kind, act_kind_named(json["kind"].as_string()));
  TRY(check_keys(json, fields_of(act.kind)));
  ASSIGN_OR_RETURN(act.key, id_of(json, "key"));
  if (has_id(act.kind)) {
    ASSIGN_OR_RETURN(act.id, id_of(json, "id"));
  }
  ASSIGN_OR_RETURN(act.description, text_of(json, "description", kDescriptionMax));
  TRY(read_fields(json, act));
  return act;
}

Json to_json(const Act& act) {
  Json out = Json::object();
  out.set("kind", to_string(act.kind)).set("key", act.key);
  for (const std::string_view field : fields_of(act.kind)) {
    if (field == "id") out.set(field, act.id);
    if (field == "description") out.set(field, act.description);
    if (field == "measurement") out.set(field, to_json(act.measurement));
    if (field == "sha256") out.set(field, act.sha256);
    if (field == "rows") out.set(field, act.rows);
    if (field == "steps") out.set(field, to_json(act.steps));
    if (field == "public_key") out.set(field, act.public_key);
    if (field == "benchmark") out.set(field, act.benchmark);
    if (field == "dataset" && !act.dataset.empty()) out.set(field, act.dataset);
    if (field == "model" && !act.model.empty()) out.set(field, act.model);
    if (field == "reason") out.set(field, act.reason);
    if (field == "document") out.set(field, act.document);
    if (field == "signature") out.set(field, act.signature);
  }
  return out;
}

}  // namespace assay::sites
