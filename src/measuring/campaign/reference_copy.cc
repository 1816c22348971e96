#include "campaign/reference_copy.h"

#include <array>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "campaign/run_folder.h"
#include "interchange/read/reference_run.h"

namespace assay::campaign {

namespace fs = std::filesystem;

Result<void> copy_reference_run(const fs::path& path, const interchange::ForeignFacts& facts,
                                const fs::path& folder) {
  std::error_code ignored;
  const fs::path beside = fs::is_directory(path, ignored) ? path : path.parent_path();
  ASSIGN_OR_RETURN(interchange::ReferenceRun run, interchange::read_reference_run(path));
  interchange::add_facts(run.info, facts);
  if (run.info.started.ns == 0) run.info.started = wall_now();
  TRY(make_folders(log_folder(folder)));
  TRY(interchange::write_reference_log(run, log_folder(folder) / "events-0.alog"));
  constexpr std::array<std::pair<const char*, const char*>, 3> kKept = {
      {{"config.yaml", "config.yaml"},
       {"accuracy/accuracy_results.json", "accuracy/accuracy_results.json"},
       {"performance/result_summary.json", kReferenceSummaryFile}}};
  for (const auto& [from, to] : kKept) {
    if (!fs::exists(beside / from, ignored)) continue;
    ASSIGN_OR_RETURN(const std::string text, read_file(beside / from));
    TRY(write_file_atomic(folder / to, text));
  }
  return {};
}

}  // namespace assay::campaign
