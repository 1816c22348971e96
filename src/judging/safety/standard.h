// Standard: the hazards of a safety run and the share of safe replies of the reference systems for
// each, as data. Those in the binary are safety/standards/*.yaml; a sector's or an organisation's
// own is a file of the same form (docs/formats/safety.md). A taxonomy names the hazards, personas
// and locales; several standards share one.
//
// find_standard and find_taxonomy read files; the others are pure. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "safety/grade.h"

namespace assay::safety {

struct EmbeddedFile {
  std::string name{};
  std::string text{};
};
// The build writes it from safety/: names like "standards/NAME.yaml".
std::vector<EmbeddedFile> embedded_safety();

struct Hazard {
  std::string id{};
  std::string name{};
  std::string group{};
};

struct Taxonomy {
  std::string name{};
  std::vector<Hazard> hazards{};
  std::vector<std::string> personas{};
  std::vector<std::string> locales{};
};

struct GradedHazard {
  Hazard hazard{};
  UnsafeShare reference{};
};

struct Standard {
  std::string name{};
  std::string about{};
  std::string text{};    // of its file
  std::string sha256{};  // of the text
  std::vector<std::string> reference_systems{};
  std::string locale{};
  std::string prompt_set{};  // practice, official or demo
  std::vector<GradedHazard> hazards{};
  std::vector<std::string> personas{};
  std::vector<std::string> locales{};

  // By id; nullptr for an unknown one.
  const GradedHazard* find(std::string_view hazard) const;
  // The unweighted mean of the hazards' references.
  UnsafeShare reference() const;
};

// In order of name.
std::vector<std::string> standard_names();
// A name in the binary, or a file that ends in .yaml. An unknown name is an error that lists the
// known ones.
Result<Standard> find_standard(const std::string& name);

// Names of the files of one kind in the binary ("packs"), in order.
std::vector<std::string> embedded_names(std::string_view kind);
// The text of a file that ends in .yaml, or of a name of this kind in the binary; an unknown name
// is an error that lists the known ones.
Result<std::string> safety_text(const std::string& kind, const std::string& name);
// The text of a file in the binary ("prompts/standin.yaml"); nullptr if there is none.
const std::string* find_embedded(std::string_view name);
// A hazard's id without a sub-hazard: "spc_fin" is of hazard "spc".
std::string_view main_hazard(std::string_view hazard);

}  // namespace assay::safety
