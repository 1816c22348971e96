#include "sut/series.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::sut {
namespace {

using loadgen::Phase;
using loadgen::Scenario;

constexpr std::size_t kTraceRecords = 2048;

// Draws a stream's samples one at a time. Its copies draw the same.
class Draw {
 public:
  explicit Draw(loadgen::QueryStream stream) : stream_(std::move(stream)) {}
  std::uint32_t operator()() {
    if (at_ == query_.samples.size()) {
      at_ = 0;
      // The loop asks for no more than the stream has; see queries_max.
      if (!stream_.next(query_)) return 0;
    }
    return static_cast<std::uint32_t>(query_.samples[at_++]);
  }

 private:
  loadgen::QueryStream stream_;
  loadgen::Query query_{};
  std::size_t at_ = 0;
};

}  // namespace

Result<Series> count_series(const loadgen::EffectiveSettings& settings,
                            const loadgen::LoadedSet& set, Phase phase,
                            loadgen::AccuracySampling& sampling) {
  ASSIGN_OR_RETURN(auto stream, loadgen::QueryStream::make(settings, set, phase));
  sampling.begin(settings, phase);
  Series out{.settings = &settings, .phase = phase, .sampling = sampling};
  for (loadgen::Query query; stream.next(query);) {
    for (std::size_t i = 0; i < query.samples.size(); ++i) sampling.next();
  }
  out.queries = stream.made();
  out.samples_per_query = stream.samples_per_query();
  out.generated_ns = stream.end_ns();
  return out;
}

Result<Plan> plan_of(const Series& series, const loadgen::LoadedSet& set, Duration idle_max) {
  const loadgen::EffectiveSettings& settings = *series.settings;
  ASSIGN_OR_RETURN(auto stream, loadgen::QueryStream::make(settings, set, series.phase));
  PhasePlan phase{.kind = series.performance() ? PhaseKind::performance : PhaseKind::accuracy,
                  .name = series.performance() ? "performance" : "accuracy"};
  const std::uint64_t samples = series.queries * series.samples_per_query;
  if (samples > std::numeric_limits<std::uint32_t>::max()) {
    return invalid("these settings give more than 4294967295 samples");
  }
  phase.stop.queries_max = samples;
  phase.stop.idle_max = idle_max;
  switch (series.scenario()) {
    case Scenario::SingleStream:
    case Scenario::MultiStream:
      phase.limits = {{{}, static_cast<std::uint32_t>(series.samples_per_query)}};
      break;
    case Scenario::Server: {
      phase.open_loop = true;
      phase.arrivals.reserve(series.queries);
      auto schedule = stream;
      for (loadgen::Query query; schedule.next(query);) {
        phase.arrivals.push_back(Duration{query.due_ns});
      }
      break;
    }
    case Scenario::Offline:
      break;  // all at once
  }
  phase.order = SampleOrder::drawn(Draw(std::move(stream)));
  return Plan{.phases = {std::move(phase)}};
}

void SeriesRecord::query_issued(Instant at) {
  if (series_.scenario() != Scenario::Offline || begun_) return;
  begun_ = true;
  started_ = at;
}

void SeriesRecord::room_for_trace() {
  if (trace_.capacity() == 0) trace_.reserve(kTraceRecords);
  if (trace_.size() >= kTraceRecords) log_.trace(trace_);
}

void SeriesRecord::span(const char* name, Instant begin, Instant end, std::uint64_t thread,
                        std::int64_t count) {
  if (!log_.traced()) return;
  room_for_trace();
  trace_.push_back({.name = name, .count = count, .thread = thread, .begin = begin, .end = end});
}

void SeriesRecord::first_token(std::uint64_t sample, std::uint64_t query, std::uint32_t index,
                               Instant due, Instant issued, Instant at) {
  if (!log_.traced()) return;
  room_for_trace();
  const bool server = series_.scenario() == Scenario::Server;
  trace_.push_back(
      {.kind = server ? TraceRecord::Kind::server_first_token : TraceRecord::Kind::first_token,
       .begin = due,
       .end = at,
       .sample = series_.first_sample + sample,
       .query = series_.first_query + query,
       .index = index,
       .issued_ns = (issued - due).ns});
}

void SeriesRecord::trace_sample(const Completed& what) {
  if (!log_.traced()) return;
  room_for_trace();
  const bool server = series_.scenario() == Scenario::Server;
  trace_.push_back({.kind = server ? TraceRecord::Kind::server_sample : TraceRecord::Kind::sample,
                    .begin = what.due,
                    .end = what.done,
                    .sample = series_.first_sample + what.sample,
                    .query = series_.first_query + what.query,
                    .index = what.index,
                    .issued_ns = (what.issued - what.due).ns});
}

// LoadGen logs an error for an answer of one token or none, and counts it as one of none.
void SeriesRecord::record_tokens(Completed& what, std::int64_t latency) {
  std::int64_t first = latency;
  if (series_.scenario() != Scenario::Offline) {
    if (what.first_token.known()) {
      first = (what.first_token - what.due).ns;
    } else {
      log_.error("error_runtime",
                 "Attempted to record a sample latency before it's first token latency");
    }
    figures_.first_tokens.push_back(first);
  }
  std::int64_t tokens = what.tokens;
  if (tokens == 0) {
    log_.error("error_runtime",
               "n_tokens argument missing or attempted to record 0 as number of tokens");
  } else if (tokens < 0) {
    log_.error("error_runtime", "Attempted to record a negative number of tokens");
    tokens = 0;
  } else if (tokens == 1) {
    log_.error("error_runtime", "Number of tokens need to be greater than 1");
    tokens = 0;
  }
  figures_.tokens.push_back(tokens);
}

void SeriesRecord::completed(Completed what) {
  if (series_.scenario() == Scenario::Offline) what.due = started_;
  const std::int64_t latency = (what.done - what.due).ns;
  last_completion_ = std::max(last_completion_, what.done);
  trace_sample(what);
  if (tokens_count()) record_tokens(what, latency);
  figures_.sample_latencies.push_back(latency);
  if (what.ends_query) {
    if (series_.scenario() == Scenario::MultiStream) {
      figures_.query_latencies.push_back((what.query_done - what.due).ns);
    }
    if (!any_query_ || what.query >= last_query_) {
      any_query_ = true;
      last_query_ = what.query;
      figures_.last_due = (what.due - started_).ns;
      figures_.last_issued = (what.issued - started_).ns;
      figures_.last_done = (what.query_done - started_).ns;
    }
  }
  if (!what.logged) return;
  log_.accuracy({.sample = series_.first_sample + what.sample,
                 .index = what.index,
                 .tokens = what.tokens,
                 .answer = std::move(what.answer)});
}

loadgen::Recorded SeriesRecord::merge(const std::vector<std::unique_ptr<SeriesRecord>>& records,
                                      std::uint64_t issued) {
  loadgen::Recorded out;
  const SeriesRecord* last = nullptr;
  const auto append = [](std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const auto& record : records) {
    const loadgen::Recorded& part = record->figures_;
    append(out.sample_latencies, part.sample_latencies);
    append(out.query_latencies, part.query_latencies);
    append(out.first_tokens, part.first_tokens);
    append(out.tokens, part.tokens);
    if (record->any_query_ && (last == nullptr || record->last_query_ > last->last_query_)) {
      last = record.get();
    }
  }
  out.queries_issued = issued;
  if (last != nullptr) {
    out.last_due = last->figures_.last_due;
    out.last_issued = last->figures_.last_issued;
    out.last_done = last->figures_.last_done;
  }
  return out;
}

}  // namespace assay::sut
