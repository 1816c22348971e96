// What the protocol's records hold before a request was made and before a byte came.
#include <gtest/gtest.h>

#include "base/testing_together.h"
#include "protocol/connection.h"
#include "protocol/endpoint_capture.h"
#include "protocol/http_target.h"
#include "protocol/kind/kind.h"
#include "protocol/probe.h"
#include "protocol/recording.h"
#include "protocol/reply_fields.h"

namespace assay::protocol {
namespace {

TEST(NothingKnown, a_target_that_sent_nothing_counts_nothing) {
  const TransportStats s;
  EXPECT_EQ(together(s.connections_opened, s.connections_failed, s.connections_lost_idle, s.reads,
                     s.reads_stamped, s.bytes_sent, s.bytes_received, s.retransmits),
            0);
  EXPECT_EQ(
      together(s.queued_for_connection, s.queries_sent_again, s.queries_unprocessed,
               s.requests_made_late, s.waits_interrupted, s.connections_max, s.connections_peak),
      0);
  const HttpTargetOptions o;
  EXPECT_EQ(together(o.run_key, o.connections_max), 0);
  EXPECT_TRUE(o.kernel_stamps);
}

TEST(NothingKnown, a_request_asks_for_one_streamed_reply_without_a_limit) {
  const Asked asked;
  EXPECT_TRUE(asked.stream);
  EXPECT_EQ(asked.tokens_max, -1);
  EXPECT_EQ(asked.choices, 1);
  EXPECT_EQ(together(asked.sound_rate, RequestBody{}.goes_on_at, Pieces{}.count,
                     PreparedRequests::SessionTurn{}.goes_on_at),
            0);
}

TEST(NothingKnown, an_event_holds_no_fragment_and_ends_nothing) {
  const DecodedEvent e;
  EXPECT_EQ(together(e.fragment_count, e.malformed, e.no_room, e.has_choice, e.has_usage, e.ends,
                     e.units, e.choice),
            0);
  const StreamState state;
  EXPECT_EQ(together(state.prefix_bytes, state.template_hits, state.varying_count, state.choice,
                     state.deltas),
            0);
  EXPECT_EQ(state.tool_index, -1);
  EXPECT_EQ(together(TemplateGap{}.at, TemplateGap{}.number), 0);
  const ReplyFields f;
  EXPECT_EQ(together(f.has_choice, f.has_usage, f.object_is_error, f.has_call, f.ends, f.units,
                     f.raw_controls),
            0);
  EXPECT_EQ(f.choice, -1);
  EXPECT_EQ(f.call.index, -1);
  EXPECT_EQ(together(RawString{}.size, RawString{}.escaped), 0);
}

TEST(NothingKnown, a_connection_is_fresh_and_carries_nothing) {
  const Connection c;
  EXPECT_TRUE(c.fresh);
  EXPECT_EQ(together(c.doubted, c.listed, c.stamped, c.unflushed, c.serial, c.unsent_at), 0);
  EXPECT_FALSE(c.awaited_until.known());
  EXPECT_EQ(together(c.lane.endpoint, c.lane.blocked, c.busy(), c.opening()), 0);
  const Slot slot(nullptr);
  EXPECT_EQ(together(slot.serial, slot.connection, slot.stream, slot.framing_watched,
                     slot.sent_told, slot.out, slot.again, slot.unprocessed),
            0);
  EXPECT_EQ(together(Job{}.completed, Job{}.lost, QueryDeadline{}.serial), 0);
  EXPECT_TRUE(TransportShared(0, nullptr).fetch_artefacts);
  const Fed fed;
  EXPECT_TRUE(fed.sound);
  EXPECT_EQ(together(fed.changed, fed.output, Ending{}.complete), 0);
  const Stamp stamp;
  EXPECT_FALSE(stamp.kernel);
  EXPECT_TRUE(stamp.emptied);
}

TEST(NothingKnown, a_kind_is_server_sent_events_that_a_marker_ends) {
  const Kind k;
  EXPECT_EQ(together(k.lines, k.ends_itself, k.all_units, k.raw_sound, k.socket, k.job), 0);
}

TEST(NothingKnown, a_probe_has_no_reply_and_an_empty_recording_no_event) {
  EXPECT_EQ(together(ProbeQuestion{}.insecure, ProbeQuestion{}.kinds, KindAnswer{}.status), 0);
  const ProbeAnswers a;
  EXPECT_EQ(together(a.tokens_max, a.models_asked, a.models_status, a.usage_refused, a.plain_asked,
                     a.plain_on_same_connection, a.sound_rate),
            0);
  EXPECT_EQ(together(ProbeReport{}.answers, CapturedReply{}.status, ProfilerReply{}.status), 0);
  const RecordedEvent e;
  EXPECT_EQ(together(e.read, e.malformed, e.has_choice, e.has_usage, e.units), 0);
  for (const ReplyFacts& f : {ReplyFacts{}, read_recording({})}) {
    EXPECT_EQ(together(f.has_head, f.complete, f.streamed, f.is_sound, f.reads, f.fragments,
                       f.reasoning_fragments, f.tool_fragments),
              0);
    EXPECT_EQ(together(f.sound_pieces, f.sound_bytes, f.malformed, f.usage_events, f.comments,
                       f.joined_events, f.split_characters, f.events_after_done),
              0);
    EXPECT_EQ(together(f.usage_before_finish, f.carriage_returns), 0);
    EXPECT_EQ(f.sound_length.ns, -1);
  }
}

}  // namespace
}  // namespace assay::protocol
