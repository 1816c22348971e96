// Any bytes in any file of a submission: the check must end, at worst with findings. The first byte
// selects the file, the rest replaces it.
#include <array>
#include <cstdint>
#include <string>

#include "base/testing_temp_folder.h"
#include "rules/check_tree.h"
#include "rules/testing_golden_tree.h"

namespace {

assay::rules::GoldenTree small_tree() {
  assay::rules::GoldenTree tree = assay::rules::golden_tree();
  for (const std::string& name : tree.points()) {
    if (name != "r8" && name != "r6396") tree.drop(name);
  }
  tree.texts[tree.curve + "/r8/events.jsonl"] = "";
  tree.texts[tree.curve + "/r8/results.json"] = "{}";
  tree.texts[tree.curve + "/r8/config.yaml"] = "a: 1\n";
  return tree;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const assay::rules::GoldenTree kTree = small_tree();
  static const assay::TempFolder kFolder;
  static const bool kWritten = (kTree.write(kFolder.path()), true);
  constexpr std::array kFiles{"/r8/point.yaml",          "/r8/system_desc.json",
                              "/r8/result_summary.json", "/r8/events.jsonl",
                              "/r8/results.json",        "/r8/accuracy_results.json",
                              "/r8/config.yaml",         "/r6396/point.yaml",
                              "/r6396/system_desc.json", "/../system_power.json"};
  if (size == 0 || !kWritten) return 0;
  assay::rules::GoldenTree damaged;
  const std::string path = kTree.curve + kFiles[data[0] % kFiles.size()];
  damaged.texts[path] = std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  damaged.write(kFolder.path());
  CHECK(assay::rules::check_tree(kFolder.path(), {}));
  // Restore the tree for the next input.
  assay::rules::GoldenTree whole;
  const std::string name = std::filesystem::path(path).lexically_normal().string();
  whole.texts[name] = kTree.files().at(name);
  whole.write(kFolder.path());
  return 0;
}
