#include "rules/rule.h"

namespace assay::rules {
namespace {

void judge_caching_file(const Document& audit, Out& out) {
  if (audit.broken()) return out.error(audit.place(), audit.trouble(), "valid JSON");
  const Json& passed = audit.at("/passed");
  if (!passed.is_bool()) {
    return out.error(audit.place("/passed"), "passed is " + passed.dump(), "true or false");
  }
  if (passed.as_bool()) return;
  const std::string_view reason = audit.at("/reason").as_string();
  out.error(audit.place("/passed"),
            "the output caching test failed" + (reason.empty() ? "" : ": " + std::string(reason)),
            "one row asked again and again is about as fast as distinct rows");
}

void check_output_caching_audit(const Scope& at, Out& out) {
  bool any = false;
  const auto look = [&](const Document& audit) {
    if (audit.absent()) return;
    any = true;
    judge_caching_file(audit, out);
  };
  look(at.curve->caching_audit);
  for (const PointFolder& point : at.curve->points) look(point.caching_audit);
  if (!any) out.not_applicable();
}

}  // namespace

Rule output_caching_audit() {
  return {.id = "output-caching-audit",
          .level = Level::curve,
          .clause = "Model equivalence: no cached responses",
          .demand = "an output caching test that is in the tree was passed",
          .fix =
              "turn response caches and request coalescing off, in the server and in every "
              "gateway before it, and measure again: `assay curve --audit`",
          .check = check_output_caching_audit};
}

}  // namespace assay::rules
