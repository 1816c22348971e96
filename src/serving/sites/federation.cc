#include "sites/federation.h"

#include "base/enum_name.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/signature.h"
#include "sites/release.h"

namespace assay::sites {
namespace {

Error refused(std::string message) { return {Code::refused, std::move(message)}; }
Error no_such(std::string_view what, std::string_view id) {
  return {Code::not_found, format("there is no {} '{}'", what, id)};
}

Result<void> need_role(const Actor& actor, Role role) {
  if (actor.role == role) return {};
  return refused(format("only a {} does this", to_string(role)));
}

template <typename Things>
Result<void> need_new(const Things& things, const std::string& id) {
  if (!things.contains(id)) return {};
  return refused(format("'{}' exists already", id));
}

// One side of an association: what the actor owns of it.
enum class Side : std::uint8_t { none, benchmark, subject };

Result<Side> side_of(const Federation& state, const Actor& actor, const Act& act) {
  const auto benchmark = state.benchmarks.find(act.benchmark);
  if (benchmark == state.benchmarks.end()) return no_such("benchmark", act.benchmark);
  std::string_view owner;
  Role role = Role::data_owner;
  if (!act.dataset.empty()) {
    const auto found = state.datasets.find(act.dataset);
    if (found == state.datasets.end()) return no_such("dataset", act.dataset);
    owner = found->second.owner;
  } else {
    const auto found = state.models.find(act.model);
    if (found == state.models.end()) return no_such("model", act.model);
    owner = found->second.owner;
    role = Role::model_owner;
  }
  if (actor.role == Role::benchmark_owner && actor.organisation == benchmark->second.owner) {
    return Side::benchmark;
  }
  if (actor.role == role && actor.organisation == owner) return Side::subject;
  return Side::none;
}

Result<void> associate(Federation& state, const Actor& actor, const Act& act) {
  ASSIGN_OR_RETURN(const Side side, side_of(state, actor, act));
  if (side == Side::none) return refused("only an owner of one of the two asks for an association");
  const std::string id = association_id(act);
  const auto found = state.associations.find(id);
  if (found != state.associations.end() && found->second.approval != Approval::rejected) {
    return refused(format("the association is {} already", to_string(found->second.approval)));
  }
  state.associations[id] = {.benchmark = act.benchmark,
                            .dataset = act.dataset,
                            .model = act.model,
                            .asked_by = actor,
                            .approval = Approval::pending};
  return {};
}

Result<void> decide(Federation& state, const Actor& actor, const Act& act) {
  ASSIGN_OR_RETURN(const Side side, side_of(state, actor, act));
  if (side == Side::none) return refused("only an owner of one of the two decides");
  const auto found = state.associations.find(association_id(act));
  if (found == state.associations.end()) return no_such("association", association_id(act));
  Association& one = found->second;
  if (act.kind == ActKind::reject) {
    if (one.approval == Approval::rejected) return refused("the association is rejected already");
    one.approval = Approval::rejected;
    return {};
  }
  if (one.approval != Approval::pending) {
    return refused(format("the association is {}, not pending", to_string(one.approval)));
  }
  // Both have sides here, so the same role means the same side.
  if (actor.role == one.asked_by.role) {
    return refused("the party that asked does not approve; the other side does");
  }
  one.approval = Approval::approved;
  return {};
}

bool approved(const Federation& state, const Act& pair) {
  const auto found = state.associations.find(association_id(pair));
  return found != state.associations.end() && found->second.approval == Approval::approved;
}

Result<void> need_approvals(const Federation& state, const std::string& benchmark,
                            const std::string& dataset, const std::string& model) {
  if (!approved(state, {.benchmark = benchmark, .dataset = dataset})) {
    return refused(format("dataset '{}' is not approved for '{}'", dataset, benchmark));
  }
  if (!approved(state, {.benchmark = benchmark, .model = model})) {
    return refused(format("model '{}' is not approved for '{}'", model, benchmark));
  }
  return {};
}

Result<void> order(Federation& state, const Actor& actor, const Act& act) {
  TRY(need_role(actor, Role::benchmark_owner));
  const auto benchmark = state.benchmarks.find(act.benchmark);
  if (benchmark == state.benchmarks.end()) return no_such("benchmark", act.benchmark);
  if (benchmark->second.owner != actor.organisation) return refused("another owns the benchmark");
  TRY(need_new(state.runs, act.id));
  TRY(need_approvals(state, act.benchmark, act.dataset, act.model));
  state.runs[act.id] = {.benchmark = act.benchmark, .dataset = act.dataset, .model = act.model};
  return {};
}

Result<void> check_release(const Federation& state, const Run& run, const Act& act) {
  ASSIGN_OR_RETURN(const ReleaseDocument document, parse_release(act.document));
  const Dataset& dataset = state.datasets.at(run.dataset);
  if (document.run != act.id || document.benchmark != run.benchmark ||
      document.dataset_sha256 != dataset.sha256 || document.model != run.model) {
    return invalid("document: is not of this run");
  }
  ASSIGN_OR_RETURN(const bool right,
                   verify_ed25519(act.document, act.signature, dataset.public_key));
  if (!right) return invalid("signature: is not of this document by the dataset's key");
  return {};
}

Result<void> move_run(Federation& state, const Actor& actor, const Act& act) {
  TRY(need_role(actor, Role::data_owner));
  const auto found = state.runs.find(act.id);
  // A run of another owner's data is none to this one.
  if (found == state.runs.end() ||
      state.datasets.at(found->second.dataset).owner != actor.organisation) {
    return no_such("run", act.id);
  }
  Run& run = found->second;
  ASSIGN_OR_RETURN(const RunState next, next_state(run.state, act.kind));
  // An approval may have been taken back since the order.
  if (act.kind == ActKind::take) TRY(need_approvals(state, run.benchmark, run.dataset, run.model));
  if (act.kind == ActKind::release) TRY(check_release(state, run, act));
  run.state = next;
  run.reason = act.reason;
  run.document = act.document;
  run.signature = act.signature;
  return {};
}

// An id under which another site prepares data is taken.
Result<void> need_own_preparation(const Federation& state, const Actor& actor,
                                  const std::string& id) {
  const auto found = state.preparations.find(id);
  if (found == state.preparations.end() || found->second.owner == actor.organisation) return {};
  return refused(format("another prepares '{}'", id));
}

Result<void> prepare(Federation& state, const Actor& actor, const Act& act) {
  TRY(need_role(actor, Role::data_owner));
  const auto dataset = state.datasets.find(act.id);
  if (dataset != state.datasets.end() && dataset->second.owner != actor.organisation) {
    return refused("another owns the dataset");
  }
  TRY(need_own_preparation(state, actor, act.id));
  state.preparations[act.id] = {.owner = actor.organisation, .steps = act.steps};
  return {};
}

Result<void> add(Federation& state, const Actor& actor, const Act& act) {
  if (act.kind == ActKind::add_benchmark) {
    TRY(need_role(actor, Role::benchmark_owner));
    TRY(need_new(state.benchmarks, act.id));
    state.benchmarks[act.id] = {actor.organisation, act.description, act.measurement};
    return {};
  }
  if (act.kind == ActKind::add_model) {
    TRY(need_role(actor, Role::model_owner));
    TRY(need_new(state.models, act.id));
    state.models[act.id] = {actor.organisation, act.description};
    return {};
  }
  TRY(need_role(actor, Role::data_owner));
  TRY(need_new(state.datasets, act.id));
  TRY(need_own_preparation(state, actor, act.id));
  ASSIGN_OR_RETURN(std::string key, normal_public_key(act.public_key));
  state.datasets[act.id] = {actor.organisation, act.description, act.sha256, act.rows,
                            std::move(key)};
  return {};
}

Result<void> apply_new(Federation& state, const Actor& actor, const Act& act) {
  switch (act.kind) {
    case ActKind::add_benchmark:
    case ActKind::add_dataset:
    case ActKind::add_model:
      return add(state, actor, act);
    case ActKind::prepare:
      return prepare(state, actor, act);
    case ActKind::associate:
      return associate(state, actor, act);
    case ActKind::approve:
    case ActKind::reject:
      return decide(state, actor, act);
    case ActKind::order:
      return order(state, actor, act);
    case ActKind::take:
    case ActKind::refuse:
    case ActKind::fail:
    case ActKind::hold:
    case ActKind::review:
    case ActKind::release:
    case ActKind::withhold:
      return move_run(state, actor, act);
  }
  return {};
}

bool owns(const Federation& state, const Actor& reader, const std::string& benchmark,
          const std::string& dataset, const std::string& model) {
  switch (reader.role) {
    case Role::benchmark_owner:
      return state.benchmarks.at(benchmark).owner == reader.organisation;
    case Role::data_owner:
      return !dataset.empty() && state.datasets.at(dataset).owner == reader.organisation;
    case Role::model_owner:
      return !model.empty() && state.models.at(model).owner == reader.organisation;
  }
  return false;
}

Json association_json(const Association& one) {
  Json out = Json::object();
  out.set("benchmark", one.benchmark);
  out.set(one.dataset.empty() ? "model" : "dataset", one.dataset.empty() ? one.model : one.dataset);
  return out.set("asked_by", one.asked_by.organisation)
      .set("asked_as", to_string(one.asked_by.role))
      .set("approval", to_string(one.approval));
}

Json run_json(const Federation& state, const std::string& id, const Run& run) {
  Json out = Json::object();
  out.set("id", id)
      .set("benchmark", run.benchmark)
      .set("dataset", run.dataset)
      .set("model", run.model)
      .set("site", state.datasets.at(run.dataset).owner)
      .set("state", to_string(run.state));
  if (!run.reason.empty()) out.set("reason", run.reason);
  if (!run.document.empty()) out.set("document", run.document).set("signature", run.signature);
  return out;
}

}  // namespace

std::string_view to_string(Approval approval) { return enum_name(approval); }

std::string_view to_string(RunState state) { return enum_name(state); }

Result<RunState> next_state(RunState now, ActKind act) {
  if (now == RunState::ordered && act == ActKind::take) return RunState::taken;
  if (now == RunState::ordered && act == ActKind::refuse) return RunState::refused;
  if (now == RunState::taken && act == ActKind::fail) return RunState::failed;
  if (now == RunState::taken && act == ActKind::hold) return RunState::held;
  const bool at_site = now == RunState::held || now == RunState::reviewed;
  if (now == RunState::held && act == ActKind::review) return RunState::reviewed;
  if (now == RunState::reviewed && act == ActKind::release) return RunState::released;
  if (at_site && act == ActKind::withhold) return RunState::withheld;
  return refused(format("the run is {}: {} is not possible now", to_string(now), to_string(act)));
}

std::string association_id(const Act& act) {
  return format("{}/{}/{}", act.benchmark, act.dataset.empty() ? "model" : "dataset",
                act.dataset.empty() ? act.model : act.dataset);
}

Result<Effect> apply(Federation& state, const Actor& actor, const Act& act) {
  const std::string digest = sha256_hex(
      format("{}\n{}\n{}", to_string(actor.role), actor.organisation, to_json(act).dump()));
  const auto known = state.keys.find(act.key);
  if (known != state.keys.end()) {
    if (known->second == digest) return Effect::repeated;
    return refused(format("another act has the key '{}'", act.key));
  }
  TRY(apply_new(state, actor, act));
  state.keys[act.key] = digest;
  return Effect::done;
}

Json to_json(const Federation& state, const Actor* reader) {
  Json benchmarks = Json::array();
  for (const auto& [id, one] : state.benchmarks) {
    benchmarks.push_back(Json::object()
                             .set("id", id)
                             .set("owner", one.owner)
                             .set("description", one.description)
                             .set("measurement", to_json(one.measurement)));
  }
  Json datasets = Json::array();
  for (const auto& [id, one] : state.datasets) {
    datasets.push_back(Json::object()
                           .set("id", id)
                           .set("owner", one.owner)
                           .set("description", one.description)
                           .set("sha256", one.sha256)
                           .set("rows", one.rows)
                           .set("public_key", one.public_key));
  }
  Json preparations = Json::array();
  for (const auto& [id, one] : state.preparations) {
    preparations.push_back(
        Json::object().set("id", id).set("owner", one.owner).set("steps", to_json(one.steps)));
  }
  Json models = Json::array();
  for (const auto& [id, one] : state.models) {
    models.push_back(
        Json::object().set("id", id).set("owner", one.owner).set("description", one.description));
  }
  Json associations = Json::array();
  for (const auto& [id, one] : state.associations) {
    if (reader == nullptr || owns(state, *reader, one.benchmark, one.dataset, one.model)) {
      associations.push_back(association_json(one));
    }
  }
  Json runs = Json::array();
  for (const auto& [id, run] : state.runs) {
    if (reader == nullptr || owns(state, *reader, run.benchmark, run.dataset, run.model)) {
      runs.push_back(run_json(state, id, run));
    }
  }
  return Json::object()
      .set("benchmarks", std::move(benchmarks))
      .set("datasets", std::move(datasets))
      .set("preparations", std::move(preparations))
      .set("models", std::move(models))
      .set("associations", std::move(associations))
      .set("runs", std::move(runs));
}

}  // namespace assay::sites
