// What traffic classes do to one another: each class measured alone, beside each other one, and
// beside all, at the same instants with the same prompts. A cell is a figure of a class with others
// present ÷ the same figure alone: 1 is no interference. Goodput's ratio is of attainment, so below
// 1 is worse there, and above 1 in the latencies.
//
// Pure; any thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "metrics/class_fold.h"

namespace assay::metrics {

struct InterferenceRun {
  std::vector<std::size_t> present{};  // indices of classes, ascending
  ClassReport report{};
};

// The sets of classes that a matrix of `classes` needs, the ones alone first. REQUIRES: >= 2.
std::vector<std::vector<std::size_t>> interference_sets(std::size_t classes);

inline constexpr std::array<std::string_view, 7> kInterferenceFigures = {
    "ttft_p50", "ttft_p99", "tpot_p50", "tpot_p99", "latency_p50", "latency_p99", "attainment"};

struct InterferenceCell {
  std::size_t of = 0;                 // the class
  std::vector<std::size_t> beside{};  // who else was there
  // In the order of kInterferenceFigures: alone and so, in ns or as a share; absent where one of
  // the runs has no such figure, or it is 0 alone.
  std::array<std::optional<double>, 7> alone{};
  std::array<std::optional<double>, 7> with{};
  std::array<std::optional<double>, 7> ratio{};
};

// REQUIRES: the runs are those of interference_sets(), each with all classes in its report.
std::vector<InterferenceCell> interference(const std::vector<InterferenceRun>& runs);

Json interference_json(const std::vector<InterferenceRun>& runs,
                       const std::vector<std::string>& names);
std::string interference_text(const std::vector<InterferenceRun>& runs,
                              const std::vector<std::string>& names);

// Figures of runs that have one class each, side by side and without a comparison.
Json each_class_json(const std::vector<InterferenceRun>& runs);
std::string each_class_text(const std::vector<InterferenceRun>& runs);

}  // namespace assay::metrics
