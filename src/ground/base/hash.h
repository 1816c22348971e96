// Checksums and digests. xxh3 guards blocks against torn writes and bit rot; sha256 names content.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace assay {

std::uint64_t xxh3(std::string_view bytes);
// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);
// Only to compare with what another's program recorded: SHA-1 proves nothing against intent.
std::string sha1_hex(std::string_view bytes);

enum class DigestKind : std::uint8_t {
  sha256,
  md5,  // only to compare with what another's program recorded
};

// A digest of bytes that come in pieces. A value belongs to one thread.
class Digest {
 public:
  explicit Digest(DigestKind kind);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void add(std::string_view bytes);
  // Returns lower-case hex digits. Do not use the object after that.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Sha256 : public Digest {
 public:
  Sha256() : Digest(DigestKind::sha256) {}
};

}  // namespace assay
