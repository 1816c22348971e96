// Tree: a submission to MLPerf Inference, read for the rules. Broken input is kept as found, and a
// rule reports it.
//
//     <root>/{closed,open,network}/<submitter>/
//       src/   systems/<system>.json   systems/<system>_power.yaml   model_mapping.json
//       results/<system>/<model>/<Scenario>/
//         measurements.json  user.conf  README.md
//         accuracy/{accuracy.txt,mlperf_log_accuracy.json,mlperf_log_detail.txt,…}
//         performance/run_1/{mlperf_log_detail.txt,mlperf_log_summary.txt,spl.txt}
//         performance/ranging/  performance/power/
//         TEST01/ … TEST09/
//
// Rounds before v6.0 had code/, measurements/<system>/<model>/<Scenario>/ and
// compliance/<system>/<model>/<Scenario>/ beside results/, which are read into the same structs.
//
// read() completes everything; later code only reads it; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rulebook/inference.h"
#include "rules/document.h"
#include "rules/finding.h"
#include "rules/inference/detail_log.h"

namespace assay::rules::inference {

// The names of the files of one folder; whether it is there at all.
struct Folder {
  std::string path{};  // below the root
  bool present = false;
  std::vector<std::string> files{};

  bool has(std::string_view file) const;
};

// A small text file; nothing where it is missing or cannot be read.
struct TextFile {
  std::string name{};  // below the root
  std::optional<std::string> text{};

  bool present() const { return text.has_value(); }
  bool has_line(std::string_view line) const;
  bool contains(std::string_view part) const;
};

struct ComplianceTest {
  std::string name{};  // TEST01
  Folder folder{};
  Folder run{};       // performance/run_1
  Folder accuracy{};  // accuracy
  DetailLog log{};
  TextFile verify_accuracy{};
  TextFile verify_performance{};
  TextFile verify_length{};
  TextFile baseline{};    // accuracy/baseline_accuracy.txt
  TextFile compliance{};  // accuracy/compliance_accuracy.txt
};

// The files whose digests a session of a power measurement records, below performance/.
inline constexpr std::array<std::string_view, 9> kSessionFiles{"power/client.log",
                                                               "power/ptd_logs.txt",
                                                               "power/server.log",
                                                               "ranging/mlperf_log_detail.txt",
                                                               "ranging/mlperf_log_summary.txt",
                                                               "ranging/spl.txt",
                                                               "run_1/mlperf_log_detail.txt",
                                                               "run_1/mlperf_log_summary.txt",
                                                               "run_1/spl.txt"};

struct PowerFiles {
  Folder power{};
  Folder testing{};  // run_1
  Folder ranging{};
  Document client{};
  Document server{};
  TextFile testing_samples{};  // spl.txt
  TextFile ranging_samples{};
  TextFile analyzer_log{};  // ptd_logs.txt
  DetailLog ranging_log{};
  // SHA-1 of the files whose digests a session records, by their names below performance/.
  std::map<std::string, std::string> digests{};
};

// One scenario of a model on a system.
struct ResultFolder {
  std::string path{};
  std::string model{};     // the folder's name
  std::string scenario{};  // the folder's name
  DetailLog performance{};
  DetailLog accuracy{};
  TextFile accuracy_text{};
  std::optional<std::uint64_t> accuracy_json_bytes{};
  // Folders of the accuracy run, and the names in them.
  std::map<std::string, std::vector<std::string>> accuracy_folders{};
  Folder measurements_folder{};
  Document measurements{};
  std::map<std::string, std::uint64_t> measurement_bytes{};  // by file name
  bool of_endpoints = false;  // a client's result_summary.json, and no log of LoadGen
  std::vector<ComplianceTest> tests{};
  std::optional<PowerFiles> power{};

  // Derived: of the round; null where the model is none of it.
  const rulebook::InferenceModel* official = nullptr;
  std::string accuracy_path() const { return path + "/accuracy"; }
  // The scenario as the suite spells it, or the folder's name.
  std::string scenario_name() const;
  // The scenario that was run, by the log.
  std::string scenario_run() const;
};

struct ModelFolder {
  std::string path{};
  std::string name{};
  const rulebook::InferenceModel* official = nullptr;
  std::vector<ResultFolder> results{};
};

struct SystemFolder {
  std::string path{};
  std::string name{};
  Document description{};
  Document nameplate{};  // <system>_power.yaml
  std::vector<ModelFolder> models{};

  bool has_power() const;
  // As the round's tables have it: "datacenter", "edge", "datacenter-edge", or "" where the file
  // has none.
  std::string kind() const;
};

struct SubmitterFolder {
  std::string path{};
  std::string division{};
  std::string name{};
  Folder code{};  // src/, before v6.0 code/
  Document model_mapping{};
  std::vector<SystemFolder> systems{};
  bool has_results = false;
};

struct Tree {
  std::filesystem::path root{};
  bool exists = false;
  rulebook::InferenceRound round{};
  std::vector<SubmitterFolder> submitters{};
  std::vector<Finding> troubles{};
};

// Never fails. `submitter`: this one alone; "": all.
Tree read(const std::filesystem::path& root, rulebook::InferenceRound round,
          const std::string& submitter = {});

}  // namespace assay::rules::inference
