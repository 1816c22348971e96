// The share of replies that were at least so fast: an empirical distribution function, with the
// percentiles marked.
//
// It answers "how long does one wait, and how bad is the tail?" without the choice of buckets that
// a histogram needs. The value axis is logarithmic where the tail is long. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/svg/scale.h"

namespace assay::report::svg {

// This share of the values is at or below `value`.
struct EcdfStep {
  double share = 0;
  double value = 0;
};

struct EcdfMark {
  std::string name{};  // "P90"
  double share = 0;
  double value = 0;
};

struct EcdfSeries {
  std::string name{};             // for the key, where there are several
  std::vector<EcdfStep> steps{};  // ascending in both
  std::vector<EcdfMark> marks{};  // labelled on the first series, dots on the others
};

struct EcdfOptions {
  std::string label{};  // for screen readers: the question and the answer
  double width = 460;
  double height = 260;
  Quantity quantity = Quantity::duration;
  std::string x_title{};
  bool simulated = false;
  // The second series is the first seen otherwise: drawn as a broad band beneath it, so that both
  // are seen where they are one.
  bool band = false;
};

// Series without steps are left out; "" when none is left.
std::string ecdf(const std::vector<EcdfSeries>& series, const EcdfOptions& options);

}  // namespace assay::report::svg
