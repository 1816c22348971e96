#include "sut/sut_target.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/base64.h"
#include "base/check.h"
#include "base/format.h"

namespace assay::sut {
namespace {

using loadgen::Scenario;

constexpr std::int64_t kMsInNs = 1'000'000;

// This thread's part of a count: the first threads have one more.
std::uint64_t part_of(std::uint64_t total, const IssueThread& thread) {
  return total / thread.count + (thread.number < total % thread.count ? 1 : 0);
}

Event completed_event(const Query& query, Instant due, Instant sent, const Entry& entry) {
  Event event{.query = query, .due = due, .sent = sent};
  event.first_byte = event.first_event = event.first_token = entry.first_token;
  event.first_visible = entry.first_token;
  event.last_token = event.done = event.released = entry.at;
  event.output_bytes = entry.size;
  event.received_bytes = entry.size;
  event.streamed = event.stream_asked = entry.first_token.known();
  if (entry.tokens > 0) event.usage.completion_tokens = static_cast<std::int32_t>(entry.tokens);
  return event;
}

}  // namespace

SutTarget::SutTarget(Clock& clock, mlperf::SystemUnderTest& sut, Desk& desk, const Series& series,
                     SeriesRecord& record, LogFiles& log, run::Control& control,
                     std::atomic<std::uint64_t>& issued, IssueThread thread)
    : clock_(clock),
      sut_(sut),
      desk_(desk),
      series_(series),
      record_(record),
      log_(log),
      control_(control),
      issued_(issued),
      thread_(thread),
      per_query_(series.samples_per_query),
      whole_queries_(series.scenario() == Scenario::MultiStream),
      coalesces_(series.scenario() == Scenario::Server &&
                 series.settings->requested.server_coalesce_queries),
      desks_{&desk},
      logged_(series.sampling) {
  batch_.reserve(per_query_);
  batch_slots_.reserve(per_query_);
  asked_.reserve(per_query_);
}

void SutTarget::begin(Instant at) {
  started_ = loop_began_ = at;
  record_.begin(at);
}

// Whether the next query is due already, so that both go in one call.
bool SutTarget::holds(const Query& query) {
  if (series_.scenario() != Scenario::Server) return batch_.size() < per_query_;
  if (!coalesces_) return false;
  const std::uint64_t next = query.index / thread_.count + 1;
  return next < thread_.arrivals.size() && started_ + thread_.arrivals[next] <= batch_began_;
}

void SutTarget::submit(const Query& query, Instant due, EventSink& sink) {
  if (coalesces_ && batch_.empty()) batch_began_ = clock_.now();
  const bool logged = logged_.at(query.index);
  const Desk::Ticket ticket = desk_.open(logged);
  if (ticket.slot >= asked_.size()) asked_.resize(std::size_t{ticket.slot} + 1);
  asked_[ticket.slot] = {
      .query = query, .due = due, .scheduled = due, .open = true, .logged = logged};
  batch_.push_back({ticket.id, query.sample});
  batch_slots_.push_back(ticket.slot);
  ++in_flight_;
  ++samples_;
  if (!holds(query)) issue(sink);
}

void SutTarget::end_issue(EventSink& sink) {
  if (batch_.empty()) return;
  if (per_query_ == 1 && fault_ == nullptr) return issue(sink);
  cancels_part_ = true;  // at the next poll(), whose sink counts the ends of queries
}

void SutTarget::issue(EventSink& sink) {
  const Instant at = clock_.now();
  record_.query_issued(at);
  for (const std::uint32_t slot : batch_slots_) {
    Asked& asked = asked_[slot];
    asked.sent = at;
    // Only a server's latencies count from the schedule.
    if (series_.scenario() != Scenario::Server) asked.scheduled = at;
  }
  if (log_.traced()) {
    const bool server = series_.scenario() == Scenario::Server;
    if (series_.scenario() != Scenario::Offline) {
      record_.span(server ? "Scheduling" : "Waiting", loop_began_, at, this_thread_number());
    }
  }
  // What the system under test throws is the test's, and leaves it at its end (TestRun).
  if (thread_.mark != nullptr) thread_.mark->begin("IssueQuery", at);
  try {
    sut_.IssueQuery(batch_);
  } catch (const std::exception& error) {
    fault_ = std::current_exception();
    stop(format("IssueQuery threw an exception: {}", error.what()));
  } catch (...) {
    fault_ = std::current_exception();
    stop("IssueQuery threw an exception of an unknown type");
  }
  if (thread_.mark != nullptr) thread_.mark->end();
  if (log_.traced()) {
    const Instant end = clock_.now();
    record_.span("IssueQuery", at, end, this_thread_number());
    record_.span("SampleLoop", loop_began_, end, this_thread_number());
    loop_began_ = end;
  }
  for (const std::uint32_t slot : batch_slots_) {
    sink.on_sent(asked_[slot].query, asked_[slot].scheduled, at);
  }
  const std::uint64_t queries = batch_.size() / per_query_;
  queries_ += queries;
  issued_.fetch_add(queries, std::memory_order_relaxed);
  batch_.clear();
  batch_slots_.clear();
  apply_stop_rules(at);
}

void SutTarget::stop(std::string_view text) {
  if (!text.empty()) log_.error("error_runtime", text);
  if (fault_ != nullptr) {
    control_.stop_now();
  } else if (!stopping_) {
    control_.ask_to_stop();
  }
  stopping_ = true;
}

// LoadGen's, in its order: after each issue, only the first that holds.
void SutTarget::apply_stop_rules(Instant at) {
  if (!series_.performance() || stopping_) return;
  const loadgen::EffectiveSettings& settings = *series_.settings;
  const Duration elapsed = at - record_.started();
  if (series_.scenario() != Scenario::Server) {
    if (queries_ >= part_of(settings.min_query_count, thread_) &&
        elapsed >= Duration{settings.target_duration_ms * kMsInNs}) {
      log_.line("generic_message", "Ending naturally: Minimum query count and test duration met.");
      return stop({});
    }
  } else if (settings.max_async_queries != 0) {
    const std::uint64_t issued = issued_.load(std::memory_order_relaxed);
    std::uint64_t completed = 0;
    for (const Desk* const desk : desks_) completed += desk->completed();
    if (issued - completed > settings.max_async_queries) {
      return stop(
          format("IssueQueryThread {} Ending early: Too many outstanding queries. issued {}"
                 " outstanding {}",
                 thread_.number, issued, issued - completed));
    }
  }
  if (settings.max_query_count != 0 && queries_ >= part_of(settings.max_query_count, thread_)) {
    return stop(format("IssueQueryThread {} Ending early: Max query count reached. query_count {}",
                       thread_.number, queries_));
  }
  if (settings.max_duration_ms != 0 && elapsed > Duration{settings.max_duration_ms * kMsInNs}) {
    stop(format("IssueQueryThread {} Ending early: Max test duration reached. duration_ns {}",
                thread_.number, elapsed.ns));
  }
}

void SutTarget::poll(Instant until, EventSink& sink) {
  if (cancels_part_) {
    cancels_part_ = false;
    const Instant now = clock_.now();
    for (const std::uint32_t slot : batch_slots_) cancel(asked_[slot], now, sink);
    batch_.clear();
    batch_slots_.clear();
    return;
  }
  if (!desk_.pending()) {
    if (thread_.simulated) {
      clock_.sleep_until(until);
    } else {
      // It may return early; the loop then calls again.
      const Instant now = clock_.now();
      if (until > now) desk_.wait(until - now);
    }
  }
  desk_.take(entries_);
  for (Entry& entry : entries_) report(entry, sink);
  entries_.clear();
}

void SutTarget::report(Entry& entry, EventSink& sink) {
  switch (entry.kind) {
    case Entry::Kind::sample:
      return report_sample(entry, sink);
    case Entry::Kind::first_token: {
      const Asked& asked = asked_[entry.slot];
      const Instant due =
          series_.scenario() == Scenario::Offline ? record_.started() : asked.scheduled;
      return record_.first_token(asked.query.index, query_of(asked.query.index), asked.query.sample,
                                 due, asked.sent, entry.at);
    }
    case Entry::Kind::misuse:
      return record_.misused(entry.misuse);
    case Entry::Kind::call:
      return record_.span(entry.of_first_token ? "FirstTokenComplete" : "QuerySamplesComplete",
                          entry.at, entry.end, entry.thread);
  }
  CHECK(false && "no such Entry");
}

void SutTarget::report_sample(Entry& entry, EventSink& sink) {
  Asked& asked = asked_[entry.slot];
  CHECK(asked.open);
  asked.open = false;
  query_done_ = std::max(query_done_, entry.at);
  const bool ends_query = ++query_samples_done_ == per_query_;
  if (entry.answer != nullptr && !entry.answer->data.empty()) {
    // What LoadGen's accuracy log has in hexadecimal digits; scorers read float32 in this form.
    const Bytes& data = entry.answer->data;
    const std::string text =
        encode_base64({reinterpret_cast<const char*>(data.data()), data.size()});
    sink.on_stream_event(asked.query,
                         {.category = Category::text,
                          .bytes = static_cast<std::uint32_t>(text.size()),
                          .arrival = entry.at,
                          .read = entry.at},
                         text);
  }
  record_.completed({.sample = asked.query.index,
                     .query = query_of(asked.query.index),
                     .index = asked.query.sample,
                     .due = asked.scheduled,
                     .issued = asked.sent,
                     .first_token = entry.first_token,
                     .done = entry.at,
                     .query_done = query_done_,
                     .ends_query = ends_query,
                     .logged = asked.logged,
                     .tokens = entry.tokens,
                     .answer = std::move(entry.answer)});
  Event event = completed_event(asked.query, asked.scheduled, asked.sent, entry);
  if (whole_queries_) {
    held_.push_back(event);
    if (ends_query) release_held(sink);
  } else {
    --in_flight_;
    sink.on_done(event, {});
  }
  if (!ends_query) return;
  query_samples_done_ = 0;
  query_done_ = {};
}

void SutTarget::release_held(EventSink& sink) {
  for (Event& event : held_) {
    event.released = query_done_;
    --in_flight_;
    sink.on_done(event, {});
  }
  held_.clear();
}

void SutTarget::cancel_all(EventSink& sink) {
  // What has come in by now did come.
  desk_.take(entries_);
  for (Entry& entry : entries_) report(entry, sink);
  entries_.clear();
  release_held(sink);
  const Instant now = clock_.now();
  for (Asked& asked : asked_) {
    if (asked.open) cancel(asked, now, sink);
  }
  batch_.clear();
  batch_slots_.clear();
}

void SutTarget::cancel(Asked& asked, Instant now, EventSink& sink) {
  asked.open = false;
  const bool lost = asked.sent.known();
  if (lost) ++lost_;
  Event event{.query = asked.query, .outcome = Outcome::cancelled, .due = asked.due};
  event.sent = asked.sent;
  event.done = event.released = now;
  --in_flight_;
  sink.on_done(event, lost ? "the system under test did not complete this sample"
                           : "the run ended before this sample's query was whole");
}

}  // namespace assay::sut
