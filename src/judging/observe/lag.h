// The lag of a source: how much later than the load its values move. A GPU's power sensor averages
// over a second, an exporter shows what it collected half a minute ago; energy of a window is wrong
// by that unless it is known.
//
// The load's own steps are the reference. The source's values are fitted by gain × load + idle, the
// load moved by a lag and averaged over a width; the lag with the best correlation is the answer,
// if it is one: the correlation is strong, and no other lag explains the values as well. The
// offset of another host's clock is in the lag, and is corrected with it.
//
// Cost: (lags) × (widths) × (values), some ten million additions for an hour. Pure; any thread.
#pragma once

#include <string>

#include "base/time.h"
#include "observe/load_fold.h"
#include "observe/signal.h"

namespace assay::observe {

inline constexpr Duration kLagMin{-1'000'000'000};
inline constexpr Duration kLagMax{60'000'000'000};

struct Lag {
  bool known = false;
  // The middle of what a value shows lies this long before its instant.
  Duration lag{};
  Duration low{};  // with 95 % confidence
  Duration high{};
  Duration width{};  // of the source's own average
  double correlation = 0;
  std::string why{};  // why it is not known; else ""
};

Lag estimate_lag(const Load& load, const Signal& signal);

}  // namespace assay::observe
