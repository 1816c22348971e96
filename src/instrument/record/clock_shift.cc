#include "record/clock_shift.h"

#include <algorithm>
#include <vector>

namespace assay::record {
namespace {

void shift(Instant& at, Duration offset) {
  if (at.known()) at = at + offset;
}

}  // namespace

Duration ClockShift::offset_of(const Query& query, Instant own) {
  const Asked* asked = in_flight_.find(query_key(query));
  // A record whose `sent` was lost, or that failed before it was sent.
  return asked == nullptr ? map_.offset(own) : asked->offset;
}

void ClockShift::on_phase(const PhaseMark& mark) {
  PhaseMark moved = mark;
  shift(moved.at, map_.offset(mark.at));
  sink_.on_phase(moved);
}

void ClockShift::on_sent(const Query& query, Instant due, Instant sent) {
  const Duration offset = map_.offset(sent);
  shift(due, offset);
  shift(sent, offset);
  in_flight_.insert(query_key(query)) = {query, due, sent, offset};
  sink_.on_sent(query, due, sent);
}

void ClockShift::on_stream_event(const Query& query, const StreamEvent& event,
                                 std::string_view text) {
  const Duration offset = offset_of(query, event.read);
  StreamEvent moved = event;
  shift(moved.arrival, offset);
  shift(moved.read, offset);
  sink_.on_stream_event(query, moved, text);
}

void ClockShift::on_done(const Event& event, std::string_view detail) {
  const Duration offset = offset_of(event.query, event.done.known() ? event.done : event.due);
  Event moved = event;
  for (Instant* at :
       {&moved.due, &moved.sent, &moved.first_byte, &moved.first_event, &moved.first_token,
        &moved.first_visible, &moved.last_token, &moved.done, &moved.released}) {
    shift(*at, offset);
  }
  in_flight_.erase(query_key(event.query));
  sink_.on_done(moved, detail);
}

void ClockShift::on_tick(Instant now) { sink_.on_tick(now + map_.offset(now)); }

std::uint64_t ClockShift::end_all(Instant last, std::string_view why) {
  std::vector<Asked> left;
  in_flight_.for_each([&left](std::uint64_t, const Asked& asked) { left.push_back(asked); });
  std::ranges::sort(left, {}, [](const Asked& one) { return query_key(one.query); });
  for (const Asked& asked : left) {
    Event event{.query = asked.query, .outcome = Outcome::cancelled};
    event.due = asked.due;
    event.sent = asked.sent;
    event.done = std::max(asked.sent, last + asked.offset);
    sink_.on_done(event, why);
    in_flight_.erase(query_key(asked.query));
  }
  return left.size();
}

}  // namespace assay::record
