// The parts of import.h, one for each kind of source. Each fills in what it finds; import.cc
// chooses among them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "explorer/import.h"
#include "explorer/records.h"
#include "rules/check_tree.h"

namespace assay::explorer {

// One point, and the curve it belongs to.
struct FoundPoint {
  CurveFacts curve{};
  PointFacts point{};
};

// A JSON file below 64 MiB; a null value if missing.
Json read_json_or_null(const std::filesystem::path& path);
// YAML as JSON; a null value if missing or malformed.
Json read_yaml_or_null(const std::filesystem::path& path);

// Options override files.
void apply_options(CurveFacts& facts, const ImportOptions& options);

// ---- run folders ----
bool is_our_run(const std::filesystem::path& folder);
bool is_reference_run(const std::filesystem::path& folder);
Result<FoundPoint> read_our_run(const std::filesystem::path& folder, const ImportOptions& options);
Result<FoundPoint> read_reference_run(const std::filesystem::path& folder,
                                      const ImportOptions& options);

// ---- submission trees ----
// "v1.0", "v0.7", or "" for another folder.
std::string submission_layout(const std::filesystem::path& folder);
Result<std::vector<FoundPoint>> read_submission(const std::filesystem::path& root,
                                                const ImportOptions& options,
                                                std::vector<std::string>& notes);

// The findings of `assay check`, as schema Finding: those of one folder and below it.
Json findings_below(const rules::CheckReport& report, const std::string& folder);

// ---- LoadGen ----
// A folder with a detail log; a folder with a division of MLPerf Inference in it.
bool is_loadgen_folder(const std::filesystem::path& folder);
bool is_inference_tree(const std::filesystem::path& folder);
// Fails where the log has no result, as an accuracy run's.
Result<FoundPoint> read_loadgen_folder(const std::filesystem::path& folder,
                                       const ImportOptions& options);
// What cannot be read is a note.
std::vector<FoundPoint> read_inference_tree(const std::filesystem::path& root,
                                            const ImportOptions& options,
                                            std::vector<std::string>& notes);

// ---- tables of results ----
// Rows of a table of MLPerf Inference: the checker's summary.csv, or the results sites' JSON.
bool is_result_table(const Json& rows);
std::vector<FoundPoint> read_result_table(const Json& rows, const std::filesystem::path& path,
                                          const ImportOptions& options);
// A record for each row, with the header's names; all values are text.
Json rows_of_csv(std::string_view text);

// ---- single files ----
// nullopt if the JSON is of no known kind.
std::optional<std::vector<FoundPoint>> read_result_json(const Json& json,
                                                        const std::filesystem::path& path,
                                                        const ImportOptions& options);

}  // namespace assay::explorer
