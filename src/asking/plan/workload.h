// Workloads: the suites' benchmarks as data, one YAML file a model and dataset (workloads/*.yaml,
// built into the binary; the format is docs/formats/workload.md). A workload says what is asked and
// how (`config`, in the keys of a run's config), which files hold it and who publishes them, each
// scenario's limits and least counts, and what accuracy must be reached.
//
// An edition is a state of a suite's rules: where editions or sources disagree, a file says what
// each has and `find` gives the one that was asked for. Pure, but for `add` and `run_config`, which
// look at files. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/sample.h"
#include "plan/config.h"

namespace assay::plan {

struct EmbeddedFile {
  std::string name{};
  std::string text{};
};
// Written by the build from workloads/.
std::vector<EmbeddedFile> embedded_workloads();

struct WorkloadDataset {
  std::string name{};
  std::uint64_t rows = 0;
  std::string file{};       // as a dataset folder holds it
  std::string published{};  // where its owners publish it
  std::string prepare{};    // what to do to what they publish; may be empty
  std::string columns{};    // "question, answer"
};

// One workload in one edition.
struct Workload {
  std::string name{};
  std::string title{};
  std::string edition{};
  std::string api{};  // openai, openai_completions, videogen, or tensors: not asked by assay run
  Json data{};        // everything that the file says for this edition, as an object
  std::vector<WorkloadDataset> datasets{};

  std::vector<std::string> scenarios() const;
  // By the id of "id::preset"; nullptr: not one of this workload's.
  const WorkloadDataset* dataset(std::string_view name) const;
};

class Workloads {
 public:
  // What ships. CHECKs that it reads, which a test proves.
  static Workloads builtin();

  // A workload, or editions (a file with a key `editions` and no `workload`); `name` is for
  // messages. A workload of a known name takes its place.
  Result<void> add_text(std::string_view yaml, const std::string& name);
  Result<void> add(const std::filesystem::path& file);

  // In order of name.
  std::vector<std::string> names() const;
  // The first is the one that is meant where none is named.
  Result<std::vector<std::string>> editions_of(std::string_view name) const;
  // `name` may also be a .yaml file. An unknown name or edition is an error that lists them.
  Result<Workload> find(std::string_view name, std::string_view edition = {}) const;

 private:
  const Json* entry(std::string_view name) const;
  Result<Workload> make(const Json& file, std::string_view edition) const;

  std::vector<Json> files_{};
  Json editions_ = Json::object();
};

// The config to run `workload` with, as a config file's YAML: no endpoint, and no load unless
// `scenario` names one. Files are looked for in `folder`. The error says so when the workload is
// asked over something that is not spoken, or has no such scenario.
Result<std::string> run_config(const Workload& workload, std::string_view scenario,
                               const std::filesystem::path& folder);

// $ASSAY_DATASETS, else "datasets".
std::filesystem::path dataset_folder();

// That `path` is not there: where its owners publish it, and what file is expected.
Error missing_dataset(const Workload& workload, const WorkloadDataset& dataset,
                      const std::filesystem::path& path);

// That every file which `config` will read of the workload's is there.
Result<void> check_files(const Workload& workload, const Config& config);
// What a person should know where a dataset is not the suite's own in number of rows.
std::vector<std::string> row_notes(const Json& facts, const std::vector<Dataset>& datasets);

// What a scenario demands and reports, for a run's record: name, edition, scenario, limits,
// quality, queries_min, rows of each dataset.
Json scenario_facts(const Workload& workload, std::string_view scenario);

}  // namespace assay::plan
