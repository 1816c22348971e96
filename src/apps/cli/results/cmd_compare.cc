#include <algorithm>
#include <string>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/curve/curve_folder.h"
#include "cli/commands.h"
#include "cli/results/compare_flags.h"
#include "cli/results/compare_interleaved.h"
#include "cli/results/compare_safety.h"

namespace assay::cli {
namespace {

constexpr std::string_view kInterleave = "--interleave";

}  // namespace

Result<int> cmd_compare(Args args) {
  if (std::ranges::find(args, kInterleave) != args.end()) return compare_interleaved(args);
  std::string a;
  std::string b;
  std::string tokenizer;
  bool interleave = false;
  CompareFlags compare;
  Flags flags("compare", "is B worse than A? effects with confidence intervals, and an exit code");
  flags.add("A", &a, "the baseline: a run folder, or a folder of several").required();
  flags.add("B", &b, "what is held against it: a run folder, or a folder of several").required();
  flags.add(kInterleave, &interleave,
            "measure both now, in turns, instead: see assay compare --interleave --help");
  flags
      .add("--tokenizer", &tokenizer,
           "count both runs' tokens anew: the model's tokenizer, a folder or a file")
      .value("DIR");
  compare.add_to(flags);
  flags
      .add("--noise", &compare.noise,
           "runs of one thing that say how far equal runs differ: a folder of them; several times")
      .value("DIR");
  flags.add("--allow-client-limited", &compare.options.allow_client_limited,
            "compare also where a run's own client was the bottleneck");
  const std::string_view in_pairs = "Accuracy, in pairs";
  flags.add("--accuracy", &compare.accuracy, "compare the runs' scores, sample by sample, instead")
      .group(in_pairs);
  flags
      .add("--accuracy-margin", &compare.accuracy_points,
           "B is as good where it is not worse by this: percentage points")
      .value("POINTS")
      .group(in_pairs);
  SafetyCompare safety(flags);
  flags.example("assay compare runs/baseline runs/today --junit compare.xml");
  flags.example("assay compare runs/bf16 runs/fp4 --accuracy --accuracy-margin 2");
  flags.example("assay compare curves/bf16 curves/fp8 --safety --html safety.html");
  flags.example("assay compare runs/baseline runs/today --noise runs/equal");
  flags.example(
      "assay compare --interleave --endpoint http://a --endpoint http://b --model m "
      "--concurrency 16 --samples 2000");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  TRY(compare.understand());
  if (safety.asked()) return safety.compare(a, b, compare);
  for (const std::string& folder : {a, b}) {
    if (!campaign::CurveFolder::is_curve(folder)) continue;
    return invalid(
        format("'{}' is a curve, and compare takes two runs\n  assay decide {} {} --slo "
               "'ttft_p90<=2s' says which of two curves serves more users\n  --safety compares "
               "their safety runs, prompt by prompt",
               folder, a, b));
  }
  if (compare.accuracy || compare.accuracy_points) return compare_accuracy_of(a, b, compare);
  return compare_folders(a, b, compare, tokenizer);
}

}  // namespace assay::cli
