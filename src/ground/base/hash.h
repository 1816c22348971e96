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

// SHA-256 of bytes that come in pieces. A value belongs to one thread.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void add(std::string_view bytes);
  // Returns 64 lower-case hex digits. Do not use the object after that.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
