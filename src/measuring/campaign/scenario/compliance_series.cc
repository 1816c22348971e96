#include "campaign/scenario/compliance_series.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/scenario/compliance_run.h"
#include "plan/make_plan.h"
#include "rulebook/inference.h"

namespace assay::campaign {
namespace {

// Those of the first name under which the round has the workload's model.
Result<std::vector<std::string>> tests_of_round(const ScenarioTest& test) {
  if (test.checker_names.empty()) {
    return invalid("--compliance all: needs a --workload of MLPerf Inference; or name the tests");
  }
  auto round = rulebook::inference_round(test.test.edition);
  if (!round) return round.error().within("--compliance all");
  for (const std::string_view name : split(test.checker_names, ',')) {
    const rulebook::InferenceModel* const model = round->model(trim(name));
    if (model == nullptr) continue;
    if (!model->tests.empty()) return model->tests;
    return invalid(format("--compliance all: {} asks no test of {}", round->name, model->name));
  }
  return invalid(format("--compliance all: {} has no model {}; name the tests", round->name,
                        test.checker_names));
}

bool has(const std::vector<std::string>& tests, std::string_view one) {
  return std::ranges::find(tests, one) != tests.end();
}

}  // namespace

Result<std::vector<std::string>> compliance_list(const std::string& list,
                                                 const ScenarioTest& test) {
  if (list == "all") return tests_of_round(test);
  const auto known = loadgen::compliance_tests();
  std::vector<std::string> out;
  for (const std::string_view word : split(list, ',')) {
    const std::string name(trim(word));
    if (std::ranges::find(known, name) == known.end()) {
      std::string names;
      for (const std::string_view one : known) names += format(" {}", one);
      return invalid(
          format("--compliance: \"{}\" is not a test; there are{}, and all", name, names));
    }
    if (has(out, name)) return invalid(format("--compliance: {} is named twice", name));
    out.push_back(name);
  }
  return out;
}

bool TestVerdict::passed() const {
  return std::ranges::all_of(files, [](const auto& file) { return file.passed; });
}

std::string TestVerdict::text() const {
  std::string out;
  for (const loadgen::ComplianceVerdict& file : files) {
    out += format("{} {}\n{}", test, file.file, file.text());
  }
  return out;
}

Json TestVerdict::to_json() const {
  Json said = Json::array();
  for (const loadgen::ComplianceVerdict& file : files) {
    Json lines = Json::array();
    for (const std::string& line : file.lines) lines.push_back(line);
    said.push_back(
        Json().set("file", file.file).set("passed", file.passed).set("lines", std::move(lines)));
  }
  return Json().set("test", test).set("passed", passed()).set("files", std::move(said));
}

Result<void> ComplianceSeries::check() const {
  const bool scored = asked.requested.mode == loadgen::Mode::SubmissionRun;
  for (const std::string_view test : {"TEST01", "TEST08"}) {
    if (scored || !has(tests, test)) continue;
    return invalid(
        format("--compliance {}: compares with the accuracy run: add an accuracy "
               "dataset, and `*.*.mode = 0` to the user.conf",
               test));
  }
  for (const plan::DatasetConfig& dataset : config.datasets) {
    const bool asked_for_speed = dataset.type == plan::DatasetType::performance;
    if (!asked_for_speed || dataset.accuracy_config || !has(tests, "TEST07")) continue;
    return invalid(format("--compliance TEST07: dataset {} has no accuracy_config", dataset.name));
  }
  if (has(tests, "TEST09") && !loadgen::length_limits(asked.model)) {
    return invalid(format(
        "--compliance TEST09: has no lengths for {}; for lengths of your own: assay loadgen "
        "compliance TEST09 RUN --least N --most N",
        asked.model == "*" ? std::string("a run without --workload gpt-oss-120b") : asked.model));
  }
  if (has(tests, "TEST06") && config.model_params.tokenizer_name.empty()) {
    return invalid(
        "--compliance TEST06: compares the system's count of tokens with the model's "
        "own: name its --tokenizer");
  }
  return {};
}

Result<TestVerdict> ComplianceSeries::record(const std::string& test,
                                             const std::filesystem::path& folder,
                                             const std::vector<std::string>& command,
                                             const ClientOptions& client, Preflight& preflight,
                                             run::Control& control) const {
  const std::filesystem::path below = folder / "compliance" / test;
  plan::Config asks = config;
  asks.mode = plan::Mode::perf;
  ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(asks));
  ASSIGN_OR_RETURN(plan::PlanBundle bundle, plan::make_plan(asks, std::move(datasets)));
  const std::uint64_t rows = bundle.datasets.front().dataset.rows();
  ASSIGN_OR_RETURN(const std::string conf, loadgen::audit_conf(test, asked.model, rows));
  ASSIGN_OR_RETURN(loadgen::Test audited, loadgen::audited(asked, conf));
  ASSIGN_OR_RETURN(const PlannedScenario planned,
                   plan_scenario(std::move(audited), client.threads, asks, bundle));
  TRY(make_folders(below));
  TRY(write_file_atomic(below / "audit.config", conf));
  RunRequest request{.config = &asks, .bundle = &bundle, .preflight = &preflight};
  request.folder = below / "run";
  request.facts = planned.facts();
  request.in_turn = planned.in_turn;
  request.command = command;
  ASSIGN_OR_RETURN(const RecordedRun run, record_run(request, client, LiveView(), control));
  const RunEnd& end = run.run.point.end;
  if (!run.unwritten.empty()) return Error{Code::exhausted, run.unwritten};
  if (end.state != RunState::complete) {
    return Error{end.out_of_space ? Code::exhausted : Code::refused,
                 format("{} was stopped: {}", test, end.reason)};
  }
  ComplianceWish wish{.test = test, .run = request.folder, .reference = folder, .accuracy = folder};
  wish.length = loadgen::length_limits(asked.model).value_or(loadgen::LengthLimits{});
  TestVerdict out{.test = test};
  ASSIGN_OR_RETURN(out.files, check_compliance(wish));
  TRY(write_verdicts(out.files, below));
  return out;
}

}  // namespace assay::campaign
