#include "site/agent.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/enum_name.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/signature.h"
#include "base/text.h"
#include "net/http_call.h"
#include "site/measure.h"

namespace assay::site {
namespace {

using sites::ActKind;
using sites::RunState;

std::string now_text() { return rfc3339(wall_now()); }

const Json* named(const Json& things, std::string_view id) {
  for (const Json& one : things.items()) {
    if (one["id"].as_string() == id) return &one;
  }
  return nullptr;
}

Result<RunState> state_named(std::string_view word) {
  if (const auto state = enum_named<RunState>(word)) return *state;
  return Error{Code::corrupt, format("the hub has a state {}", json_quote(word))};
}

Result<std::string> digest_of(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string bytes, read_file(file));
  return sha256_hex(bytes);
}

// The counts of a pipeline's steps (pipeline/runner.h), without their names.
Result<std::vector<sites::StepCounts>> counts_of(const Json& progress) {
  Json steps = Json::array();
  for (const Json& step : progress["steps"].items()) {
    Json counts = Json::object();
    for (const char* name : {"total", "done", "running", "waiting", "failed", "skipped"}) {
      counts.set(name, step[name].as_int());
    }
    steps.push_back(std::move(counts));
  }
  return sites::parse_steps(steps);
}

// A lock that a started run inherits: while one that outlived its agent goes on, a second agent
// would disturb it.
Result<net::Fd> lock_site(const Policy& policy) {
  const std::string path = policy.store.string() + ".agent";
  TRY(make_folders(policy.store.parent_path()));
  net::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  if (!fd.open()) return errno_error(format("open '{}'", path));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return errno_error(format("lock '{}'", path));
  return Error{Code::refused,
               "another agent of this site is at work, or a run that one has started"};
}

// A run without its key would fail for good: no order is taken before it is there.
Result<void> check_keys(const Policy& policy) {
  for (const auto& [id, model] : policy.models) {
    if (model.api_key_env.empty()) continue;
    const char* const key = std::getenv(model.api_key_env.c_str());
    if (key != nullptr && *key != '\0') continue;
    return invalid(
        format("models.{}.api_key_env: the environment variable {} is not set\n"
               "  export {}=…",
               id, model.api_key_env, model.api_key_env));
  }
  return {};
}

}  // namespace

Result<HubLink> HubLink::open(const HubAddress& address, const Clock& clock) {
  ASSIGN_OR_RETURN(const std::string token, read_file(address.token_file, 4096));
  if (trim(token).empty()) return invalid(format("'{}' is empty", address.token_file.string()));
  return HubLink(address, clock, std::string(trim(token)));
}

Result<Json> HubLink::ask(const std::string& method, std::string_view path,
                          const std::string& body) const {
  net::HttpCall call{.method = method, .body = body, .ca_file = address_.ca_file};
  ASSIGN_OR_RETURN(call.url, net::parse_url(address_.url));
  if (call.url.path.ends_with('/')) call.url.path.pop_back();
  call.url.path += path;
  call.headers = {{"Authorization", "Bearer " + token_}, {"Accept", "application/json"}};
  if (!body.empty()) call.headers.emplace_back("Content-Type", "application/json");
  const auto reply = net::http_call(call, *clock_);
  if (!reply) return reply.error().within("hub");
  const auto json = Json::parse(reply->body);
  if (reply->status == 200 || reply->status == 201) {
    if (!json) return Error{Code::corrupt, "hub: its reply is not JSON"};
    return *json;
  }
  const std::string words(json ? (*json)["error"]["message"].as_string() : "");
  const Code code = reply->status == 400   ? Code::invalid
                    : reply->status == 404 ? Code::not_found
                    : reply->status >= 500 ? Code::io
                                           : Code::refused;
  return Error{code, format("hub: {}: {}", reply->status, words)};
}

Result<Json> HubLink::federation() const { return ask("GET", "/api/v1/federation", ""); }

Result<void> HubLink::send(const sites::Act& act) const {
  TRY(ask("POST", "/api/v1/acts", sites::to_json(act).dump()));
  return {};
}

Result<Agent> Agent::open(const Policy& policy, Journal& journal, const HubLink& hub,
                          std::filesystem::path program,
                          std::function<void(const std::string&)> say) {
  TRY(check_keys(policy));
  ASSIGN_OR_RETURN(net::Fd lock, lock_site(policy));
  return Agent(policy, journal, hub, std::move(program), std::move(say), std::move(lock));
}

Result<Turn> Agent::turn() {
  Turn turn;
  ASSIGN_OR_RETURN(const Json federation, hub_.federation());
  TRY(report_preparations(federation, turn));
  for (const Json& run : federation["runs"].items()) {
    const std::string id(run["id"].as_string());
    if (!is_plain_id(id)) return Error{Code::corrupt, "the hub has a run whose id is none"};
    ASSIGN_OR_RETURN(const RunState at_hub, state_named(run["state"].as_string()));
    ASSIGN_OR_RETURN(auto local, journal_.run(id));
    if (!local) {
      if (at_hub != RunState::ordered && at_hub != RunState::taken) continue;
      TRY(begin(federation, run, turn));
      ASSIGN_OR_RETURN(local, journal_.run(id));
      if (!local) continue;
    }
    if (local->state == RunState::taken) {
      TRY(work(federation, *local, turn));
      ASSIGN_OR_RETURN(local, journal_.run(id));
    }
    TRY(report(*local, at_hub == RunState::ordered ? RunState::taken : at_hub, turn));
  }
  return turn;
}

// Decides on an order. The hub hears of it first: a journal without the run then says that nothing
// was begun, and the same act is sent again.
Result<void> Agent::begin(const Json& federation, const Json& run, Turn& turn) {
  LocalRun local{.id = std::string(run["id"].as_string()),
                 .benchmark = std::string(run["benchmark"].as_string()),
                 .dataset = std::string(run["dataset"].as_string()),
                 .model = std::string(run["model"].as_string())};
  const Json* benchmark = named(federation["benchmarks"], local.benchmark);
  const Json* dataset = named(federation["datasets"], local.dataset);
  if (benchmark == nullptr || dataset == nullptr) {
    return Error{Code::corrupt,
                 format("hub: run '{}' belongs to nothing that the hub lists", local.id)};
  }
  ASSIGN_OR_RETURN(const sites::Measurement measurement,
                   sites::parse_measurement((*benchmark)["measurement"]));
  const std::string why =
      why_not(policy_, local.benchmark, local.dataset, local.model, measurement);
  if (!why.empty()) {
    say_(format("run {}: refused: {}", local.id, why));
    ++turn.refused;
    if (run["state"].as_string() == "taken") {
      // The policy has changed since: the run is taken, so it fails.
      return hub_.send(
          {.kind = ActKind::fail, .key = "fail-" + local.id, .id = local.id, .reason = "policy"});
    }
    ++turn.sent;
    return hub_.send(
        {.kind = ActKind::refuse, .key = "refuse-" + local.id, .id = local.id, .reason = "policy"});
  }
  if (const auto taken =
          hub_.send({.kind = ActKind::take, .key = "take-" + local.id, .id = local.id});
      !taken) {
    // An approval that was taken back since the order: the run waits, as the hub's state says.
    if (taken.error().code != Code::refused) return taken.error();
    say_(format("run {}: {}", local.id, taken.error().message));
    return {};
  }
  ++turn.sent;
  local.dataset_sha256 = (*dataset)["sha256"].as_string();
  local.wanted = measurement.fields;
  return journal_.take(local, now_text());
}

Result<void> Agent::work(const Json& federation, const LocalRun& run, Turn& turn) {
  const Json* benchmark = named(federation["benchmarks"], run.benchmark);
  if (benchmark == nullptr) return Error{Code::corrupt, "hub: a benchmark is gone"};
  ASSIGN_OR_RETURN(const sites::Measurement measurement,
                   sites::parse_measurement((*benchmark)["measurement"]));
  const auto fail = [&](std::string_view reason, const std::string& why) -> Result<void> {
    say_(format("run {}: failed: {}", run.id, why));
    ++turn.failed;
    return journal_.fail(run.id, reason, now_text());
  };
  // The policy may be another since the run was taken.
  const std::string why = why_not(policy_, run.benchmark, run.dataset, run.model, measurement);
  if (!why.empty()) return fail("policy", why);
  const auto digest = digest_of(policy_.datasets.at(run.dataset).file);
  if (!digest) return fail("data", digest.error().message);
  if (*digest != run.dataset_sha256) {
    return fail("data", "the dataset's file is not the one that was registered");
  }
  say_(format("run {}: measuring", run.id));
  const auto measured = measure(
      policy_,
      {.run = run.id, .dataset = run.dataset, .model = run.model, .measurement = measurement},
      program_);
  // A run that was interrupted is measured again: the order stands.
  if (!measured && measured.error().code == Code::timed_out) return measured.error();
  if (!measured) return fail("endpoint", measured.error().message);
  ++turn.measured;
  TRY(journal_.hold(run.id, *measured, now_text()));
  say_(format("run {}: held here; assay site review {}", run.id, run.id));
  return {};
}

Result<void> Agent::report(const LocalRun& run, RunState at_hub, Turn& turn) {
  for (const sites::Act& act : acts_to_send(run, at_hub)) {
    TRY(hub_.send(act));
    ++turn.sent;
    if (act.kind == ActKind::release) say_(format("run {}: released to the hub", run.id));
  }
  return {};
}

Result<void> Agent::report_preparations(const Json& federation, Turn& turn) {
  for (const auto& [id, data] : policy_.datasets) {
    if (data.preparation.empty()) continue;
    const auto progress = read_json_file(data.preparation / "progress.json");
    if (!progress && progress.error().code == Code::not_found) continue;  // not begun
    if (!progress) return progress.error();
    ASSIGN_OR_RETURN(std::vector<sites::StepCounts> steps, counts_of(*progress));
    const Json now = sites::to_json(steps);
    const Json* const known = named(federation["preparations"], id);
    if (known != nullptr && (*known)["steps"] == now) continue;
    // The same counts may come again later, and are then another act.
    const std::string digest = sha256_hex(format("{} {} {}", id, now_text(), now.dump()));
    TRY(hub_.send({.kind = ActKind::prepare,
                   .key = "prepare-" + digest.substr(0, 40),
                   .id = id,
                   .steps = std::move(steps)}));
    ++turn.sent;
  }
  return {};
}

Result<std::string> site_key(const Policy& policy) {
  auto key = read_file(policy.key, 1U << 16);
  if (key || key.error().code != Code::not_found) return key;
  return Error{Code::not_found, format("key: {}\n  make one: assay key {}", key.error().message,
                                       policy.key.string())};
}

Result<sites::Act> dataset_act(const Policy& policy, const std::string& id) {
  const auto found = policy.datasets.find(id);
  if (found == policy.datasets.end()) {
    return Error{Code::not_found, format("the policy has no dataset '{}'", id)};
  }
  ASSIGN_OR_RETURN(const std::string bytes, read_file(found->second.file));
  ASSIGN_OR_RETURN(const std::string key, site_key(policy));
  sites::Act act{.kind = ActKind::add_dataset,
                 .key = "add-dataset-" + id,
                 .id = id,
                 .description = found->second.description,
                 .sha256 = sha256_hex(bytes)};
  act.rows = std::max<std::int64_t>(1, std::ranges::count(bytes, '\n'));
  ASSIGN_OR_RETURN(act.public_key, public_key_of(key));
  return act;
}

sites::Candidate candidate_of(const Policy& policy, const LocalRun& run) {
  return sites::make_candidate(run.measured, policy.release, run.wanted,
                               {.run = run.id,
                                .benchmark = run.benchmark,
                                .dataset_sha256 = run.dataset_sha256,
                                .model = run.model});
}

}  // namespace assay::site
