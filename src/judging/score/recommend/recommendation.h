// DLRMv3's three figures over recorded requests: normalised entropy, accuracy, and the mean of the
// requests' areas under the curve; also the plain area under the ROC curve, ties averaged. Source:
// the digest of LoadGen and workloads, B.6. One thread for each object.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace assay::score {

struct RecommendationScores {
  double normalised_entropy = 0;  // NaN if one class is missing
  double accuracy = 0;
  double gauc = 0;
};

class Recommendation {
 public:
  // Adds one request: probabilities, labels (0 or 1) and weights, one each for a candidate.
  Result<void> add(std::span<const double> predictions, std::span<const double> labels,
                   std::span<const double> weights);
  // Adds the recorded payload: [timestamp, query, predictions(N), labels(N), weights(N), N].
  Result<void> add_payload(std::span<const float> payload);
  RecommendationScores scores() const;
  // Without the requests of `part`, which are among these.
  Recommendation without(const Recommendation& part) const;

 private:
  double entropy_ = 0;
  double positive_ = 0;
  double weight_ = 0;
  double right_ = 0;
  double auc_sum_ = 0;
  std::size_t auc_n_ = 0;
};

// NaN if one class is missing.
double roc_auc(std::span<const double> predictions, std::span<const double> labels);

}  // namespace assay::score
