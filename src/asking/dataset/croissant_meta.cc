#include "dataset/croissant_meta.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "dataset/croissant_json.h"

namespace assay::dataset::croissant {
namespace {

constexpr int kFieldDepthMax = 16;

Error wrong_metadata(std::string_view where, std::string_view what) {
  return invalid(format("{}: {}", where, what));
}

Result<std::vector<Transform>> read_transforms(const Json& value, const std::string& where) {
  std::vector<Transform> out;
  using Kind = Transform::Kind;
  for (const Json* item : list_of(value)) {
    for (const auto& [key, text] : item->members()) {
      const std::string_view name = bare(key);
      if (name.starts_with('@')) continue;
      if (name == "regex") {
        out.push_back({Kind::regex, text_of(text)});
      } else if (name == "separator" || name == "delimiter") {
        out.push_back({Kind::separator, text_of(text)});
      } else if (name == "jsonPath" || name == "jsonQuery") {
        out.push_back({Kind::json_path, text_of(text)});
      } else if (name == "replace") {
        out.push_back({Kind::replace, text_of(text)});
      } else if (name == "readLines") {
        out.push_back({Kind::read_lines, ""});
      } else if (name != "format" && name != "unArchive" && name != "samplingRate") {
        return wrong_metadata(where, format("transform '{}' is not done here", name));
      }
      if (out.size() > 64) return wrong_metadata(where, "too many transforms");
    }
  }
  return out;
}

// Parses "2,3", "-1,3"; the specification also writes "(-1,)".
Result<std::vector<std::int64_t>> read_shape(const Json& value, const std::string& where) {
  std::vector<std::int64_t> out;
  const Json& shape = get(value, "arrayShape");
  std::string text = shape.is_integer() ? shape.dump() : text_of(shape);
  std::erase_if(text, [](char c) { return c == '(' || c == ')' || c == ' '; });
  if (text.ends_with(',')) text.pop_back();
  if (text.empty()) return out;
  for (const std::string_view part : split(text, ',')) {
    const auto size = parse_int(part);
    if (!size || *size < -1 || *size == 0) {
      return wrong_metadata(where,
                            format("arrayShape: '{}' is not a list of sizes (-1: any)", text));
    }
    out.push_back(*size);
  }
  return out;
}

Result<std::int64_t> read_sampling_rate(const Json& value, const std::string& where) {
  const Json& rate = get(value, "samplingRate");
  if (rate.is_null()) return 0;
  const auto hertz = rate.is_string() ? parse_int(rate.as_string()) : rate.as_int(-1);
  if (!hertz || *hertz < 1) return wrong_metadata(where, "samplingRate: expected Hz, above 0");
  return *hertz;
}

Result<Source> read_source(const Json& value, const std::string& where) {
  Source out;
  if (value.is_string()) {
    out.node = value.as_string();
  } else {
    for (const char* key : {"fileObject", "fileSet", "distribution", "recordSet", "field", "@id"}) {
      const std::string node = text_of(get(value, key));
      if (!node.empty()) out.node = node;
    }
  }
  if (out.node.starts_with("#{") && out.node.ends_with('}')) {  // 0.8's references
    out.node = out.node.substr(2, out.node.size() - 3);
  }
  const Json& extract = get(value, "extract");
  const std::string column = text_of(get(extract, "column"));
  const std::string path = text_of(get(extract, "jsonPath"));
  const std::string property = text_of(get(extract, "fileProperty"));
  const int kinds = (column.empty() ? 0 : 1) + (path.empty() ? 0 : 1) + (property.empty() ? 0 : 1);
  if (kinds > 1) return wrong_metadata(where, "extract: one of column, jsonPath and fileProperty");
  if (!path.empty()) {
    out.what = Source::What::json_path;
    out.column = path;
  } else if (!property.empty()) {
    constexpr std::array<std::string_view, 6> kKnown{"fullpath", "filename", "filepath",
                                                     "content",  "lines",    "lineNumbers"};
    if (std::find(kKnown.begin(), kKnown.end(), property) == kKnown.end()) {
      return wrong_metadata(where, format("extract: unknown fileProperty '{}'", property));
    }
    out.what = Source::What::property;
    out.column = "@" + property;
  } else {
    out.column = column;
  }
  ASSIGN_OR_RETURN(out.transforms, read_transforms(get(value, "transform"), where));
  ASSIGN_OR_RETURN(out.sampling_rate, read_sampling_rate(value, where));
  for (const Json* item : list_of(get(value, "transform"))) {
    if (out.sampling_rate > 0) break;
    ASSIGN_OR_RETURN(out.sampling_rate, read_sampling_rate(*item, where));
  }
  if (const std::string replace = text_of(get(value, "replace")); !replace.empty()) {
    out.transforms.push_back({Transform::Kind::replace, replace});
  }
  if (out.node.empty())
    return wrong_metadata(where, "its source names no fileObject, fileSet or field");
  return out;
}

Result<Field> read_field(const Json& value, const std::string& parent, int depth) {
  Field out;
  out.id = id_of(value);
  const std::string where = format("{} > field '{}'", parent, out.id);
  if (out.id.empty()) return wrong_metadata(parent, "a field without @id and name");
  if (depth > kFieldDepthMax) return wrong_metadata(where, "fields within fields, too deep");
  out.name = out.id.substr(out.id.rfind('/') + 1);
  const std::vector<std::string> types = texts_of(get(value, "dataType"));
  if (!types.empty()) out.type = bare(types.front());
  out.repeated = get(value, "repeated").as_bool(false) || get(value, "isArray").as_bool(false);
  ASSIGN_OR_RETURN(out.shape, read_shape(value, where));
  out.value = get(value, "value");
  const Json& source = get(value, "source");
  if (!source.is_null()) {
    ASSIGN_OR_RETURN(out.source, read_source(source, where));
    out.has_source = true;
  }
  const Json& references = get(value, "references");
  if (!references.is_null()) {
    ASSIGN_OR_RETURN(out.references, read_source(references, where + " > references"));
    out.has_references = true;
  }
  for (const Json* child : list_of(get(value, "subField"))) {
    ASSIGN_OR_RETURN(Field field, read_field(*child, where, depth + 1));
    out.children.push_back(std::move(field));
  }
  return out;
}

Result<Resource> read_resource(const Json& value) {
  Resource out;
  out.id = id_of(value);
  if (out.id.empty()) return wrong_metadata("distribution", "a resource without @id and name");
  out.is_set = is_type(value, "FileSet");
  const std::string where = format("distribution > '{}'", out.id);
  if (!out.is_set && !is_type(value, "FileObject")) {
    return wrong_metadata(where, "its @type is neither FileObject nor FileSet");
  }
  out.url = text_of(get(value, "contentUrl"));
  out.contained_in = containers_of(value);
  out.includes = texts_of(get(value, "includes"));
  out.excludes = texts_of(get(value, "excludes"));
  for (const std::string& text : texts_of(get(value, "encodingFormat"))) {
    out.encodings.push_back(lower(text));
  }
  out.sha256 = lower(text_of(get(value, "sha256")));
  out.md5 = lower(text_of(get(value, "md5")));
  if (out.is_set && out.includes.empty()) return wrong_metadata(where, "a FileSet needs includes");
  if (!out.is_set && out.url.empty()) return wrong_metadata(where, "a FileObject needs contentUrl");
  return out;
}

}  // namespace

const Resource* Metadata::resource(std::string_view id) const {
  for (const Resource& candidate : resources) {
    if (candidate.id == id) return &candidate;
  }
  return nullptr;
}

const RecordSet* Metadata::record_set(std::string_view id) const {
  for (const RecordSet& candidate : record_sets) {
    if (candidate.id == id) return &candidate;
  }
  return nullptr;
}

Result<Metadata> parse_metadata(const Json& json) {
  if (!json.is_object() || json["@context"].is_null() || !is_type(json, "Dataset")) {
    return invalid("not a Croissant file: no @context, or its @type is not Dataset");
  }
  Metadata out;
  out.name = text_of(get(json, "name"));
  for (const Json* value : list_of(get(json, "distribution"))) {
    ASSIGN_OR_RETURN(Resource resource, read_resource(*value));
    if (out.resource(resource.id) != nullptr) {
      return wrong_metadata("distribution", format("two resources are called '{}'", resource.id));
    }
    out.resources.push_back(std::move(resource));
  }
  for (const Json* value : list_of(get(json, "recordSet"))) {
    RecordSet& set = out.record_sets.emplace_back();
    set.id = id_of(*value);
    const std::string where = format("recordSet '{}'", set.id);
    if (set.id.empty()) return wrong_metadata("recordSet", "a record set without @id and name");
    for (const Json* field : list_of(get(*value, "field"))) {
      ASSIGN_OR_RETURN(Field read, read_field(*field, where, 0));
      set.fields.push_back(std::move(read));
    }
    const Json& data = get(*value, "data");
    if (data.is_object()) {
      set.data = Json::array().push_back(data);
    } else {
      set.data = data;
    }
    if (!set.data.is_null() && !set.data.is_array())
      return wrong_metadata(where, "data: expected rows");
  }
  for (const Resource& resource : out.resources) {
    for (const std::string& container : resource.contained_in) {
      if (out.resource(container) == nullptr) {
        return wrong_metadata(format("distribution > '{}'", resource.id),
                              format("containedIn names '{}', which is not there", container));
      }
    }
  }
  return out;
}

}  // namespace assay::dataset::croissant
