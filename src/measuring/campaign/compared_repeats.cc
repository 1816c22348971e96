#include "campaign/compared_repeats.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/format.h"
#include "compare/workload.h"
#include "record/event_log.h"

namespace assay::campaign {
namespace {

bool holds_a_run(const std::filesystem::path& folder) {
  const auto logs = record::find_event_logs(log_folder(folder.string()));
  return logs && !logs->empty();
}

}  // namespace

std::vector<std::string> runs_in(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (holds_a_run(folder) || !fs::is_directory(folder, error)) return {folder};
  std::vector<std::string> out;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && holds_a_run(it->path())) out.push_back(it->path().string());
  }
  std::ranges::sort(out);
  if (out.empty()) return {folder};
  return out;
}

Result<LoadedRepeats> load_repeats(const std::string& name, const std::vector<std::string>& runs,
                                   const std::string& tokenizer,
                                   const compare::CompareOptions& options,
                                   const compare::ComparedRun* reference,
                                   std::vector<std::string>& refusals) {
  CHECK(!runs.empty());
  LoadedRepeats out{.repeats = {.name = name}};
  for (const std::string& folder : runs) {
    ASSIGN_OR_RETURN(auto side, load_compared(folder, tokenizer));
    const compare::ComparedRun run = side->compared(folder);
    const compare::ComparedRun own =
        out.first == nullptr ? run : out.first->compared(out.first_name);
    const compare::ComparedRun& against = reference != nullptr ? *reference : own;
    for (const std::string& why : compare::workload_differences(against, run, options)) {
      std::string line = &against == &own && out.first == nullptr
                             ? why
                             : format("A {}, B {}: {}", against.name, folder, why);
      refusals.push_back(std::move(line));
    }
    out.repeats.runs.push_back(compare::figures_of(run, options));
    out.repeats.started.push_back(run.point->run.started);
    if (out.first != nullptr) continue;
    out.first = std::move(side);
    out.first_name = folder;
  }
  return out;
}

}  // namespace assay::campaign
