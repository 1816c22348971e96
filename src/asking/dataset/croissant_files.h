// The files of a Croissant resource (in folders or archives) and their rows. Each file becomes rows
// whose columns are what fields extract: a column, a JSONPath, or "@" and a fileProperty. One
// thread.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "dataset/archive.h"
#include "dataset/croissant_meta.h"
#include "dataset/row_source.h"

namespace assay::dataset::croissant {

// A file on disk, or a member of an archive.
struct File {
  std::string full_path{};  // in its container
  std::filesystem::path path{};
  std::shared_ptr<const Archive> archive{};
  Archive::Member member{};

  Result<InputFile> open() const;
};

class Files {
 public:
  // Both must outlive the value. `folder` is the folder of the metadata file.
  Files(const Metadata& metadata, std::filesystem::path folder)
      : metadata_(metadata), folder_(std::move(folder)) {}

  // Returns the files in order of path, after their checksums were compared.
  Result<std::vector<File>> of(const Resource& resource);

 private:
  Result<std::vector<File>> resolve(const Resource& resource, int depth);
  Result<std::vector<File>> local(const Resource& resource);
  Result<std::vector<File>> within(const File& container, const Resource& resource);
  Result<std::vector<File>> folder_files(const std::filesystem::path& folder) const;
  Result<void> check(const File& file, const Resource& resource) const;
  Error wrong(const Resource& resource, std::string_view what) const;

  const Metadata& metadata_;
  std::filesystem::path folder_;
};

// The parts of one resource that the fields of a record set extract.
struct Wanted {
  std::set<std::string> paths{};  // JSONPaths
  bool content = false;
  bool lines = false;
  bool columns = false;
};

// Returns the rows of all files, one file after the other.
std::unique_ptr<RowSource> read_files(std::vector<File> files, const Resource& resource,
                                      Wanted wanted);

}  // namespace assay::dataset::croissant
