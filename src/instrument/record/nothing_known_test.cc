// What the records of this room hold before a record was written or read.
#include <gtest/gtest.h>

#include "base/testing_together.h"
#include "record/block.h"
#include "record/clock_map.h"
#include "record/event_codec.h"
#include "record/event_log.h"
#include "record/file_list.h"
#include "record/tar.h"

namespace assay::record {
namespace {

TEST(NothingKnown, a_log_has_no_block_and_lost_nothing) {
  const BlockHeader b;
  EXPECT_EQ(together(b.compressed, b.stored_bytes, b.payload_bytes, b.sequence, b.records,
                     b.lost_records, SealedHeader{}.checksum),
            0);
  const EventLogHealth h;
  EXPECT_EQ(
      together(h.failed, h.lost_records, h.blocks_handed_over, h.blocks_written, h.bytes_written),
      0);
  const LogEnd e;
  EXPECT_EQ(together(e.bytes_read, e.bytes, e.blocks, e.records, e.lost_records, e.unfinished), 0);
  const EventLogOptions o;
  EXPECT_TRUE(o.details);
  EXPECT_EQ(together(o.lossless, o.zstd_level), 0);
}

TEST(NothingKnown, a_decoder_begins_at_the_first_query_of_the_first_phase) {
  const DeltaState d;
  EXPECT_EQ(together(d.time, d.read, d.arrival, d.stream_index, d.sent_index, d.done_index, d.phase,
                     d.uncertainty),
            0);
  const DeltaState at = DeltaState::at(Instant{7});
  EXPECT_EQ(together(at.time, at.read, at.arrival), 21);
  EXPECT_EQ(together(at.stream_index, at.sent_index, at.done_index, at.phase, at.uncertainty), 0);
}

TEST(NothingKnown, a_rank_is_the_first_with_one_thread) {
  EXPECT_EQ(
      together(RankClock{}.rank, RankClock{}.shard_first, ListedFile{}.bytes, TarMember{}.bytes),
      0);
  EXPECT_EQ(RankClock{}.threads, 1U);
}

}  // namespace
}  // namespace assay::record
