// make_plan: turns a Config and its datasets into a Plan: all decisions before the first byte is
// sent. Pure: no clock, no files, no network. The same config and datasets always give the same
// plan; plan_digest proves it with 64 hex digits.
//
// A setting that cannot be run yet is an Error with Code::unsupported that says what to change.
// arrivals.h has the rules of arrivals, docs/decisions those of how long a run lasts.
#pragma once

#include <functional>
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
  bool confidential = false;           // and no words of the endpoint at all: REQUIRES no keep_text
  MemoryRule memory{};
  std::vector<std::string> notes{};  // for the user
};

// Makes of a row of a dataset's file the row that is asked.
using RowMaker = std::function<Result<Json>(Json row)>;
// Loads the datasets of `config` that its mode uses, in the config's order.
Result<std::vector<Dataset>> load_datasets(const Config& config, const RowMaker& make_row = {});

// REQUIRES: `config` is checked (ConfigReader::finish); `datasets` come from load_datasets.
Result<PlanBundle> make_plan(const Config& config, std::vector<Dataset> datasets);

// The sha256 of all decisions, without secrets.
std::string plan_digest(const PlanBundle& bundle);

}  // namespace assay::plan
