// Random bytes as a truth log: once as a whole file and, because checksums would stop most of it,
// once as the payloads of two blocks with correct checksums.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/enum_name.h"
#include "base/files.h"
#include "base/format.h"
#include "endpoint/truth_log.h"

namespace assay::endpoint {
namespace {

void look_at(const std::string& name, std::size_t bytes) {
  const auto read = read_truth_log(name);
  CHECK(read || !read.error().message.empty());
  if (!read) return;
  std::size_t records = 0;
  for (const TruthReply& reply : read->replies) {
    records += 1 + reply.events.size();
    CHECK(!reply.ended || !enum_name(reply.end.outcome).empty());
  }
  CHECK(records <= bytes);
  for (const auto& [id, index] : read->by_id) CHECK(read->replies.at(index).id == id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const int fd = ::memfd_create("truth", MFD_CLOEXEC);
  CHECK(fd >= 0);
  const std::string name = format("/proc/self/fd/{}", fd);
  CHECK(write_file_atomic(name, bytes));
  look_at(name, size);
  {
    const auto log = TruthLog::create(name);
    CHECK(log);
    (*log)->append(0, bytes.substr(0, size / 2));
    (*log)->append(size % 2, bytes.substr(size / 2));
  }
  look_at(name, size);
  ::close(fd);
  return 0;
}

}  // namespace assay::endpoint
