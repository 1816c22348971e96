#include "interchange/read/run_view.h"

#include <array>
#include <string_view>

#include "base/files.h"
#include "base/format.h"
#include "interchange/read/reference_run.h"

namespace assay::interchange {
namespace {

// The files that commands read beside the event log.
constexpr std::array<std::string_view, 9> kCopied = {"config.yaml",
                                                     "report.txt",
                                                     "point.yaml",
                                                     "system_desc.json",
                                                     "scores.json",
                                                     "sample_idx_map.json",
                                                     "performance/result_summary.json",
                                                     "metrics/final_snapshot.json",
                                                     "accuracy/accuracy_results.json"};

}  // namespace

Result<RunView> RunView::open(const std::filesystem::path& given) {
  if (!is_reference_folder(given)) return RunView(given, given, std::nullopt);
  ASSIGN_OR_RETURN(ScratchFolder scratch, ScratchFolder::make("run"));
  const std::filesystem::path folder = scratch.path();
  TRY(make_folders(folder / "assay"));
  ASSIGN_OR_RETURN(ReferenceRun run, read_reference_run(given));
  TRY(write_reference_log(run, folder / "assay" / "events-0.alog"));
  for (const std::string_view name : kCopied) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(given / name, error)) continue;
    TRY(make_folders((folder / name).parent_path()));
    std::filesystem::copy_file(given / name, folder / name, error);
    if (!error) continue;
    return Error{code_of_errno(error.value()),
                 format("{}: {}", (folder / name).string(), error.message())};
  }
  return RunView(given, folder, std::move(scratch));
}

}  // namespace assay::interchange
