// Workloads: the suites' benchmarks as data, one YAML file for a model and dataset
// (workloads/*.yaml, built into the binary; the format is docs/formats/workload.md). A workload has
// a run's settings (`config`, in the keys of a run's config), the files and their publishers, each
// scenario's limits and least counts, and the accuracy to reach.
//
// An edition is a version of a suite's rules. If editions or sources disagree, a file holds all of
// them and `find` returns the requested one. Pure, except for `add` and `run_config`, which read
// files. Any thread.
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
// The build writes it from workloads/.
std::vector<EmbeddedFile> embedded_workloads();

struct WorkloadDataset {
  std::string name{};
  std::uint64_t rows = 0;
  std::string file{};       // its name in a dataset folder
  std::string arrays{};     // what a run asks instead, of tensors the user prepared; may be empty
  std::string published{};  // where its owners publish it
  std::string prepare{};    // how to convert the published file; may be empty
  std::string columns{};    // "question, answer"
};

// One workload in one edition.
struct Workload {
  std::string name{};
  std::string title{};
  std::string edition{};
  std::string api{};  // openai, openai_completions, videogen, openai_images, … or tensors
  Json data{};        // the whole file for this edition, as an object
  std::vector<WorkloadDataset> datasets{};

  std::vector<std::string> scenarios() const;
  // Finds a dataset by the id of "id::preset"; nullptr: not in this workload.
  const WorkloadDataset* dataset(std::string_view name) const;
};

class Workloads {
 public:
  // The workloads in the binary. CHECKs that they parse; a test proves it.
  static Workloads builtin();

  // Adds a workload, or editions of all (a file with a key `editions` and no `workload`), or of
  // several workloads (a file with a key `rounds`). `name` is for
  // messages. A workload with a known name replaces the old one.
  Result<void> add_text(std::string_view yaml, const std::string& name);

  // In order of name.
  std::vector<std::string> names() const;
  // The first one is the default.
  Result<std::vector<std::string>> editions_of(std::string_view name) const;
  // `name` may also be a checker's name for one of its targets (bert-99.9), or a .yaml file. An
  // unknown name or edition is an error that lists them.
  Result<Workload> find(std::string_view name, std::string_view edition = {}) const;

 private:
  const Json* entry(std::string_view name) const;
  Result<Workload> make(const Json& file, std::string_view edition) const;

  std::vector<Json> files_{};
  Json editions_ = Json::object();
  Json rounds_ = Json::object();  // workload → edition → what it has otherwise
};

// Returns a config file's YAML to run `workload`: no endpoint, and no load unless `scenario` names
// one. Files are looked for in `folder`. Fails if the workload needs an unsupported API, or has no
// such scenario.
enum class ScenarioLoad : std::uint8_t { own, none };  // none: the caller says the load
Result<std::string> run_config(const Workload& workload, std::string_view scenario,
                               const std::filesystem::path& folder,
                               ScenarioLoad load = ScenarioLoad::own);

// Returns $ASSAY_DATASETS, else "datasets".
std::filesystem::path dataset_folder();

// The error for a missing `path`: where its owners publish it, and which file is expected.
Error missing_dataset(const Workload& workload, const WorkloadDataset& dataset,
                      const std::filesystem::path& path);

// Checks that every file of the workload that `config` reads exists.
Result<void> check_files(const Workload& workload, const Config& config);
// Notes for the user about datasets whose number of rows differs from the suite's.
std::vector<std::string> row_notes(const Json& facts, const std::vector<Dataset>& datasets);

// Returns a scenario's requirements for a run's record: name, edition, scenario, limits, quality,
// queries_min, rows of each dataset.
Json scenario_facts(const Workload& workload, std::string_view scenario);

}  // namespace assay::plan
