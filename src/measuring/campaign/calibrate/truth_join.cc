#include "campaign/calibrate/truth_join.h"

#include <algorithm>
#include <string>

namespace assay::campaign {

std::vector<StreamEvent> as_written(std::span<const StreamEvent> events,
                                    std::span<const endpoint::TruthEvent> truth) {
  std::vector<StreamEvent> out;
  std::uint64_t bytes = 0;
  std::uint64_t tokens = 0;
  for (const StreamEvent& one : events) bytes += one.category == Category::sound ? one.bytes : 0;
  for (const endpoint::TruthEvent& one : truth) {
    tokens += one.category == Category::sound ? one.tokens : 0;
  }
  bool even = tokens > 0 && bytes % tokens == 0;
  std::uint64_t piece = 0;
  for (std::size_t i = 0; even && i < events.size(); ++i) {
    const bool sound = events[i].category == Category::sound;
    piece += sound ? events[i].bytes : 0;
    const std::uint64_t whole =
        sound && out.size() < truth.size() ? truth[out.size()].tokens * (bytes / tokens) : 0;
    even = piece <= whole;
    if (piece < whole) continue;
    out.push_back(events[i]);
    piece = 0;
  }
  if (!even || piece > 0) out.assign(events.begin(), events.end());
  return out;
}

audit::ClockErrors TruthJoin::Errors::finish() {
  return {.ttft = audit::error_figures(ttft),
          .itl = audit::error_figures(itl),
          .latency = audit::error_figures(latency)};
}

void TruthJoin::on_reply(const metrics::Reply& reply) {
  if (reply.event.outcome != Outcome::ok) return;
  const Query& query = reply.event.query;
  const QueryUuid uuid = query_uuid(run_key_, query.phase, query.index);
  const auto found = truth_.by_id.find(std::string(uuid.data(), uuid.size()));
  ++replies_;
  if (found == truth_.by_id.end()) {
    ++unmatched_;
    return;
  }
  const endpoint::TruthReply& truth = truth_.replies[found->second];
  if (!reply.event.streamed) {
    truth.events.empty() ? void(++unmatched_) : compare_ends(reply.event, truth);
    return;
  }
  const std::vector<StreamEvent> events = as_written(reply.events, truth.events);
  if (!events.empty() && std::ranges::equal(events, truth.events, {}, &StreamEvent::category,
                                            &endpoint::TruthEvent::category)) {
    compare(reply.event, events, truth);
  } else {
    ++unmatched_;
  }
}

void TruthJoin::compare(const Event& end, std::span<const StreamEvent> events,
                        const endpoint::TruthReply& truth) {
  bool any = false;
  bool last_alone = false;
  std::int64_t last_arrival = 0;
  std::int64_t last_read = 0;
  for (std::size_t i = 0; i < truth.events.size(); ++i) {
    const StreamEvent& event = events[i];
    ++events_;
    stamped_ += event.kernel_stamped ? 1 : 0;
    shared_ += event.shares_read ? 1 : 0;
    if (!is_output(event.category)) continue;
    const std::int64_t arrival = (event.arrival - truth.events[i].at).ns;
    const std::int64_t read = (event.read - truth.events[i].at).ns;
    instants_.push_back(arrival);
    const bool alone = event.kernel_stamped && !event.shares_read;
    if (any) {
      arrival_.itl.push_back(arrival - last_arrival);
      read_.itl.push_back(read - last_read);
      if (alone && last_alone) alone_.itl.push_back(arrival - last_arrival);
    } else {
      arrival_.ttft.push_back(arrival);
      read_.ttft.push_back(read);
      if (alone) alone_.ttft.push_back(arrival);
    }
    any = true;
    last_alone = alone;
    last_arrival = arrival;
    last_read = read;
  }
  compare_ends(end, truth);
}

void TruthJoin::compare_ends(const Event& event, const endpoint::TruthReply& truth) {
  const std::int64_t done = (event.done - truth.events.back().at).ns;
  arrival_.latency.push_back(done);
  if (event.kernel_stamped) alone_.latency.push_back(done);
  read_.latency.push_back(done + event.read_delay_done.ns);
}

void TruthJoin::finish(audit::CalibratedLevel& level) {
  level.replies = replies_;
  level.unmatched = unmatched_;
  if (events_ > 0) {
    level.kernel_stamped = static_cast<double>(stamped_) / static_cast<double>(events_);
    level.shares_read = static_cast<double>(shared_) / static_cast<double>(events_);
  }
  level.arrival = arrival_.finish();
  level.alone = alone_.finish();
  level.read = read_.finish();
}

}  // namespace assay::campaign
