#include "record/run_info_json.h"

#include <utility>

#include "base/enum_name.h"
#include "base/format.h"

namespace assay::record {
namespace {

// 64-bit keys and wall instants are written as numbers: base/json keeps them exactly, and Python
// does too.
Json phase_json(const PhaseInfo& phase) {
  Json json = Json::object();
  json.set("name", phase.name);
  json.set("kind", to_string(phase.kind));
  json.set("open_loop", phase.open_loop);
  return json;
}

Result<PhaseInfo> phase_from(const Json& json) {
  const auto kind = enum_named<PhaseKind>(json["kind"].as_string());
  if (!kind) {
    return Error{Code::corrupt, format("phases: no kind '{}'", json["kind"].as_string())};
  }
  return PhaseInfo{.kind = *kind,
                   .name = std::string(json["name"].as_string()),
                   .open_loop = json["open_loop"].as_bool()};
}

}  // namespace

Json to_json(const RunInfo& info) {
  Json json = Json::object();
  json.set("version", info.version);
  json.set("git_sha", info.git_sha);
  json.set("run_id", info.run_id);
  json.set("plan_digest", info.plan_digest);
  json.set("run_key", info.run_key);
  json.set("clock", info.simulated ? "simulated" : "monotonic");
  if (info.uncertainty) json.set("uncertainty", true);
  json.set("started", rfc3339(info.started));
  json.set("started_ns", info.started.ns);
  json.set("wall_minus_monotonic_ns", info.offset.wall_minus_monotonic.ns);
  json.set("wall_error_ns", info.offset.error.ns);
  json.set("shard_index", info.shard_index);
  json.set("shard_count", info.shard_count);
  Json phases = Json::array();
  for (const PhaseInfo& phase : info.phases) phases.push_back(phase_json(phase));
  json.set("phases", std::move(phases));
  json.set("facts", info.facts);
  if (!info.command.is_null()) json.set("command", info.command);
  return json;
}

Result<RunInfo> run_info_from(const Json& json) {
  if (!json.is_object() || json.find("run_id") == nullptr) {
    return Error{Code::corrupt, "says nothing of its run (no run_id)"};
  }
  RunInfo info{};
  info.version = json["version"].as_string();
  info.git_sha = json["git_sha"].as_string();
  info.run_id = json["run_id"].as_string();
  info.plan_digest = json["plan_digest"].as_string();
  info.run_key = json["run_key"].as_uint();
  info.simulated = json["clock"].as_string() == "simulated";
  info.uncertainty = json["uncertainty"].as_bool();
  info.started.ns = json["started_ns"].as_int();
  info.offset.wall_minus_monotonic.ns = json["wall_minus_monotonic_ns"].as_int();
  info.offset.error.ns = json["wall_error_ns"].as_int();
  info.shard_index = static_cast<std::uint32_t>(json["shard_index"].as_uint());
  info.shard_count = static_cast<std::uint32_t>(json["shard_count"].as_uint(1));
  for (const Json& phase : json["phases"].items()) {
    ASSIGN_OR_RETURN(PhaseInfo one, phase_from(phase));
    info.phases.push_back(std::move(one));
  }
  info.facts = json["facts"];
  info.command = json["command"];
  return info;
}

Json to_json(const RunEnd& end) {
  Json json = Json::object();
  json.set("state", to_string(end.state));
  json.set("reason", end.reason);
  if (end.out_of_space) json.set("out_of_space", true);
  return json;
}

Result<RunEnd> run_end_from(const Json& json) {
  const auto state = enum_named<RunState>(json["state"].as_string());
  if (!state) return Error{Code::corrupt, format("no state '{}'", json["state"].as_string())};
  return RunEnd{*state, std::string(json["reason"].as_string()), json["out_of_space"].as_bool()};
}

}  // namespace assay::record
