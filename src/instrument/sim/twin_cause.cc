#include "sim/twin_cause.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::sim {
namespace {

constexpr double kNearTpot = 0.03;
constexpr double kNearTtft = 0.1;
constexpr double kExplains = 0.5;
constexpr std::size_t kMost = 3;

struct Candidate {
  std::string as_if{};
  ClusterSpec spec{};
  Workload workload{};
};

// Both kinds of workers, where there are two.
template <typename Change>
ClusterSpec changed(ClusterSpec spec, Change change) {
  change(spec.deployment);
  if (spec.prefill) change(*spec.prefill);
  return spec;
}

void add_schedules(std::vector<Candidate>& out, const ClusterSpec& spec, const Workload& load) {
  const BackendSpec& engine = spec.prefill ? spec.prefill->backend : spec.deployment.backend;
  const bool chunks = engine.chunks;
  out.push_back({chunks ? "prompts were not cut into chunks" : "prompts were cut into chunks",
                 changed(spec, [&](Deployment& d) { d.backend.chunks = !chunks; }), load});
  const bool mixed = engine.policy == BackendSpec::Policy::mixed;
  out.push_back({mixed ? "prompts went before replies under way"
                       : "prompts shared steps with replies under way",
                 changed(spec,
                         [&](Deployment& d) {
                           d.backend.policy = mixed ? BackendSpec::Policy::prefill_first
                                                    : BackendSpec::Policy::mixed;
                         }),
                 load});
  for (const std::uint32_t budget : {512U, 2048U, 8192U, 16384U}) {
    if (budget == engine.token_budget) continue;
    out.push_back({format("a step took at most {} tokens of prompts", with_thousands(budget)),
                   changed(spec,
                           [&](Deployment& d) {
                             d.backend.token_budget = budget;
                             d.backend.budgets.clear();
                           }),
                   load});
  }
}

// Fewer sequences at a time than were in flight.
void add_limits(std::vector<Candidate>& out, const ClusterSpec& spec, const Workload& load,
                const std::vector<MeasuredPoint>& measured) {
  std::uint32_t most = 0;
  for (const MeasuredPoint& point : measured) most = std::max(most, point.concurrency);
  const unsigned ranks = std::max(1U, spec.workers * spec.deployment.parallelism.dp);
  for (std::uint32_t seqs = 8; seqs * ranks < most && seqs <= 512; seqs *= 2) {
    out.push_back({format("at most {} sequences ran at a time", seqs * ranks),
                   changed(spec, [&](Deployment& d) { d.backend.seqs_max = seqs; }), load});
  }
  for (const double share : {0.25, 0.05}) {
    ClusterSpec small = spec;
    small.kv_share *= share;
    out.push_back(
        {format("the KV cache had {:.0f} % of the expected size", 100 * share), small, load});
  }
}

void add_work(std::vector<Candidate>& out, const ClusterSpec& spec, const Workload& load) {
  if (spec.deployment.drafts > 0) {
    out.push_back({"no drafts were made",
                   changed(spec,
                           [](Deployment& d) {
                             d.drafts = 0;
                             d.acceptance.clear();
                           }),
                   load});
  }
  Workload cached = load;
  cached.common_share = load.common_share > 0 ? 0 : 0.9;
  out.push_back(
      {load.common_share > 0 ? "no prompt tokens were cached" : "most prompt tokens were cached",
       spec, cached});
  const std::vector<unsigned> widths = {2, 4};
  for (const unsigned less : widths) {
    if (spec.prefill || spec.workers % less != 0) continue;
    ClusterSpec fewer = spec;
    fewer.workers /= less;
    out.push_back({format("{} of {} workers served", fewer.workers, spec.workers), fewer, load});
  }
}

std::vector<Candidate> candidates(const ClusterSpec& spec, const Workload& load,
                                  const std::vector<MeasuredPoint>& measured) {
  std::vector<Candidate> out;
  add_schedules(out, spec, load);
  add_limits(out, spec, load, measured);
  add_work(out, spec, load);
  return out;
}

}  // namespace

bool is_near(const Twin& twin) {
  return twin.tpot_error_max <= kNearTpot && twin.ttft_error_max <= kNearTtft;
}

std::vector<TwinCause> causes_of(const ClusterSpec& spec, const Workload& workload,
                                 const std::vector<MeasuredPoint>& measured, const Twin& twin) {
  std::vector<TwinCause> out;
  if (is_near(twin)) return out;
  const double before = misfit(twin, measured);
  for (const Candidate& one : candidates(spec, workload, measured)) {
    const Twin other = refit_twin(one.spec, one.workload, measured, twin);
    const double share = misfit(other, measured) / before;
    if (!(share <= kExplains)) continue;
    out.push_back({one.as_if, other.tpot_error_after, other.ttft_error_after, share});
  }
  std::ranges::stable_sort(out, {}, &TwinCause::misfit);
  if (out.size() > kMost) out.resize(kMost);
  return out;
}

std::string residual_text(const std::vector<MeasuredPoint>& measured, const Twin& twin) {
  struct Spread {
    double low = 0;
    double high = 0;
    std::uint32_t at = 0;  // where the figure is furthest from the twin's
    double furthest = 0;
  };
  const auto spread = [&](bool ttft) {
    Spread out;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const double said = ttft ? twin.points[i].ttft_ms.mean : twin.points[i].tpot_ms.mean;
      const double truth = ttft ? measured[i].ttft_ms_mean : measured[i].tpot_ms_mean;
      if (!(truth > 0) || !(said > 0)) continue;
      const double ratio = truth / said;
      out.low = out.low > 0 ? std::min(out.low, ratio) : ratio;
      out.high = std::max(out.high, ratio);
      if (std::fabs(std::log(ratio)) < out.furthest) continue;
      out.furthest = std::fabs(std::log(ratio));
      out.at = measured[i].concurrency;
    }
    return out;
  };
  const Spread tpot = spread(false);
  const Spread ttft = spread(true);
  const bool first = ttft.furthest > tpot.furthest;
  const Spread& worse = first ? ttft : tpot;
  return format("{} is {:.2f} to {:.2f} times the twin's, furthest from it at {} in flight",
                first ? "TTFT" : "TPOT", worse.low, worse.high, worse.at);
}

}  // namespace assay::sim
