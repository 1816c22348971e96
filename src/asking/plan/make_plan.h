// make_plan: a Config and its datasets become a Plan: everything decided before the first byte
// leaves. Pure: no clock, no files, no network. The same config and datasets give the same plan for
// ever, and plan_digest says so in 64 hex digits.
//
// What the config asks for and we cannot run yet is an Error with Code::unsupported that says what
// to change. The rules of arrivals and of how long a run lasts are in arrivals.h and in
// docs/decisions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "domain/plan.h"
#include "domain/request_spec.h"
#include "domain/sample.h"
#include "plan/config.h"
#include "plan/memory_rule.h"

namespace assay::plan {

struct PlanBundle {
  Plan plan{};
  // One for each dataset of config.datasets that a phase uses, in the config's order.
  // PhasePlan::dataset is an index into these.
  std::vector<PlannedDataset> datasets{};
  Endpoints endpoints{};
  Duration run_max = Duration::max();  // then the whole run is stopped as interrupted
  bool keep_text = false;              // replies' text belongs in the event log
  MemoryRule memory{};
  std::vector<std::string> notes{};  // for a person
};

// The datasets of `config` that its mode uses, loaded, in the config's order.
Result<std::vector<Dataset>> load_datasets(const Config& config);

// REQUIRES: `config` is checked (ConfigReader::finish), `datasets` as load_datasets gives them.
Result<PlanBundle> make_plan(const Config& config, std::vector<Dataset> datasets);

// sha256 over everything decided, secrets left out.
std::string plan_digest(const PlanBundle& bundle);

}  // namespace assay::plan
