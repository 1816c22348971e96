// The parsed content of a Croissant file (JSON-LD, versions 1.0 and 1.1, and 0.8's names): its
// resources and its record sets. Keys may have their prefix or not (cr:recordSet, recordSet, a
// whole IRI); such files use no other part of JSON-LD. Pure.
// docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::dataset::croissant {

struct Resource {
  std::string id{};
  bool is_set = false;  // a FileSet
  std::string url{};    // contentUrl
  std::vector<std::string> contained_in{};
  std::vector<std::string> includes{};
  std::vector<std::string> excludes{};
  std::vector<std::string> encodings{};
  std::string sha256{};
  std::string md5{};
};

struct Transform {
  enum class Kind : std::uint8_t { regex, separator, json_path, replace, read_lines };
  Kind kind = Kind::regex;
  std::string text{};
};

struct Source {
  std::string node{};    // a resource's id, or a record set's
  std::string column{};  // of the node's rows: a column, a JSONPath ("$…"), or "@" + fileProperty
  enum class What : std::uint8_t { column, json_path, property } what = What::column;
  std::vector<Transform> transforms{};
  std::int64_t sampling_rate = 0;  // of audio, in Hz; 0: none is asked for
};

struct Field {
  std::string id{};
  std::string name{};  // the id's last part
  std::string type{};  // "Text", "Integer", …; the first one
  bool has_source = false;
  bool has_references = false;
  bool repeated = false;
  std::vector<std::int64_t> shape{};  // of an array (1.1); -1: the number of values decides
  Source source{};
  Source references{};
  Json value{};
  std::vector<Field> children{};
};

struct RecordSet {
  std::string id{};
  std::vector<Field> fields{};
  Json data{};  // rows inside the metadata file, as a list; else null
};

struct Metadata {
  std::string name{};
  std::vector<Resource> resources{};
  std::vector<RecordSet> record_sets{};

  const Resource* resource(std::string_view id) const;
  const RecordSet* record_set(std::string_view id) const;
};

// An error names the part of the file by its ids.
Result<Metadata> parse_metadata(const Json& json);

}  // namespace assay::dataset::croissant
