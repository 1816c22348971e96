#include <filesystem>

#include "base/files.h"
#include "base/text.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

namespace fs = std::filesystem;

bool has_file_with_words(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file(error) && it->file_size(error) > 0) return true;
  }
  return false;
}

void check_plausible_documents(const Scope& at, Out& out) {
  for (const Implementation& one : at.tree.implementations) {
    if (!one.readme) continue;  // src-readme reports it
    constexpr std::size_t kReadmeMax = std::size_t{16} << 20;
    const std::string name = one.path + "/README.md";
    const auto text = read_file(at.tree.root / name, kReadmeMax);
    if (text && trim(*text).empty()) out.warning({name}, "nothing in it", "how to launch it");
  }
  if (at.tree.has_docs && !has_file_with_words(at.tree.root / "docs")) {
    out.warning({"docs"}, "nothing in it", "the software that ran, at least");
  }
}

}  // namespace

Rule plausible_documents() {
  return {.id = "plausible-documents",
          .level = Level::tree,
          .severity = Severity::warning,
          .clause = "Assay's own: documents",
          .demand = "docs/ and each implementation's README.md say something",
          .fix = "write what a reader needs to run it again",
          .check = check_plausible_documents};
}

}  // namespace assay::rules
