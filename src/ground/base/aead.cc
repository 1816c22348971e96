#include "base/aead.h"

#include <openssl/evp.h>

#include <memory>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/secret.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::string_view kKeyWord = "assay-seal-key-1 ";

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* p) const { EVP_CIPHER_CTX_free(p); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string SealKey::id() const { return sha256_hex("assay seal key id " + bytes).substr(0, 16); }

std::string new_seal_key_text() {
  std::string out(kKeyWord);
  for (const char c : random_bytes(kKeyBytes)) {
    out += format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out + '\n';
}

Result<SealKey> seal_key_from(std::string_view text) {
  const Error bad = invalid(
      "no seal key: expected \"assay-seal-key-1\" and 64 hex digits (assay "
      "safety key FILE makes one)");
  if (!text.starts_with(kKeyWord)) return bad;
  const std::string_view hex = trim(text.substr(kKeyWord.size()));
  if (hex.size() != 2 * kKeyBytes) return bad;
  SealKey out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_value(hex[i]);
    const int low = hex_value(hex[i + 1]);
    if (high < 0 || low < 0) return bad;
    out.bytes += static_cast<char>(16 * high + low);
  }
  return out;
}

Result<SealKey> read_seal_key(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file, 4096));
  auto key = seal_key_from(text);
  if (!key) return key.error().within(file.string());
  return key;
}

std::string seal_box(const SealKey& key, std::string_view plain, std::string_view about) {
  CHECK(key.bytes.size() == kKeyBytes);
  const std::string nonce = random_bytes(kNonceBytes);
  const Context context(EVP_CIPHER_CTX_new());
  CHECK(context != nullptr);
  CHECK(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key.bytes),
                           bytes_of(std::string_view(nonce))) == 1);
  int done = 0;
  CHECK(EVP_EncryptUpdate(context.get(), nullptr, &done, bytes_of(about),
                          static_cast<int>(about.size())) == 1);
  std::string cipher(plain.size(), '\0');
  CHECK(EVP_EncryptUpdate(context.get(), bytes_of(cipher), &done, bytes_of(plain),
                          static_cast<int>(plain.size())) == 1);
  CHECK(EVP_EncryptFinal_ex(context.get(), bytes_of(cipher) + done, &done) == 1);
  std::string tag(kTagBytes, '\0');
  CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(kTagBytes),
                            tag.data()) == 1);
  return nonce + cipher + tag;
}

Result<std::string> open_box(const SealKey& key, std::string_view box, std::string_view about) {
  CHECK(key.bytes.size() == kKeyBytes);
  const Error bad{Code::corrupt, "it was sealed with another key, or a byte of it was changed"};
  if (box.size() < kNonceBytes + kTagBytes) return bad;
  const std::string_view nonce = box.substr(0, kNonceBytes);
  const std::string_view cipher = box.substr(kNonceBytes, box.size() - kNonceBytes - kTagBytes);
  std::string tag(box.substr(box.size() - kTagBytes));
  const Context context(EVP_CIPHER_CTX_new());
  CHECK(context != nullptr);
  CHECK(EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key.bytes),
                           bytes_of(nonce)) == 1);
  int done = 0;
  CHECK(EVP_DecryptUpdate(context.get(), nullptr, &done, bytes_of(about),
                          static_cast<int>(about.size())) == 1);
  std::string plain(cipher.size(), '\0');
  CHECK(EVP_DecryptUpdate(context.get(), bytes_of(plain), &done, bytes_of(cipher),
                          static_cast<int>(cipher.size())) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(kTagBytes),
                            tag.data()) == 1);
  if (EVP_DecryptFinal_ex(context.get(), bytes_of(plain) + done, &done) != 1) return bad;
  return plain;
}

}  // namespace assay
