#include "metrics/point_fold.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "base/varint.h"
#include "metrics/failed_share.h"

namespace assay::metrics {
namespace {

constexpr std::size_t kAheadMost = std::size_t{1} << 20;

void append_gap(std::string& gaps, Duration gap) {
  char buffer[kVarintMax];
  const char* const end = put_delta(buffer, gap.ns, 0);
  gaps.append(buffer, static_cast<std::size_t>(end - buffer));
}

void add_counts(Counts& sum, const Counts& part) {
  sum.issued += part.issued;
  sum.completed += part.completed;
  sum.failed += part.failed;
  sum.unfinished += part.unfinished;
  for (std::size_t i = 0; i < sum.finish.size(); ++i) sum.finish[i] += part.finish[i];
}

// A name for phases that are in the log but not in its header.
PhaseSpan span_of(const std::vector<PhaseInfo>& phases, std::size_t index) {
  PhaseSpan span{};
  if (index < phases.size()) {
    span.kind = phases[index].kind;
    span.name = phases[index].name;
  } else {
    span.name = format("phase {}", index);
  }
  return span;
}

// Warnings about the test query before the load.
void add_preflight_warnings(const Json& preflight, std::vector<std::string>& out) {
  std::string fields;
  for (const Json& field : preflight["left_out"].items()) {
    fields += (fields.empty() ? "" : ", ") + std::string(field.as_string());
  }
  if (!fields.empty()) {
    out.push_back(format("the endpoint refuses {}: every request is without it{}", fields,
                         fields.find("ignore_eos") == std::string::npos
                             ? ""
                             : ", so that replies may end before the length that was asked for"));
  }
  if (const std::string_view limit = preflight["limit_field"].as_string(); !limit.empty()) {
    const bool chat = limit == "max_tokens";
    out.push_back(format("the endpoint refuses {}: every request says its limit as {}",
                         chat ? "max_completion_tokens" : "max_tokens", limit));
  }
  const auto look_at = [&out](const Json& one) {
    const std::string_view outcome = one["outcome"].as_string();
    if (outcome.empty() || outcome == to_string(Outcome::ok)) return;
    const std::string_view detail = one["detail"].as_string();
    const std::string_view where = one["endpoint"].as_string();
    out.push_back(format("the test query before the load{}{} failed ({}){}{}",
                         where.empty() ? "" : " to ", where, outcome, detail.empty() ? "" : ": ",
                         detail));
  };
  const Json& each = preflight["endpoints"];
  if (each.size() == 0) look_at(preflight);
  for (const Json& one : each.items()) look_at(one);
}

void add_input_warnings(const Json& tokenizer, std::vector<std::string>& out) {
  const auto count = [&tokenizer](std::string_view key) {
    return with_thousands(static_cast<std::int64_t>(tokenizer[key].as_uint()));
  };
  const std::string_view why = tokenizer["trouble"].as_string("no counts for them");
  if (tokenizer["inputs_refused_by_template"].as_uint() > 0) {
    out.push_back(
        format("the chat template refused {} prompts ({}): their ISL is of the JSON of their "
               "messages and tools",
               count("inputs_refused_by_template"), why));
  }
  if (tokenizer["inputs_uncounted"].as_uint() > 0) {
    out.push_back(format("{} prompts could not be counted ({}): ISL is of the others",
                         count("inputs_uncounted"), why));
  }
}

void add_tail_warning(const Point& point, std::vector<std::string>& out) {
  std::uint64_t tail = 0;
  for (const PhaseSpan& phase : point.phases) {
    if (phase.kind == PhaseKind::tail) tail += phase.counts.issued;
  }
  if (tail <= point.counts.issued) return;
  out.push_back(format(
      "{} of {} turns began after the first slot had no conversation left to begin: they are "
      "scored and not measured; replay more of them (num_trajectories_to_issue), or fewer "
      "at once",
      with_thousands(static_cast<std::int64_t>(tail)),
      with_thousands(static_cast<std::int64_t>(tail + point.counts.issued))));
}

}  // namespace

PointFold::PointFold(RunInfo info, FoldOptions options)
    : info_(std::move(info)),
      options_(options),
      gaps_recorded_(gaps_recorded(info_)),
      arrival_(options.gaps_max),
      read_(options.gaps_max),
      read_delay_(options.gaps_max) {
  for (std::size_t i = 0; i < info_.phases.size(); ++i) {
    phases_.push_back({span_of(info_.phases, i), Instant::none(), Instant::none()});
  }
  steady_ = steady_options(info_.facts);
  units_.name = steady_.unit;
  for (Failures& one : failures_) one.outcome = static_cast<Outcome>(&one - failures_.data());
}

PointFold::PhaseFold& PointFold::phase(std::uint16_t index) {
  while (index >= phases_.size()) {
    phases_.push_back({span_of(info_.phases, phases_.size()), Instant::none(), Instant::none()});
  }
  return phases_[index];
}

PointFold::Open& PointFold::open(const Query& query) {
  return in_flight_.open(query_key(query), [](Open& fresh) {
    fresh.gaps.clear();  // keeps its memory
    fresh.limits.clear();
    fresh.spread.clear();
    fresh.sent = fresh.visible = false;
    fresh.visible_delay = Duration{};
    fresh.unread = 0;
    fresh.evidence.clear();
  });
}

void PointFold::on_phase(const PhaseMark& mark) {
  PhaseSpan& span = phase(mark.phase).span;
  // With several shards: the first start, the last of the other steps.
  switch (mark.step) {
    case PhaseStep::started:
      span.started = span.started.known() ? std::min(span.started, mark.at) : mark.at;
      break;
    case PhaseStep::issue_ended:
      span.issue_ended = std::max(span.issue_ended, mark.at);
      break;
    case PhaseStep::drained:
      span.drained = std::max(span.drained, mark.at);
      break;
  }
  note(mark.at);
  timeline_.cell_of(mark.at);  // the origin, if no event came before
}

void PointFold::note(Instant at) {
  began_ = std::min(began_, at);
  ended_ = std::max(ended_, at);
}

void PointFold::note_due(Instant due) {
  first_due_ = std::min(first_due_, due);
  last_due_ = std::max(last_due_, due);
  ++dues_;
}

void PointFold::on_sent(const Query& query, Instant due, Instant sent) {
  open(query).sent = true;
  PhaseFold& in = phase(query.phase);
  in.first = in.first.known() ? std::min(in.first, sent) : sent;
  in.last = std::max(in.last, sent);
  note(sent);
  timeline_.sent(sent);
  if (!measured(query.phase)) return;
  lateness_.add(sent - due);
  note_due(due);
  first_sent_ = std::min(first_sent_, sent);
  last_sent_ = std::max(last_sent_, sent);
  ++sents_;
}

void PointFold::on_stream_event(const Query& query, const StreamEvent& event, std::string_view) {
  const bool counts = measured(query.phase);
  if (counts) {
    ++stamps_.events;
    stamps_.shares_read += event.shares_read ? 1 : 0;
    if (event.kernel_stamped) {
      ++stamps_.kernel_stamped;
      read_delay_.add(event.read - event.arrival);
    }
  }
  note(event.read);
  if (event.category == Category::unread) ++open(query).unread;
  const bool fragment = is_fragment(event.category);
  if (!fragment && event.category != Category::finish && event.tokens_so_far < 0) return;
  Open& q = open(query);
  const Came before = q.evidence.add(event);
  if (!fragment) return;
  timeline_.fragment(event.arrival);
  const std::uint32_t cell = timeline_.cell_of(event.arrival);
  if (q.spread.empty() || q.spread.back().first != cell) q.spread.emplace_back(cell, 0);
  ++q.spread.back().second;
  if (!counts) return;
  if (event.category == Category::text && !q.visible) {
    q.visible = true;
    q.visible_delay = event.read - event.arrival;
  }
  if (before.arrival.known()) {
    append_gap(q.gaps, event.arrival - before.arrival);
    append_gap(q.gaps, event.read - before.read);
  }
  // With several choices, the limits are those of the first one's gaps.
  if (event.choice == q.evidence.choices().front().choice) {
    q.limits.fragment(event.arrival, event.read, event.uncertainty);
  }
}

void PointFold::on_done(const Event& event, std::string_view detail) {
  const bool ok = event.outcome == Outcome::ok;
  PhaseFold& in = phase(event.query.phase);
  Counts& counts = in.span.counts;
  ++counts.issued;
  ++(ok ? counts.completed : counts.failed);
  if (ok) ++counts.finish[static_cast<std::size_t>(event.finish)];
  const Instant at = event.done.known() ? event.done : event.due;
  in.first = in.first.known() ? std::min(in.first, event.due) : event.due;
  in.last = std::max(in.last, at);
  note(at);
  Open& q = open(event.query);
  timeline_.ended(at, q.sent, ok);
  find_truth(event, q);
  if (ok) spread_tokens(event, q);
  if (in.span.kind == PhaseKind::performance) {
    note_issued(event);
    if (!event.sent.known()) note_due(event.due);
    if (event.connected) connect_.add(event.connect_time);
    if (ok) {
      measure(event, q);
    } else {
      note_failure(event, detail);
    }
  }
  in_flight_.close(query_key(event.query));
}

// For the steady-state detector: the query at its place in the order of issue.
void PointFold::note_issued(const Event& event) {
  if (steady_.super_pass == 0) return;
  // Replies come in another order, but a number far beyond all others comes from a damaged log.
  if (event.query.index > 2 * issued_.size() + kAheadMost) return;
  if (issued_.size() <= event.query.index) issued_.resize(std::size_t{event.query.index} + 1);
  Issued& issued = issued_[event.query.index] = issued_of(event, truth_.count);
  if (issued.ok && !truth_.choices.empty()) issued.tpot = mean_tpot(truth_);
}

void PointFold::note_failure(const Event& event, std::string_view detail) {
  Failures& failures = failures_[static_cast<std::size_t>(event.outcome)];
  ++failures.count;
  if (failures.examples.size() >= options_.examples_max) return;
  FailureExample example{};
  example.query = event.query.index;
  example.sample = event.query.sample;
  example.endpoint = event.endpoint;
  example.http_status = event.http_status;
  example.at = event.done;
  example.detail = detail;
  failures.examples.push_back(std::move(example));
}

void PointFold::find_truth(const Event& event, const Open& q) {
  static constexpr TokenCount kUncounted{};
  const TokenCount* counted = nullptr;
  if (options_.counts != nullptr) {
    counted = options_.counts->find(event.query);
    if (counted == nullptr) counted = &kUncounted;
  }
  reconcile(event, q.evidence, counted, truth_);
}

void PointFold::measure(const Event& event, Open& q) {
  units_.completed += std::max<std::uint16_t>(event.choices_asked, 1);
  audio_.add(event);
  tokens_.add(event, truth_, q.evidence.choices().size());
  tokens_.add_unread(q.unread);
  if (truth_.count.input >= 0) isl_.add(std::int64_t{truth_.count.input});
  if (truth_.count.output >= 0) osl_.add(std::int64_t{truth_.count.output});
  if (!event.sent.known() || !event.done.known()) return;
  const Instant done_read = event.done + event.read_delay_done;
  // True arrivals are never later and true `sent` never earlier: this latency is the most.
  const Duration latency = event.done - event.sent;
  const Duration latency_due = event.done - event.due;
  arrival_.latency.add(latency, less(less(latency, event.done_uncertainty), event.sent_uncertainty),
                       latency);
  arrival_.latency_due.add(latency_due, less(latency_due, event.done_uncertainty), latency_due);
  read_.latency.add(done_read - event.sent);
  read_.latency_due.add(done_read - event.due);
  if (std::pair(event.sent, event.done) > std::pair(last_sent_ok_, last_sent_ok_done_)) {
    last_sent_ok_ = event.sent;
    last_sent_ok_done_ = event.done;
  }
  if (event.streamed && event.first_token.known()) measure_streamed(event, q);
}

void PointFold::measure_streamed(const Event& event, Open& q) {
  const Instant first_read = event.first_token + event.read_delay_first_token;
  const auto told = [](Duration span, Duration uncertainty, Duration start, Series& series) {
    series.add(span, less(less(span, uncertainty), start), span);
  };
  const Duration first = event.first_token_uncertainty;
  told(event.first_token - event.sent, first, event.sent_uncertainty, arrival_.ttft);
  told(event.first_token - event.due, first, {}, arrival_.ttft_due);
  read_.ttft.add(first_read - event.sent);
  read_.ttft_due.add(first_read - event.due);
  timeline_.first_token(event.first_token, event.first_token - event.sent);
  if (event.first_visible.known()) {
    told(event.first_visible - event.sent, event.first_visible_uncertainty, event.sent_uncertainty,
         arrival_.ttft_visible);
    read_.ttft_visible.add(event.first_visible + q.visible_delay - event.sent);
  }
  if (gaps_recorded_) {
    ByteReader gaps(q.gaps);
    while (!gaps.at_end()) {
      arrival_.itl.add(gaps.delta(0));
      read_.itl.add(gaps.delta(0));
    }
    q.limits.limit(arrival_.itl);
  }
  if (truth_.count.output < 0 || event.fragments == 0) return;
  if (gaps_recorded_) {
    fragment_tokens_.add(static_cast<double>(truth_.count.output) /
                         static_cast<double>(event.fragments));
  }
  measure_tpot(event);
}

// Counts the tokens after the first fragment. A single fragment has none after it.
void PointFold::measure_tpot(const Event& event) {
  for (const ChoiceTruth& choice : truth_.choices) {
    if (choice.after_first < 1) continue;
    const Duration tail = choice.last.arrival - choice.first.arrival;
    arrival_.tpot.add(static_cast<double>(tail.ns) / choice.after_first);
    const Duration tail_read = choice.last.read - choice.first.read;
    read_.tpot.add(static_cast<double>(tail_read.ns) / choice.after_first);
  }
  if (!truth_.choices.empty() || event.fragments < 2 || truth_.count.after_first < 1) return;
  const auto after = static_cast<double>(truth_.count.after_first);
  const Duration tail = event.done - event.first_token;
  const Duration tail_read = tail + event.read_delay_done - event.read_delay_first_token;
  arrival_.tpot.add(static_cast<double>(tail.ns) / after,
                    static_cast<double>(less(tail, event.done_uncertainty).ns) / after,
                    static_cast<double>(more(tail, event.first_token_uncertainty).ns) / after);
  read_.tpot.add(static_cast<double>(tail_read.ns) / after);
}

void PointFold::spread_tokens(const Event& event, const Open& q) {
  const auto tokens = static_cast<double>(truth_.count.output);
  if (tokens <= 0) return;
  std::uint64_t fragments = 0;
  for (const auto& [cell, share] : q.spread) fragments += share;
  for (const auto& [cell, share] : q.spread) {
    timeline_.tokens(cell, tokens * share / static_cast<double>(fragments));
  }
  if (fragments == 0 && event.done.known()) timeline_.tokens(timeline_.cell_of(event.done), tokens);
}

// Queries that were sent and have no end in the log: the run crashed, or the record was lost.
void PointFold::end_unfinished() {
  in_flight_.for_each([this](std::uint64_t key, const Open&) {
    Counts& counts = phase(static_cast<std::uint16_t>(key >> 32)).span.counts;
    ++counts.issued;
    ++counts.unfinished;
  });
}

Latencies PointFold::ClockSeries::finish(bool estimates, bool limits) {
  Latencies out{};
  out.ttft = ttft.finish(estimates, limits);
  out.ttft_due = ttft_due.finish(estimates, limits);
  out.ttft_visible = ttft_visible.finish(estimates, limits);
  out.tpot = tpot.finish(estimates, limits);
  out.itl = itl.finish(false, limits);
  out.latency = latency.finish(estimates, limits);
  out.latency_due = latency_due.finish(estimates, limits);
  return out;
}

Rates PointFold::rates(const Point& point) const {
  Rates out{};
  for (const PhaseFold& in : phases_) {
    if (in.span.kind != PhaseKind::performance || !in.last.known()) continue;
    const Instant start = in.span.started.known() ? in.span.started : in.first;
    out.duration += std::max(in.last - start, Duration{});
  }
  const double seconds = out.duration.seconds();
  const auto completed = static_cast<double>(point.counts.completed);
  const bool counted = point.tokens.replies_counted > 0;
  const auto output = static_cast<double>(point.tokens.output);
  if (seconds > 0) {
    out.qps = completed / seconds;
    if (counted) out.tps = output / seconds;
  }
  const double tpot_p90_ms = point.arrival.tpot.percentile(90.0) * 1e-6;
  if (tpot_p90_ms > 0) out.tps_per_user = 1000.0 / tpot_p90_ms;
  const bool open_loop = std::any_of(
      info_.phases.begin(), info_.phases.end(),
      [](const PhaseInfo& info) { return info.kind == PhaseKind::performance && info.open_loop; });
  if (open_loop && point.counts.completed >= 2 && last_sent_ok_done_ > first_sent_) {
    const Duration window = last_sent_ok_done_ - first_sent_;
    out.legacy_window = window;
    out.legacy_qps = (completed - 1) / window.seconds();
    if (counted) out.legacy_tps = output / window.seconds();
  }
  const auto rate = [](std::uint64_t n, Instant first, Instant last) -> std::optional<double> {
    if (n < 2 || last <= first) return std::nullopt;
    return static_cast<double>(n - 1) / (last - first).seconds();
  };
  out.offered_qps = rate(dues_, first_due_, last_due_);
  out.achieved_qps = rate(sents_, first_sent_, last_sent_);
  return out;
}

std::vector<Failures> PointFold::failures() {
  std::vector<Failures> out;
  for (Failures& one : failures_) {
    if (one.count > 0) out.push_back(std::move(one));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Failures& a, const Failures& b) { return a.count > b.count; });
  return out;
}

std::vector<std::string> PointFold::warnings(const Point& point, std::uint64_t lost_records) const {
  const auto counted = [](std::uint64_t n) { return with_thousands(static_cast<std::int64_t>(n)); };
  const std::string in_flight = point.counts.unfinished == 0
                                    ? ""
                                    : format("; {} queries were in flight at the log's end",
                                             counted(point.counts.unfinished));
  std::vector<std::string> out;
  if (point.end.out_of_space) {
    out.push_back(
        format("{}; {} records are lost{}", point.end.reason, counted(lost_records), in_flight));
  }
  if (std::string failed = failed_words(point); !failed.empty()) out.push_back(std::move(failed));
  if (point.end.state == RunState::crashed) {
    out.push_back("the run was cut off: its event log has no end" + in_flight);
  } else if (point.end.state == RunState::interrupted && !point.end.out_of_space) {
    out.push_back("the run was interrupted" +
                  (point.end.reason.empty() ? "" : ": " + point.end.reason));
  }
  if (lost_records > 0 && !point.end.out_of_space) {
    out.push_back(
        format("{} records were lost because the disk could not keep up", counted(lost_records)));
  }
  const Tokens& tokens = point.tokens;
  if (units_.name.empty()) {
    std::ranges::move(token_warnings(tokens), std::back_inserter(out));
  }
  add_preflight_warnings(info_.facts["preflight"], out);
  add_input_warnings(tokens.tokenizer, out);
  add_tail_warning(point, out);
  if (!info_.simulated && in_bursts(point)) {
    out.push_back(
        "most tokens came together with the one before: something gathers the stream (a proxy that "
        "buffers, the server's stream interval), so that TTFT is too long, and TPOT too short by "
        "what came with the first token");
  }
  const double carried = tokens.per_fragment.value_or(1);
  if (carried > 1.02) {
    out.push_back(format("fragments carry {} tokens on average: ITL is the gap between bursts{}",
                         three_digits(carried),
                         tokens.first_fragment_taken_for_one
                             ? ", and TPOT takes the first fragment for one token"
                             : ""));
  } else if (carried < 0.9) {
    out.push_back(
        format("fragments carry {} tokens on average, less than one each: the server counts fewer "
               "tokens than it sends pieces, or it cuts tokens into pieces",
               three_digits(carried)));
  }
  return out;
}

Point PointFold::finish(const RunEnd& end, std::uint64_t lost_records) {
  end_unfinished();
  Point point{};
  point.end = end;
  if (ended_.known()) {
    point.began = began_;
    point.ended = ended_;
  }
  for (const PhaseFold& in : phases_) {
    add_counts(point.all_phases, in.span.counts);
    if (in.span.kind == PhaseKind::performance) add_counts(point.counts, in.span.counts);
    point.phases.push_back(in.span);
  }
  const bool estimates = options_.early_stopping;
  point.arrival = arrival_.finish(estimates, info_.uncertainty);
  point.read = read_.finish(estimates, false);
  point.isl = isl_.finish(false);
  point.osl = osl_.finish(false);
  point.lateness = lateness_.finish(false);
  point.read_delay = read_delay_.finish(false);
  point.connect = connect_.finish(false);
  point.fragment_tokens = fragment_tokens_.finish(false);
  point.tokens = tokens_.finish(options_.counts);
  if (!gaps_recorded_) point.tokens.per_fragment.reset();
  point.stamps = stamps_;
  point.rates = rates(point);
  point.audio = audio_.finish(point.rates.duration, estimates, info_.uncertainty);
  if (!units_.name.empty()) {
    point.units = units_;
    const double seconds = point.rates.duration.seconds();
    if (seconds > 0) point.units.per_second = units_.completed / seconds;
    if (units_.name == kAudioSecond) {
      point.units.of_sound = true;
      point.units.completed = point.audio.seconds;
      point.units.per_second = point.audio.per_second;
    }
  }
  point.timeline = timeline_.finish();
  point.failures = failures();
  point.warnings = warnings(point, lost_records);
  if (steady_.super_pass > 0) point.steady = find_steady_state(issued_, steady_);
  point.run = std::move(info_);
  return point;
}

}  // namespace assay::metrics
