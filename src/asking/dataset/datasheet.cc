#include "dataset/datasheet.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/json_list.h"
#include "dataset/croissant_check.h"
#include "dataset/croissant_json.h"
#include "dataset/duo.h"
#include "dataset/provenance.h"
#include "dataset/use_policy.h"

namespace assay::dataset {
namespace {

using croissant::get;
using croissant::id_of;
using croissant::list_of;
using croissant::text_of;

constexpr int kSheetDepthMax = 16;

// A text, or the name, address or value that an object is known by.
std::string said(const Json& value) {
  std::string out = text_of(value);
  for (const char* const key : {"name", "url", "value", "termCode"}) {
    if (out.empty()) out = text_of(get(value, key));
  }
  if (out.empty() && (value.is_number() || value.is_bool())) out = value.dump();
  return out;
}

Json all_said(const Json& value) {
  Json out = Json::array();
  for (const Json* const one : list_of(value)) {
    std::string text = said(*one);
    if (!text.empty() && out.size() < kDatasheetRowsMax) out.push_back(std::move(text));
  }
  return out;
}

void set_said(Json& out, std::string_view name, const Json& value) {
  std::string text = said(value);
  if (!text.empty()) out.set(name, std::move(text));
}

// A list of the first rows, and how many there are.
class Rows {
 public:
  void add(Json row) {
    ++count_;
    if (count_ <= kDatasheetRowsMax) rows_.push_back(std::move(row));
  }
  void set_in(Json& out, const std::string& name) {
    out.set(name, std::move(rows_)).set(name + "_total", count_);
  }

 private:
  Json rows_ = Json::array();
  std::uint64_t count_ = 0;
};

Json file_row(const Json& file) {
  Json out = Json()
                 .set("id", id_of(file))
                 .set("kind", croissant::is_type(file, "FileSet") ? "files" : "file");
  set_said(out, "url", get(file, "contentUrl"));
  set_said(out, "format", get(file, "encodingFormat"));
  set_said(out, "size", get(file, "contentSize"));
  set_said(out, "sha256", get(file, "sha256"));
  set_said(out, "includes", get(file, "includes"));
  std::string within;
  for (const std::string& one : croissant::containers_of(file)) {
    within += (within.empty() ? "" : ", ") + one;
  }
  if (!within.empty()) out.set("within", within);
  return out;
}

void add_fields(const Json& parent, const std::string& set, int depth, Rows& out) {
  if (depth > kSheetDepthMax) return;
  for (const char* const key : {"field", "subField"}) {
    for (const Json* const field : list_of(get(parent, key))) {
      Json row = Json().set("record_set", set).set("id", id_of(*field));
      std::string types;
      for (const std::string& type : croissant::texts_of(get(*field, "dataType"))) {
        types += (types.empty() ? "" : ", ") + std::string(croissant::bare(type));
      }
      row.set("type", types);
      set_said(row, "description", get(*field, "description"));
      out.add(std::move(row));
      add_fields(*field, set, depth + 1, out);
    }
  }
}

Json findings_of(const Json& document) {
  std::vector<croissant::Finding> found = croissant::check_document(document.dump());
  croissant::judge_for(croissant::Profile::spec, found);
  Json out = Json::array();
  for (const croissant::Finding& one : found) {
    if (out.size() >= kDatasheetRowsMax) break;
    out.push_back(Json()
                      .set("rule", one.rule)
                      .set("severity", one.error ? "error" : "warning")
                      .set("message", one.what)
                      .set("path", one.where));
  }
  return out;
}

// The members of a policy or a term that name a region.
constexpr std::array<std::string_view, 5> kRegionKeys = {"rightOperand", "region",
                                                         "spatialCoverage", "spatial", "value"};

// Texts of two letters in such members below a usageInfo: each is offered as a region.
void add_regions(const Json& value, bool policy, bool names, int depth,
                 std::set<std::string>& out) {
  if (depth > kSheetDepthMax) return;
  if (names && value.is_string()) {
    const std::string code = croissant::region_code(value.as_string());
    const auto letter = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (code.size() == 2 && std::ranges::all_of(code, letter)) out.insert(code);
  }
  for (const Json& item : value.items()) add_regions(item, policy, names, depth + 1, out);
  for (const auto& [key, member] : value.members()) {
    const std::string_view name = croissant::bare(key);
    const bool below = policy || name == "usageInfo";
    const bool region = std::ranges::find(kRegionKeys, name) != kRegionKeys.end();
    add_regions(member, below, names || (policy && region), depth + 1, out);
  }
}

// "" for not stated, those that the policies are about, and one that no policy names.
std::vector<std::string> regions_of(const Json& document) {
  std::set<std::string> named;
  add_regions(document, false, false, 0, named);
  std::vector<std::string> out = {""};
  bool part_of_union = false;
  for (const std::string& one : named) {
    part_of_union = part_of_union || croissant::in_union(one);
    if (out.size() < kDatasheetRegionsMax) out.push_back(one);
  }
  if (named.contains("EU")) {
    for (const std::string_view country : croissant::union_countries()) {
      if (!named.contains(std::string(country))) out.emplace_back(country);
    }
  } else if (part_of_union) {
    out.emplace_back("EU");
  }
  out.emplace_back(kElsewhere);
  return out;
}

Json words_of(const std::vector<std::optional<bool>>& said, const char* yes, const char* no) {
  return json_list(said.size() > 1 ? std::vector<std::string>{"", yes, no}
                                   : std::vector<std::string>{""});
}

// Every answer, row by row: the last axis runs fastest. What no term asks about has one value: not
// stated.
Json use_of(const Json& document) {
  using croissant::DataUse;
  using Said = std::vector<std::optional<bool>>;
  const std::string text = document.dump();
  const Said all = {std::nullopt, true, false};
  const auto if_asked = [&](std::string_view duo_code) {
    return text.find(duo_code) != std::string::npos ? all : Said{std::nullopt};
  };
  const Said nonprofits = if_asked("0000018");
  const Said methods = if_asked("0000015");
  std::vector<std::string> purposes = croissant::purpose_words();
  purposes.insert(purposes.begin(), "");
  const std::vector<std::string> regions = regions_of(document);
  std::map<std::string, std::size_t> known;
  Json verdicts = Json::array();
  Json answers = Json::array();
  const auto answer = [&](const DataUse& use) {
    Json verdict = croissant::judge_use(document, use).to_json();
    verdict.erase("clauses");
    const auto [at, is_new] = known.try_emplace(verdict.dump(), verdicts.size());
    if (is_new) verdicts.push_back(std::move(verdict));
    answers.push_back(at->second);
  };
  for (const std::string& purpose : purposes) {
    DataUse use;
    use.purpose = croissant::purpose_from(purpose).value_or(croissant::Purpose::unstated);
    for (const auto commercial : all) {
      use.commercial = commercial;
      for (const auto nonprofit : nonprofits) {
        use.nonprofit = nonprofit;
        for (const auto develops : methods) {
          use.develops = develops;
          for (const std::string& region : regions) {
            use.region = region;
            answer(use);
          }
        }
      }
    }
  }
  return Json()
      .set("purposes", json_list(purposes))
      .set("commercial", json_list(std::vector<std::string>{"", "yes", "no"}))
      .set("nonprofit", words_of(nonprofits, "yes", "no"))
      .set("methods", words_of(methods, "develop", "apply"))
      .set("regions", json_list(regions))
      .set("answers", std::move(answers))
      .set("verdicts", std::move(verdicts));
}

// Members of the vocabulary for responsible AI, each with its texts.
Json responsible_of(const Json& document) {
  Json out = Json::array();
  for (const auto& [key, value] : document.members()) {
    if (!key.starts_with("rai:") && key.find("/RAI/") == std::string::npos) continue;
    Json texts = all_said(value);
    if (texts.size() == 0 || out.size() >= kDatasheetRowsMax) continue;
    out.push_back(Json().set("name", croissant::bare(key)).set("says", std::move(texts)));
  }
  return out;
}

}  // namespace

bool is_croissant(const Json& document) {
  if (!document.is_object() || document["@context"].is_null()) return false;
  if (!croissant::is_type(document, "Dataset")) return false;
  const std::vector<std::string> versions = croissant::texts_of(get(document, "conformsTo"));
  return !get(document, "recordSet").is_null() || !get(document, "distribution").is_null() ||
         std::ranges::any_of(versions, [](const std::string& one) {
           return one.find("croissant") != std::string::npos;
         });
}

Json datasheet_of(const Json& document) {
  Json out = Json::object();
  for (const auto& [name, key] :
       {std::pair{"name", "name"}, std::pair{"description", "description"}, std::pair{"url", "url"},
        std::pair{"version", "version"}, std::pair{"published", "datePublished"},
        std::pair{"cite_as", "citeAs"}}) {
    set_said(out, name, get(document, key));
  }
  for (const auto& [name, key] :
       {std::pair{"conforms_to", "conformsTo"}, std::pair{"licences", "license"},
        std::pair{"creators", "creator"}, std::pair{"publishers", "publisher"},
        std::pair{"keywords", "keywords"}, std::pair{"languages", "inLanguage"}}) {
    out.set(name, all_said(get(document, key)));
  }
  Rows files;
  for (const Json* const file : list_of(get(document, "distribution"))) files.add(file_row(*file));
  files.set_in(out, "files");
  Rows fields;
  for (const Json* const set : list_of(get(document, "recordSet"))) {
    add_fields(*set, id_of(*set), 0, fields);
  }
  fields.set_in(out, "fields");
  Rows steps;
  for (const croissant::ProvenanceStep& step : croissant::provenance_of(document)) {
    Json row =
        Json().set("of", step.of).set("relation", step.relation.substr(5)).set("what", step.what);
    if (!step.at.empty()) row.set("at", step.at);
    steps.add(std::move(row));
  }
  steps.set_in(out, "provenance");
  return out.set("responsible_ai", responsible_of(document))
      .set("findings", findings_of(document))
      .set("use", use_of(document));
}

}  // namespace assay::dataset
