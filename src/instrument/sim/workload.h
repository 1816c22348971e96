// Workload: the load of a simulated system: lengths of prompts and replies, and what they share.
//
// A closed loop of short replies depends on its exact lengths: queries that start together end
// together and are prefilled together, and each order of lengths spreads out in its own way
// (docs/guide/serving_model.md, "Live and simulated"). So a simulation can have the exact lengths
// of a measured run: LengthList draws as `assay run --samples COUNT --run-seed SEED` does for its
// synthetic prompts. Values belong to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "domain/sample_order.h"
#include "sim/engine.h"

namespace assay::sim {

using LengthDraw = std::function<std::uint32_t(Rng&)>;

struct PrefixLevel {
  std::uint32_t tokens = 0;
  std::uint32_t branches = 1;
};

struct Workload {
  LengthDraw input{};
  LengthDraw output{};
  // What prompts begin with: a path down a tree, at each level one of `branches` texts of `tokens`
  // tokens, drawn evenly, as `assay run --shared-prefix` makes them. It is part of the prompt's
  // length; at least one token is the prompt's own.
  std::vector<PrefixLevel> tree{};
  // This share of every prompt is its beginning, equal in all prompts.
  double common_share = 0;
};

struct Lengths {
  std::uint32_t input = 0;
  std::uint32_t output = 0;
};

// The lengths of `count` queries: inputs from the seed, outputs from the next one, in shuffled
// order. Beyond kListedMax, where the order no longer matters, they are drawn one by one, so that
// memory does not grow with a run.
class LengthList {
 public:
  static constexpr std::uint32_t kListedMax = 20'000;

  // REQUIRES: count > 0, and `workload` outlives the list.
  LengthList(const Workload& workload, std::uint32_t count, std::uint64_t seed);
  Lengths next() { return listed_.empty() ? draw() : listed_[order_.next()]; }

 private:
  Lengths draw();

  const Workload& workload_;
  Rng inputs_;
  Rng outputs_;
  std::vector<Lengths> listed_{};
  SampleOrder order_{};
};

// A request with those lengths; `rng` draws its path down the tree.
Request make_request(const Workload& workload, Lengths lengths, std::uint64_t id,
                     std::uint32_t block_tokens, Rng& rng);
// As above, with drawn lengths.
Request make_request(const Workload& workload, std::uint64_t id, std::uint32_t block_tokens,
                     Rng& rng);

// Derives a seed for another purpose, or for another round.
std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b);

}  // namespace assay::sim
