#include "base/reach.h"

#include <cstdlib>
#include <string_view>

namespace assay {

namespace {

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

bool loopback_only() {
  static const bool only = is_set(kLoopbackOnly);
  return only;
}

bool no_programs() {
  static const bool none = is_set(kNoPrograms);
  return none;
}

}  // namespace assay
