#include "base/text.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_responses_truncated(const Scope& at, Out& out) {
  const auto limit = static_cast<std::size_t>(at.tree.edition.responses_bytes_max);
  for (const Document* document : {&at.point->results, &at.point->accuracy.document}) {
    const Json& responses = document->at("/responses");
    if (responses.is_null()) continue;
    if (!responses.is_array() && !responses.is_object()) {
      out.warning(document->place("/responses"), format("responses is {}", said(responses)),
                  "a list or a map");
    } else if (responses.dump().size() > limit) {
      out.warning(document->place("/responses"),
                  format("responses of {} bytes", responses.dump().size()),
                  format("{} bytes or fewer", limit));
    }
  }
  for (const FileSize& file : at.point->files) {
    // Larger files are not read.
    if (file.name.ends_with("/results.json") && file.bytes > (std::uint64_t{1} << 20)) {
      out.warning({file.name}, format("results.json of {}", human_bytes(file.bytes)),
                  "responses cut");
    }
  }
}

}  // namespace

Rule responses_truncated() {
  return {.id = "responses-truncated",
          .severity = Severity::warning,
          .clause = "§8.1: Submission completeness",
          .demand = "recorded responses are cut to 10,240 bytes",
          .fix = "cut the member `responses`; `assay pack` does",
          .check = check_responses_truncated};
}

}  // namespace assay::rules
