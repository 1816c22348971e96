// For tests: a golden tree of replies without tokens, and what breaks the rule on its figures.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/testing_mutation.h"

namespace assay::rules {

// The golden tree as one of pictures: units and latency in the place of tokens and TPOT.
inline GoldenTree golden_pictures(std::string_view model) {
  GoldenTree tree = golden_tree();
  for (const std::string& name : tree.points()) {
    Json& summary = tree.summary(name);
    const double seconds = summary["duration_ns"].as_double() / 1e9;
    for (const char* key : {"tpot", "ttft", "output_sequence_lengths", "system_tps", "tps_per_user",
                            "system_tps_per_kw"}) {
      summary.erase(key);
    }
    // More images with more users, and no two points alike; the dedicated Offline has the most.
    const double level = tree.point(name)["concurrency"].as_double();
    const auto images = static_cast<std::int64_t>(1000 * std::log2(level));
    const Json units = Json()
                           .set("name", "image")
                           .set("completed", images)
                           .set("per_second", static_cast<double>(images) / seconds);
    summary.set("assay", Json().set("units", units))
        .set("latency", Json().set("percentiles", Json().set("90.0", 1e8 * level)));
    tree.point(name).set("model_name", model);
  }
  const std::string to = "results/Example_8x/" + std::string(model);
  std::map<std::string, Json> moved;
  for (auto& [path, document] : tree.documents) {
    const bool inside = path.starts_with(tree.curve + "/");
    moved[inside ? to + path.substr(tree.curve.size()) : path] = document;
  }
  tree.documents = std::move(moved);
  tree.curve = to;
  return tree;
}

inline std::vector<Mutation> unit_mutations() {
  const auto pictures = [](const std::function<void(Json&)>& change) {
    return [change](GoldenTree& tree) {
      tree = golden_pictures("wan2_2");
      change(tree.summary("r96"));
    };
  };
  // Fire for any model that is no benchmark.
  const std::vector<std::string> also{"accuracy-gate", "model-name-valid"};
  return {
      {.rule = "metric-consistency-units",
       .what = "two percent too many images",
       .change = pictures([](Json& summary) {
         Json& units = inner(summary, {"assay", "units"});
         units.set("per_second", units["per_second"].as_double() * 1.02);
       }),
       .also = also},
      {.rule = "metric-consistency-units",
       .what = "no latency",
       .change = pictures([](Json& summary) { summary.erase("latency"); }),
       .also = also},
  };
}

}  // namespace assay::rules
