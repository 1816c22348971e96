#include "base/signature.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <memory>

#include "base/format.h"
#include "base/hash.h"

namespace assay {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
};
using KeyHandle = std::unique_ptr<EVP_PKEY, FreeKey>;
struct FreeBio {
  void operator()(BIO* p) const { BIO_free(p); }
};
using Memory = std::unique_ptr<BIO, FreeBio>;
struct FreeDigest {
  void operator()(EVP_MD_CTX* p) const { EVP_MD_CTX_free(p); }
};
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreeDigest>;

constexpr std::size_t kSignatureBytes = 64;

Memory reader(std::string_view text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string contents(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_ctrl(memory, BIO_CTRL_INFO, 0, &data);
  return {data, static_cast<std::size_t>(size)};
}

Result<KeyHandle> checked(EVP_PKEY* raw, std::string_view what) {
  KeyHandle key(raw);
  if (!key || EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) {
    return invalid(format("not an Ed25519 {} key in PEM form (assay key makes one)", what));
  }
  return key;
}

Result<KeyHandle> read_private(std::string_view pem) {
  return checked(PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, nullptr, nullptr), "private");
}

Result<KeyHandle> read_public(std::string_view pem) {
  return checked(PEM_read_bio_PUBKEY(reader(pem).get(), nullptr, nullptr, nullptr), "public");
}

std::string to_public_pem(EVP_PKEY* key) {
  const Memory memory(BIO_new(BIO_s_mem()));
  PEM_write_bio_PUBKEY(memory.get(), key);
  return contents(memory.get());
}

const unsigned char* octets_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Result<KeyPair> make_key_pair() {
  const KeyHandle key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!key) return Error{Code::io, "cannot make a key"};
  const Memory memory(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(memory.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return KeyPair{contents(memory.get()), to_public_pem(key.get())};
}

Result<std::string> sign_ed25519(std::string_view text, std::string_view private_pem) {
  ASSIGN_OR_RETURN(const KeyHandle key, read_private(private_pem));
  const DigestContext digest(EVP_MD_CTX_new());
  std::array<unsigned char, kSignatureBytes> signature{};
  std::size_t size = signature.size();
  if (EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(digest.get(), signature.data(), &size, octets_of(text), text.size()) != 1) {
    return Error{Code::io, "cannot sign"};
  }
  std::string hex;
  for (const unsigned char byte : signature) hex += format("{:02x}", byte);
  return hex;
}

Result<std::string> public_key_of(std::string_view private_pem) {
  ASSIGN_OR_RETURN(const KeyHandle key, read_private(private_pem));
  return to_public_pem(key.get());
}

Result<bool> verify_ed25519(std::string_view text, std::string_view signature_hex,
                            std::string_view public_pem) {
  ASSIGN_OR_RETURN(const KeyHandle key, read_public(public_pem));
  if (signature_hex.size() != 2 * kSignatureBytes) {
    return invalid("a signature is 128 hex digits");
  }
  std::array<unsigned char, kSignatureBytes> signature{};
  for (std::size_t i = 0; i < kSignatureBytes; ++i) {
    const int high = nibble(signature_hex[2 * i]);
    const int low = nibble(signature_hex[2 * i + 1]);
    if (high < 0 || low < 0) return invalid("a signature is 128 lower-case hex digits");
    signature[i] = static_cast<unsigned char>(high * 16 + low);
  }
  const DigestContext digest(EVP_MD_CTX_new());
  if (EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key.get()) != 1) {
    return Error{Code::io, "cannot check a signature"};
  }
  return EVP_DigestVerify(digest.get(), signature.data(), signature.size(), octets_of(text),
                          text.size()) == 1;
}

Result<std::string> normal_public_key(std::string_view public_pem) {
  ASSIGN_OR_RETURN(const KeyHandle key, read_public(public_pem));
  return to_public_pem(key.get());
}

Result<std::string> key_fingerprint(std::string_view public_pem) {
  ASSIGN_OR_RETURN(const KeyHandle key, read_public(public_pem));
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key.get(), &der);
  if (size <= 0) return Error{Code::io, "cannot read the key"};
  const std::string text(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return sha256_hex(text).substr(0, 16);
}

}  // namespace assay
