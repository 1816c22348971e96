#include "base/secret.h"

#include <sys/random.h>

#include <array>

#include "base/check.h"
#include "base/format.h"

namespace assay {

std::string random_secret() {
  std::array<unsigned char, 16> bytes{};
  // The kernel gives up to 256 bytes at once, without waiting, once the system is up.
  CHECK(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string out;
  for (const unsigned char byte : bytes) out += format("{:02x}", byte);
  return out;
}

}  // namespace assay
