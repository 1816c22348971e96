// Trust: the evidence for a simulated figure. The constants were fitted to measured points of some
// models on some cards with some backends; all else follows from rooflines and from what those
// points have in common. Every point reports which of the two applies.
#pragma once

#include <string>
#include <vector>

#include "sim/constants.h"

namespace assay::sim {

struct Trust {
  // compared      this model on this card, backend and format was compared with measurements
  // beyond        it was, but not with as many in flight on each accelerator
  // new_mix       model and card were compared, but not together in this way
  // new_card      the card was never compared
  // new_model     the model was never compared
  // unproven      neither was compared
  enum class Level : std::uint8_t { compared, beyond, new_mix, new_card, new_model, unproven };
  Level level = Level::unproven;
  std::string says{};             // a sentence without its full stop
  double in_flight_max = 0;       // on each accelerator, in the comparison; 0: unknown
  bool generation_known = false;  // a card of its generation was compared

  // For a point with `in_flight` on each accelerator.
  Trust at(double in_flight) const;
};
std::string_view to_string(Trust::Level level);  // "compared", "new card", …

// `apart`: prefill and decode have separate workers.
Trust trust_of(const std::vector<ComparedFamily>& compared, const Subject& subject, bool apart);
// Trust of a model that is a row of timed stages.
Trust trust_of_stages(const std::string& model, const std::string& hardware);

}  // namespace assay::sim
