// Any bytes as a bundle: unchanged; as the manifest and the members of an archive with correct
// headers and digests; and as names and contents of a fully correct bundle. It is refused or read,
// and unpacked files stay inside their folder.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/testing_temp_folder.h"
#include "base/text.h"
#include "record/bundle.h"
#include "record/tar.h"

namespace {

using assay::Json;
using assay::record::check_bundle;
using assay::record::TarWriter;

// A file in memory, by a name that can be opened.
class Memory {
 public:
  Memory() : fd_(::memfd_create("bundle", MFD_CLOEXEC)) { CHECK(fd_ >= 0); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { ::close(fd_); }
  std::string name() const { return assay::format("/proc/self/fd/{}", fd_); }

 private:
  int fd_;
};

void as_file(const std::string& bytes) {
  const Memory file;
  CHECK(assay::write_file_atomic(file.name(), bytes));
  CHECK(!check_bundle(file.name()) || !bytes.empty());
}

// The parts between zero bytes: the manifest, then names and contents alternately.
void as_members(const std::vector<std::string_view>& parts) {
  const Memory file;
  auto tar = TarWriter::create(file.name());
  CHECK(tar);
  const std::string manifest(parts[0]);
  if (!tar->add_text("MANIFEST.json", manifest)) return;
  if (!tar->add_text("MANIFEST.sha256", assay::sha256_hex(manifest) + "\n")) return;
  for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
    if (!tar->add_text(parts[i], parts[i + 1])) return;
  }
  CHECK(tar->finish());
  const auto checked = check_bundle(file.name());
  CHECK(checked || !checked.error().message.empty());
}

void as_files(const std::vector<std::string_view>& parts) {
  static const assay::TempFolder kFolder;
  Json files = Json::array();
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    if (parts[i].empty() || !assay::valid_utf8(parts[i])) return;
    files.push_back(Json()
                        .set("path", parts[i])
                        .set("bytes", parts[i + 1].size())
                        .set("sha256", assay::sha256_hex(parts[i + 1])));
  }
  std::vector<std::string_view> members(parts);
  const std::string manifest =
      Json().set("format", "assay-bundle").set("version", 1).set("files", files).dump();
  members.insert(members.begin(), manifest);
  as_members(members);
  const Memory file;
  auto tar = TarWriter::create(file.name());
  CHECK(tar);
  CHECK(tar->add_text("MANIFEST.json", manifest));
  CHECK(tar->add_text("MANIFEST.sha256", assay::sha256_hex(manifest) + "\n"));
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    if (!tar->add_text(parts[i], parts[i + 1])) return;
  }
  CHECK(tar->finish());
  const auto out = kFolder.path() / "a/b/c/out";
  const auto unpacked = check_bundle(file.name(), "", out);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder.path(), ignored)) {
    const std::string path = entry.path().string();
    CHECK(out.string().starts_with(path) || path.starts_with(out.string() + "/"));
  }
  CHECK(unpacked || !std::filesystem::exists(out));
  std::filesystem::remove_all(out, ignored);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto parts = assay::split(bytes, '\0');
  if (data[0] % 4 == 0) as_file(bytes);
  if (data[0] % 4 == 1) as_members(parts);
  if (data[0] % 4 == 2) as_files(parts);
  if (data[0] % 4 == 3) as_file(std::string(257, 'x') + "ustar" + bytes);
  return 0;
}
