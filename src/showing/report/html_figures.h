// The figures of an HTML report: a chart, a title that states its answer, and the values as a
// table. For html.h. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "report/content.h"

namespace assay::report {

// TTFT, TPOT, ITL and latency as distribution functions; those without values are left out.
std::string distribution_figures(const metrics::Point& point);
// Throughput, queries in flight and TTFT over the run, on one time axis; "" without a timeline.
std::string timeline_figure(const metrics::Point& point);
// How late the client itself sent and read; "" where unknown.
std::string client_figure(const metrics::Point& point);

// <table> with a head, cells escaped. Columns after the first are numbers.
class HtmlTable {
 public:
  explicit HtmlTable(const std::vector<std::string>& heads, std::string_view classes = "");
  void row(const std::vector<std::string>& cells);
  std::string finish();

 private:
  std::string out_{};
};

}  // namespace assay::report
