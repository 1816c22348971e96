#include "dataset/croissant_write.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMimes = {
    {{".jsonl", "application/jsonlines"},
     {".csv", "text/csv"},
     {".tsv", "text/tab-separated-values"},
     {".parquet", "application/x-parquet"},
     {".json", "application/json"}}};

// The context that the specification recommends, with the terms that are used.
Json context() {
  Json out = Json::object();
  out.set("@language", "en").set("@vocab", "https://schema.org/");
  constexpr std::array<std::string_view, 15> kOwn = {
      "arrayShape", "citeAs",        "column",    "containedIn", "extract",
      "field",      "fileObject",    "fileSet",   "key",         "format",
      "isArray",    "isLiveDataset", "recordSet", "source",      "transform"};
  for (const std::string_view term : kOwn) out.set(term, format("cr:{}", term));
  return out.set("conformsTo", "dct:conformsTo")
      .set("cr", "http://mlcommons.org/croissant/")
      .set("dataType", Json().set("@id", "cr:dataType").set("@type", "@vocab"))
      .set("dct", "http://purl.org/dc/terms/")
      .set("prov", "http://www.w3.org/ns/prov#")
      .set("sc", "https://schema.org/");
}

// An id has no spaces, and is a part of another after a '/'.
std::string written_id(const std::string& name, std::set<std::string>& taken) {
  std::string out = name;
  for (char& c : out) {
    const bool plain = c > ' ' && c != '/' && c != '#' && c != '?' && c != '"' && c != '<' &&
                       c != '>' && c != '\\' && c != '^' && c != '`' && c != '{' && c != '|' &&
                       c != '}' && c != '%' && static_cast<unsigned char>(c) < 127;
    if (!plain) c = '_';
  }
  const std::string base = out.empty() ? "column" : out;
  out = base;
  for (std::size_t again = 2; !taken.insert(out).second; ++again)
    out = format("{}-{}", base, again);
  return out;
}

Json file_json(const DescribedFile& file) {
  return Json()
      .set("@type", "cr:FileObject")
      .set("@id", file.url)
      .set("name", file.url)
      .set("contentUrl", file.url)
      .set("contentSize", format("{} B", file.bytes))
      .set("encodingFormat", file.mime)
      .set("sha256", file.sha256);
}

Json record_set(const Description& about) {
  Json fields = Json::array();
  std::set<std::string> taken;
  for (const DescribedColumn& column : about.columns) {
    Json source = Json()
                      .set("fileObject", Json().set("@id", about.files.front().url))
                      .set("extract", Json().set("column", column.name));
    Json field = Json()
                     .set("@type", "cr:Field")
                     .set("@id", "rows/" + written_id(column.name, taken))
                     .set("name", column.name)
                     .set("dataType", column.type);
    if (column.list) field.set("isArray", true).set("arrayShape", "-1");
    fields.push_back(field.set("source", std::move(source)));
  }
  return Json()
      .set("@type", "cr:RecordSet")
      .set("@id", "rows")
      .set("name", "rows")
      .set("field", std::move(fields));
}

bool is_number_text(std::string_view text, bool whole) {
  return whole ? parse_int(text).has_value() : parse_double(text).has_value();
}

}  // namespace

void ColumnFold::see(const Json& value, Seen& seen) const {
  if (value.is_null()) return;
  if (value.is_bool()) {
    seen.boolean = true;
  } else if (value.is_integer()) {
    seen.integer = true;
  } else if (value.is_number()) {
    seen.number = true;
  } else if (!value.is_string()) {
    seen.other = true;
  } else if (!texts_are_all_) {
    seen.text = true;
  } else if (const std::string_view text = value.as_string(); !text.empty()) {
    const bool whole = is_number_text(text, true);
    seen.integer = seen.integer || whole;
    seen.number = seen.number || (!whole && is_number_text(text, false));
    seen.text = seen.text || (!whole && !is_number_text(text, false));
  }
}

void ColumnFold::add(const Json& row) {
  for (const auto& [name, value] : row.members()) {
    const auto [at, is_new] = seen_.try_emplace(name);
    if (is_new) order_.push_back(name);
    Seen& seen = at->second;
    if (!value.is_array()) {
      seen.single = seen.single || !value.is_null();
      see(value, seen);
      continue;
    }
    seen.list = true;
    for (const Json& one : value.items()) see(one, seen);
  }
}

std::vector<DescribedColumn> ColumnFold::columns() const {
  std::vector<DescribedColumn> out;
  for (const std::string& name : order_) {
    const Seen& seen = seen_.at(name);
    DescribedColumn one{.name = name, .type = "sc:Text"};
    // Values of several kinds are read as text, as they stand.
    const bool mixed = seen.other || (seen.list && seen.single) ||
                       int{seen.text} + int{seen.boolean} + int{seen.integer || seen.number} > 1;
    if (!mixed) {
      one.list = seen.list;
      if (seen.number) {
        one.type = "sc:Float";
      } else if (seen.integer) {
        one.type = "sc:Integer";
      } else if (seen.boolean) {
        one.type = "sc:Boolean";
      }
    }
    out.push_back(std::move(one));
  }
  return out;
}

const std::vector<std::string_view>& described_facts() {
  static const std::vector<std::string_view> kFacts = {
      "name",   "description",   "license", "url",      "creator",
      "citeAs", "datePublished", "version", "keywords", "derivedFrom"};
  return kFacts;
}

std::string_view mime_of_rows(std::string_view file) {
  for (const auto& [ending, mime] : kMimes) {
    if (ending != ".json" && file.ends_with(ending)) return mime;
  }
  return {};
}

std::string_view mime_of(std::string_view file) {
  for (const auto& [ending, mime] : kMimes) {
    if (file.ends_with(ending)) return mime;
  }
  if (file.ends_with(".yaml")) return "application/yaml";
  if (file.ends_with(".html")) return "text/html";
  if (file.ends_with(".txt")) return "text/plain";
  return "application/octet-stream";
}

Json croissant_document(const Description& about) {
  const auto fact = [&about](const char* key, const char* otherwise) {
    const auto found = about.facts.find(key);
    return found == about.facts.end() ? std::string(otherwise) : found->second;
  };
  Json out = Json()
                 .set("@context", context())
                 .set("@type", "sc:Dataset")
                 .set("conformsTo", "http://mlcommons.org/croissant/1.1")
                 .set("name", about.name)
                 .set("description", fact("description", "Described by Assay from its files."))
                 .set("version", fact("version", "1.0.0"));
  for (const char* const key : {"license", "url", "citeAs", "datePublished", "keywords"}) {
    if (const std::string value = fact(key, ""); !value.empty()) out.set(key, value);
  }
  if (const std::string creator = fact("creator", ""); !creator.empty()) {
    out.set("creator", Json().set("@type", "sc:Organization").set("name", creator));
  }
  out.set("distribution", json_list(about.files, file_json));
  if (!about.columns.empty()) out.set("recordSet", Json::array().push_back(record_set(about)));
  for (const auto& [key, value] : about.provenance.members()) out.set(key, value);
  if (const std::string from = fact("derivedFrom", ""); !from.empty()) {
    out.set("prov:wasDerivedFrom", Json().set("@id", from));
  }
  return out;
}

}  // namespace assay::dataset
