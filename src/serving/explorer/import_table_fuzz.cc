// No table may crash the reader, and every point that it gives belongs to a curve that can be kept.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "explorer/import_parts.h"

namespace explorer = assay::explorer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = assay::Json::parse(text);
  for (const assay::Json& rows : {explorer::rows_of_csv(text), json ? *json : assay::Json()}) {
    if (!explorer::is_result_table(rows)) continue;
    const auto points = explorer::read_result_table(rows, "table", {});
    CHECK(!points.empty() && points.size() <= rows.size());
    for (const explorer::FoundPoint& found : points) {
      CHECK(!found.curve.model.empty() && !found.curve.system.name.empty());
      CHECK(explorer::make_curve(found.curve, {found.point}).points.size() == 1);
    }
  }
  return 0;
}
