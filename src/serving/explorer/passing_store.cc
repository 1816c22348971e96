#include "explorer/passing_store.h"

#include <signal.h>

#include <filesystem>

#include "base/format.h"
#include "base/secret.h"
#include "store/open_store.h"

namespace assay::explorer {

PassingStore::~PassingStore() {
  if (path_.empty()) return;
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix, ignored);
}

std::string PassingStore::make() {
  path_ =
      (std::filesystem::temp_directory_path() / format("assay-{}.db", random_secret())).string();
  return path_;
}

Result<void> import_paths(const std::vector<std::string>& paths, const ImportOptions& options,
                          const std::string& where, const Talk& talk) {
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const auto found, read_results(path, options));
    for (const std::string& note : found.notes) talk.say("note: " + note);
    ASSIGN_OR_RETURN(const auto store, store::open_store(where));
    TRY(put_all(*store, found.curves));
  }
  return {};
}

}  // namespace assay::explorer
