// Croissant, written: the metadata of one file of rows, or of a folder of files, as version 1.1.
// What a reader needs to fetch, verify and read it stands there: each file with its size and
// sha256, each column with its type, where it comes from (PROV-O). What only a person knows
// (licence, creator) is written where it was given and left out where not. The same files give the
// same bytes: no date is taken from the clock. Pure; any thread. docs/formats/dataset.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::dataset {

struct DescribedFile {
  std::string url{};   // relative to the metadata file
  std::string mime{};  // encodingFormat
  std::uint64_t bytes = 0;
  std::string sha256{};
};

struct DescribedColumn {
  std::string name{};
  std::string type{};  // "sc:Text"
  bool list = false;
  bool operator==(const DescribedColumn&) const = default;
};

// The columns of rows that are shown one by one, in the order in which they came. A column of CSV,
// where all is text, is a number if each of its values is one.
class ColumnFold {
 public:
  explicit ColumnFold(bool texts_are_all) : texts_are_all_(texts_are_all) {}
  void add(const Json& row);
  std::vector<DescribedColumn> columns() const;

 private:
  struct Seen {
    bool text = false;
    bool integer = false;
    bool number = false;
    bool boolean = false;
    bool list = false;
    bool other = false;  // an object, or lists and single values
    bool single = false;
  };
  void see(const Json& value, Seen& seen) const;

  bool texts_are_all_;
  std::vector<std::string> order_{};
  std::map<std::string, Seen> seen_{};
};

struct Description {
  std::string name{};
  std::map<std::string, std::string> facts{};  // description, license, url, creator …
  std::vector<DescribedFile> files{};
  std::vector<DescribedColumn> columns{};  // of files[0]; none: no record set
  Json provenance{};                       // members of the dataset: prov:wasDerivedFrom …
};

// The names that `facts` may have.
const std::vector<std::string_view>& described_facts();
// "" for an ending that rows are not read from.
std::string_view mime_of_rows(std::string_view file);
std::string_view mime_of(std::string_view file);

Json croissant_document(const Description& about);

}  // namespace assay::dataset
