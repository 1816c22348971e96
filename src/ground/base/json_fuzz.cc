// Any bytes as JSON: an error, or a value that is equal after writing it, compact and pretty, and
// reading it again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = assay::Json::parse({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  for (const int indent : {-1, 2}) {
    const auto again = assay::Json::parse(json->dump(indent));
    CHECK(again && *again == *json);
  }
  return 0;
}
