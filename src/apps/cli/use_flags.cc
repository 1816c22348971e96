#include "cli/use_flags.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "dataset/croissant.h"

namespace assay::cli {
namespace {

using dataset::croissant::Allowed;
using dataset::croissant::DataUse;
using dataset::croissant::UseClause;
using dataset::croissant::UseVerdict;

std::optional<bool> yes_of(const std::string& word, std::string_view yes) {
  if (word.empty()) return std::nullopt;
  return word == yes;
}

// {"MONDO:2": ["MONDO:1"]}: a term and those right above it.
Result<void> read_ontology(const std::string& path, DataUse& out) {
  ASSIGN_OR_RETURN(const Json json, read_json_file(path));
  if (!json.is_object()) return invalid(format("--ontology: '{}' is no object", path));
  for (const auto& [term, above] : json.members()) {
    for (const Json& one : above.items()) out.above[term].emplace_back(one.as_string());
    if (above.is_string()) out.above[term].emplace_back(above.as_string());
  }
  return {};
}

std::string reasons(const UseVerdict& verdict) {
  std::string out;
  for (const UseClause& one : verdict.decided) {
    out += format("\n  {}: {}", one.where, one.what);
  }
  return out;
}

}  // namespace

bool UseFlags::given() const {
  for (const std::string* const one :
       {&purpose, &commercial, &nonprofit, &methods, &region, &disease, &ontology}) {
    if (!one->empty()) return true;
  }
  return false;
}

Result<DataUse> UseFlags::use() const {
  DataUse out;
  if (!purpose.empty()) {
    ASSIGN_OR_RETURN(out.purpose, dataset::croissant::purpose_from(purpose));
  }
  out.commercial = yes_of(commercial, "yes");
  out.nonprofit = yes_of(nonprofit, "yes");
  out.develops = yes_of(methods, "develop");
  out.region = region;
  out.disease = disease;
  if (!ontology.empty()) TRY(read_ontology(ontology, out));
  return out;
}

void add_use_flags(Flags& flags, UseFlags& use) {
  static constexpr const char* kUse = "What the data is used for";
  flags
      .add("--purpose", &use.purpose,
           "held against what a Croissant file says of its use; a run whose data may not be used "
           "so is refused")
      .choices(dataset::croissant::purpose_words())
      .group(kUse);
  flags.add("--commercial", &use.commercial, "is the use commercial?")
      .choices({"yes", "no"})
      .group(kUse);
  flags.add("--nonprofit", &use.nonprofit, "is the user a not-for-profit organisation?")
      .choices({"yes", "no"})
      .group(kUse);
  flags.add("--methods", &use.methods, "is a method developed with the data, or applied to it?")
      .choices({"develop", "apply"})
      .group(kUse);
  flags.add("--region", &use.region, "where it is used: a country's two letters, or EU")
      .value("CODE")
      .group(kUse);
  flags.add("--disease", &use.disease, "the disease that is studied, as the policy names it")
      .value("TERM")
      .group(kUse);
  flags
      .add("--ontology", &use.ontology,
           "diseases and those right above them: {\"TERM\": [\"TERM\", …], …}")
      .value("FILE")
      .group(kUse);
}

Result<void> ask_policies(const UseFlags& flags, plan::LoadedConfig& loaded) {
  ASSIGN_OR_RETURN(DataUse use, flags.use());
  for (const plan::DatasetConfig& data : loaded.config.datasets) {
    const bool croissant =
        data.path.starts_with(dataset::kCroissantPrefix) || data.format == "croissant";
    if (!croissant) continue;
    const dataset::CroissantSpec spec = dataset::croissant_spec(data.path);
    use.record_set = spec.record_set;
    const auto json = read_json_file(spec.file);
    if (!json) continue;  // the loader says what is wrong with it
    const UseVerdict verdict = dataset::croissant::judge_use(*json, use);
    if (verdict.allowed == Allowed::deny) {
      return invalid(
          format("dataset '{}': it may not be used so{}\n  nothing was sent; --purpose, "
                 "--commercial and their like state another use",
                 data.path, reasons(verdict)));
    }
    if (verdict.allowed == Allowed::unknown) {
      loaded.notes.push_back(format("dataset '{}': whether it may be used so is unknown{}",
                                    data.path, reasons(verdict)));
    }
  }
  return {};
}

}  // namespace assay::cli
