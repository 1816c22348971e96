#include "interchange/write/run_columns.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "domain/query.h"
#include "record/event_log.h"

namespace assay::interchange {
namespace {

constexpr std::int16_t kUnfinished = kOutcomes;
constexpr int kKinds = static_cast<int>(PhaseKind::tail) + 1;

template <typename Enum>
std::vector<std::string> words_of(int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.emplace_back(to_string(static_cast<Enum>(i)));
  return out;
}

std::vector<std::string> outcome_words() {
  std::vector<std::string> out = words_of<Outcome>(kOutcomes);
  out.emplace_back("unfinished");
  return out;
}

std::vector<std::string> basis_words() {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < metrics::kTokenBases; ++i) {
    out.emplace_back(metrics::to_string(static_cast<metrics::TokenBasis>(i)));
  }
  return out;
}

std::vector<std::string> phase_words(const RunInfo& info) {
  std::vector<std::string> out;
  for (const PhaseInfo& phase : info.phases) out.push_back(phase.name);
  if (out.empty()) out.emplace_back("");
  return out;
}

using Whole = Numbers<std::int64_t>;

void add_instant(Whole& column, Instant at) { column.add_if(at.known(), at.ns); }

void add_span(Whole& column, bool there, Instant from, Instant to) {
  const bool known = there && from.known() && to.known();
  column.add_if(known, known ? (to - from).ns : 0);
}

void add_count(Numbers<std::int32_t>& column, std::int32_t count) {
  column.add_if(count >= 0, count);
}

}  // namespace

// The order here is the table's.
struct RunColumns::EventTable {
  EventTable(const RunInfo& info, Columns& in)
      : run_key(info.run_key),
        phases(std::max<std::size_t>(info.phases.size(), 1)),
        phase(in.words("phase", phase_words(info))),
        kind(in.words("kind", words_of<PhaseKind>(kKinds))),
        measured(in.bits("measured")),
        query(in.numbers<std::uint32_t>("query")),
        sample(in.numbers<std::uint32_t>("sample")),
        request_id(in.texts("request_id")),
        endpoint(in.numbers<std::uint16_t>("endpoint")),
        outcome(in.words("outcome", outcome_words())),
        http_status(in.numbers<std::uint16_t>("http_status")),
        finish_reason(in.words("finish_reason", words_of<FinishReason>(kFinishReasons))),
        streamed(in.bits("streamed")),
        connected(in.bits("connected")),
        kernel_stamped(in.bits("kernel_stamped")),
        due(in.numbers<std::int64_t>("due_ns")),
        sent(in.numbers<std::int64_t>("sent_ns")),
        first_byte(in.numbers<std::int64_t>("first_byte_ns")),
        first_event(in.numbers<std::int64_t>("first_event_ns")),
        first_token(in.numbers<std::int64_t>("first_token_ns")),
        first_visible(in.numbers<std::int64_t>("first_visible_ns")),
        last_token(in.numbers<std::int64_t>("last_token_ns")),
        done(in.numbers<std::int64_t>("done_ns")),
        ttft(in.numbers<std::int64_t>("ttft_ns")),
        ttft_due(in.numbers<std::int64_t>("ttft_due_ns")),
        ttft_visible(in.numbers<std::int64_t>("ttft_visible_ns")),
        tpot(in.numbers<double>("tpot_ns")),
        latency(in.numbers<std::int64_t>("latency_ns")),
        latency_due(in.numbers<std::int64_t>("latency_due_ns")),
        sent_uncertainty(in.numbers<std::int64_t>("sent_uncertainty_ns")),
        first_token_uncertainty(in.numbers<std::int64_t>("first_token_uncertainty_ns")),
        done_uncertainty(in.numbers<std::int64_t>("done_uncertainty_ns")),
        input_tokens(in.numbers<std::int32_t>("input_tokens")),
        output_tokens(in.numbers<std::int32_t>("output_tokens")),
        token_basis(in.words("token_basis", basis_words())),
        prompt_tokens_said(in.numbers<std::int32_t>("prompt_tokens_said")),
        completion_tokens_said(in.numbers<std::int32_t>("completion_tokens_said")),
        reasoning_tokens_said(in.numbers<std::int32_t>("reasoning_tokens_said")),
        cached_tokens_said(in.numbers<std::int32_t>("cached_tokens_said")),
        tokens_max(in.numbers<std::int32_t>("tokens_max")),
        fragments(in.numbers<std::uint32_t>("fragments")),
        stream_events(in.numbers<std::uint32_t>("stream_events")),
        output_bytes(in.numbers<std::uint64_t>("output_bytes")),
        received_bytes(in.numbers<std::uint64_t>("received_bytes")),
        first_audio(in.numbers<std::int64_t>("first_audio_ns")),
        audio(in.numbers<std::int64_t>("audio_ns")),
        audio_bytes(in.numbers<std::uint64_t>("audio_bytes")),
        underruns(in.numbers<std::uint32_t>("underruns")),
        detail(in.texts("detail")) {}

  std::uint64_t run_key;
  std::size_t phases;
  Numbers<std::int16_t> phase, kind;
  Bits measured;
  Numbers<std::uint32_t> query, sample;
  interchange::Texts request_id;
  Numbers<std::uint16_t> endpoint;
  Numbers<std::int16_t> outcome;
  Numbers<std::uint16_t> http_status;
  Numbers<std::int16_t> finish_reason;
  Bits streamed, connected, kernel_stamped;
  Whole due, sent, first_byte, first_event, first_token, first_visible, last_token, done;
  Whole ttft, ttft_due, ttft_visible;
  Numbers<double> tpot;
  Whole latency, latency_due, sent_uncertainty, first_token_uncertainty, done_uncertainty;
  Numbers<std::int32_t> input_tokens, output_tokens;
  Numbers<std::int16_t> token_basis;
  Numbers<std::int32_t> prompt_tokens_said, completion_tokens_said, reasoning_tokens_said,
      cached_tokens_said, tokens_max;
  Numbers<std::uint32_t> fragments, stream_events;
  Numbers<std::uint64_t> output_bytes, received_bytes;
  Whole first_audio, audio;  // absent without sound, and where they are not known
  Numbers<std::uint64_t> audio_bytes;
  Numbers<std::uint32_t> underruns;
  interchange::Texts detail;

  void add(const Event& e, PhaseKind of, bool ended, const metrics::TokenTruth& truth,
           std::string_view why);

 private:
  void add_figures(const Event& e, const metrics::TokenTruth& truth);
};

namespace {

// TPOT of a reply, as PointFold has it. Absent below 0.
double tpot_of(const Event& e, const metrics::TokenTruth& truth) {
  if (!e.streamed || !e.first_token.known() || truth.count.output < 0) return -1;
  if (!truth.choices.empty()) {
    const double mean = metrics::mean_tpot(truth);
    return mean > 0 ? mean : -1;
  }
  if (e.fragments < 2 || truth.count.after_first < 1) return -1;
  return static_cast<double>((e.done - e.first_token).ns) /
         static_cast<double>(truth.count.after_first);
}

}  // namespace

void RunColumns::EventTable::add_figures(const Event& e, const metrics::TokenTruth& truth) {
  const bool ok = e.outcome == Outcome::ok && e.sent.known() && e.done.known();
  const bool stream = ok && e.streamed;
  add_span(ttft, stream, e.sent, e.first_token);
  add_span(ttft_due, stream, e.due, e.first_token);
  add_span(ttft_visible, stream, e.sent, e.first_visible);
  const double per_token = ok ? tpot_of(e, truth) : -1;
  tpot.add_if(per_token >= 0, per_token);
  add_span(first_audio, stream, e.sent, e.sound.first);
  add_span(latency, ok, e.sent, e.done);
  add_span(latency_due, ok, e.due, e.done);
}

void RunColumns::EventTable::add(const Event& e, PhaseKind of, bool ended,
                                 const metrics::TokenTruth& truth, std::string_view why) {
  const Query& q = e.query;
  phase.add_if(q.phase < phases, static_cast<std::int16_t>(q.phase));
  kind.add(static_cast<std::int16_t>(of));
  measured.add(of == PhaseKind::performance);
  query.add(q.index);
  sample.add(q.sample);
  const QueryUuid uuid = query_uuid(run_key, q.phase, q.index);
  request_id.add({uuid.data(), uuid.size()});
  endpoint.add(e.endpoint);
  outcome.add(ended ? static_cast<std::int16_t>(e.outcome) : kUnfinished);
  http_status.add_if(e.http_status != 0, e.http_status);
  finish_reason.add_if(e.finish != FinishReason::none, static_cast<std::int16_t>(e.finish));
  streamed.add(e.streamed);
  connected.add(e.connected);
  kernel_stamped.add(e.kernel_stamped);
  add_instant(due, e.due);
  add_instant(sent, e.sent);
  add_instant(first_byte, e.first_byte);
  add_instant(first_event, e.first_event);
  add_instant(first_token, e.first_token);
  add_instant(first_visible, e.first_visible);
  add_instant(last_token, e.last_token);
  add_instant(done, e.done);
  Event shown = e;
  if (!ended) shown.outcome = Outcome::truncated;  // it has no figures
  add_figures(shown, truth);
  sent_uncertainty.add(e.sent_uncertainty.ns);
  first_token_uncertainty.add(e.first_token_uncertainty.ns);
  done_uncertainty.add(e.done_uncertainty.ns);
  add_count(input_tokens, truth.count.input);
  add_count(output_tokens, truth.count.output);
  token_basis.add(static_cast<std::int16_t>(truth.basis));
  add_count(prompt_tokens_said, e.usage.prompt_tokens);
  add_count(completion_tokens_said, e.usage.completion_tokens);
  add_count(reasoning_tokens_said, e.usage.reasoning_tokens);
  add_count(cached_tokens_said, e.usage.cached_tokens);
  add_count(tokens_max, e.tokens_max);
  fragments.add(e.fragments);
  stream_events.add(e.stream_events);
  output_bytes.add(e.output_bytes);
  received_bytes.add(e.received_bytes);
  const bool sound = e.sound.bytes > 0;
  audio.add_if(sound && e.sound.length.ns >= 0, e.sound.length.ns);
  audio_bytes.add_if(sound, e.sound.bytes);
  underruns.add_if(sound && e.sound.first.known(), e.sound.underruns);
  detail.add(why);
}

struct RunColumns::FragmentTable {
  explicit FragmentTable(Columns& in)
      : row(in.numbers<std::int64_t>("row")),
        choice(in.numbers<std::uint16_t>("choice")),
        category(in.words("category", words_of<Category>(kCategories))),
        measured(in.bits("measured")),
        arrival(in.numbers<std::int64_t>("arrival_ns")),
        read(in.numbers<std::int64_t>("read_ns")),
        gap(in.numbers<std::int64_t>("gap_ns")),
        uncertainty(in.numbers<std::int64_t>("uncertainty_ns")),
        bytes(in.numbers<std::uint32_t>("bytes")),
        tokens_so_far(in.numbers<std::int32_t>("tokens_so_far")),
        kernel_stamped(in.bits("kernel_stamped")),
        shares_read(in.bits("shares_read")) {}

  Whole row;
  Numbers<std::uint16_t> choice;
  Numbers<std::int16_t> category;
  Bits measured;
  Whole arrival, read, gap, uncertainty;
  Numbers<std::uint32_t> bytes;
  Numbers<std::int32_t> tokens_so_far;
  Bits kernel_stamped, shares_read;
};

RunColumns::RunColumns(const RunInfo& info, const metrics::TokenCounts* counts)
    : counts_(counts),
      gaps_recorded_(gaps_recorded(info)),
      event_columns_(std::make_shared<Columns>()),
      fragment_columns_(std::make_shared<Columns>()),
      events_(std::make_unique<EventTable>(info, *event_columns_)),
      fragments_(std::make_unique<FragmentTable>(*fragment_columns_)) {
  for (const PhaseInfo& phase : info.phases) kinds_.push_back(phase.kind);
}

RunColumns::~RunColumns() = default;

// A phase that the header does not name counts as measured, as in a log made by hand.
PhaseKind RunColumns::kind_of(std::uint16_t phase) const {
  return phase < kinds_.size() ? kinds_[phase] : PhaseKind::performance;
}

RunColumns::Open& RunColumns::open(const Query& query) {
  return in_flight_.open(query_key(query), [&query](Open& fresh) {
    fresh.query = query;
    fresh.due = fresh.sent = Instant::none();
    fresh.stream.clear();  // keeps its memory
  });
}

void RunColumns::on_sent(const Query& query, Instant due, Instant sent) {
  Open& here = open(query);
  here.due = due;
  here.sent = sent;
}

void RunColumns::on_stream_event(const Query& query, const StreamEvent& event, std::string_view) {
  open(query).stream.push_back(event);
}

void RunColumns::add_fragments(const Open& reply, bool measured) {
  const std::int64_t row = event_columns_->rows();
  for (const StreamEvent& event : reply.stream) {
    FragmentTable& t = *fragments_;
    const metrics::Came before = evidence_.add(event);
    t.row.add(row);
    t.choice.add(event.choice);
    t.category.add(static_cast<std::int16_t>(event.category));
    t.measured.add(measured);
    add_instant(t.arrival, event.arrival);
    add_instant(t.read, event.read);
    add_span(t.gap, gaps_recorded_, before.arrival, event.arrival);
    t.uncertainty.add(event.uncertainty.ns);
    t.bytes.add(event.bytes);
    add_count(t.tokens_so_far, event.tokens_so_far);
    t.kernel_stamped.add(event.kernel_stamped);
    t.shares_read.add(event.shares_read);
  }
}

void RunColumns::on_done(const Event& event, std::string_view detail) {
  static constexpr metrics::TokenCount kUncounted{};
  Open& reply = open(event.query);
  const PhaseKind kind = kind_of(event.query.phase);
  const bool ok = event.outcome == Outcome::ok && event.sent.known() && event.done.known();
  evidence_.clear();
  add_fragments(
      reply, ok && kind == PhaseKind::performance && event.streamed && event.first_token.known());
  truth_ = metrics::TokenTruth{};
  if (event.outcome == Outcome::ok) {
    const metrics::TokenCount* counted = nullptr;
    if (counts_ != nullptr) {
      counted = counts_->find(event.query);
      if (counted == nullptr) counted = &kUncounted;
    }
    metrics::reconcile(event, evidence_, counted, truth_);
  }
  events_->add(event, kind, true, truth_, detail);
  in_flight_.close(query_key(event.query));
}

void RunColumns::finish(std::shared_ptr<const Columns>& events,
                        std::shared_ptr<const Columns>& fragments) {
  std::map<std::uint64_t, const Open*> left;
  in_flight_.for_each([&left](std::uint64_t key, const Open& reply) { left[key] = &reply; });
  for (const auto& [key, open] : left) {
    const Open& reply = *open;
    evidence_.clear();
    add_fragments(reply, false);
    Event event{.query = reply.query};
    event.due = reply.due;
    event.sent = reply.sent;
    event.tokens_max = -1;
    event.stream_events = static_cast<std::uint32_t>(reply.stream.size());
    for (const StreamEvent& one : reply.stream) event.fragments += is_fragment(one.category);
    events_->add(event, kind_of(reply.query.phase), false, {}, "");
  }
  events = std::move(event_columns_);
  fragments = std::move(fragment_columns_);
}

namespace {

Json info_json(const record::RunReplay& replay) {
  const RunInfo& info = replay.info;
  Json phases = Json::array();
  for (const PhaseInfo& phase : info.phases) {
    phases.push_back(Json().set("name", phase.name).set("kind", to_string(phase.kind)));
  }
  const record::LogEnd& end = replay.end;
  return Json()
      .set("run_id", info.run_id)
      .set("plan_digest", info.plan_digest)
      .set("assay", info.version)
      .set("started_ns", info.started.ns)
      .set("clock_offset_ns", info.offset.wall_minus_monotonic.ns)
      .set("simulated", info.simulated)
      .set("phases", std::move(phases))
      .set("facts", info.facts)
      .set("state", to_string(end.end.state))
      .set("reason", end.end.reason)
      .set("trouble", end.trouble)
      .set("lost_records", end.lost_records);
}

}  // namespace

Result<LoadedColumns> load_columns(const std::filesystem::path& run) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(run / "assay", ignored);
  const std::filesystem::path place = folder ? run / "assay" : run;
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(place));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  const std::filesystem::path counted = logs.front().parent_path() / "token_counts.jsonl";
  std::optional<metrics::TokenCounts> counts;
  if (std::filesystem::exists(counted, ignored)) {
    ASSIGN_OR_RETURN(counts, metrics::TokenCounts::read(counted));
  }
  RunColumns columns(info, counts ? &*counts : nullptr);
  ASSIGN_OR_RETURN(const record::RunReplay replay, record::replay_run(place, columns));
  LoadedColumns out{.info = info_json(replay)};
  columns.finish(out.events, out.fragments);
  return out;
}

}  // namespace assay::interchange
