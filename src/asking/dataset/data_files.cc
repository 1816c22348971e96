#include "dataset/data_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/format.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDataFilesMax = 100'000;
constexpr int kFolderDepthMax = 4;
constexpr std::array<std::string_view, 8> kExtensions{"parquet", "jsonl", "ndjson", "json",
                                                      "csv",     "tsv",   "arrow",  "tar"};
// Files of JSON that describe a dataset and hold no rows of it.
constexpr std::array<std::string_view, 6> kAbout{"dataset_info.json", "dataset_infos.json",
                                                 "dataset_dict.json", "state.json",
                                                 "croissant.json",    "metadata.json"};

struct Name {
  std::string part{};
  std::optional<std::uint64_t> number{};  // of "x-00003-of-00009"
  std::uint64_t of = 0;
};

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Splits "train-00000-of-00002" and "train-00000-of-00002-0123abcd".
Name name_of(std::string_view stem) {
  Name out{.part = std::string(stem)};
  constexpr std::string_view kOf = "-of-";
  const std::size_t at = stem.rfind(kOf);
  if (at == std::string_view::npos) return out;
  const std::size_t dash = stem.substr(0, at).rfind('-');
  if (dash == std::string_view::npos) return out;
  const std::string_view number = stem.substr(dash + 1, at - dash - 1);
  std::string_view of = stem.substr(at + kOf.size());
  of = of.substr(0, of.find('-'));
  constexpr std::size_t kDigitsMax = 9;
  if (!all_digits(number) || !all_digits(of) || number.size() > kDigitsMax ||
      of.size() > kDigitsMax) {
    return out;
  }
  out.part = stem.substr(0, dash);
  out.number = static_cast<std::uint64_t>(*parse_int(number));
  out.of = static_cast<std::uint64_t>(*parse_int(of));
  return out;
}

// WebDataset's shards have a number and no count: "train-000012.tar"; "000012.tar" is of "train".
std::string part_of_shard(const std::string& stem) {
  const std::size_t end = stem.find_last_not_of("0123456789");
  if (end == std::string::npos) return "train";
  const bool numbered = end + 1 < stem.size() && (stem[end] == '-' || stem[end] == '_');
  return numbered && end > 0 ? stem.substr(0, end) : stem;
}

struct FolderFile {
  fs::path path{};
  Name name{};
  std::string extension{};
};

// The part's name is the folders, "data" left out, and the split.
FolderFile file_of(const fs::path& folder, const fs::path& path) {
  FolderFile out{.path = path, .extension = extension_of(path)};
  const std::string file = path.filename().string();
  out.name = name_of(file.substr(0, file.find('.')));
  std::string folders;
  const fs::path relative = path.lexically_relative(folder).parent_path();
  for (const fs::path& one : relative) {
    if (one == "data" || one == ".") continue;
    folders += (folders.empty() ? "" : "/") + one.string();
  }
  if (out.extension == "tar" && !out.name.number) out.name.part = part_of_shard(out.name.part);
  // default/train/0000.parquet, train/data-00000-of-00001.arrow: the folder is the split.
  const bool saved = out.extension == "arrow" && out.name.part == "data";
  if ((all_digits(out.name.part) || saved) && !folders.empty()) {
    out.name.part = folders;
  } else if (!folders.empty()) {
    out.name.part = folders + "/" + out.name.part;
  }
  return out;
}

bool is_rows(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string extension = extension_of(path);
  if (name.starts_with("cache-") && extension == "arrow") return false;
  return !name.starts_with('.') && std::find(kAbout.begin(), kAbout.end(), name) == kAbout.end() &&
         std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

using Parts = std::map<std::string, std::vector<FolderFile>>;

// Beside files of rows an archive holds what the rows speak of: pictures, or the sources.
void drop_archives(Parts& parts) {
  const auto is_archive = [](const FolderFile& file) { return file.extension == "tar"; };
  const bool only = std::ranges::all_of(
      parts, [&](const auto& part) { return std::ranges::all_of(part.second, is_archive); });
  if (only) return;
  for (auto& [name, files] : parts) std::erase_if(files, is_archive);
  std::erase_if(parts, [](const auto& part) { return part.second.empty(); });
}

Result<Parts> parts_of(const fs::path& folder) {
  Parts parts;
  std::error_code error;
  std::size_t seen = 0;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (++seen > kDataFilesMax) {
      return invalid(format("'{}': more than {} files; name one", folder.string(), kDataFilesMax));
    }
    std::error_code ignored;
    const fs::path path = at->path();
    const bool hidden = path.filename().string().starts_with('.');
    if (at->is_directory(ignored) && (hidden || at.depth() + 1 >= kFolderDepthMax)) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(ignored) && is_rows(path)) {
      FolderFile file = file_of(folder, path);
      parts[file.name.part].push_back(std::move(file));
    }
  }
  if (error) {
    return Error{Code::io, format("cannot read '{}': {}", folder.string(), error.message())};
  }
  drop_archives(parts);
  return parts;
}

// "default/train" is also called "train" if no other part is.
const std::string* find_part(const Parts& parts, std::string_view wanted) {
  const std::string* found = nullptr;
  for (const auto& [name, files] : parts) {
    if (name == wanted) return &name;
    if (!name.ends_with(format("/{}", wanted))) continue;
    if (found != nullptr) return nullptr;
    found = &name;
  }
  return found;
}

std::string names_of(const Parts& parts) {
  std::string out;
  constexpr std::size_t kEnough = 500;
  for (const auto& [name, files] : parts) {
    if (out.size() > kEnough) return out + ", …";
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

Result<void> check_shards(const std::vector<FolderFile>& files, std::string_view where) {
  std::set<std::uint64_t> numbers;
  for (const FolderFile& file : files) {
    if (file.extension != files.front().extension) {
      return invalid(format("{}: files of several formats ({}, {}); name one of them", where,
                            files.front().path.filename().string(), file.path.filename().string()));
    }
    if (file.name.number.has_value() != files.front().name.number.has_value() ||
        file.name.of != files.front().name.of) {
      return invalid(format("{}: {} and {} do not belong together; name one of them", where,
                            files.front().path.filename().string(), file.path.filename().string()));
    }
    if (file.name.number && !numbers.insert(*file.name.number).second) {
      return invalid(format("{}: two files have the number {}", where, *file.name.number));
    }
  }
  if (!files.front().name.number) return {};
  const std::uint64_t of = files.front().name.of;
  for (std::uint64_t i = 0; i < of; ++i) {
    if (!numbers.contains(i)) {
      return Error{Code::not_found, format("{}: {} of {} files are here; number {} is missing",
                                           where, numbers.size(), of, i)};
    }
  }
  if (numbers.size() != of) return invalid(format("{}: more files than {}", where, of));
  return {};
}

struct FilePlace {
  fs::path folder{};
  std::string part{};
};

FilePlace place_of(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return {path, {}};
  const std::size_t mark = path.rfind('#');
  if (mark == std::string::npos || !fs::is_directory(path.substr(0, mark), ignored)) return {};
  return {path.substr(0, mark), path.substr(mark + 1)};
}

// A folder of datasets.save_to_disk may say in a file of indices which of its rows count, and in
// which order.
bool is_indices(const FolderFile& file) {
  return file.extension == "arrow" && file.path.filename().string().starts_with("indices");
}

}  // namespace

std::string extension_of(const fs::path& path) {
  std::string name = lower(path.filename().string());
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(dot + 1);
}

bool is_data_folder(const std::string& path) { return !place_of(path).folder.empty(); }

Result<DataFiles> data_files(const std::string& path) {
  const FilePlace place = place_of(path);
  const std::string folder = place.folder.string();
  ASSIGN_OR_RETURN(const Parts parts, parts_of(place.folder));
  for (const auto& [name, files] : parts) {
    if (std::ranges::none_of(files, is_indices)) continue;
    return Error{Code::unsupported,
                 format("'{}': its rows are chosen by a file of indices, which is not read; with "
                        "Python: flatten_indices() before save_to_disk",
                        folder)};
  }
  if (parts.empty()) {
    return invalid(
        format("'{}': a folder without a file of rows (parquet, jsonl, json, csv, tsv, arrow, tar)",
               folder));
  }
  if (place.part.empty() && parts.size() > 1) {
    return invalid(format("'{}' has several parts: {}\n  say which: {}#{}", folder, names_of(parts),
                          folder, parts.begin()->first));
  }
  const std::string* const part =
      place.part.empty() ? &parts.begin()->first : find_part(parts, place.part);
  if (part == nullptr) {
    return invalid(
        format("'{}' has no part '{}'; it has: {}", folder, place.part, names_of(parts)));
  }
  std::vector<FolderFile> files = parts.at(*part);
  TRY(check_shards(files, format("'{}#{}'", folder, *part)));
  std::sort(files.begin(), files.end(), [](const FolderFile& a, const FolderFile& b) {
    return a.name.number == b.name.number ? a.path < b.path : a.name.number < b.name.number;
  });
  DataFiles out{.extension = files.front().extension};
  for (const FolderFile& file : files) out.files.push_back(file.path);
  return out;
}

}  // namespace assay::dataset
