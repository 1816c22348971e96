#include "dataset/use_words.h"

#include "base/format.h"
#include "base/json.h"

namespace assay::dataset {
namespace {

using croissant::DataUse;

std::optional<bool> yes_of(const std::string& word, std::string_view yes) {
  if (word.empty()) return std::nullopt;
  return word == yes;
}

// {"MONDO:2": ["MONDO:1"]}: a term and those right above it.
Result<void> read_ontology(const std::string& path, DataUse& out) {
  ASSIGN_OR_RETURN(const Json json, read_json_file(path));
  if (!json.is_object()) return invalid(format("--ontology: '{}' is not an object", path));
  for (const auto& [term, above] : json.members()) {
    for (const Json& one : above.items()) out.above[term].emplace_back(one.as_string());
    if (above.is_string()) out.above[term].emplace_back(above.as_string());
  }
  return {};
}

}  // namespace

bool UseWords::given() const {
  for (const std::string* const one :
       {&purpose, &commercial, &nonprofit, &methods, &region, &disease, &ontology}) {
    if (!one->empty()) return true;
  }
  return false;
}

Result<DataUse> UseWords::use() const {
  DataUse out;
  if (!purpose.empty()) {
    ASSIGN_OR_RETURN(out.purpose, croissant::purpose_from(purpose));
  }
  out.commercial = yes_of(commercial, "yes");
  out.nonprofit = yes_of(nonprofit, "yes");
  out.develops = yes_of(methods, "develop");
  out.region = region;
  out.disease = disease;
  if (!ontology.empty()) TRY(read_ontology(ontology, out));
  return out;
}

}  // namespace assay::dataset
