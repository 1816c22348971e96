#include <utility>

#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/simulate/system_flags.h"
#include "simulate/twin_course.h"

namespace assay::cli {

Result<int> cmd_twin(Args args) {
  simulate::TwinAsked asked;
  Flags flags("twin", "a model of your own system: five constants fitted to its measured curve");
  flags
      .add("CURVE", &asked.answer.curve,
           "a curve's folder, or its JSON: points with concurrency, tpot_ms_mean, ttft_ms_mean")
      .required();
  flags.add(
      "--what-if=CHANGES", &asked.answer.changes,
      "the curve after a change of its system: cards=16,tp=8,mtp=2 (also dp, ep, pp, hardware, "
      "precision, backend, backend_version, software, router, disagg, decode_batch); once for each "
      "change");
  add_system_flags(flags, asked.system);
  flags.add("--out=FILE", &asked.out, "where the twin goes; use it with --catalogue");
  flags.add("--html=FILE", &asked.html, "the answers drawn over the measured curve, as one page");
  flags.add("--json", &asked.json, "print the fit as JSON");
  flags.example("assay twin curves/m --model gpt-oss-120b --hardware h200-sxm");
  flags.example(
      "assay twin curve.json --model llama3.1-70b --hardware h200-sxm --precision fp8 "
      "--parallel tp=4 --isl uniform:819-1024 --osl uniform:819-1024");
  flags.example(
      "assay twin curves/m --model llama3.1-8b --hardware h100-sxm --what-if cards=2 "
      "--what-if precision=bf16 --html what_if.html");
  PARSE_OR_RETURN(flags, args);
  return simulate::make_twin(std::move(asked), console());
}

}  // namespace assay::cli
