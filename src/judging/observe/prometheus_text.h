// PrometheusPage: a page of metrics in Prometheus' text format, or OpenMetrics', as samples.
//
// A server's page is foreign bytes: a line that is no sample is counted and left out, and the rest
// is read. Timestamps and exemplars are skipped, because a scrape has its own instant. Values that
// are not finite are counted and left out: an engine writes NaN where it knows nothing. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::observe {

using Labels = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::size_t kSamplesMax = 200'000;  // of one page; the rest is counted as dropped

struct PrometheusSample {
  std::string name{};
  Labels labels{};  // in the page's order
  double value = 0;
};

struct PrometheusPage {
  std::vector<PrometheusSample> samples{};
  // Each family's type as the page declares it: "gauge", "counter", "histogram", …
  std::vector<std::pair<std::string, std::string>> types{};
  std::uint64_t unreadable = 0;  // lines
  std::uint64_t not_finite = 0;
  std::uint64_t dropped = 0;  // beyond kSamplesMax
};

PrometheusPage read_prometheus(std::string_view text);

// The label's value; "" without one.
std::string_view label_of(const Labels& labels, std::string_view name);

}  // namespace assay::observe
