// What a Croissant file says of where its data comes from: PROV-O's wasDerivedFrom, wasGeneratedBy
// and wasAttributedTo, of the dataset, its files, record sets and fields. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace assay::dataset::croissant {

struct ProvenanceStep {
  std::string of{};        // the id of what the step is about; "" for the dataset
  std::string relation{};  // "prov:wasDerivedFrom"
  std::string what{};      // an id, or a label
  std::string at{};        // when an activity ended; "" if it is not there
};

// In the order of the document: the dataset, then files, record sets, fields.
std::vector<ProvenanceStep> provenance_of(const Json& document);
// The same as PROV-O nodes of a JSON-LD graph; the dataset is `dataset_id`.
Json provenance_graph(const std::vector<ProvenanceStep>& steps, const std::string& dataset_id);

}  // namespace assay::dataset::croissant
