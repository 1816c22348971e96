#include "score/recommend/recommendation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/format.h"

namespace assay::score {
namespace {

constexpr double kTiny = 1e-12;

// Sorts by descending prediction, ties by place: the suite's area for one request.
double request_auc(std::span<const double> predictions, std::span<const double> labels) {
  std::vector<std::size_t> order(predictions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return predictions[a] > predictions[b]; });
  double positives = 0;
  double area = 0;
  for (const std::size_t i : order) {
    if (labels[i] > 0.5) {
      positives += 1;
    } else {
      area += positives;
    }
  }
  const double negatives = static_cast<double>(predictions.size()) - positives;
  return area / (positives * negatives);
}

}  // namespace

Result<void> Recommendation::add(std::span<const double> predictions,
                                 std::span<const double> labels, std::span<const double> weights) {
  if (labels.size() != predictions.size() || weights.size() != predictions.size()) {
    return invalid(format("a request has {} predictions, {} labels and {} weights",
                          predictions.size(), labels.size(), weights.size()));
  }
  bool both = false;
  bool varied = false;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const double p = std::clamp(predictions[i], kTiny, 1 - kTiny);
    const double y = labels[i];
    const double w = weights[i];
    entropy_ += w * (-y * std::log2(p) - (1 - y) * std::log2(1 - p));
    positive_ += w * y;
    weight_ += w;
    if ((predictions[i] >= 0.5) == (y > 0.5)) right_ += w;
    both = both || labels[i] != labels[0];
    varied = varied || predictions[i] != predictions[0];
  }
  if (both && varied) {
    auc_sum_ += request_auc(predictions, labels);
    ++auc_n_;
  }
  return {};
}

Result<void> Recommendation::add_payload(std::span<const float> payload) {
  const double count = payload.empty() ? -1 : static_cast<double>(payload.back());
  if (!(count >= 0) || count * 3 + 3 != static_cast<double>(payload.size())) {
    return invalid(
        format("a payload of {} floats is not [timestamp, query, predictions, labels, "
               "weights, N]",
               payload.size()));
  }
  const auto n = static_cast<std::size_t>(count);
  const auto part = [&](std::size_t k) {
    const auto from = payload.subspan(2 + k * n, n);
    return std::vector<double>(from.begin(), from.end());
  };
  return add(part(0), part(1), part(2));
}

RecommendationScores Recommendation::scores() const {
  RecommendationScores out;
  const double m = std::clamp(positive_ / weight_, kTiny, 1 - kTiny);
  const double negative = weight_ - positive_;
  out.normalised_entropy = entropy_ / (-positive_ * std::log2(m) - negative * std::log2(1 - m));
  out.accuracy = right_ / weight_;
  out.gauc = (auc_sum_ + 1e-9) / (static_cast<double>(auc_n_) + 2e-9);
  return out;
}

Recommendation Recommendation::without(const Recommendation& part) const {
  Recommendation out = *this;
  out.entropy_ -= part.entropy_;
  out.positive_ -= part.positive_;
  out.weight_ -= part.weight_;
  out.right_ -= part.right_;
  out.auc_sum_ -= part.auc_sum_;
  out.auc_n_ -= part.auc_n_;
  return out;
}

double roc_auc(std::span<const double> predictions, std::span<const double> labels) {
  std::vector<std::size_t> order(predictions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return predictions[a] < predictions[b]; });
  double positives = 0;
  double rank_sum = 0;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    double here = 0;
    while (end < order.size() && predictions[order[end]] == predictions[order[i]]) {
      here += labels[order[end]] > 0.5 ? 1 : 0;
      ++end;
    }
    positives += here;
    rank_sum += here * (static_cast<double>(i + 1) + static_cast<double>(end)) / 2;
    i = end;
  }
  const double negatives = static_cast<double>(order.size()) - positives;
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

}  // namespace assay::score
