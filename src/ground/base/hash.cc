#include "base/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include <array>

#include "base/check.h"
#include "base/format.h"

namespace assay {

std::uint64_t xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

namespace {

using DigestBytes = std::array<unsigned char, EVP_MAX_MD_SIZE>;

std::string hex(const DigestBytes& digest, unsigned int size) {
  std::string out;
  for (unsigned int i = 0; i < size; ++i) out += format("{:02x}", digest[i]);
  return out;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  DigestBytes digest{};
  unsigned int size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  return hex(digest, size);
}

std::string sha1_hex(std::string_view bytes) {
  DigestBytes digest{};
  unsigned int size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1);
  return hex(digest, size);
}

struct Digest::State {
  struct Free {
    void operator()(EVP_MD_CTX* done) const { EVP_MD_CTX_free(done); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
};

Digest::Digest(DigestKind kind) : state_(std::make_unique<State>()) {
  const EVP_MD* const which = kind == DigestKind::md5 ? EVP_md5() : EVP_sha256();
  CHECK(state_->context && EVP_DigestInit_ex(state_->context.get(), which, nullptr) == 1);
}
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::add(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Digest::finish() {
  DigestBytes digest{};
  unsigned int size = 0;
  CHECK(EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size) == 1);
  return hex(digest, size);
}

}  // namespace assay
