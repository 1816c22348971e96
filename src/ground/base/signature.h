// Ed25519 signatures (RFC 8032) over short texts: who vouches for a bundle. Keys are PEM files as
// openssl pkey reads and writes them, so other tools can check a signature. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

struct KeyPair {
  std::string private_pem{};  // PKCS #8; secret
  std::string public_pem{};   // SubjectPublicKeyInfo
};
Result<KeyPair> make_key_pair();

// Returns 128 hex digits. Fails where the PEM is no Ed25519 private key.
Result<std::string> sign_ed25519(std::string_view text, std::string_view private_pem);
Result<std::string> public_key_of(std::string_view private_pem);
// False: the signature is not of this text by this key. Error: the key or the signature is
// malformed.
Result<bool> verify_ed25519(std::string_view text, std::string_view signature_hex,
                            std::string_view public_pem);
// Normal form of a public key's PEM, because the format allows many spellings.
Result<std::string> normal_public_key(std::string_view public_pem);
// The first 16 hex digits of the sha256 of the key's DER, for people to compare.
Result<std::string> key_fingerprint(std::string_view public_pem);

}  // namespace assay
