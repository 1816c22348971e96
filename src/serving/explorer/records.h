// Records: shared by all importers. Importers find the facts of systems and points; this code makes
// the Store's records, with ids that depend on the content alone, so that importing the same result
// twice, or by two people, gives one record.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "rulebook/edition.h"
#include "store/store.h"

namespace assay::explorer {

// 16 hex digits of the digest of `parts`.
std::string id_of(std::initializer_list<std::string_view> parts);
// Valid UTF-8 without control bytes, at most `bytes_max` long: usable as a name.
std::string clean_name(std::string_view text, std::size_t bytes_max = 300);
// One model has one name whatever its source spells: the rules' (edition v1.0) where they have it.
std::string model_name(std::string_view text);

struct SystemFacts {
  std::string name{};
  std::string short_name{};
  std::string organisation{};
  std::string kind = "measured";
  std::string division{};
  std::string availability{};
  std::string availability_url{};
  std::string accelerator{};
  std::int64_t accelerators = 0;
  std::int64_t nodes = 0;
  std::string software{};
  bool disaggregated = false;
  std::string parallel{};
  double power_kw = 0;
  std::string power_basis{};  // schema PowerBasis; "" without power
  double price_per_hour = 0;
  std::optional<std::int64_t> concurrency_max{};
  Json node_types{};
  Json description{};
};

// Reads a system_desc.json of either edition; accepts missing fields.
SystemFacts facts_of_description(const Json& description);

struct CurveFacts {
  SystemFacts system{};
  std::string model{};
  std::string dataset{};
  std::string origin{};  // schema Curve
  std::string layout{};  // of a submission tree
  std::string submission{};
  std::string cohort{};
  std::string precision{};  // of the model: FP4
  std::string published{};  // a day, 2026-04-01
  std::string path{};
  // The name from `assay curve`. Two curves of one system, model and dataset are the same curve
  // unless this differs.
  std::string curve_id{};
  std::string twin_of{};  // the id or curve_id of the measured curve that this models
  bool agentic = false;
};

struct PointFacts {
  // Identifies the point within its curve.
  std::string key{};
  double concurrency = 0;
  std::string region{};
  std::string offline{};
  double power_kw = 0;
  std::string power_basis{};
  Json point{};     // report::point_document
  Json run{};       // report::run_document
  Json accuracy{};  // judge_accuracy
  Json findings{};  // array of schema Finding
  Json safety{};    // schema Safety; null without a safety run at this concurrency
  std::string source{};
  std::vector<store::DatasheetRecord> datasheets{};  // of the data that it asked
};

// The record of a dataset, by its Croissant file.
store::DatasheetRecord make_datasheet(const Json& described);
// Those of a run's facts (dataset/croissant_fact.h).
std::vector<store::DatasheetRecord> datasheets_of(const Json& facts);

store::CurveRecord make_curve(const CurveFacts& curve, const std::vector<PointFacts>& points);

// accuracy_results.json in the API's schema, an array judged by the edition's gates for the model.
Json judge_accuracy(const Json& results, std::string_view model, const rulebook::Edition& edition);

}  // namespace assay::explorer
