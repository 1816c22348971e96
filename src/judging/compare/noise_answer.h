// The answer of `assay noise`: each metric's spread between equal runs, and the runs a side that
// show a change. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/repeats.h"

namespace assay::compare {

struct MetricNoise {
  ComparedMetric metric{};
  double typical = 0;  // geometric mean; ns, or per second
  Spread spread{};
  std::vector<std::optional<std::size_t>> runs{};  // a side, for each change; none: no number does
};

struct NoiseAnswer {
  std::string name{};
  std::size_t runs = 0;
  std::vector<std::string> refusals{};  // why they are not equal runs; else empty
  std::vector<std::string> notes{};
  std::vector<double> changes{};  // 0.05: 5 %
  double power = 0.9;
  double alpha = 0.05;
  double margin = 0.01;
  std::vector<MetricNoise> metrics{};
};

NoiseAnswer noise_answer(const Repeats& repeats, const std::vector<double>& changes, double power,
                         const CompareOptions& options, std::vector<std::string> refusals);
Json noise_json(const NoiseAnswer& answer);

}  // namespace assay::compare
