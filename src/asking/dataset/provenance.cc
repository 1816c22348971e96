#include "dataset/provenance.h"

#include <array>

#include "dataset/croissant_json.h"

namespace assay::dataset::croissant {
namespace {

constexpr std::array<std::string_view, 3> kRelations = {"wasDerivedFrom", "wasGeneratedBy",
                                                        "wasAttributedTo"};

std::string label_of(const Json& node) {
  std::string out = text_of(node);
  for (const char* const key : {"label", "name", "url"}) {
    if (out.empty()) out = text_of(get(node, key));
  }
  return out.empty() ? node.dump() : out;
}

void add_steps(const Json& object, const std::string& of, std::vector<ProvenanceStep>& out) {
  for (const std::string_view relation : kRelations) {
    for (const Json* const one : list_of(get(object, relation))) {
      out.push_back({.of = of,
                     .relation = "prov:" + std::string(relation),
                     .what = label_of(*one),
                     .at = text_of(get(*one, "endedAtTime"))});
    }
  }
}

}  // namespace

std::vector<ProvenanceStep> provenance_of(const Json& document) {
  std::vector<ProvenanceStep> out;
  add_steps(document, "", out);
  for (const Json* const file : list_of(get(document, "distribution"))) {
    add_steps(*file, id_of(*file), out);
  }
  for (const Json* const set : list_of(get(document, "recordSet"))) {
    add_steps(*set, id_of(*set), out);
    for (const Json* const field : list_of(get(*set, "field"))) {
      add_steps(*field, id_of(*field), out);
    }
  }
  return out;
}

Json provenance_graph(const std::vector<ProvenanceStep>& steps, const std::string& dataset_id) {
  Json out = Json::array();
  for (const ProvenanceStep& step : steps) {
    Json target = Json().set("@id", step.what);
    if (!step.at.empty()) {
      target.set("@type", "prov:Activity").set("prov:endedAtTime", step.at);
    }
    out.push_back(Json()
                      .set("@id", step.of.empty() ? dataset_id : dataset_id + "#" + step.of)
                      .set("@type", "prov:Entity")
                      .set(step.relation, std::move(target)));
  }
  return out;
}

}  // namespace assay::dataset::croissant
