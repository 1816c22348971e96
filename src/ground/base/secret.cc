#include "base/secret.h"

#include <sys/random.h>

#include "base/check.h"
#include "base/format.h"

namespace assay {

std::string random_bytes(std::size_t count) {
  std::string out(count, '\0');
  // The kernel gives up to 256 bytes at once, without waiting, once the system is up.
  CHECK(::getrandom(out.data(), count, 0) == static_cast<ssize_t>(count));
  return out;
}

std::string random_secret() {
  std::string out;
  for (const char byte : random_bytes(16)) {
    out += format("{:02x}", static_cast<unsigned char>(byte));
  }
  return out;
}

}  // namespace assay
