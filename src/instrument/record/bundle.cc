#include "record/bundle.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/signature.h"
#include "base/staged.h"
#include "base/text.h"
#include "record/file_list.h"
#include "record/tar.h"

namespace assay::record {
namespace {

constexpr std::string_view kManifest = "MANIFEST.json";
constexpr std::string_view kDigest = "MANIFEST.sha256";
constexpr std::string_view kSignature = "MANIFEST.sig";
constexpr std::uint64_t kManifestBytesMax = std::uint64_t{64} << 20;
constexpr int kVersion = 1;

Error corrupt(std::string message) { return Error{Code::corrupt, std::move(message)}; }

std::string manifest_text(const std::vector<ListedFile>& files, const BundleOptions& options) {
  return Json()
             .set("format", "assay-bundle")
             .set("version", kVersion)
             .set("created", rfc3339(options.created))
             .set("made_by", options.made_by)
             .set("files", to_json(files))
             .dump(2) +
         "\n";
}

// A name that stays inside the folder into which it is unpacked.
bool is_safe(std::string_view name) {
  if (name.find('\\') != std::string_view::npos) return false;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

// The state of check_bundle() while it reads from front to back.
class Checker {
 public:
  Checker(std::string trusted, std::filesystem::path unpack_to)
      : trusted_(std::move(trusted)), unpack_to_(std::move(unpack_to)) {}

  Result<void> begin(const TarMember& member) {
    TRY(end_member());
    member_ = member;
    text_.clear();
    ++count_;
    if (is_text()) {
      if (member.bytes > kManifestBytesMax) return corrupt("the manifest is too large");
      const bool in_place = (count_ == 1) == (member.name == kManifest) &&
                            (count_ == 2) == (member.name == kDigest) &&
                            (member.name != kSignature || count_ == 3);
      return in_place ? Result<void>() : corrupt(format("'{}' is out of its place", member.name));
    }
    if (count_ <= 2) return corrupt("the bundle does not begin with its manifest");
    sha_ = Sha256();
    if (next_ >= bundle_.files.size() || bundle_.files[next_].name != member.name) {
      return corrupt(format("'{}' is not the file that the manifest names here", member.name));
    }
    if (bundle_.files[next_].bytes != member.bytes) {
      return corrupt(format("'{}' has {} bytes, the manifest says {}", member.name, member.bytes,
                            bundle_.files[next_].bytes));
    }
    return open_output();
  }

  Result<void> take(std::string_view bytes) {
    if (is_text()) {
      text_ += bytes;
      return {};
    }
    sha_.add(bytes);
    if (out_ && std::fwrite(bytes.data(), 1, bytes.size(), out_.get()) != bytes.size()) {
      return errno_error(format("cannot write '{}'", member_.name));
    }
    return {};
  }

  Result<Bundle> finish() {
    TRY(end_member());
    if (count_ < 2) return corrupt("the bundle has no manifest");
    if (next_ != bundle_.files.size()) {
      return corrupt(format("'{}' is missing", bundle_.files[next_].name));
    }
    if (!trusted_.empty() && bundle_.public_key_pem.empty()) {
      return corrupt("the bundle is not signed");
    }
    return std::move(bundle_);
  }

 private:
  bool is_text() const { return is_of_bundle(member_.name); }

  Result<void> open_output() {
    if (unpack_to_.empty()) return {};
    const std::filesystem::path path = unpack_to_ / member_.name;
    TRY(make_folders(path.parent_path()));
    out_.reset(std::fopen(path.c_str(), "wbxe"));
    if (!out_) return errno_error(format("cannot create '{}'", path.string()));
    return {};
  }

  Result<void> end_member() {
    if (count_ == 0) return {};
    if (member_.name == kManifest) return read_manifest();
    if (member_.name == kDigest) {
      return text_ == sha256_hex(manifest_) + "\n"
                 ? Result<void>()
                 : corrupt("MANIFEST.json does not fit MANIFEST.sha256");
    }
    if (member_.name == kSignature) return read_signature();
    if (out_ && std::fclose(out_.release()) != 0) {
      return errno_error(format("cannot write '{}'", member_.name));
    }
    if (sha_.finish() != bundle_.files[next_].sha256) {
      return corrupt(format("'{}' was changed: its sha256 is not the manifest's", member_.name));
    }
    ++next_;
    return {};
  }

  Result<void> read_manifest() {
    manifest_ = text_;
    const Result<Json> json = Json::parse(manifest_);
    if (!json) return json.error().within("MANIFEST.json");
    if ((*json)["format"].as_string() != "assay-bundle" ||
        (*json)["version"].as_int() != kVersion) {
      return corrupt("MANIFEST.json: this version cannot read its bundle format");
    }
    bundle_.created = (*json)["created"].as_string();
    for (const Json& file : (*json)["files"].items()) {
      ListedFile entry{.name = std::string(file["path"].as_string()),
                       .bytes = file["bytes"].as_uint(),
                       .sha256 = std::string(file["sha256"].as_string())};
      if (!is_safe(entry.name)) {
        return corrupt(
            format("the manifest names '{}', which is not a place in a folder", entry.name));
      }
      bundle_.files.push_back(std::move(entry));
    }
    return {};
  }

  Result<void> read_signature() {
    const std::size_t end = text_.find('\n');
    if (end == std::string::npos) return corrupt("MANIFEST.sig has no key");
    const std::string key = text_.substr(end + 1);
    const Result<std::string> normal = normal_public_key(key);
    if (!normal || *normal != key) return corrupt("MANIFEST.sig: the key was changed");
    const Result<bool> good = verify_ed25519(manifest_, text_.substr(0, end), key);
    if (!good) return corrupt("MANIFEST.sig: " + good.error().message);
    if (!*good) return corrupt("the signature is not of this manifest");
    ASSIGN_OR_RETURN(bundle_.fingerprint, key_fingerprint(key));
    if (!trusted_.empty()) {
      ASSIGN_OR_RETURN(const std::string wanted, key_fingerprint(trusted_));
      if (wanted != bundle_.fingerprint) {
        return corrupt(
            format("the bundle is signed by {}, not by {}", bundle_.fingerprint, wanted));
      }
    }
    bundle_.public_key_pem = key;
    return {};
  }

  std::string trusted_;
  std::filesystem::path unpack_to_;
  Bundle bundle_{};
  TarMember member_{};
  std::string text_{};
  std::string manifest_{};
  Sha256 sha_{};
  File out_{};
  std::size_t count_ = 0;  // members so far
  std::size_t next_ = 0;   // of bundle_.files
};

void add_text(std::vector<ListedFile>& files, const BundleOptions& options) {
  std::erase_if(files, [&](const ListedFile& file) { return file.name == options.added_name; });
  files.push_back({.name = options.added_name,
                   .bytes = options.added_text.size(),
                   .sha256 = sha256_hex(options.added_text)});
  std::ranges::sort(files, {}, &ListedFile::name);
}

}  // namespace

bool is_of_bundle(std::string_view name) {
  return name == kManifest || name == kDigest || name == kSignature;
}

Result<Bundle> make_bundle(const std::filesystem::path& folder, const std::filesystem::path& out,
                           const BundleOptions& options) {
  Bundle bundle{.created = rfc3339(options.created)};
  ASSIGN_OR_RETURN(bundle.files, files_below(folder));
  // A folder that tar unpacked has another bundle's.
  std::erase_if(bundle.files, [](const ListedFile& file) { return is_of_bundle(file.name); });
  if (!options.added_name.empty()) add_text(bundle.files, options);
  const std::string manifest = manifest_text(bundle.files, options);
  ASSIGN_OR_RETURN(TarWriter tar, TarWriter::create(out));
  TRY(tar.add_text(kManifest, manifest));
  TRY(tar.add_text(kDigest, sha256_hex(manifest) + "\n"));
  if (!options.private_key_pem.empty()) {
    ASSIGN_OR_RETURN(const std::string signature, sign_ed25519(manifest, options.private_key_pem));
    ASSIGN_OR_RETURN(bundle.public_key_pem, public_key_of(options.private_key_pem));
    ASSIGN_OR_RETURN(bundle.fingerprint, key_fingerprint(bundle.public_key_pem));
    TRY(tar.add_text(kSignature, signature + "\n" + bundle.public_key_pem));
  }
  for (const ListedFile& file : bundle.files) {
    if (file.name == options.added_name) {
      TRY(tar.add_text(file.name, options.added_text));
    } else {
      TRY(tar.add_file(file.name, folder / file.name, file.bytes));
    }
  }
  TRY(tar.finish());
  return bundle;
}

Result<Bundle> check_bundle(const std::filesystem::path& bundle, const std::string& trusted_key_pem,
                            const std::filesystem::path& unpack_to) {
  std::optional<StagedFolder> staged;
  if (!unpack_to.empty()) {
    ASSIGN_OR_RETURN(StagedFolder folder, StagedFolder::create(unpack_to));
    staged.emplace(std::move(folder));
  }
  Checker checker(trusted_key_pem, staged ? staged->path() : std::filesystem::path());
  TRY(read_tar(
      bundle, [&](const TarMember& member) { return checker.begin(member); },
      [&](std::string_view bytes) { return checker.take(bytes); }));
  ASSIGN_OR_RETURN(Bundle checked, checker.finish());
  if (staged) TRY(staged->commit());
  return checked;
}

}  // namespace assay::record
