#include "safety/standard.h"

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/yaml.h"

namespace assay::safety {
namespace {

const std::vector<EmbeddedFile>& files() {
  static const std::vector<EmbeddedFile> kFiles = embedded_safety();
  return kFiles;
}

std::string text_at(const yaml::Node& node, std::string_view key) {
  const yaml::Node* const found = node.find(key);
  return found != nullptr && found->is_scalar() ? found->text : std::string();
}

std::vector<std::string> words_at(const yaml::Node& node, std::string_view key) {
  std::vector<std::string> out;
  const yaml::Node* const found = node.find(key);
  if (found == nullptr) return out;
  for (const yaml::Node& item : found->items) out.push_back(item.text);
  return out;
}

Result<Taxonomy> read_taxonomy(const yaml::Node& node) {
  Taxonomy out{.name = text_at(node, "name"),
               .personas = words_at(node, "personas"),
               .locales = words_at(node, "locales")};
  const yaml::Node* const hazards = node.find("hazards");
  if (hazards == nullptr || hazards->items.empty()) return invalid("hazards: expected a list");
  for (const yaml::Node& one : hazards->items) {
    Hazard hazard{text_at(one, "id"), text_at(one, "name"), text_at(one, "group")};
    if (hazard.id.empty() || hazard.name.empty()) {
      return invalid(format("line {}: a hazard needs id and name", one.line));
    }
    const bool again = std::ranges::any_of(
        out.hazards, [&hazard](const Hazard& other) { return other.id == hazard.id; });
    if (again) return invalid(format("line {}: hazard '{}' is there twice", one.line, hazard.id));
    out.hazards.push_back(std::move(hazard));
  }
  return out;
}

// By name or file, or in the standard itself.
Result<Taxonomy> taxonomy_of(const yaml::Node& standard) {
  const yaml::Node* const own = standard.find("taxonomy");
  if (own != nullptr && own->is_map()) {
    auto read = read_taxonomy(*own);
    if (!read) return read.error().within("taxonomy");
    return read;
  }
  const std::string wanted = text_at(standard, "taxonomy");
  ASSIGN_OR_RETURN(const std::string text, safety_text("taxonomies", wanted));
  const auto node = yaml::parse(text);
  auto read = node ? read_taxonomy(*node) : Result<Taxonomy>(node.error());
  if (!read) return read.error().within(format("taxonomy '{}'", wanted));
  if (read->name.empty()) read->name = wanted;
  return read;
}

Result<Standard> read_standard(std::string_view text) {
  ASSIGN_OR_RETURN(const yaml::Node node, yaml::parse(text));
  Standard out{.name = text_at(node, "name"),
               .about = text_at(node, "about"),
               .text = std::string(text),
               .sha256 = sha256_hex(text),
               .reference_systems = words_at(node, "reference_systems"),
               .locale = text_at(node, "locale"),
               .prompt_set = text_at(node, "prompt_set")};
  if (out.name.empty()) return invalid("name: is missing");
  auto taxonomy = taxonomy_of(node);
  if (!taxonomy) return taxonomy.error();
  out.personas = std::move(taxonomy->personas);
  out.locales = std::move(taxonomy->locales);
  const yaml::Node* const references = node.find("references");
  if (references == nullptr || !references->is_map() || references->members.empty()) {
    return invalid("references: expected a map from hazards to shares of safe replies");
  }
  for (const auto& [key, value] : references->members) {
    const auto hazard = std::ranges::find(taxonomy->hazards, key.name, &Hazard::id);
    if (hazard == taxonomy->hazards.end()) {
      return invalid(format("line {}: the taxonomy '{}' has no hazard '{}'", key.line,
                            taxonomy->name, key.name));
    }
    auto share = unsafe_share_from(value.text);
    if (!share) return share.error().within(format("line {}: {}", key.line, key.name));
    out.hazards.push_back({*hazard, *share});
  }
  if (out.hazards.size() > 1000) return invalid("references: at most 1,000 hazards");
  return out;
}

}  // namespace

const GradedHazard* Standard::find(std::string_view hazard) const {
  const auto found = std::ranges::find_if(
      hazards, [hazard](const GradedHazard& one) { return one.hazard.id == hazard; });
  return found == hazards.end() ? nullptr : &*found;
}

UnsafeShare Standard::reference() const {
  std::vector<UnsafeShare> shares;
  for (const GradedHazard& one : hazards) shares.push_back(one.reference);
  return mean_of(shares);
}

std::vector<std::string> embedded_names(std::string_view kind) {
  std::vector<std::string> out;
  for (const EmbeddedFile& file : files()) {
    if (!file.name.starts_with(kind) || file.name.find('/') != kind.size()) continue;
    out.push_back(file.name.substr(kind.size() + 1, file.name.size() - kind.size() - 6));
  }
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> standard_names() { return embedded_names("standards"); }

Result<std::string> safety_text(const std::string& kind, const std::string& name) {
  if (name.ends_with(".yaml")) return read_file(name, std::size_t{16} << 20);
  if (const std::string* const text = find_embedded(format("{}/{}.yaml", kind, name))) return *text;
  std::string known;
  for (const std::string& one : embedded_names(kind)) known += "\n  " + one;
  return Error{Code::not_found,
               format("'{}' is not a file in safety/{}; there are{}", name, kind, known)};
}

const std::string* find_embedded(std::string_view name) {
  for (const EmbeddedFile& file : files()) {
    if (file.name == name) return &file.text;
  }
  return nullptr;
}

Result<Standard> find_standard(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string text, safety_text("standards", name));
  auto standard = read_standard(text);
  if (!standard) return standard.error().within(format("standard '{}'", name));
  return standard;
}

std::string_view main_hazard(std::string_view hazard) { return hazard.substr(0, hazard.find('_')); }

}  // namespace assay::safety
