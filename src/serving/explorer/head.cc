#include "explorer/head.h"

#include "base/files.h"
#include "base/format.h"
#include "store/open_store.h"

namespace assay::explorer {
namespace {

constexpr std::size_t kHeadBytesMax = std::size_t{64} << 20;  // for an export's run documents too

}  // namespace

std::string default_head_file(const std::string& store) {
  const std::string path = store.empty() || store == "default" ? store::default_store() : store;
  return path == ":memory:" || path.find("://") != std::string::npos ? "" : path + ".head";
}

Result<std::string> head_document(store::Store& store) {
  ASSIGN_OR_RETURN(const auto hashes, store.history_hashes());
  return rules::to_json(rules::head_of(hashes)).dump();
}

Result<rules::ReviewHead> read_head_file(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file, kHeadBytesMax));
  auto head = rules::parse_head(text);
  if (!head) return head.error().within(file.string());
  return head;
}

Result<void> check_head_file(store::Store& store, const std::filesystem::path& file) {
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return {};
  ASSIGN_OR_RETURN(const rules::ReviewHead head, read_head_file(file));
  ASSIGN_OR_RETURN(const auto hashes, store.history_hashes());
  if (rules::entries_since(hashes, head)) return {};
  return Error{Code::corrupt,
               format("the history does not go on from the head in '{}': entries were cut off or "
                      "changed, or an older store was put back\n  see `assay review verify`",
                      file.string())};
}

Result<void> write_head_file(store::Store& store, const std::filesystem::path& file) {
  if (file.empty()) return {};
  for (std::string written;;) {
    ASSIGN_OR_RETURN(std::string head, head_document(store));
    if (head == written) return {};
    if (const auto done = write_file_atomic(file, head + "\n"); !done) {
      return done.error().within("the act is recorded, and its head is not");
    }
    written = std::move(head);
  }
}

}  // namespace assay::explorer
