// Trust: what a simulated figure rests on. The constants were fitted to measured points of some
// models on some cards with some backends; everything else follows from rooflines and from what
// those have in common. A reader has to know which of the two he sees, so every point says it.
#pragma once

#include <string>
#include <vector>

#include "sim/constants.h"

namespace assay::sim {

struct Trust {
  // compared      this model on this card, backend and format was set beside measurements
  // beyond        it was, but not with as many in flight on each accelerator
  // new_mix       model and card were, but not together in this way
  // new_card      the card never was
  // new_model     the model never was
  // unproven      neither
  enum class Level : std::uint8_t { compared, beyond, new_mix, new_card, new_model, unproven };
  Level level = Level::unproven;
  std::string says{};        // a sentence without its full stop
  double in_flight_max = 0;  // on each accelerator, of what was compared; 0: not known

  // For a point with so many in flight on each accelerator.
  Trust at(double in_flight) const;
};
std::string_view to_string(Trust::Level level);  // "compared", "new card", …

// `apart`: prefill and decode on workers of their own.
Trust trust_of(const std::vector<ComparedFamily>& compared, const Subject& subject, bool apart);
// Of a model that is a row of timed stages.
Trust trust_of_stages(const std::string& model, const std::string& hardware);

}  // namespace assay::sim
