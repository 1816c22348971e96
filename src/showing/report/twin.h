// The answer of `assay twin`: how well a model fits a measured curve, what would explain the rest,
// and what the curve would be after changes of its system; as text, JSON and one HTML page without
// external resources. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "sim/measured_load.h"
#include "sim/twin_cause.h"
#include "sim/what_if.h"

namespace assay::report {

struct TwinAnswer {
  std::string curve{};       // where it was read
  std::string system{};      // as sim::describe writes it
  std::string provenance{};  // as in twin.yaml
  std::vector<sim::MeasuredPoint> measured{};
  sim::Twin twin{};
  sim::MeasuredLoad load{};
  std::vector<sim::TwinCause> causes{};
  std::vector<std::string> changes{};  // as asked, one for each of `what_ifs`
  std::vector<sim::WhatIf> what_ifs{};
};

// "fitted to 7 points of curves/m, …": for twin.yaml.
std::string twin_provenance(const TwinAnswer& answer);
std::string twin_text(const TwinAnswer& answer);
Json twin_json(const TwinAnswer& answer);
std::string twin_html(const TwinAnswer& answer);

}  // namespace assay::report
