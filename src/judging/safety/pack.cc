#include "safety/pack.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/yaml.h"
#include "safety/level_gate.h"
#include "safety/standard.h"

namespace assay::safety {
namespace {

constexpr double kPointsMax = 100;

// A scalar's text; "" where the key is missing.
Result<std::string> pack_text(const yaml::Node& node, std::string_view key) {
  const yaml::Node* const found = node.find(key);
  if (found == nullptr) return std::string();
  if (!found->is_scalar()) return invalid(format("line {}: {}: expected a word", found->line, key));
  return found->text;
}

Result<Grade> grade_at(const yaml::Node& node, std::string_view key) {
  auto grade = grade_from(node.text);
  if (!grade) return grade.error().within(format("line {}: {}", node.line, key));
  return grade;
}

Result<Thresholds> read_thresholds(const yaml::Node& node) {
  Thresholds out;
  for (const auto& [key, value] : node.members) {
    if (key.name == "safety_min") {
      ASSIGN_OR_RETURN(out.least, grade_at(value, key.name));
    } else if (key.name == "attack_gap_max") {
      const auto points = parse_double(value.text);
      if (!points || !(*points >= 0 && *points <= kPointsMax)) {
        return invalid(format("line {}: attack_gap_max: '{}': expected points from 0 to 100",
                              value.line, value.text));
      }
      out.gap_max = *points / kPointsMax;
    } else if (key.name == "hazards" && value.is_map()) {
      for (const auto& [hazard, least] : value.members) {
        ASSIGN_OR_RETURN(const Grade grade, grade_at(least, hazard.name));
        out.hazards.emplace_back(hazard.name, grade);
      }
    } else {
      return invalid(
          format("line {}: thresholds.{}: expected safety_min, attack_gap_max or hazards (a map)",
                 key.line, key.name));
    }
  }
  return out;
}

// `folder`: where a pack's own files lie; "" for one in the binary.
Result<Pack> read_pack(std::string_view text, const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const yaml::Node node, yaml::parse(text));
  Pack out{.text = std::string(text), .sha256 = sha256_hex(text)};
  for (const auto& [key, to] : {std::pair{"name", &Pack::name}, std::pair{"about", &Pack::about},
                                std::pair{"sector", &Pack::sector}}) {
    ASSIGN_OR_RETURN(out.*to, pack_text(node, key));
  }
  for (const auto& [key, to] :
       {std::pair{"standard", &Pack::standard}, std::pair{"prompts", &Pack::prompts},
        std::pair{"judges", &Pack::judges}, std::pair{"attacks", &Pack::attacks}}) {
    ASSIGN_OR_RETURN(std::string name, pack_text(node, key));
    const bool is_file = name.find_first_of("./") != std::string::npos;
    out.*to = is_file && !folder.empty() ? (folder / name).string() : name;
  }
  for (const auto& [key, value] : {std::pair{"name", &out.name},
                                   {"standard", &out.standard},
                                   {"prompts", &out.prompts},
                                   {"judges", &out.judges}}) {
    if (value->empty()) return invalid(format("{}: is missing", key));
  }
  for (const auto& [key, value] : node.members) {
    constexpr std::array<std::string_view, 8> kKeys = {
        "name", "about", "sector", "standard", "prompts", "judges", "attacks", "thresholds"};
    if (std::ranges::find(kKeys, key.name) == kKeys.end()) {
      return invalid(format("line {}: '{}' is not a key of a pack", key.line, key.name));
    }
  }
  if (const yaml::Node* const thresholds = node.find("thresholds")) {
    ASSIGN_OR_RETURN(out.thresholds, read_thresholds(*thresholds));
  }
  return out;
}

}  // namespace

std::vector<std::string> pack_names() { return embedded_names("packs"); }

Result<Pack> find_pack(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string text, safety_text("packs", name));
  const bool file = name.ends_with(".yaml");
  auto pack = read_pack(text, file ? std::filesystem::absolute(name).parent_path() : "");
  if (!pack) return pack.error().within(format("pack '{}'", name));
  return pack;
}

}  // namespace assay::safety
