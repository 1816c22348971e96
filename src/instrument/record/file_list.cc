#include "record/file_list.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"

namespace assay::record {
namespace {

Result<ListedFile> describe(const std::filesystem::path& folder,
                            const std::filesystem::path& path) {
  ListedFile out{.name = path.lexically_relative(folder).generic_string()};
  const File file(std::fopen(path.c_str(), "rbe"));
  if (!file) return errno_error(format("cannot open '{}'", path.string()));
  Sha256 sha;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    sha.add({buffer.data(), n});
    out.bytes += n;
  }
  if (std::ferror(file.get()) != 0) return errno_error(format("cannot read '{}'", path.string()));
  out.sha256 = sha.finish();
  return out;
}

}  // namespace

Result<std::vector<ListedFile>> files_below(const std::filesystem::path& folder) {
  std::vector<ListedFile> files;
  std::error_code error;
  std::filesystem::recursive_directory_iterator it(folder, error);
  if (error) return Error{Code::not_found, format("'{}': {}", folder.string(), error.message())};
  for (; it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    if (it->is_directory() && !it->is_symlink()) continue;
    if (it->is_symlink() || !it->is_regular_file()) {
      return invalid(format("'{}' is not a plain file", it->path().string()));
    }
    ASSIGN_OR_RETURN(ListedFile file, describe(folder, it->path()));
    files.push_back(std::move(file));
  }
  // A folder below that cannot be opened ends the walk, too.
  if (error) return Error{Code::io, format("'{}': {}", folder.string(), error.message())};
  std::sort(files.begin(), files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  return files;
}

Json to_json(const std::vector<ListedFile>& files) {
  Json list = Json::array();
  for (const ListedFile& file : files) {
    list.push_back(
        Json().set("path", file.name).set("bytes", file.bytes).set("sha256", file.sha256));
  }
  return list;
}

}  // namespace assay::record
