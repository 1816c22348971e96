#include "desk/client_run.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "audit/loaded_run.h"
#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "domain/event.h"
#include "domain/plan.h"
#include "metrics/reply_fold.h"
#include "observe/observed.h"
#include "record/event_log.h"

namespace assay::desk {
namespace {

namespace fs = std::filesystem;

// The path that a location stands for, without scheme and host; "" for an empty one.
std::string path_of(std::string_view location) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!location.starts_with(scheme)) continue;
    const std::size_t slash = location.find('/', scheme.size());
    return slash == std::string_view::npos ? "" : std::string(location.substr(slash + 1));
  }
  if (location.starts_with("file://")) location.remove_prefix(7);
  return std::string(location);
}

bool is_remote(std::string_view location) {
  return location.starts_with("https://") || location.starts_with("http://");
}

std::optional<fs::path> below(const fs::path& folder, const std::string& path) {
  const std::vector<std::string_view> parts = split(path, '/');
  for (std::size_t from = 0; from < parts.size(); ++from) {
    fs::path file = folder;
    for (std::size_t i = from; i < parts.size(); ++i) file /= std::string(parts[i]);
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file;
  }
  return std::nullopt;
}

Result<fs::path> locate(const std::string& location, const fs::path& config_folder,
                        const fs::path& prompts) {
  const std::string path = path_of(location);
  if (!prompts.empty()) {
    if (const auto found = below(prompts, path)) return *found;
    return Error{Code::not_found,
                 format("'{}' is nowhere below '{}' (--prompts)", location, prompts.string())};
  }
  if (is_remote(location)) {
    return Error{Code::not_found,
                 format("'{}' is not here, and nothing is downloaded\n  get MLPerf Client's prompt "
                        "files (data/prompts/MODEL of its repository) and name the folder with "
                        "--prompts; without a config, stand-in prompts are asked",
                        location)};
  }
  const fs::path file(path);
  return file.is_absolute() ? file : config_folder / file;
}

// Gathers what the figures need of each inference.
class InferenceFold final : public metrics::ReplyFold {
 public:
  explicit InferenceFold(const RunInfo& info) : ReplyFold(info) {}
  std::vector<InferenceRecord> records{};

 protected:
  void on_reply(const metrics::Reply& reply) override {
    const Event& event = reply.event;
    const Usage& usage = event.usage;
    records.push_back({.row = event.query.sample,
                       .ok = event.outcome == Outcome::ok,
                       .sent = event.sent,
                       .first_token = event.first_token,
                       .done = event.done,
                       .tokens_in = reply.truth->count.input >= 0 ? reply.truth->count.input
                                                                  : usage.prompt_tokens,
                       .tokens_out = reply.truth->count.output,
                       .cached_in = usage.cached_tokens});
  }
};

Json energy_json(const audit::LoadedRun& run) {
  Json out = Json::array();
  if (!run.observed) return out;
  for (const observe::ObservedWindow& window : run.observed->windows) {
    for (const observe::ObservedEnergy& one : window.energy) {
      out.push_back(Json()
                        .set("boundary", one.boundary)
                        .set("joules", one.joules)
                        .set("joules_error", one.joules_error)
                        .set("watts", one.watts)
                        .set("joules_per_output_token", one.joules_per_output_token
                                                            ? Json(*one.joules_per_output_token)
                                                            : Json()));
    }
  }
  return out;
}

std::string energy_text(const Json& energy) {
  std::string out;
  for (const Json& one : energy.items()) {
    out += format("energy ({}): {:.1f} J, {:.1f} W", one["boundary"].as_string(),
                  one["joules"].as_double(), one["watts"].as_double());
    if (one["joules_per_output_token"].is_number()) {
      out += format(", {:.3f} J a token", one["joules_per_output_token"].as_double());
    }
    out += "; warm-ups included\n";
  }
  return out;
}

}  // namespace

Result<std::vector<PromptFile>> scenario_prompts(const ClientScenario& scenario,
                                                 const fs::path& config_folder,
                                                 const fs::path& prompts,
                                                 const std::vector<std::string>& groups) {
  std::vector<PromptFile> out;
  std::vector<std::string> there;
  for (const PromptPlace& place : scenario.prompts) {
    if (std::ranges::find(there, place.group) == there.end()) there.push_back(place.group);
    if (std::ranges::find(groups, place.group) == groups.end()) continue;
    ASSIGN_OR_RETURN(const fs::path path, locate(place.location, config_folder, prompts));
    ASSIGN_OR_RETURN(PromptFile file, read_prompt_file(path, path_of(place.location)));
    file.group = place.group;
    out.push_back(std::move(file));
  }
  if (!out.empty()) return out;
  std::string names;
  for (const std::string& group : there) names += (names.empty() ? "" : ", ") + group;
  return invalid(
      format("--set: scenario {} has no prompts of it; its sets are {}", scenario.name, names));
}

std::string dataset_text(const Series& series) {
  std::string out;
  for (const Json& row : series.rows) out += row.dump() + '\n';
  return out;
}

void order_plan(const Series& series, Duration delay, plan::PlanBundle& bundle) {
  CHECK(bundle.plan.phases.size() == 1);
  PhasePlan& phase = bundle.plan.phases[0];
  const auto rows = static_cast<std::uint32_t>(series.inferences.size());
  CHECK(phase.kind == PhaseKind::performance && bundle.datasets[0].dataset.rows() == rows);
  phase.order = SampleOrder::sequential(rows);
  phase.limits = {LimitStep{.in_flight_max = 1}};
  if (delay <= Duration{}) return;
  // A set of inferences is a conversation: each turn waits for the reply before it, and then.
  phase.replay = true;
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (series.inferences[row].first) phase.conversations.emplace_back();
    phase.conversations.back().turns.push_back({.sample = row, .delay = delay});
  }
}

Result<ClientResult> client_result(const fs::path& folder) {
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(audit::log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  const Json& facts = info.facts["client"];
  ASSIGN_OR_RETURN(const Series series, series_from(facts["series"]));
  InferenceFold fold(info);
  ASSIGN_OR_RETURN(const audit::LoadedRun run, audit::load_run(folder, {.replies = &fold}));
  ClientResult out{.figures = client_figures(series, fold.records)};
  Json asked = facts;
  asked.erase("series");
  out.json.set("format", "assay-client-1")
      .set("run_id", info.run_id)
      .set("state", to_string(run.replay.end.end.state))
      .set("model", info.facts["model"])
      .set("endpoints", info.facts["endpoints"])
      .set("machine", info.facts["machine"])
      .set("asked", std::move(asked));
  const Json figures = to_json(out.figures);
  for (const auto& [key, value] : figures.members()) out.json.set(key, value);
  const Json energy = energy_json(run);
  out.json.set("energy", energy);
  out.text = to_text(out.figures) + energy_text(energy);
  if (out.figures.cached_inputs > 0) {
    out.text += format("{} measured inferences had a part of their prompt in the server's cache\n",
                       out.figures.cached_inputs);
  }
  return out;
}

}  // namespace assay::desk
