// Noise: how far the figures of equal runs differ from one run to the next, and how many runs on
// each side show a change of a given size.
//
// A bootstrap within one run (compare/bootstrap.h) sees how the run's own queries vary. It cannot
// see what changes between runs: another neighbour, a warmer machine, another placement. Repeats
// can. A figure's logarithm is taken as normal with one deviation for all runs, so
//
//   s² = Σ over groups Σ over runs (ln x − the group's mean)² ÷ ν,  ν = runs − groups
//
// is its estimate from groups of equal runs (the baseline, the candidate, runs made for this), and
// the difference of two means of n and m runs has the deviation s √(1/n + 1/m) with ν degrees of
// freedom. What the runs' own queries let expect stands beside it and decides nothing: a bootstrap
// of blocks makes a closed loop's rate vary far more than its runs do.
//
// Runs needed: the least n for which n runs a side show a true harm c (B / A − 1) as worse with the
// probability `power`. σ is not known but estimated by s with ν degrees, so the probability is the
// mean over what σ may be, given s (σ² = ν s² ÷ χ²_ν), and over what the 2 n new runs, which count
// in the estimate too, will say (χ² with 2 n − 2 degrees):
//
//   E[Φ((ln(1 + c) − ln(1 + margin) − room) √(n/2) ÷ σ − t ŝ ÷ σ)],  t: of α ÷ metrics, ν + 2 n − 2
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "compare/effect.h"

namespace assay::compare {

// One run, as much of it as a comparison of repeats uses.
struct RunFigures {
  struct Figure {
    double value = 0;   // ns, or per second; 0: the run has none
    double within = 0;  // deviation of its logarithm, by the bootstrap
    Room room{};
  };
  std::string name{};
  std::vector<Figure> of{};  // one for each metric of the options, in their order
};
RunFigures figures_of(const ComparedRun& run, const CompareOptions& options);

// The deviation of the logarithm of one run's figure from run to run.
struct Spread {
  double deviation = 0;
  double degrees = 0;  // of freedom; 0: no two equal runs, the deviation is that within a run
  double within = 0;   // root mean square of the runs' own deviations
};
// `groups`: runs of one thing each. A run without the figure is left out.
Spread spread_of(const std::vector<const std::vector<RunFigures>*>& groups, std::size_t metric);

struct PowerQuestion {
  double change = 0.05;  // B / A − 1 of a time; of a rate, A / B − 1
  double margin = 0.01;  // the regression margin of the comparison
  double room = 0;       // what the clients may have added, on the logarithmic scale
  double tail = 0.05;    // of the one-sided test: alpha ÷ metrics
  double power = 0.9;
};
inline constexpr std::size_t kRunsMax = 1000;
// The probability that n runs a side show it.
double power_of(const Spread& spread, const PowerQuestion& question, std::size_t n);
// nullopt: more than kRunsMax, or a change that the margin or the room hides from any number.
std::optional<std::size_t> runs_needed(const Spread& spread, const PowerQuestion& question);

}  // namespace assay::compare
