#include "dataset/croissant_fact.h"

#include <set>
#include <utility>

#include "base/files.h"
#include "base/hash.h"
#include "dataset/croissant.h"
#include "dataset/croissant_json.h"
#include "dataset/datasheet.h"

namespace assay::dataset {
Json without_rows(const Json& document) {
  Json out = Json::object();
  for (const auto& [key, value] : document.members()) {
    if (croissant::bare(key) != "recordSet") {
      out.set(key, value);
      continue;
    }
    Json sets = Json::array();
    for (const Json* const set : croissant::list_of(value)) {
      Json kept = Json::object();
      for (const auto& [name, member] : set->members()) {
        // Rows inside a description are the data: prompts stay where they are.
        kept.set(name, croissant::bare(name) == "data" ? Json::array() : member);
      }
      sets.push_back(std::move(kept));
    }
    out.set(key, std::move(sets));
  }
  return out;
}

Json croissant_facts(const std::vector<PlannedDataset>& datasets) {
  Json out = Json::array();
  std::set<std::string_view> seen;
  for (const PlannedDataset& planned : datasets) {
    const Dataset& data = planned.dataset;
    const CroissantSpec spec = croissant_spec(data.path);
    const bool may_be = data.path.starts_with(kCroissantPrefix) || spec.file.ends_with(".json");
    if (!may_be || !seen.insert(data.path).second) continue;
    constexpr std::size_t kReadMax = std::size_t{64} << 20;
    const auto text = read_file(spec.file, kReadMax);
    if (!text) continue;
    const auto document = Json::parse(*text);
    if (!document || !is_croissant(*document)) continue;
    Json one = Json()
                   .set("dataset", data.name)
                   .set("file", spec.file)
                   .set("record_set", spec.record_set)
                   .set("sha256", sha256_hex(*text));
    Json kept = without_rows(*document);
    if (kept.dump().size() <= kCroissantFactMax) one.set("document", std::move(kept));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace assay::dataset
