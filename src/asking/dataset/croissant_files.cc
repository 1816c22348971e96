#include "dataset/croissant_files.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"

namespace assay::dataset::croissant {
namespace {

constexpr int kContainerDepthMax = 8;
constexpr std::size_t kFilesMax = 1'000'000;

bool matches(const std::vector<std::string>& globs, const std::string& path) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return ::fnmatch(glob.c_str(), path.c_str(), 0) == 0;
  });
}

bool is_url(std::string_view text) { return text.find("://") != std::string_view::npos; }

}  // namespace

Result<InputFile> File::open() const {
  if (archive == nullptr) return InputFile::open(path);
  ASSIGN_OR_RETURN(std::string bytes, archive->read(member));
  return InputFile::of(std::move(bytes));
}

Error Files::wrong(const Resource& resource, std::string_view what) const {
  return invalid(format("distribution > '{}': {}", resource.id, what));
}

Result<std::vector<File>> Files::of(const Resource& resource) { return resolve(resource, 0); }

Result<std::vector<File>> Files::resolve(const Resource& resource, int depth) {
  if (depth > kContainerDepthMax)
    return wrong(resource, "containedIn goes too deep, or in a circle");
  std::vector<File> out;
  if (resource.contained_in.empty()) {
    ASSIGN_OR_RETURN(out, local(resource));
  } else {
    for (const std::string& id : resource.contained_in) {
      const Resource* container = metadata_.resource(id);
      if (container == nullptr) return wrong(resource, format("there is no '{}'", id));
      ASSIGN_OR_RETURN(const std::vector<File> files, resolve(*container, depth + 1));
      for (const File& file : files) {
        ASSIGN_OR_RETURN(std::vector<File> inner, within(file, resource));
        out.insert(out.end(), std::make_move_iterator(inner.begin()),
                   std::make_move_iterator(inner.end()));
      }
    }
    if (out.empty()) {
      return wrong(resource, resource.is_set
                                 ? std::string("no file in its container is matched by includes")
                                 : format("its container has no '{}'", resource.url));
    }
  }
  std::sort(out.begin(), out.end(),
            [](const File& a, const File& b) { return a.full_path < b.full_path; });
  if (!resource.is_set) {
    for (const File& file : out) TRY(check(file, resource));
  }
  return out;
}

Result<std::vector<File>> Files::local(const Resource& resource) {
  if (resource.is_set) {
    ASSIGN_OR_RETURN(std::vector<File> all, folder_files(folder_));
    std::erase_if(all, [&](const File& file) {
      return !matches(resource.includes, file.full_path) ||
             matches(resource.excludes, file.full_path);
    });
    if (all.empty()) return wrong(resource, "no file beside the metadata is matched by includes");
    return all;
  }
  std::string name = resource.url;
  if (is_url(name)) {
    name = name.substr(0, name.find_first_of("?#"));
    while (name.ends_with('/')) name.pop_back();
    name = name.substr(name.rfind('/') + 1);
  }
  if (!is_safe_path(name)) {
    return wrong(resource, format("contentUrl '{}' leaves the metadata's folder", resource.url));
  }
  std::error_code code;
  const std::filesystem::path path = folder_ / name;
  const auto real = std::filesystem::canonical(path, code);
  if (code) {
    return Error{
        Code::not_found,
        format("distribution > '{}': '{}' is not there{}", resource.id, path.string(),
               is_url(resource.url) ? format("; its owners publish it at {}", resource.url) : "")};
  }
  const auto base = std::filesystem::canonical(folder_, code);
  const auto [at, ignored] = std::mismatch(base.begin(), base.end(), real.begin(), real.end());
  if (at != base.end()) {
    return wrong(resource, format("'{}' is a link that leaves the metadata's folder", name));
  }
  return std::vector<File>{{.full_path = name, .path = path}};
}

Result<std::vector<File>> Files::folder_files(const std::filesystem::path& folder) const {
  std::vector<File> out;
  std::error_code code;
  // Links are not followed, so none can lead outside.
  for (auto it = std::filesystem::recursive_directory_iterator(folder, code);
       !code && it != std::filesystem::recursive_directory_iterator(); it.increment(code)) {
    if (!it->is_regular_file(code) || it->is_symlink(code)) continue;
    if (out.size() == kFilesMax) return invalid(format("'{}': too many files", folder.string()));
    out.push_back({.full_path = std::filesystem::relative(it->path(), folder, code).string(),
                   .path = it->path()});
  }
  if (code) return invalid(format("'{}': {}", folder.string(), code.message()));
  return out;
}

Result<std::vector<File>> Files::within(const File& container, const Resource& resource) {
  std::vector<File> all;
  std::error_code code;
  if (container.archive == nullptr && std::filesystem::is_directory(container.path, code)) {
    ASSIGN_OR_RETURN(all, folder_files(container.path));
  } else {
    ASSIGN_OR_RETURN(InputFile file, container.open());
    ASSIGN_OR_RETURN(const std::string head, file.read(0, 2));
    ASSIGN_OR_RETURN(const bool plain, Archive::is_archive(file));
    if (!plain && !head.starts_with("\x1F\x8B")) {
      // A FileSet may contain another one.
      all.push_back(container);
    } else {
      ASSIGN_OR_RETURN(Archive opened, Archive::open(std::move(file), container.full_path));
      const auto archive = std::make_shared<const Archive>(std::move(opened));
      for (const Archive::Member& member : archive->members()) {
        all.push_back({.full_path = member.name, .archive = archive, .member = member});
      }
    }
  }
  std::erase_if(all, [&](const File& file) {
    if (!resource.is_set) return file.full_path != resource.url;
    return !matches(resource.includes, file.full_path) ||
           matches(resource.excludes, file.full_path);
  });
  return all;
}

Result<void> Files::check(const File& file, const Resource& resource) const {
  std::error_code code;
  if (file.archive == nullptr && std::filesystem::is_directory(file.path, code)) return {};
  if (resource.sha256.empty() && resource.md5.empty()) return {};
  ASSIGN_OR_RETURN(const InputFile input, file.open());
  const bool sha = !resource.sha256.empty();
  Digest digest(sha ? DigestKind::sha256 : DigestKind::md5);
  constexpr std::size_t kStep = 1 << 20;
  for (std::uint64_t at = 0; at < input.size(); at += kStep) {
    ASSIGN_OR_RETURN(const std::string bytes, input.read(at, kStep));
    digest.add(bytes);
  }
  const std::string have = digest.finish();
  const std::string& want = sha ? resource.sha256 : resource.md5;
  if (have == want) return {};
  return wrong(resource, format("{} of '{}' is {}, and the metadata says {}",
                                sha ? "sha256" : "md5", file.full_path, have, want));
}

}  // namespace assay::dataset::croissant
