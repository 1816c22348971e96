// No bytes may crash the reader of a detail log or of a line of accuracy.txt, and what they find
// lies in the bytes.
#include "rules/inference/detail_log.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "rulebook/inference.h"
#include "rules/inference/rule.h"

using assay::rules::inference::DetailLog;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const DetailLog log = DetailLog::parse("detail.txt", text);
  CHECK(!log.absent());
  CHECK(log.good() == log.trouble().empty());
  CHECK(log.errors().size() <= log.error_count());
  CHECK(log.place("effective_scenario").line >= 0);
  for (const std::string_view metric :
       {"acc", "F1", "ACCURACY", "DICE", "mAP", "F1_HIERARCHICAL", "ROUGE1", "GEN_LEN", "AUC",
        "DLRM_NE", "E2E_ACCURACY", "CLIP_SCORE", "none"}) {
    const std::string_view found = assay::rules::inference::metric_in(metric, text);
    CHECK(found.empty() || (found.data() >= text.data() &&
                            found.data() + found.size() <= text.data() + text.size()));
  }
  return 0;
}
