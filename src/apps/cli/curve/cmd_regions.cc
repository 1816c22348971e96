#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "rulebook/regions.h"

namespace assay::cli {
namespace {

std::string table(const rulebook::Regions& regions) {
  std::string out = format("C_max {}, C_min {}\n", regions.c_max(), regions.c_min());
  for (const rulebook::Region region : rulebook::kRegions) {
    const rulebook::Band& band = regions[region];
    out += band.empty() ? format("  {:<18}empty\n", to_string(region))
                        : format("  {:<18}{:>6} .. {}\n", to_string(region), band.first, band.last);
  }
  return out + format(
                   "a curve needs a point in each of the three concurrency regions, and one at "
                   "1..{}\n",
                   rulebook::kUltraLowMax);
}

}  // namespace

Result<int> cmd_regions(Args args) {
  std::int64_t c_max = 0;
  std::int64_t c_min = rulebook::kUltraLowMax;
  bool json = false;
  Flags flags("regions", "the table of regions between the lowest and the highest concurrency");
  flags.add("C_MAX", &c_max, "the system's max_supported_concurrency, above 32").required();
  flags.add("C_MIN", &c_min, "the lowest concurrency of the curve, 1..32");
  flags.add("--json", &json, "print the table as JSON");
  flags.example("assay regions 1024 8");
  PARSE_OR_RETURN(flags, args);
  ASSIGN_OR_RETURN(const rulebook::Regions regions, rulebook::Regions::make(c_max, c_min));
  print(json ? regions.to_json().dump(2) + "\n" : table(regions));
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
