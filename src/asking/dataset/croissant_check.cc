#include "dataset/croissant_check.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "dataset/croissant.h"
#include "dataset/croissant_json.h"
#include "dataset/croissant_meta.h"
#include "dataset/croissant_value.h"
#include "dataset/json_path.h"

namespace assay::dataset::croissant {
namespace {

constexpr int kCroissantDepthMax = 16;

// Types of values. A field with another type must read a field that has one of these.
constexpr std::array<std::string_view, 26> kTypes = {
    "Boolean",     "Integer",     "Float",       "Number",      "Text",
    "URL",         "Date",        "DateTime",    "Time",        "Int8",
    "Int16",       "Int32",       "Int64",       "UInt8",       "UInt16",
    "UInt32",      "UInt64",      "Float16",     "Float32",     "Float64",
    "ImageObject", "AudioObject", "VideoObject", "BoundingBox", "SegmentationMask",
    "Label"};

// A field at any depth.
struct Place {
  const Json* field = nullptr;
  std::string set{};   // its record set's id
  std::string path{};  // for a person
  bool leaf = true;
  bool top = true;  // directly in the record set
};

struct Ids {
  std::map<std::string, const Json*> resources{};
  std::map<std::string, const Json*> sets{};
  std::map<std::string, Place> fields{};
};

bool is_date(std::string_view text) {
  const auto digits = [&](std::size_t at, std::size_t count) {
    if (at + count > text.size()) return false;
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at),
                       text.begin() + static_cast<std::ptrdiff_t>(at + count),
                       [](char c) { return c >= '0' && c <= '9'; });
  };
  if (text.size() < 10 || !digits(0, 4) || text[4] != '-' || !digits(5, 2) || text[7] != '-' ||
      !digits(8, 2)) {
    return false;
  }
  const auto month = parse_int(text.substr(5, 2)).value_or(0);
  const auto day = parse_int(text.substr(8, 2)).value_or(0);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
         (text.size() == 10 || text[10] == 'T' || text[10] == ' ');
}

bool is_semver(std::string_view text) {
  int parts = 0;
  for (const std::string_view part : split(text.substr(0, text.find_first_of("-+")), '.')) {
    if (!parse_uint(part)) return false;
    ++parts;
  }
  return parts == 3;
}

class Checker {
 public:
  std::vector<Finding> run(const Json& json) {
    if (!json.is_object() || !is_type(json, "Dataset")) {
      error("dataset-type", "the dataset", "its @type is not sc:Dataset");
      return std::move(findings_);
    }
    if (!json["@context"].is_object()) {
      error("context", "the dataset", "there is no @context, or it is not an object");
    }
    context_ = json["@context"];
    version_1_1_ = false;
    for (const std::string& text : texts_of(get(json, "conformsTo"))) {
      version_1_1_ = version_1_1_ || text.ends_with("/1.1");
    }
    live_ = get(json, "isLiveDataset").as_bool(false);
    dataset(json);
    collect(json);
    for (const Json* one : list_of(get(json, "distribution"))) resource(*one);
    for (const Json* one : list_of(get(json, "recordSet"))) record_set(*one);
    for (const auto& [id, place] : ids_.fields) field(id, place);
    return std::move(findings_);
  }

 private:
  void error(std::string_view rule, const std::string& where, std::string what) {
    findings_.push_back({true, std::string(rule), where, std::move(what)});
  }
  void warn(std::string_view rule, const std::string& where, std::string what) {
    findings_.push_back({false, std::string(rule), where, std::move(what)});
  }

  void dataset(const Json& json) {
    for (const char* key : {"name", "description", "url", "license", "creator", "datePublished",
                            "citeAs", "version"}) {
      if (!get(json, key).is_null()) continue;
      warn("recommended", "the dataset", format("there is no {}", key));
    }
    for (const char* key : {"datePublished", "dateCreated", "dateModified"}) {
      for (const std::string& text : texts_of(get(json, key))) {
        if (!is_date(text)) {
          error("date", "the dataset", format("{}: '{}' is not an ISO 8601 date", key, text));
        }
      }
    }
    if (get(json, "conformsTo").is_null()) {
      warn("recommended", "the dataset", "there is no conformsTo: it is read as version 1.0");
    }
    const std::string version = text_of(get(json, "version"));
    if (!version.empty() && !is_semver(version)) {
      warn("version", "the dataset", format("'{}' is not MAJOR.MINOR.PATCH", version));
    }
    named(json, "the dataset");
  }

  // A key without a prefix that @context does not have is another vocabulary's, and is not read.
  void in_context(const Json& object, std::string_view key, const std::string& where) {
    const bool own = context_["@vocab"].as_string().find("croissant") != std::string_view::npos;
    if (object.find(key) == nullptr || context_.find(key) != nullptr || own) return;
    error("context", where, format("'{}' is not in @context, so it is not read", key));
  }

  // Checks a name: a text, or from 1.1 a text for each language.
  void named(const Json& object, const std::string& where) {
    const Json& name = get(object, "name");
    if (name.is_null() || name.is_string()) return;
    if (!version_1_1_) return error("name", where, "its name is not text");
    for (const Json* one : list_of(name)) {
      const bool tagged = one->is_object() && (*one)["@value"].is_string();
      const auto texts = [](const Json& value) {
        return std::all_of(value.members().begin(), value.members().end(),
                           [](const auto& member) { return member.second.is_string(); });
      };
      if (!tagged && !(one->is_object() && texts(*one)) && !one->is_string()) {
        error("language", where, "its name is neither text nor a text for each language");
      }
    }
  }

  bool has_id(const Json& object, const std::string& where) {
    const std::string id = id_of(object);
    if (id.empty()) {
      error("id", where, "it has no @id");
      return false;
    }
    if (id.find(' ') != std::string::npos) error("id", where, format("'{}' has a space", id));
    if (!seen_.insert(id).second) error("id", where, format("'{}' is there twice", id));
    return true;
  }

  void collect(const Json& json) {
    for (const Json* one : list_of(get(json, "distribution"))) {
      if (has_id(*one, "distribution")) ids_.resources[id_of(*one)] = one;
    }
    for (const Json* one : list_of(get(json, "recordSet"))) {
      if (!has_id(*one, "recordSet")) continue;
      const std::string id = id_of(*one);
      ids_.sets[id] = one;
      for (const Json* field : list_of(get(*one, "field"))) {
        collect_field(*field, id, format("recordSet '{}'", id), 0);
      }
    }
  }

  void collect_field(const Json& field, const std::string& set, const std::string& above,
                     int depth) {
    if (depth > kCroissantDepthMax)
      return error("field-depth", above, "fields within fields, too deep");
    if (!has_id(field, above + " > field")) return;
    const std::string id = id_of(field);
    const std::string path = format("{} > field '{}'", above, id);
    const std::vector<const Json*> parts = list_of(get(field, "subField"));
    ids_.fields[id] = {&field, set, path, parts.empty(), depth == 0};
    for (const Json* part : parts) collect_field(*part, set, path, depth + 1);
  }

  void resource(const Json& one) {
    const std::string id = id_of(one);
    const std::string where = format("distribution > '{}'", id);
    const bool is_set = is_type(one, "FileSet");
    if (!is_set && !is_type(one, "FileObject")) {
      return error("resource-type", where, "its @type is neither cr:FileObject nor cr:FileSet");
    }
    if (texts_of(get(one, "encodingFormat")).empty()) {
      error("file-encoding", where, "there is no encodingFormat");
    }
    const std::vector<std::string> containers = containers_of(one);
    for (const std::string& container : containers) {
      if (!ids_.resources.contains(container)) {
        error("reference", where, format("containedIn names '{}', which is not there", container));
      }
    }
    if (!containers.empty() && is_in_itself(id)) {
      error("file-circle", where, "containedIn goes in a circle");
    }
    if (is_set) {
      if (texts_of(get(one, "includes")).empty()) {
        error("file-includes", where, "a FileSet needs includes");
      }
      return;
    }
    if (!containers.empty()) return;
    if (text_of(get(one, "contentUrl")).empty()) {
      error("file-url", where, "a FileObject needs contentUrl");
    }
    const bool sum = !get(one, "sha256").is_null() || !get(one, "md5").is_null();
    if (!live_ && !sum) error("file-checksum", where, "there is neither sha256 nor md5");
  }

  bool is_in_itself(const std::string& id) const {
    std::set<std::string> reached;
    std::vector<std::string> next{id};
    while (!next.empty()) {
      const auto at = ids_.resources.find(next.back());
      next.pop_back();
      if (at == ids_.resources.end()) continue;
      for (const std::string& container : containers_of(*at->second)) {
        if (container == id) return true;
        if (reached.insert(container).second) next.push_back(container);
      }
    }
    return false;
  }

  // Returns the id that a source or a reference reads; "" if it names nothing.
  static std::string node_of(const Json& source) {
    if (source.is_string()) return std::string(source.as_string());
    for (const char* key : {"field", "fileObject", "fileSet", "recordSet", "distribution", "@id"}) {
      const std::string id = text_of(get(source, key));
      if (!id.empty()) return id;
    }
    return {};
  }

  bool is_known(const std::string& id) const {
    return ids_.resources.contains(id) || ids_.sets.contains(id) || ids_.fields.contains(id);
  }

  // Returns the record set of a field, which has its rows.
  std::string rows_of(const std::string& id) const {
    const auto at = ids_.fields.find(id);
    return at == ids_.fields.end() ? id : at->second.set;
  }

  void record_set(const Json& one) {
    const std::string id = id_of(one);
    const std::string where = format("recordSet '{}'", id);
    if (!is_type(one, "RecordSet")) error("set-type", where, "its @type is not cr:RecordSet");
    named(one, where);
    const std::vector<const Json*> fields = list_of(get(one, "field"));
    for (const std::string& key : texts_of(get(one, "key"))) {
      if (!ids_.fields.contains(key)) {
        warn("set-key", where, format("its key '{}' is not a field", key));
      }
    }
    const Json& data = get(one, "data");
    if (!data.is_null()) return rows(data, fields, where);
    bool any = false;
    for (const Json* field : fields) any = any || !get(*field, "source").is_null();
    for (const Json* field : fields) {
      const bool bare_field = get(*field, "source").is_null() && get(*field, "value").is_null() &&
                              get(*field, "references").is_null() &&
                              list_of(get(*field, "subField")).empty();
      if (!bare_field) continue;
      const std::string what = format("field '{}' has neither source nor value", id_of(*field));
      any ? warn("field-source", where, what) : error("field-source", where, what);
    }
    joins(fields, where);
  }

  // Checks rows inside the metadata file.
  // In JSON-LD a list of one element may stand without its brackets.
  void rows(const Json& data, const std::vector<const Json*>& fields, const std::string& where) {
    if (!data.is_array() && !data.is_object()) {
      return error("set-data", where, "its data is not a list");
    }
    const std::vector<const Json*> list = list_of(data);
    if (list.empty()) return error("set-data", where, "its data is empty");
    std::set<std::string> wanted;
    for (const Json* field : fields) wanted.insert(id_of(*field));
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::set<std::string> have;
      for (const auto& [key, value] : list[i]->members()) have.insert(key);
      if (!list[i]->is_object() || have != wanted) {
        return error("set-data", where, format("row {}: its keys are not the fields' ids", i + 1));
      }
    }
  }

  // Checks that fields of several sources have a reference between each two of them.
  void joins(const std::vector<const Json*>& fields, const std::string& where) {
    std::set<std::string> sources;
    std::set<std::pair<std::string, std::string>> joined;
    for (const Json* field : fields) {
      const std::string source = node_of(get(*field, "source"));
      const std::string other = node_of(get(*field, "references"));
      if (source.empty()) continue;
      sources.insert(rows_of(source));
      if (other.empty()) continue;
      joined.emplace(rows_of(source), rows_of(other));
      joined.emplace(rows_of(other), rows_of(source));
    }
    for (auto left = sources.begin(); left != sources.end(); ++left) {
      for (auto right = std::next(left); right != sources.end(); ++right) {
        if (joined.contains({*left, *right})) continue;
        error("set-join", where,
              format("its fields come from '{}' and '{}', and no references join them", *left,
                     *right));
      }
    }
  }

  void field(const std::string& id, const Place& place) {
    const Json& one = *place.field;
    const std::string& where = place.path;
    if (!is_type(one, "Field")) error("field-type", where, "its @type is not cr:Field");
    named(one, where);
    in_context(one, "source", where);
    if (place.leaf && place.top) in_context(one, "dataType", where);
    const Json& source = get(one, "source");
    const Json& value = get(one, "value");
    if (!source.is_null() && !value.is_null()) {
      error("field-source", where, "it has a source and a value");
    }
    if (!source.is_null()) check_source(source, where);
    const Json& references = get(one, "references");
    if (!references.is_null()) check_node(references, where + " > references");
    array(one, where);
    if (place.leaf && place.top) data_type(id, where);
  }

  void array(const Json& one, const std::string& where) {
    const std::string shape = text_of(get(one, "arrayShape"));
    if (shape.empty()) return;
    if (!get(one, "isArray").as_bool(false)) {
      error("field-array", where, "it has an arrayShape and is not an array (isArray)");
    }
    for (const std::string_view part : split(shape, ',')) {
      const auto number = parse_int(trim(part));
      if (!number) {
        return error("field-array", where,
                     format("arrayShape '{}' is not a list of whole numbers", shape));
      }
      if (*number == 0 || *number < -1) {
        warn("field-array", where, format("arrayShape '{}' has no such dimension", shape));
      }
    }
  }

  // Checks that the field, or the field that it reads, has a type of values.
  void data_type(const std::string& id, const std::string& where) {
    std::set<std::string> seen;
    std::string at = id;
    while (seen.insert(at).second) {
      const auto found = ids_.fields.find(at);
      if (found == ids_.fields.end()) break;
      for (const std::string& text : texts_of(get(*found->second.field, "dataType"))) {
        const std::string_view type = bare(text);
        if (std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end()) return;
      }
      at = node_of(get(*found->second.field, "source"));
    }
    error("field-data-type", where, "neither it nor what it reads has a dataType of values");
  }

  void check_node(const Json& source, const std::string& where) {
    int named_nodes = 0;
    for (const char* key : {"field", "fileObject", "fileSet", "recordSet", "distribution"}) {
      named_nodes += get(source, key).is_null() ? 0 : 1;
    }
    if (named_nodes > 1) error("source", where, "it names more than one of field and files");
    const std::string node = node_of(source);
    if (node.empty()) return error("source", where, "it names no field, fileObject or fileSet");
    if (!is_known(node)) error("reference", where, format("there is no '{}'", node));
  }

  void check_source(const Json& source, const std::string& where) {
    check_node(source, where);
    const Json& extract = get(source, "extract");
    int kinds = 0;
    for (const char* key : {"column", "jsonPath", "fileProperty"}) {
      kinds += get(extract, key).is_null() ? 0 : 1;
    }
    if (kinds > 1) error("extract", where, "extract: one of column, jsonPath and fileProperty");
    const std::string path = text_of(get(extract, "jsonPath"));
    if (!path.empty()) check_path(path, where);
    for (const Json* one : list_of(get(source, "transform"))) check_transform(*one, where);
  }

  void check_path(const std::string& path, const std::string& where) {
    if (const auto parsed = JsonPath::parse(path); !parsed) {
      error("json-path", where, parsed.error().message);
    }
  }

  void check_transform(const Json& one, const std::string& where) {
    int kinds = 0;
    for (const char* key : {"format", "jsonPath", "regex", "replace", "separator"}) {
      kinds += text_of(get(one, key)).empty() ? 0 : 1;
    }
    if (kinds > 1) error("transform", where, "a transform does one thing: make it several");
    const bool other = get(one, "readLines").as_bool(false) || get(one, "unArchive").as_bool(false);
    if (kinds == 0 && !other) error("transform", where, "a transform that says nothing to do");
    const std::string regex = text_of(get(one, "regex"));
    if (!regex.empty()) {
      if (const auto compiled = GroupRegex::compile(regex); !compiled) {
        warn("regex", where, compiled.error().message);
      } else if (regex.find('(') == std::string::npos) {
        warn("regex", where, format("'{}' captures nothing, so the value stays as it is", regex));
      }
    }
    const std::string path = text_of(get(one, "jsonPath"));
    if (!path.empty()) check_path(path, where);
  }

  std::vector<Finding> findings_{};
  std::set<std::string> seen_{};
  Ids ids_{};
  Json context_{};
  bool version_1_1_ = false;
  bool live_ = false;
};

}  // namespace

std::optional<Profile> profile_from(std::string_view name) {
  if (name == "mlcroissant") return Profile::mlcroissant;
  if (name == "spec") return Profile::spec;
  if (name == "assay") return Profile::assay;
  return std::nullopt;
}

void judge_for(Profile profile, std::vector<Finding>& findings) {
  // The specification recommends a citation and a version, and requires the others.
  const auto required = [](const Finding& one) {
    return one.rule != "recommended" ||
           (one.what != "there is no citeAs" && one.what != "there is no version");
  };
  switch (profile) {
    case Profile::mlcroissant:
      return;
    case Profile::spec:
      for (Finding& one : findings) {
        one.error = one.error || (required(one) && one.rule != "file");
        if (one.error && one.rule == "recommended") one.rule = "required";
      }
      return;
    case Profile::assay:
      std::erase_if(findings, [](const Finding& one) {
        return !one.error && (one.rule == "recommended" || one.rule == "version");
      });
      for (Finding& one : findings) one.error = true;
      return;
  }
}

std::vector<Finding> check_document(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json) return {{true, "json", "the file", json.error().message}};
  return Checker().run(*json);
}

std::vector<Finding> check_rows(const std::filesystem::path& file, std::uint64_t rows_max) {
  std::vector<Finding> out;
  const auto text = read_file(file, std::size_t{64} << 20);
  if (!text) return {{true, "file", file.string(), text.error().message}};
  const auto json = Json::parse(*text);
  const auto metadata = json ? parse_metadata(*json) : Result<Metadata>(json.error());
  if (!metadata) return {{true, "rows", file.string(), metadata.error().message}};
  for (const RecordSet& set : metadata->record_sets) {
    const std::string where = format("recordSet '{}'", set.id);
    auto source = open_croissant(format("{}#{}", file.string(), set.id));
    Result<void> state = source ? Result<void>() : Result<void>(source.error());
    for (std::uint64_t i = 0; state && i < rows_max; ++i) {
      const auto row = (*source)->next();
      if (!row) state = row.error();
      if (!row || !*row) break;
    }
    if (state) continue;
    const bool absent = state.error().code == Code::not_found;
    out.push_back({!absent, absent ? "file" : "rows", where, state.error().message});
  }
  return out;
}

}  // namespace assay::dataset::croissant
