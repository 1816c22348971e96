// The results of a simulation: points, sizings and stages as tables for the terminal and as JSON,
// and a simulated curve as the metrics::Curve that every other report takes. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "metrics/curve.h"
#include "sim/catalogue.h"
#include "sim/simulate.h"
#include "sim/sizing.h"

namespace assay::report {

// Layouts of a system whose user named none: how many fit, and the leading ones as simulated, the
// chosen one first.
struct TriedLayout {
  std::string layout{};
  sim::SimPoint point{};
};
struct LayoutsTried {
  std::size_t fit = 0;
  std::vector<TriedLayout> best{};
};

struct SimulatedCurve {
  std::string system{};    // as sim::describe writes it
  std::string kv_cache{};  // the format
  std::string lengths{};
  std::string hardware{};  // where several are set side by side
  std::vector<sim::SimPoint> points{};
  std::optional<LayoutsTried> tried{};
};

Json point_json(const sim::SimPoint& point);
Json simulated_json(const SimulatedCurve& curve);
Json sizing_json(const sim::Sizing& sizing);
Json layouts_json(const LayoutsTried& tried);

// A row that is not a steady state has a star, which lines below the table explain.
std::string points_table(const std::vector<sim::SimPoint>& points);
std::string simulated_text(const SimulatedCurve& curve);
// Both curves, and each figure of the second divided by the first's. REQUIRES: the same levels.
std::string simulated_beside_text(const SimulatedCurve& first, const SimulatedCurve& second);
// Cards at the same load, beside each other for each level; `price` of an accelerator-hour, or 0.
std::string cards_text(const std::vector<SimulatedCurve>& cards, double price);
std::string sizing_text(double rate, std::string_view limits, std::string_view lengths,
                        const std::vector<sim::Sizing>& sized);
// For a model that is a queue of timed stages: one latency, no tokens.
std::string stage_table(std::string_view model, unsigned gpus, std::string_view hardware,
                        double capacity, const std::vector<sim::SimPoint>& points);

// The output of `simulate --list` for "hardware", "models", "backends" or
// "software"; invalid for another word.
Result<std::string> catalogue_names(const sim::Catalogue& catalogue, const std::string& what);

// `calibration`: the source of the model's constants.
metrics::Curve to_curve(const SimulatedCurve& simulated, std::string_view model,
                        std::string_view calibration);

}  // namespace assay::report
