// Bundle: a run folder as one file that anybody can check. A canonical tar (record/tar.h) whose
// first member is MANIFEST.json, the sha256 of every other member; then MANIFEST.sha256, the
// manifest's own digest; then, when signed, MANIFEST.sig with an Ed25519 signature of the manifest
// and the public key; then the files in the order of their names. Format: docs/formats/bundle.md.
//
// What a check proves: no byte has changed since the bundle was made; and, when it is signed, that
// the holder of the key made it. Reads the clock only for the manifest's date. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "record/file_list.h"

namespace assay::record {

struct BundleOptions {
  WallTime created{};
  std::string made_by{};          // "assay 0.1.0"
  std::string private_key_pem{};  // "": not signed
};

struct Bundle {
  std::vector<ListedFile> files{};
  std::string created{};
  std::string public_key_pem{};  // "" when it is not signed
  std::string fingerprint{};     // of the key
};

// Every regular file below `folder`; links and other things are refused by name.
Result<Bundle> make_bundle(const std::filesystem::path& folder, const std::filesystem::path& out,
                           const BundleOptions& options);

// Checks everything; Code::corrupt names the first thing that is wrong. With `trusted_key_pem` the
// bundle must be signed by that key. With `unpack_to`, files are written there (an empty or new
// folder) while they are checked.
Result<Bundle> check_bundle(const std::filesystem::path& bundle,
                            const std::string& trusted_key_pem = {},
                            const std::filesystem::path& unpack_to = {});

}  // namespace assay::record
