// Blocks: an event log's file is a sequence of blocks. Each has a header with a checksum over the
// rest of the header and the payload: a torn write, a flipped bit or foreign bytes at the end are
// detected at the block, and all earlier blocks stay valid. Numbers are little-endian. Layout:
// docs/formats/event_log.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace assay::record {

inline constexpr std::size_t kBlockHeaderBytes = 56;
// A reader refuses a longer block.
inline constexpr std::size_t kPayloadMax = std::size_t{64} << 20;

enum class BlockType : std::uint8_t {
  run_info = 1,  // JSON: the first block of a file
  events = 2,    // records
  end = 3,       // JSON: the last block of a file whose run ended
};

struct BlockHeader {
  BlockType type = BlockType::events;
  bool compressed = false;
  std::uint32_t stored_bytes = 0;   // of the payload, as stored in the file
  std::uint32_t payload_bytes = 0;  // of the payload, unpacked
  std::uint64_t sequence = 0;       // number of the block; a lost block leaves a gap
  Instant base{};                   // base of the time differences in the first record
  std::uint64_t records = 0;        // in this block
  std::uint64_t lost_records = 0;   // in the file before this block, since its start
};

// Writes the header in front of a payload and computes the checksum. REQUIRES: `block` is
// kBlockHeaderBytes followed by the payload as stored.
void seal_block(char* block, const BlockHeader& header);

// Reads a header; returns the checksum without testing it. The error says what is wrong.
struct SealedHeader {
  BlockHeader header{};
  std::uint64_t checksum = 0;
};
Result<SealedHeader> open_header(std::string_view bytes);
// Checksum of a whole block: its header and its payload as stored.
std::uint64_t block_checksum(std::string_view block);

// zstd, for blocks.
std::size_t packed_bound(std::size_t bytes);
class Packer {
 public:
  explicit Packer(int level);
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  // Packs into `out` of packed_bound(payload.size()) bytes. 0 if it does not become smaller.
  std::size_t pack(std::string_view payload, char* out);

 private:
  void* context_;
  int level_;
};
Result<void> unpack(std::string_view stored, std::string& payload, std::size_t payload_bytes);

}  // namespace assay::record
