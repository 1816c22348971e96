// make_plan: turns a Config and its datasets into a Plan: all decisions before the first byte is
// sent. Pure: no clock, no files, no network. The same config and datasets always give the same
// plan; plan_digest proves it with 64 hex digits.
//
// A setting that cannot be run yet is an Error with Code::unsupported that says what to change.
// arrivals.h has the rules of arrivals, docs/decisions those of how long a run lasts.
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
  Duration run_max = Duration::max();  // after this time the run stops as interrupted
  bool keep_text = false;              // the event log gets the replies' text
  MemoryRule memory{};
  std::vector<std::string> notes{};  // for the user
};

// Loads the datasets of `config` that its mode uses, in the config's order.
Result<std::vector<Dataset>> load_datasets(const Config& config);

// REQUIRES: `config` is checked (ConfigReader::finish); `datasets` come from load_datasets.
Result<PlanBundle> make_plan(const Config& config, std::vector<Dataset> datasets);

// The sha256 of all decisions, without secrets.
std::string plan_digest(const PlanBundle& bundle);

}  // namespace assay::plan
