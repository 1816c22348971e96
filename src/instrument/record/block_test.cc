// A block by itself: reading its header back, and which headers are refused.
#include "record/block.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.h"

namespace assay::record {
namespace {

BlockHeader header_of_all_fields() {
  BlockHeader header{};
  header.type = BlockType::end;
  header.compressed = true;
  header.stored_bytes = 5;
  header.payload_bytes = 77;
  header.sequence = 0x1122334455667788;
  header.base = Instant{-9};
  header.records = 0xfffffffe;
  header.lost_records = 0x99aabbccddeeff00;
  return header;
}

std::string sealed(const BlockHeader& header, std::string_view payload = "12345") {
  std::string block(kBlockHeaderBytes, '?');
  block += payload;
  seal_block(block.data(), header);
  return block;
}

TEST(Block, a_header_gives_back_every_field) {
  const BlockHeader wanted = header_of_all_fields();
  const std::string block = sealed(wanted);
  const auto opened = open_header(block);
  ASSERT_TRUE(opened) << opened.error().message;
  const BlockHeader& header = opened->header;
  EXPECT_EQ(header.type, wanted.type);
  EXPECT_EQ(header.compressed, wanted.compressed);
  EXPECT_EQ(header.stored_bytes, wanted.stored_bytes);
  EXPECT_EQ(header.payload_bytes, wanted.payload_bytes);
  EXPECT_EQ(header.sequence, wanted.sequence);
  EXPECT_EQ(header.base, wanted.base);
  EXPECT_EQ(header.records, wanted.records);
  EXPECT_EQ(header.lost_records, wanted.lost_records);
  EXPECT_EQ(opened->checksum, block_checksum(block));
  EXPECT_EQ(block.substr(54, 2), std::string(2, '\0')) << "what nothing uses is zero";
}

TEST(Block, a_header_that_nothing_filled_is_of_events_at_zero) {
  const BlockHeader header{};
  EXPECT_EQ(header.type, BlockType::events);
  EXPECT_FALSE(header.compressed);
  EXPECT_EQ(header.stored_bytes + header.payload_bytes + header.sequence, 0U);
  EXPECT_EQ(header.records + header.lost_records, 0U);
  EXPECT_EQ(header.base, Instant{});
  EXPECT_EQ(SealedHeader{}.checksum, 0U);
}

TEST(Block, every_byte_behind_the_checksum_is_under_it) {
  const std::string block = sealed(header_of_all_fields());
  const std::uint64_t sum = block_checksum(block);
  for (std::size_t at = 16; at < block.size(); ++at) {
    std::string changed = block;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(block_checksum(changed), sum) << at;
  }
  for (std::size_t at = 0; at < 16; ++at) {
    std::string changed = block;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_EQ(block_checksum(changed), sum) << at;
  }
}

TEST(Block, each_type_is_known_and_no_other) {
  const std::string block = sealed(header_of_all_fields());
  for (int type = 0; type < 256; ++type) {
    std::string changed = block;
    changed[52] = static_cast<char>(type);
    EXPECT_EQ(open_header(changed).has_value(), type >= 1 && type <= 3) << type;
  }
  for (int flags = 0; flags < 256; ++flags) {
    std::string changed = sealed({.stored_bytes = 5, .payload_bytes = 5});
    changed[53] = static_cast<char>(flags);
    const auto opened = open_header(changed);
    ASSERT_EQ(opened.has_value(), flags <= 1) << flags;
    if (opened) {
      EXPECT_EQ(opened->header.compressed, flags == 1);
    }
  }
}

TEST(Block, a_length_up_to_the_limit_is_believed_and_none_beyond_it) {
  constexpr auto kMost = static_cast<std::uint32_t>(kPayloadMax);
  const auto opens = [](std::uint32_t stored, std::uint32_t payload, bool compressed) {
    std::string block = sealed({.compressed = compressed, .stored_bytes = 5, .payload_bytes = 5});
    std::memcpy(block.data() + 16, &stored, sizeof stored);
    std::memcpy(block.data() + 20, &payload, sizeof payload);
    const auto opened = open_header(block);
    EXPECT_TRUE(opened || opened.error().code == Code::corrupt);
    return opened.has_value();
  };
  EXPECT_TRUE(opens(kMost, kMost, true));
  EXPECT_TRUE(opens(kMost, kMost, false));
  EXPECT_FALSE(opens(kMost + 1, kMost, true));
  EXPECT_FALSE(opens(kMost, kMost + 1, true));
  EXPECT_FALSE(opens(kMost + 1, kMost + 1, false));
  // A payload that is not packed has the same length in the file.
  EXPECT_FALSE(opens(5, 6, false));
  EXPECT_FALSE(opens(6, 5, false));
  EXPECT_TRUE(opens(5, 6, true));
}

TEST(Block, where_no_block_begins_it_says_so) {
  std::string block = sealed(header_of_all_fields());
  for (std::size_t at = 0; at < 8; ++at) {
    std::string changed = block;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const auto opened = open_header(changed);
    ASSERT_FALSE(opened) << at;
    EXPECT_EQ(opened.error().message, "no block begins here");
  }
}

TEST(Packer, gives_back_what_it_packed_and_leaves_what_does_not_shrink) {
  Packer packer(1);
  const std::string plain(10'000, 'x');
  std::string packed(packed_bound(plain.size()), '\0');
  const std::size_t bytes = packer.pack(plain, packed.data());
  ASSERT_GT(bytes, 0U);
  ASSERT_LT(bytes, plain.size());
  packed.resize(bytes);
  std::string back;
  ASSERT_TRUE(unpack(packed, back, plain.size()));
  EXPECT_EQ(back, plain);
  EXPECT_FALSE(unpack(packed, back, plain.size() - 1)) << "another length than the header's";
  EXPECT_FALSE(unpack(packed, back, plain.size() + 1));
  EXPECT_FALSE(unpack("no zstd", back, 7));
  // Noise does not become smaller.
  Rng rng(3);
  std::string noise(1000, '\0');
  for (char& c : noise) c = static_cast<char>(rng.next());
  std::string room(packed_bound(noise.size()), '\0');
  EXPECT_EQ(packer.pack(noise, room.data()), 0U);
}

// The shortest text that zstd makes smaller: one byte less of it is stored unchanged.
TEST(Packer, packs_what_becomes_one_byte_smaller_and_nothing_that_stays_as_long) {
  Packer packer(1);
  bool shrank = false;
  for (std::size_t size = 1; size < 64; ++size) {
    const std::string plain(size, 'x');
    std::string packed(packed_bound(size), '\0');
    const std::size_t bytes = packer.pack(plain, packed.data());
    EXPECT_LT(bytes, size) << size;
    EXPECT_TRUE(bytes > 0 || !shrank) << size;
    shrank = shrank || bytes > 0;
  }
  EXPECT_TRUE(shrank);
}

}  // namespace
}  // namespace assay::record
