#include "base/reach.h"

#include <cstdlib>
#include <string_view>

namespace assay {

bool loopback_only() {
  static const bool only = [] {
    const char* const value = std::getenv(kLoopbackOnly);
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
  }();
  return only;
}

}  // namespace assay
