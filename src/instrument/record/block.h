// Blocks: what an event log's file is made of, one behind the other. Each has a header with a
// checksum over the rest of the header and the payload, so that a torn write, a flipped bit or a
// file that goes on with something else is noticed at the block, and all before it stands. Numbers
// are little-endian. Layout: docs/formats/event_log.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace assay::record {

inline constexpr std::size_t kBlockHeaderBytes = 56;
// A reader believes no longer block.
inline constexpr std::size_t kPayloadMax = std::size_t{64} << 20;

enum class BlockType : std::uint8_t {
  run_info = 1,  // JSON: the first block of a file
  events = 2,    // records
  end = 3,       // JSON: the last block of a file whose run ended
};

struct BlockHeader {
  BlockType type = BlockType::events;
  bool compressed = false;
  std::uint32_t stored_bytes = 0;   // of the payload, as it lies in the file
  std::uint32_t payload_bytes = 0;  // of the payload, unpacked
  std::uint64_t sequence = 0;       // of the blocks made; one that was lost leaves a gap
  Instant base{};                   // what the block's first record is told against
  std::uint64_t records = 0;        // in this block
  std::uint64_t lost_records = 0;   // in the file before this block, since its start
};

// Writes the header in front of a payload: REQUIRES `block` is kBlockHeaderBytes followed by the
// payload as stored. The checksum is made here.
void seal_block(char* block, const BlockHeader& header);

// Reads a header; the checksum is returned, not yet tested. An error says what is wrong with it.
struct SealedHeader {
  BlockHeader header{};
  std::uint64_t checksum = 0;
};
Result<SealedHeader> open_header(std::string_view bytes);
// Of a whole block: its header and its payload as stored.
std::uint64_t block_checksum(std::string_view block);

// zstd, for blocks.
std::size_t packed_bound(std::size_t bytes);
class Packer {
 public:
  explicit Packer(int level);
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  // Into `out`, which has packed_bound(payload.size()) bytes. 0 where it does not become smaller.
  std::size_t pack(std::string_view payload, char* out);

 private:
  void* context_;
  int level_;
};
Result<void> unpack(std::string_view stored, std::string& payload, std::size_t payload_bytes);

}  // namespace assay::record
