#include "campaign/simulated_run.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "campaign/recorded_run.h"
#include "campaign/sent_body.h"
#include "domain/tee.h"
#include "domain/trajectories.h"
#include "endpoint/modelled_ask.h"
#include "metrics/class_fold.h"
#include "metrics/point_fold.h"
#include "metrics/trajectory_fold.h"
#include "run/run.h"
#include "sim/scenario.h"
#include "sim/sim_target.h"

namespace assay::campaign {
namespace {

constexpr std::uint32_t kLengthsAsked = 2000;

// A plan's queries as the modelled server reads them.
class Asks {
 public:
  static Result<Asks> make(const plan::PlanBundle& bundle, std::uint32_t block_tokens,
                           std::uint64_t seed) {
    endpoint::EndpointOptions options;
    options.prefix_block_tokens = block_tokens;
    options.seed = seed;
    TRY(endpoint::set_osl(options, "max"));
    ASSIGN_OR_RETURN(auto read,
                     endpoint::ModelledAsk::make(bundle.endpoints.api, std::move(options)));
    return Asks(bundle, std::move(read));
  }

  Result<sim::Request> of(const Query& query) {
    ASSIGN_OR_RETURN(std::string body, sent_body(*bundle_, query));
    auto request = read_.read(body, number_++);
    if (!request) return request.error().within(format("query {}", query.index));
    return request;
  }

 private:
  Asks(const plan::PlanBundle& bundle, endpoint::ModelledAsk read)
      : bundle_(&bundle), read_(std::move(read)) {}

  const plan::PlanBundle* bundle_;
  endpoint::ModelledAsk read_;
  std::uint64_t number_ = 0;
};

// The rows that the plan's measured phase begins with.
std::vector<std::uint32_t> first_rows(const plan::PlanBundle& bundle, const PhasePlan& phase) {
  const std::size_t rows = bundle.datasets[phase.dataset].dataset.rows();
  std::vector<std::uint32_t> out;
  for (std::uint32_t row = 0; row < rows && row < kLengthsAsked; ++row) out.push_back(row);
  return out;
}

RunInfo simulated_info(const plan::Config& config, const plan::PlanBundle& bundle,
                       const sim::ClusterSpec& spec) {
  RunInfo info = run_info(config, bundle, {}, {});
  info.simulated = true;
  info.uncertainty = false;
  info.offset = {};
  info.facts.set("simulated", sim::describe(spec));
  for (const char* const of_client : {"machine", "endpoints", "spin", "threads", "insecure"}) {
    info.facts.erase(of_client);
  }
  return info;
}

}  // namespace

Result<sim::Workload> lengths_asked(const plan::PlanBundle& bundle, std::uint64_t seed) {
  ASSIGN_OR_RETURN(Asks asks, Asks::make(bundle, 0, seed));
  std::vector<sim::Lengths> all;
  for (std::size_t i = 0; i < bundle.plan.phases.size(); ++i) {
    const PhasePlan& phase = bundle.plan.phases[i];
    if (phase.kind != PhaseKind::performance) continue;
    for (const std::uint32_t row : first_rows(bundle, phase)) {
      Query query;
      query.phase = static_cast<std::uint16_t>(i);
      query.sample = row;
      ASSIGN_OR_RETURN(const sim::Request asked, asks.of(query));
      all.push_back({asked.prompt_tokens, asked.output_tokens});
    }
  }
  if (all.empty()) return invalid("the plan measures nothing");
  sim::Workload out;
  out.input = [all](Rng& rng) { return all[rng.below(all.size())].input; };
  out.output = [all](Rng& rng) { return all[rng.below(all.size())].output; };
  return out;
}

Result<audit::LoadedRun> simulate_run(const plan::Config& config, const plan::PlanBundle& bundle,
                                      const sim::ClusterSpec& spec, std::uint64_t seed) {
  sim::ClusterSpec every = spec;
  every.every_token = true;
  sim::Cluster cluster(every);
  ASSIGN_OR_RETURN(Asks asks, Asks::make(bundle, cluster.prefix_block_tokens(), seed));
  std::optional<Error> refused;
  run::Control control;
  const sim::AskOf ask = [&](const Query& query) {
    auto request = asks.of(query);
    if (request) return *std::move(request);
    if (!refused) refused = request.error();
    control.stop_now();
    return sim::Request{.prompt_tokens = 1, .output_tokens = 1};
  };
  SimClock clock;
  sim::SimTarget target(cluster, clock, ask, {.report_cached = spec.prefix_cache});

  const RunInfo info = simulated_info(config, bundle, spec);
  metrics::PointFold fold(info);
  ASSIGN_OR_RETURN(TrafficMix mix, mix_from_facts(info.facts));
  std::optional<metrics::ClassFold> classes;
  if (!mix.empty()) classes.emplace(info, std::move(mix));
  ASSIGN_OR_RETURN(Trajectories traced, trajectories_from(info.facts));
  std::optional<metrics::TrajectoryFold> trajectories;
  if (!traced.all.empty()) trajectories.emplace(info, std::move(traced));
  Tee all({&fold, classes ? &*classes : nullptr, trajectories ? &*trajectories : nullptr});
  const run::RunResult done = run::run(bundle.plan, clock, target, all, control);
  if (refused) return *std::move(refused);
  audit::LoadedRun out;
  out.point =
      fold.finish({done.target_dead || done.guarded ? RunState::interrupted : RunState::complete,
                   done.target_dead ? "the modelled server had nothing more to say"
                   : done.guarded   ? "the load's guard stopped it"
                                    : ""});
  if (classes) out.classes = classes->finish();
  if (trajectories) out.trajectories = trajectories->finish();
  return out;
}

}  // namespace assay::campaign
