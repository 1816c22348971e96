#include "metrics/interference.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"

namespace assay::metrics {
namespace {

std::array<std::optional<double>, 7> figures_of(const ClassFigures& one) {
  std::array<std::optional<double>, 7> out{};
  std::size_t at = 0;
  for (const Distribution* const series : {&one.ttft, &one.tpot, &one.latency}) {
    for (const double p : {50.0, 99.0}) {
      if (!series->empty()) out[at] = series->percentile(p);
      ++at;
    }
  }
  if (one.ended > 0) out[at] = one.attainment();
  return out;
}

const ClassFigures& alone_of(const std::vector<InterferenceRun>& runs, std::size_t of) {
  const auto found =
      std::ranges::find(runs, std::vector<std::size_t>{of}, &InterferenceRun::present);
  CHECK(found != runs.end());
  return found->report.classes[of];
}

std::string names_of(const std::vector<std::size_t>& which, const std::vector<std::string>& names) {
  std::string out;
  for (const std::size_t one : which) out += (out.empty() ? "" : " + ") + names[one];
  return out;
}

Json figure_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

std::vector<std::vector<std::size_t>> interference_sets(std::size_t classes) {
  std::vector<std::vector<std::size_t>> out;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < classes; ++i) {
    out.push_back({i});
    all.push_back(i);
  }
  for (std::size_t i = 0; i < classes; ++i) {
    for (std::size_t j = i + 1; j < classes; ++j) out.push_back({i, j});
  }
  if (classes > 2) out.push_back(all);
  return out;
}

std::vector<InterferenceCell> interference(const std::vector<InterferenceRun>& runs) {
  std::vector<InterferenceCell> out;
  for (const InterferenceRun& run : runs) {
    if (run.present.size() < 2) continue;
    for (const std::size_t of : run.present) {
      InterferenceCell cell{.of = of};
      std::ranges::copy_if(run.present, std::back_inserter(cell.beside),
                           [of](std::size_t other) { return other != of; });
      cell.alone = figures_of(alone_of(runs, of));
      cell.with = figures_of(run.report.classes[of]);
      for (std::size_t i = 0; i < cell.ratio.size(); ++i) {
        if (cell.alone[i] && cell.with[i] && *cell.alone[i] > 0) {
          cell.ratio[i] = *cell.with[i] / *cell.alone[i];
        }
      }
      out.push_back(std::move(cell));
    }
  }
  return out;
}

Json each_class_json(const std::vector<InterferenceRun>& runs) {
  Json list = Json::array();
  for (const InterferenceRun& run : runs) list.push_back(to_json(run.report)["classes"][0]);
  return Json().set("each_class", std::move(list));
}

std::string each_class_text(const std::vector<InterferenceRun>& runs) {
  std::string out;
  for (const InterferenceRun& run : runs) {
    const auto lines = class_lines(run.report);
    out += format("  {}: {}\n", lines.front().first, lines.front().second);
  }
  return out;
}

Json interference_json(const std::vector<InterferenceRun>& runs,
                       const std::vector<std::string>& names) {
  Json cells = Json::array();
  for (const InterferenceCell& cell : interference(runs)) {
    Json beside = Json::array();
    for (const std::size_t other : cell.beside) beside.push_back(names[other]);
    Json figures = Json::object();
    for (std::size_t i = 0; i < cell.ratio.size(); ++i) {
      figures.set(kInterferenceFigures[i], Json()
                                               .set("alone", figure_or_null(cell.alone[i]))
                                               .set("with", figure_or_null(cell.with[i]))
                                               .set("ratio", figure_or_null(cell.ratio[i])));
    }
    cells.push_back(Json()
                        .set("class", names[cell.of])
                        .set("beside", std::move(beside))
                        .set("figures", std::move(figures)));
  }
  Json list = Json::array();
  for (const InterferenceRun& run : runs) {
    Json present = Json::array();
    for (const std::size_t one : run.present) present.push_back(names[one]);
    list.push_back(to_json(run.report).set("present", std::move(present)));
  }
  return Json().set("interference", std::move(cells)).set("runs", std::move(list));
}

std::string interference_text(const std::vector<InterferenceRun>& runs,
                              const std::vector<std::string>& names) {
  std::string out = "each class beside others, against itself alone:\n";
  for (const InterferenceCell& cell : interference(runs)) {
    out += format("  {} beside {}:", names[cell.of], names_of(cell.beside, names));
    std::string figures;
    for (std::size_t i = 0; i < cell.ratio.size(); ++i) {
      if (!cell.ratio[i]) continue;
      std::string name(kInterferenceFigures[i]);
      std::ranges::replace(name, '_', ' ');
      figures += format("{} {} x {:.2f}", figures.empty() ? "" : ",", name, *cell.ratio[i]);
    }
    out += (figures.empty() ? " no figures" : figures) + "\n";
  }
  for (const InterferenceRun& run : runs) {
    if (run.present.size() != names.size()) continue;
    for (const auto& [name, text] : class_lines(run.report)) {
      out += format("  {}: {}\n", name, text);
    }
  }
  return out;
}

}  // namespace assay::metrics
