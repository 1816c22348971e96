
#include <utility>

#include "base/flags.h"
#include "campaign/interleaved_course.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/results/compare_flags.h"
#include "cli/run_flags.h"
#include "cli/shared_flags.h"

namespace assay::cli {
namespace {

void add_flags(Flags& flags, campaign::InterleavedOptions& typed) {
  flags.add("--interleave", &typed.interleave, "this command").hidden();
  flags.group("Turns");
  flags.add("--block=N", &typed.block, "queries in a block (4 x the concurrency, 20 at least)");
  flags.add("--order-seed=N", &typed.order_seed, "draws which endpoint begins each pair of blocks");
  flags.group("");
  add_client_flags(flags, typed.client);
  add_compare_flags(flags, typed.compare);
  flags.add("--quiet", &typed.quiet, "no talk while it runs");
  flags.example(
      "assay compare --interleave --endpoint http://a --endpoint http://b --model m "
      "--concurrency 16 --duration 10m --junit compare.xml");
  flags.example(
      "--duration is of both together, in whole pairs of blocks; 60 s where none is given");
}

}  // namespace

Result<int> compare_interleaved(Args args) {
  campaign::InterleavedOptions typed;
  Flags flags("compare --interleave",
              "is B worse than A? both measured in one run, in turns, and compared in pairs");
  add_flags(flags, typed);
  campaign::RunSettings settings;
  add_run_flags(flags, settings, {"--metrics", "--lengths", "--errors", "--block"});
  PARSE_OR_RETURN(flags, args);
  return campaign::measure_interleaved(settings, std::move(typed), args, console());
}

}  // namespace assay::cli
