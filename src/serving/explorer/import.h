// Import reads results of any kind as curves for the Store.
//
// It detects what a path holds: a run folder of ours or of the reference client, a folder of such
// folders (a curve), a submission tree (v0.7 and v1.0, of either client; MLPerf Inference), a
// folder of LoadGen's logs, a JSON file of `assay simulate --json`, of vLLM's serving benchmark or
// of AIPerf, a Croissant file (a dataset's description). It searches other folders below, does not
// follow links, and notes what it cannot read without stopping.
//
// It reads everything before it puts anything. Any thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "store/store.h"

namespace assay::explorer {

// Facts that files may lack. A value here overrides the files'; empty leaves theirs.
struct ImportOptions {
  std::string model{};
  std::string dataset{};
  std::string system{};
  std::string organisation{};
  std::string division{};
  std::string availability{};
  std::string accelerator{};
  std::int64_t accelerators = 0;
  std::string software{};
  std::string submission{};
  std::string published{};  // the day of publication, 2026-04-01
  double power_kw = 0;
  double price_per_hour = 0;
  std::int64_t concurrency_max = 0;  // C_max, if no system_desc.json declares it
  std::string twin_of{};             // for simulated results: a measured curve's id or curve_id
  std::string description{};         // a system_desc.json for runs without one
};

struct Imported {
  std::vector<store::CurveRecord> curves{};
  std::vector<store::DatasheetRecord> datasheets{};  // of Croissant files by themselves
  std::vector<std::string> notes{};                  // what was left out, and why
  // Runs imported although they did not end as planned, each with its reason.
  std::vector<std::string> cut_short{};
  // Submissions whose folder name is not a valid id: the name, and the id used instead.
  std::map<std::string, std::string> derived_ids{};
};

Result<Imported> read_results(const std::filesystem::path& path, const ImportOptions& options);

struct ImportCounts {
  std::size_t curves = 0;
  std::size_t curves_new = 0;
  std::size_t points = 0;
  std::size_t points_new = 0;
  std::size_t points_changed = 0;
  std::size_t datasheets = 0;
};
Result<ImportCounts> put_all(store::Store& store, const std::vector<store::CurveRecord>& curves,
                             const std::vector<store::DatasheetRecord>& datasheets = {});

}  // namespace assay::explorer
