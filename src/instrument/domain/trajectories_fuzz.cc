// Any JSON as the trajectories of a log's header: refused, or read and written the same again.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "domain/trajectories.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = assay::Json::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) return 0;
  const auto read = assay::trajectories_from(assay::Json().set(assay::kTrajectoriesFact, *json));
  if (!read || read->all.empty()) return 0;
  const auto again =
      assay::trajectories_from(assay::Json().set(assay::kTrajectoriesFact, to_json(*read)));
  CHECK(again && to_json(*again) == to_json(*read));
  return 0;
}
