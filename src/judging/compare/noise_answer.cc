#include "compare/noise_answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.h"
#include "base/json_list.h"

namespace assay::compare {
namespace {

MetricNoise noise_of(const Repeats& repeats, std::size_t index, const NoiseAnswer& answer,
                     const CompareOptions& options) {
  MetricNoise out{.metric = options.metrics[index], .spread = spread_of({&repeats.runs}, index)};
  double logs = 0;
  double room = 0;
  double runs = 0;
  for (const RunFigures& run : repeats.runs) {
    const RunFigures::Figure& figure = run.of[index];
    if (figure.value <= 0) continue;
    logs += std::log(figure.value);
    room += figure.room.below + figure.room.above;
    runs += 1;
  }
  if (runs == 0) return out;
  out.typical = std::exp(logs / runs);
  for (const double change : answer.changes) {
    out.runs.push_back(
        runs_needed(out.spread, {.change = change,
                                 .margin = answer.margin,
                                 .room = room / runs,
                                 .tail = answer.alpha / static_cast<double>(options.metrics.size()),
                                 .power = answer.power}));
  }
  return out;
}

}  // namespace

NoiseAnswer noise_answer(const Repeats& repeats, const std::vector<double>& changes, double power,
                         const CompareOptions& options, std::vector<std::string> refusals) {
  NoiseAnswer out{.name = repeats.name,
                  .runs = repeats.runs.size(),
                  .refusals = std::move(refusals),
                  .changes = changes,
                  .power = power,
                  .alpha = options.alpha,
                  .margin = options.regression_margin};
  if (!out.refusals.empty()) return out;
  for (std::size_t i = 0; i < options.metrics.size(); ++i) {
    MetricNoise one = noise_of(repeats, i, out, options);
    if (one.typical > 0 && one.spread.degrees >= 1) {
      out.metrics.push_back(std::move(one));
    } else {
      out.notes.push_back(to_string(one.metric) + ": no two runs have it");
    }
  }
  if (out.runs < 5) {
    out.notes.push_back(
        format("{} runs say little of how far runs differ, so more are asked for; five to ten give "
               "a smaller answer",
               out.runs));
  }
  return out;
}

Json noise_json(const NoiseAnswer& answer) {
  Json metrics = Json::array();
  for (const MetricNoise& one : answer.metrics) {
    Json needed = Json::array();
    for (std::size_t i = 0; i < one.runs.size(); ++i) {
      needed.push_back(Json()
                           .set("change", answer.changes[i])
                           .set("runs_a_side", one.runs[i] ? Json(*one.runs[i]) : Json(nullptr)));
    }
    metrics.push_back(Json()
                          .set("metric", to_string(one.metric))
                          .set("typical", one.typical)
                          .set("deviation", one.spread.deviation)
                          .set("deviation_within", one.spread.within)
                          .set("degrees_of_freedom", one.spread.degrees)
                          .set("needed", std::move(needed)));
  }
  return Json()
      .set("runs", answer.runs)
      .set("power", answer.power)
      .set("confidence", 1 - answer.alpha)
      .set("regression_margin", answer.margin)
      .set("refusals", json_list(answer.refusals))
      .set("notes", json_list(answer.notes))
      .set("metrics", std::move(metrics));
}

}  // namespace assay::compare
