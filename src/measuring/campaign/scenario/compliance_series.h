// The compliance tests of a run (`assay run --scenario S --compliance LIST`): after the run itself
// the same test once more with each test's audit.config, and the verdict on both
// (compliance_run.h). compliance/TEST04 of the run's folder then has audit.config, the verification
// files and, in run/, the test's own run folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "campaign/recorded_run.h"
#include "campaign/scenario/scenario_run.h"
#include "loadgen/compliance.h"
#include "plan/config.h"

namespace assay::campaign {

// The tests that `list` names, in its order, "TEST04,TEST06"; "all": those that the submission
// checker's round asks of the workload's model. Fails on another word, and where nothing is asked.
Result<std::vector<std::string>> compliance_list(const std::string& list, const ScenarioTest& test);

struct TestVerdict {
  std::string test{};
  std::vector<loadgen::ComplianceVerdict> files{};
  bool passed() const;
  std::string text() const;
  Json to_json() const;  // {test, passed, files: [{file, passed, lines}]}
};

// The main run, and what its tests share with it.
struct ComplianceSeries {
  plan::Config config{};  // as it was before plan_scenario()
  loadgen::Test asked{};
  std::vector<std::string> tests{};

  // What the tests need of the main run; before the first query.
  Result<void> check() const;
  // Records the run of one test into compliance/ of `folder`, the main run's, and judges it. Fails
  // if it was stopped.
  Result<TestVerdict> record(const std::string& test, const std::filesystem::path& folder,
                             const std::vector<std::string>& command, const ClientOptions& client,
                             Preflight& preflight, run::Control& control) const;
};

}  // namespace assay::campaign
