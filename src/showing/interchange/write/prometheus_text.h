// Prometheus' text exposition format, version 0.0.4, for a finished run (`--format prometheus`) and
// for a running one (`--prometheus PORT`). Base units: seconds, tokens. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "metrics/live.h"
#include "metrics/point.h"

namespace assay::interchange {

using PrometheusLabels = std::vector<std::pair<std::string_view, std::string>>;

// Writes families one after another, each metric's HELP and TYPE once.
class PrometheusText {
 public:
  // Labels that every sample has.
  explicit PrometheusText(PrometheusLabels common) : common_(std::move(common)) {}

  void family(std::string_view name, std::string_view type, std::string_view help);
  // Adds a sample to the family begun last; `suffix`: "_sum", "_count" or "".
  void sample(std::string_view suffix, const PrometheusLabels& labels, double value);
  const std::string& text() const { return text_; }

 private:
  PrometheusLabels common_;
  std::string family_{};
  std::string text_{};
};

std::string prometheus_text(const metrics::Point& point);
// `facts`: RunInfo::facts, for the labels.
std::string prometheus_text(const metrics::LiveSnapshot& live, const Json& facts);

}  // namespace assay::interchange
