// Any bytes as a pipeline: an error with a line, or a graph whose order has every step once and
// whose forward edges lead forward.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "pipeline/graph.h"
#include "pipeline/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto pipeline = assay::pipeline::read_pipeline(text, "f");
  if (!pipeline) {
    CHECK(pipeline.error().message.starts_with("f:"));
    return 0;
  }
  const auto graph = assay::pipeline::graph_of(*pipeline);
  std::vector<std::size_t> place(pipeline->steps.size(), pipeline->steps.size());
  for (std::size_t i = 0; i < graph.order.size(); ++i) place[graph.order[i]] = i;
  for (const std::size_t one : place) CHECK(one < place.size());
  for (const auto& edge : graph.edges) CHECK(edge.back || place[edge.from] < place[edge.to]);
  static_cast<void>(assay::pipeline::with_site(*pipeline, text, "s"));
  return 0;
}
