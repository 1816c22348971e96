// SoftwareSpec: a generation of serving stacks, as what it does otherwise than the stacks that the
// constants were fitted to. Files: catalogue/software/*.yaml.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "sim/constants.h"

namespace assay::sim {

struct SoftwareSpec {
  std::string name{};
  std::string title{};
  std::vector<std::string> aliases{};
  // The product of all rules that fit: shares of a card's limits are that much higher, and seconds
  // that much shorter.
  std::vector<std::pair<Subject, double>> rates{};
  std::vector<std::string> apart{};  // architectures that it serves with prefill apart
  // How long an engine that waits for a prompt on each rank of attention DP does so, in decode
  // steps; 0: not. None: as its recipes.
  std::optional<unsigned> dp_wait_steps{};
  // What drawing one token from the whole vocabulary takes, for each of its entries: the fitted
  // points take the likeliest token.
  double sampled_entry_s = 0;

  double rate(const Subject& subject) const;
  bool serves_apart(const std::string& architecture) const;
};

Result<SoftwareSpec> read_software(const Json& file, const std::string& where);

// Every efficiency times `rate`, every time divided by it. What is neither, as the acceptance of
// drafts, stays.
StepConstants at_rate(StepConstants constants, double rate);

}  // namespace assay::sim
