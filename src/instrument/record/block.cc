#include "record/block.h"

#include <zstd.h>

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/format.h"
#include "base/hash.h"

namespace assay::record {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's numbers are little-endian");

constexpr std::string_view kMagic = "ASSAYLG1";
constexpr std::uint8_t kCompressed = 1;

// Offset of each field. The checksum covers all bytes after it.
constexpr std::size_t kChecksumAt = 8;
constexpr std::size_t kCovered = 16;
constexpr std::size_t kStoredAt = 16;
constexpr std::size_t kPayloadAt = 20;
constexpr std::size_t kSequenceAt = 24;
constexpr std::size_t kBaseAt = 32;
constexpr std::size_t kLostAt = 40;
constexpr std::size_t kRecordsAt = 48;  // 4 bytes
constexpr std::size_t kTypeAt = 52;
constexpr std::size_t kFlagsAt = 53;  // then two bytes of zero
static_assert(kFlagsAt + 3 == kBlockHeaderBytes);

template <typename T>
void put(char* block, std::size_t at, T value) {
  std::memcpy(block + at, &value, sizeof value);
}

template <typename T>
T get(std::string_view block, std::size_t at) {
  T value{};
  std::memcpy(&value, block.data() + at, sizeof value);
  return value;
}

}  // namespace

void seal_block(char* block, const BlockHeader& header) {
  CHECK(header.records <= 0xffffffff);
  std::memset(block, 0, kBlockHeaderBytes);
  std::memcpy(block, kMagic.data(), kMagic.size());
  put(block, kStoredAt, header.stored_bytes);
  put(block, kPayloadAt, header.payload_bytes);
  put(block, kSequenceAt, header.sequence);
  put(block, kBaseAt, header.base.ns);
  put(block, kLostAt, header.lost_records);
  put(block, kRecordsAt, static_cast<std::uint32_t>(header.records));
  put(block, kTypeAt, static_cast<std::uint8_t>(header.type));
  put(block, kFlagsAt, header.compressed ? kCompressed : std::uint8_t{0});
  put(block, kChecksumAt, block_checksum({block, kBlockHeaderBytes + header.stored_bytes}));
}

std::uint64_t block_checksum(std::string_view block) { return xxh3(block.substr(kCovered)); }

Result<SealedHeader> open_header(std::string_view bytes) {
  CHECK(bytes.size() >= kBlockHeaderBytes);
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return Error{Code::corrupt, "no block begins here"};
  }
  SealedHeader out{};
  out.checksum = get<std::uint64_t>(bytes, kChecksumAt);
  BlockHeader& header = out.header;
  header.stored_bytes = get<std::uint32_t>(bytes, kStoredAt);
  header.payload_bytes = get<std::uint32_t>(bytes, kPayloadAt);
  header.sequence = get<std::uint64_t>(bytes, kSequenceAt);
  header.base.ns = get<std::int64_t>(bytes, kBaseAt);
  header.lost_records = get<std::uint64_t>(bytes, kLostAt);
  header.records = get<std::uint32_t>(bytes, kRecordsAt);
  const auto type = get<std::uint8_t>(bytes, kTypeAt);
  const auto flags = get<std::uint8_t>(bytes, kFlagsAt);
  header.compressed = flags == kCompressed;
  if (header.stored_bytes > kPayloadMax || header.payload_bytes > kPayloadMax) {
    return Error{Code::corrupt, format("a block of {} bytes", header.stored_bytes)};
  }
  if (type < 1 || type > 3 || flags > kCompressed) {
    return Error{Code::corrupt, format("a block of unknown type {}", type)};
  }
  if (!header.compressed && header.stored_bytes != header.payload_bytes) {
    return Error{Code::corrupt, "a block with two lengths"};
  }
  header.type = static_cast<BlockType>(type);
  return out;
}

std::size_t packed_bound(std::size_t bytes) { return ZSTD_compressBound(bytes); }

Packer::Packer(int level) : context_(ZSTD_createCCtx()), level_(level) {
  CHECK(context_ != nullptr);
}

Packer::~Packer() { ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context_)); }

std::size_t Packer::pack(std::string_view payload, char* out) {
  const std::size_t bytes =
      ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(context_), out, packed_bound(payload.size()),
                        payload.data(), payload.size(), level_);
  return ZSTD_isError(bytes) != 0 || bytes >= payload.size() ? 0 : bytes;
}

Result<void> unpack(std::string_view stored, std::string& payload, std::size_t payload_bytes) {
  payload.resize(payload_bytes);
  const std::size_t bytes =
      ZSTD_decompress(payload.data(), payload.size(), stored.data(), stored.size());
  if (ZSTD_isError(bytes) != 0 || bytes != payload_bytes) {
    return Error{Code::corrupt, "a block that does not unpack"};
  }
  return {};
}

}  // namespace assay::record
