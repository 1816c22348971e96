// Doubt: how far measurements of points like a simulated one lay from what was simulated for them.
//
// catalogue/doubt.yaml holds it: shares by which measured values differ from simulated ones, at
// their 5th and 95th percentile, of measured points that the fit had not seen. A point on a known
// model is judged by curves left out of the fit, one on a new model by models left out, and so on
// with each kind of trust. So nine of ten measurements like the point are expected between them.
// tools/calibrate_serving_model.py writes the file. Values; any thread.
#pragma once

#include <optional>
#include <vector>

#include "sim/constants.h"
#include "sim/trust.h"

namespace assay::sim {

// Measured over simulated, from the 5th to the 95th percentile.
struct Range {
  double low = 1;
  double high = 1;
};

struct Doubt {
  std::optional<Trust::Level> trust{};  // only points of this trust; else any
  std::optional<bool>
      generation_known{};  // only where a card of its generation was compared, or not
  Subject what{};
  bool apart = false;   // prefill and decode have separate workers
  double below = 0;     // only with fewer in flight on each accelerator; 0: any number
  unsigned points = 0;  // measured ones that the shares come from; 0: no doubt is known
  Range tpot{};
  Range ttft{};
  Range throughput{};
};

// One item of a file's `doubt`.
Result<Doubt> read_doubt(const Json& item, const std::string& where);

// The first that fits; one without points if none does.
Doubt doubt_of(const std::vector<Doubt>& doubts, const Trust& trust, const Subject& subject,
               bool apart, double in_flight);

}  // namespace assay::sim
