// Bundle: a run folder as one file that everyone can check. A canonical tar (record/tar.h) with
// these members: MANIFEST.json, the sha256 of every other member; MANIFEST.sha256, the manifest's
// own digest; if signed, MANIFEST.sig with an Ed25519 signature of the manifest and the public key;
// then the files in the order of their names. Format: docs/formats/bundle.md.
//
// A successful check proves that no byte has changed since the bundle was made and, if signed, that
// the key's holder made it. Only the manifest's date comes from the clock. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "record/file_list.h"

namespace assay::record {

struct BundleOptions {
  WallTime created{};
  std::string made_by{};          // "assay 0.1.0"
  std::string private_key_pem{};  // "": not signed
  // A file of the bundle that need not be in the folder, and whose place there it takes: what
  // describes the folder is not written into it. "": none.
  std::string added_name{};
  std::string added_text{};
};

struct Bundle {
  std::vector<ListedFile> files{};
  std::string created{};
  std::string public_key_pem{};  // "" without a signature
  std::string fingerprint{};     // of the key
};

// Whether a member is what a bundle says of itself. All others are the folder's.
bool is_of_bundle(std::string_view name);

// Packs every regular file below `folder`, except what a bundle that tar unpacked there said of
// itself; refuses links and other types by name.
Result<Bundle> make_bundle(const std::filesystem::path& folder, const std::filesystem::path& out,
                           const BundleOptions& options);

// Checks everything; Code::corrupt names the first fault. With `trusted_key_pem` the bundle must be
// signed by that key. With `unpack_to`, files are written there (an empty or new folder) while they
// are checked.
Result<Bundle> check_bundle(const std::filesystem::path& bundle,
                            const std::string& trusted_key_pem = {},
                            const std::filesystem::path& unpack_to = {});

}  // namespace assay::record
