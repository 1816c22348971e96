// Any bytes as an event log: as a whole file, and, because a checksum keeps random bytes out, also
// as the records of blocks with correct checksums.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/format.h"
#include "domain/quiet_sink.h"
#include "record/event_log.h"
#include "record/testing_said.h"

namespace assay::record {
namespace {

class Nobody final : public QuietSink {
 public:
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view text) override {
    CHECK(text.empty() || text.size() == event.bytes || text.size() <= kTextMax);
  }
  void on_done(const Event& event, std::string_view) override {
    CHECK(!to_string(event.outcome).empty() && !to_string(event.finish).empty());
  }
};

void read_as_file(std::string_view bytes) {
  const int fd = ::memfd_create("log", MFD_CLOEXEC);
  CHECK(fd >= 0);
  CHECK(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  Nobody nobody;
  const auto end = replay_event_log(format("/proc/self/fd/{}", fd), nobody);
  ::close(fd);
  CHECK(end || !end.error().message.empty());
  if (end) CHECK(end->bytes_read <= end->bytes);
}

std::string sealed(BlockType type, std::uint64_t sequence, std::string_view payload) {
  std::string block(kBlockHeaderBytes, '\0');
  block += payload;
  BlockHeader header{};
  header.type = type;
  header.stored_bytes = header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.sequence = sequence;
  seal_block(block.data(), header);
  return block;
}

// The bytes as the records of two blocks, with or without a missing block between them.
void read_as_records(std::string_view bytes) {
  const std::size_t half = bytes.size() / 2;
  read_as_file(sealed(BlockType::run_info, 0, R"({"run_id":"r","grammar":1,"texts":"all"})") +
               sealed(BlockType::events, 1, bytes.substr(0, half)) +
               sealed(BlockType::events, 1 + bytes.size() % 3, bytes.substr(half)) +
               sealed(BlockType::end, 9, R"({"state":"complete"})"));
}

}  // namespace

void read_anyhow(std::string_view bytes) {
  read_as_file(bytes);
  read_as_records(bytes);
}

}  // namespace assay::record

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::record::read_anyhow({reinterpret_cast<const char*>(data), size});
  return 0;
}
