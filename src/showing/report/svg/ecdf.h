// An empirical distribution function: the share of replies that took at most a given time, with the
// percentiles marked.
//
// It answers "how long is the wait, and how bad is the tail?" without a histogram's choice of
// buckets. The value axis is logarithmic where the tail is long. Pure; any thread.
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
  // The second series is another view of the first: draw it as a broad band beneath, so that both
  // are visible where they coincide.
  bool band = false;
};

// Series without steps are left out; "" when none is left.
std::string ecdf(const std::vector<EcdfSeries>& series, const EcdfOptions& options);

}  // namespace assay::report::svg
