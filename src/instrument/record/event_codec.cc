#include "record/event_codec.h"

#include <array>
#include <cstring>

#include "base/check.h"
#include "base/enum_name.h"

namespace assay::record {
namespace {

// The first byte of a record: its kind in the low half, flags in the high half.
enum Tag : std::uint8_t {
  // 0 to 8: a stream event of that Category
  kSent = 9,
  kDone = 10,
  kPhaseMark = 11,
  kSetPhase = 12,
  kLongEvent = 13,
  kTextPiece = 14,
  kExtension = 15,  // a number, a length, and the bytes: skipped by a reader that does not know it
};
// The last one that a short record can say; a long one says any.
constexpr std::uint8_t kLastShortCategory = static_cast<std::uint8_t>(Category::other);
static_assert(kLastShortCategory == 8 && kCategories <= 16 && kOutcomes <= 16 &&
              kFinishReasons <= 8);

// Flags of a stream event.
constexpr std::uint8_t kKernelStamped = 0x10;
constexpr std::uint8_t kSharesRead = 0x20;
constexpr std::uint8_t kSameInstants = 0x40;
constexpr std::uint8_t kSameQuery = 0x80;
// Flag of `sent`.
constexpr std::uint8_t kSalted = 0x10;

char* put_byte(char* p, std::uint8_t byte) {
  *p++ = static_cast<char>(byte);
  return p;
}

char* put_fixed64(char* p, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) *p++ = static_cast<char>(value >> shift);
  return p;
}

char* put_bytes(char* p, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(p, bytes.data(), bytes.size());
  return p + bytes.size();
}

// The payload follows its length, which end_extension() writes.
char* begin_extension(char* p, Extension what) {
  p = put_byte(p, kExtension);
  return put_byte(p, static_cast<std::uint8_t>(what)) + 1;
}

char* end_extension(char* payload, char* end) {
  CHECK(end - payload < 0x80);
  payload[-1] = static_cast<char>(end - payload);
  return end;
}

// Fields that most events lack: a choice other than the first, a usage of their own.
char* put_more(char* p, const StreamEvent& event) {
  if (event.choice == 0 && event.tokens_so_far == -1) [[likely]] {
    return p;
  }
  char* const payload = begin_extension(p, Extension::stream_event);
  p = put_varint(payload, event.choice);
  return end_extension(payload, put_delta(p, event.tokens_so_far, 0));
}

char* put_more(char* p, const Event& event) {
  if (!event.stream_asked && event.tokens_max == -1 && event.choices_asked == 1 &&
      event.fragments_after_done == 0) {
    return p;
  }
  char* const payload = begin_extension(p, Extension::done);
  p = put_byte(payload, event.stream_asked ? 1 : 0);
  p = put_delta(p, event.tokens_max, 0);
  p = put_varint(p, event.choices_asked);
  return end_extension(payload, put_varint(p, event.fragments_after_done));
}

char* put_sound(char* p, const DeltaState& state, const Sound& sound) {
  if (sound == Sound{}) return p;
  char* const payload = begin_extension(p, Extension::done_sound);
  p = put_byte(payload, sound.first.known() ? 1 : 0);
  p = put_delta(p, sound.first.known() ? sound.first.ns : state.time, state.time);
  p = put_delta(p, sound.first_read_delay.ns, 0);
  p = put_varint(p, static_cast<std::uint64_t>(sound.first_uncertainty.ns));
  p = put_varint(p, sound.bytes);
  p = put_delta(p, sound.length.ns, 0);
  p = put_varint(p, sound.pieces);
  p = put_varint(p, sound.underruns);
  return end_extension(payload, put_varint(p, static_cast<std::uint64_t>(sound.waited.ns)));
}

char* put_phase(char* p, DeltaState& state, std::uint16_t phase) {
  if (state.phase == phase) return p;
  state.phase = phase;
  p = put_byte(p, kSetPhase);
  return put_varint(p, phase);
}

// The instants of an Event in the order of the record; one bit for each says if it is known.
constexpr std::array<Instant Event::*, 8> kMilestones = {
    &Event::due,         &Event::sent,          &Event::first_byte, &Event::first_event,
    &Event::first_token, &Event::first_visible, &Event::last_token, &Event::done};

// The uncertainties of an Event in the order of the record.
constexpr std::array<Duration Event::*, 4> kUncertainties = {
    &Event::sent_uncertainty, &Event::first_token_uncertainty, &Event::first_visible_uncertainty,
    &Event::done_uncertainty};

// Events that share a read share its uncertainty, and the last event of a read has none: only a
// different value is written.
char* put_uncertainty(char* p, DeltaState& state, const StreamEvent& event, bool same_instants) {
  if (!same_instants) state.uncertainty = 0;
  const std::int64_t expected = event.shares_read ? state.uncertainty : 0;
  if (event.shares_read) state.uncertainty = event.uncertainty.ns;
  if (event.uncertainty.ns == expected) return p;
  char* const payload = begin_extension(p, Extension::event_uncertainty);
  return end_extension(payload,
                       put_varint(payload, static_cast<std::uint64_t>(event.uncertainty.ns)));
}

char* put_uncertainties(char* p, const Event& event) {
  bool any = false;
  for (const auto field : kUncertainties) any = any || (event.*field).ns != 0;
  if (!any) return p;
  char* const payload = begin_extension(p, Extension::done_uncertainties);
  p = payload;
  for (const auto field : kUncertainties) {
    p = put_varint(p, static_cast<std::uint64_t>((event.*field).ns));
  }
  return end_extension(payload, p);
}

// Instants and durations of a run lie within 146 years of its clock's zero. A reader refuses
// others, so that the difference of two of them cannot overflow.
std::int64_t in_reach(ByteReader& in, std::int64_t ns) {
  constexpr std::int64_t kReach = std::int64_t{1} << 62;
  return ns > -kReach && ns < kReach ? ns : static_cast<std::int64_t>(in.fail());
}

// Never negative, and short enough to subtract from any instant in reach.
Duration take_length(ByteReader& in) {
  constexpr std::uint64_t kReach = std::uint64_t{1} << 61;
  return {static_cast<std::int64_t>(in.varint(kReach))};
}

// a − b for any two values.
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// When our thread read the end.
std::int64_t done_read(const Event& event, std::int64_t otherwise) {
  if (!event.done.known()) return otherwise;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(event.done.ns) +
                                   static_cast<std::uint64_t>(event.read_delay_done.ns));
}

}  // namespace

std::string_view to_string(Texts texts) { return enum_name(texts); }

TextRule::TextRule(Texts texts, const std::vector<PhaseInfo>& phases) : texts_(texts) {
  for (const PhaseInfo& phase : phases) {
    kept_.push_back(texts == Texts::all ||
                    (texts == Texts::accuracy && phase.kind == PhaseKind::accuracy));
  }
}

char* put_phase_mark(char* p, DeltaState& state, const PhaseMark& mark) {
  p = put_byte(p, kPhaseMark);
  p = put_varint(p, mark.phase);
  p = put_byte(p, static_cast<std::uint8_t>(mark.step));
  p = put_delta(p, mark.at.ns, state.time);
  state.time = mark.at.ns;
  return p;
}

char* put_sent(char* p, DeltaState& state, const Query& query, Instant due, Instant sent) {
  p = put_phase(p, state, query.phase);
  p = put_byte(p, static_cast<std::uint8_t>(kSent | (query.salted ? kSalted : 0)));
  p = put_delta(p, query.index, state.sent_index);
  p = put_varint(p, query.sample);
  if (query.salted) p = put_fixed64(p, query.salt);
  p = put_delta(p, sent.ns, state.time);
  p = put_delta(p, sent.ns, due.ns);
  state.sent_index = query.index;
  state.time = sent.ns;
  return p;
}

char* put_stream_event(char* p, DeltaState& state, const Query& query, const StreamEvent& event,
                       std::string_view text, bool text_kept) {
  const bool plain = (event.kernel_stamped || event.arrival == event.read) &&
                     event.category <= Category::other &&
                     (!text_kept || text.size() == event.bytes);
  if (!plain) {
    p = put_long_event(p, state, query, event, text.size());
    return text.empty() ? p : put_text_piece(p, text);
  }
  p = put_more(p, event);
  p = put_phase(p, state, query.phase);
  const bool same_query = query.index == state.stream_index;
  const bool same_instants = event.read.ns == state.read && event.arrival.ns == state.arrival;
  p = put_uncertainty(p, state, event, same_instants);
  p = put_byte(p, static_cast<std::uint8_t>(static_cast<std::uint8_t>(event.category) |
                                            (event.kernel_stamped ? kKernelStamped : 0) |
                                            (event.shares_read ? kSharesRead : 0) |
                                            (same_instants ? kSameInstants : 0) |
                                            (same_query ? kSameQuery : 0)));
  if (!same_query) p = put_delta(p, query.index, state.stream_index);
  if (!same_instants) {
    p = put_delta(p, event.read.ns, state.time);
    if (event.kernel_stamped) p = put_delta(p, event.read.ns, event.arrival.ns);
  }
  p = put_varint(p, event.bytes);
  state.stream_index = query.index;
  state.time = state.read = event.read.ns;
  state.arrival = event.arrival.ns;
  return text_kept ? put_bytes(p, text) : p;
}

char* put_long_event(char* p, DeltaState& state, const Query& query, const StreamEvent& event,
                     std::size_t text_bytes) {
  p = put_more(p, event);
  p = put_phase(p, state, query.phase);
  p = put_uncertainty(p, state, event, false);
  p = put_byte(p, kLongEvent);
  p = put_byte(p, static_cast<std::uint8_t>(static_cast<std::uint8_t>(event.category) |
                                            (event.kernel_stamped ? kKernelStamped : 0) |
                                            (event.shares_read ? kSharesRead : 0)));
  p = put_delta(p, query.index, state.stream_index);
  p = put_delta(p, event.read.ns, state.time);
  p = put_delta(p, event.read.ns, event.arrival.ns);
  p = put_varint(p, event.bytes);
  p = put_varint(p, text_bytes);
  state.stream_index = query.index;
  state.time = state.read = event.read.ns;
  state.arrival = event.arrival.ns;
  return p;
}

char* put_text_piece(char* p, std::string_view piece) {
  p = put_byte(p, kTextPiece);
  p = put_varint(p, piece.size());
  return put_bytes(p, piece);
}

char* put_done(char* p, DeltaState& state, const Event& event, std::string_view detail) {
  const Query& query = event.query;
  p = put_more(p, event);
  p = put_phase(p, state, query.phase);
  p = put_uncertainties(p, event);
  p = put_sound(p, state, event.sound);
  p = put_byte(p, kDone);
  const unsigned flags = static_cast<unsigned>(event.outcome) |
                         static_cast<unsigned>(event.finish) << 4 | unsigned{event.streamed} << 7 |
                         unsigned{event.connected} << 8 | unsigned{event.kernel_stamped} << 9 |
                         unsigned{event.done_marker} << 10 | unsigned{query.salted} << 11;
  p = put_varint(p, flags);
  p = put_delta(p, query.index, state.done_index);
  p = put_varint(p, query.sample);
  if (query.salted) p = put_fixed64(p, query.salt);
  unsigned present = 0;
  for (std::size_t i = 0; i < kMilestones.size(); ++i) {
    if ((event.*kMilestones[i]).known()) present |= 1u << i;
  }
  p = put_byte(p, static_cast<std::uint8_t>(present));
  std::int64_t last = state.time;
  for (const auto milestone : kMilestones) {
    if (!(event.*milestone).known()) continue;
    p = put_delta(p, (event.*milestone).ns, last);
    last = (event.*milestone).ns;
  }
  for (const Duration d :
       {event.read_delay_first_token, event.read_delay_done, event.connect_time}) {
    p = put_delta(p, d.ns, 0);
  }
  for (const std::uint64_t n :
       {std::uint64_t{event.http_status}, std::uint64_t{event.endpoint},
        std::uint64_t{event.stream_events}, std::uint64_t{event.fragments},
        std::uint64_t{event.first_fragment_bytes}, event.output_bytes, event.received_bytes}) {
    p = put_varint(p, n);
  }
  const Usage& usage = event.usage;
  for (const std::int32_t tokens : {usage.prompt_tokens, usage.completion_tokens,
                                    usage.reasoning_tokens, usage.cached_tokens}) {
    p = put_delta(p, tokens, 0);
  }
  detail = detail.substr(0, kDetailMax);
  p = put_varint(p, detail.size());
  state.done_index = query.index;
  state.time = done_read(event, state.time);
  return put_bytes(p, detail);
}

void Record::tell(EventSink& sink) const {
  switch (kind) {
    case Kind::phase_mark:
      return sink.on_phase(mark);
    case Kind::sent:
      return sink.on_sent(query, due, sent);
    case Kind::stream_event:
      return sink.on_stream_event(query, event, text);
    case Kind::done:
      return sink.on_done(done, text);
  }
  CHECK(false && "no such Record::Kind");
}

void RecordDecoder::start_block(Instant base, bool gap) {
  state_ = DeltaState::at(base);
  if (gap) text_total_ = 0;
  more_of_event_ = {};
  more_of_done_ = {};
  event_uncertainty_.reset();
}

Query RecordDecoder::known(std::uint32_t index) {
  Query query{};
  query.index = index;
  query.phase = state_.phase;
  const Query* const found = in_flight_.find(query_key(query));
  return found != nullptr ? *found : query;
}

RecordDecoder::Step RecordDecoder::next(ByteReader& in, Record& out) {
  while (!in.at_end()) {
    const std::uint8_t tag = in.byte();
    const bool told = decode(tag, in, out);
    if (!in.good()) refuse("a record that is cut short or out of range");
    if (!trouble_.empty()) return Step::bad;
    if (told) return Step::record;
  }
  return Step::end_of_block;
}

// True where `out` is a call for the sink.
bool RecordDecoder::decode(std::uint8_t tag, ByteReader& in, Record& out) {
  const std::uint8_t type = tag & 0x0f;
  if (text_total_ > 0 && type != kTextPiece) {
    refuse("a long fragment that breaks off");
    return false;
  }
  if (type <= kLastShortCategory) {
    decode_stream_event(tag, in, out);
    return true;
  }
  switch (type) {
    case kSent:
      decode_sent(tag, in, out);
      return true;
    case kDone:
      decode_done(in, out);
      return true;
    case kPhaseMark:
      decode_phase_mark(in, out);
      return true;
    case kSetPhase:
      state_.phase = static_cast<std::uint16_t>(in.varint(0xffff));
      return false;
    case kLongEvent:
      return decode_long_event(in, out);
    case kTextPiece:
      return decode_text_piece(in, out);
    case kExtension:
      decode_extension(in);
      return false;
    default:
      CHECK(false && "four bits have no more values");
      return false;
  }
}

void RecordDecoder::take_uncertainty(StreamEvent& event, bool same_instants) {
  if (!same_instants) state_.uncertainty = 0;
  const std::int64_t expected = event.shares_read ? state_.uncertainty : 0;
  event.uncertainty = event_uncertainty_.value_or(Duration{expected});
  event_uncertainty_.reset();
  if (event.shares_read) state_.uncertainty = event.uncertainty.ns;
}

void RecordDecoder::decode_phase_mark(ByteReader& in, Record& out) {
  out.kind = Record::Kind::phase_mark;
  out.mark.phase = static_cast<std::uint16_t>(in.varint(0xffff));
  const std::uint8_t step = in.byte();
  if (step > static_cast<std::uint8_t>(PhaseStep::drained)) in.fail();
  out.mark.step = static_cast<PhaseStep>(step);
  out.at = out.mark.at = Instant{in_reach(in, in.delta(state_.time))};
  state_.time = out.at.ns;
}

void RecordDecoder::decode_sent(std::uint8_t tag, ByteReader& in, Record& out) {
  out.kind = Record::Kind::sent;
  out.query = Query{};
  out.query.index = static_cast<std::uint32_t>(in.delta(state_.sent_index));
  out.query.phase = state_.phase;
  out.query.sample = static_cast<std::uint32_t>(in.varint(0xffffffff));
  out.query.salted = (tag & kSalted) != 0;
  if (out.query.salted) out.query.salt = in.fixed64();
  out.at = out.sent = Instant{in_reach(in, in.delta(state_.time))};
  out.due = Instant{in_reach(in, minus(out.sent.ns, in.delta(0)))};
  state_.sent_index = out.query.index;
  state_.time = out.sent.ns;
  if (in.good()) in_flight_.insert(query_key(out.query)) = out.query;
}

void RecordDecoder::decode_extension(ByteReader& in) {
  const std::uint64_t what = in.varint();
  ByteReader payload(in.bytes(in.varint()));
  // Fields of a later version follow those that we know.
  switch (what) {
    case static_cast<std::uint64_t>(Extension::stream_event):
      more_of_event_.choice = static_cast<std::uint16_t>(payload.varint(0xffff));
      more_of_event_.tokens_so_far = static_cast<std::int32_t>(payload.delta(0));
      break;
    case static_cast<std::uint64_t>(Extension::done):
      more_of_done_.stream_asked = (payload.varint() & 1) != 0;
      more_of_done_.tokens_max = static_cast<std::int32_t>(payload.delta(0));
      more_of_done_.choices_asked = static_cast<std::uint16_t>(payload.varint(0xffff));
      more_of_done_.fragments_after_done = static_cast<std::uint32_t>(payload.varint(0xffffffff));
      break;
    case static_cast<std::uint64_t>(Extension::event_uncertainty):
      event_uncertainty_ = take_length(payload);
      break;
    case static_cast<std::uint64_t>(Extension::done_uncertainties):
      for (const auto field : kUncertainties) more_of_done_.*field = take_length(payload);
      break;
    case static_cast<std::uint64_t>(Extension::done_sound):
      take_sound(payload);
      break;
    default:
      break;
  }
  if (!payload.good()) in.fail();
}

void RecordDecoder::take_sound(ByteReader& in) {
  Sound& sound = more_of_done_.sound;
  const bool known = (in.byte() & 1) != 0;
  const Instant first{in_reach(in, in.delta(state_.time))};
  sound.first = known ? first : Instant::none();
  sound.first_read_delay = Duration{in_reach(in, in.delta(0))};
  sound.first_uncertainty = take_length(in);
  sound.bytes = in.varint();
  sound.length = Duration{in_reach(in, in.delta(0))};
  sound.pieces = static_cast<std::uint32_t>(in.varint(0xffffffff));
  sound.underruns = static_cast<std::uint32_t>(in.varint(0xffffffff));
  sound.waited = take_length(in);
}

void RecordDecoder::add_extension(StreamEvent& event) {
  event.choice = more_of_event_.choice;
  event.tokens_so_far = more_of_event_.tokens_so_far;
  more_of_event_ = {};
}

void RecordDecoder::decode_stream_event(std::uint8_t tag, ByteReader& in, Record& out) {
  out.kind = Record::Kind::stream_event;
  StreamEvent& event = out.event;
  add_extension(event);
  event.category = static_cast<Category>(tag & 0x0f);
  event.kernel_stamped = (tag & kKernelStamped) != 0;
  event.shares_read = (tag & kSharesRead) != 0;
  if ((tag & kSameQuery) == 0) {
    state_.stream_index = static_cast<std::uint32_t>(in.delta(state_.stream_index));
  }
  if ((tag & kSameInstants) == 0) {
    state_.read = in_reach(in, in.delta(state_.time));
    const std::int64_t delay = event.kernel_stamped ? in.delta(0) : 0;
    state_.arrival = in_reach(in, minus(state_.read, delay));
  }
  event.bytes = static_cast<std::uint32_t>(in.varint(0xffffffff));
  event.read = out.at = Instant{state_.read};
  event.arrival = Instant{state_.arrival};
  take_uncertainty(event, (tag & kSameInstants) != 0);
  state_.time = state_.read;
  out.query = known(state_.stream_index);
  out.text = rule_.kept(state_.phase) ? in.bytes(event.bytes) : std::string_view{};
}

bool RecordDecoder::decode_long_event(ByteReader& in, Record& out) {
  Record& record = long_event_;
  record.kind = Record::Kind::stream_event;
  const std::uint8_t flags = in.byte();
  if ((flags & 0x0f) >= kCategories) in.fail();
  add_extension(record.event);
  record.event.category = static_cast<Category>(flags & 0x0f);
  record.event.kernel_stamped = (flags & kKernelStamped) != 0;
  record.event.shares_read = (flags & kSharesRead) != 0;
  state_.stream_index = static_cast<std::uint32_t>(in.delta(state_.stream_index));
  state_.time = state_.read = in_reach(in, in.delta(state_.time));
  state_.arrival = in_reach(in, minus(state_.read, in.delta(0)));
  record.event.bytes = static_cast<std::uint32_t>(in.varint(0xffffffff));
  record.event.read = record.at = Instant{state_.read};
  record.event.arrival = Instant{state_.arrival};
  take_uncertainty(record.event, false);
  record.query = known(state_.stream_index);
  record.text = {};
  const std::uint64_t total = in.varint(kTextMax);
  text_.clear();
  text_total_ = static_cast<std::size_t>(total);
  if (text_total_ > 0) return false;
  out = record;
  return true;
}

bool RecordDecoder::decode_text_piece(ByteReader& in, Record& out) {
  const std::string_view piece = in.bytes(in.varint(kInlineTextMax));
  if (text_total_ == 0) return false;  // its head was lost with an earlier block
  text_ += piece;
  if (piece.empty() || text_.size() > text_total_) in.fail();
  if (text_.size() < text_total_) return false;
  text_total_ = 0;
  out = long_event_;
  out.text = text_;
  return true;
}

void RecordDecoder::decode_done(ByteReader& in, Record& out) {
  out.kind = Record::Kind::done;
  Event& event = out.done = more_of_done_;
  more_of_done_ = {};
  const std::uint64_t flags = in.varint(0xfff);
  if ((flags & 15) >= kOutcomes || (flags >> 4 & 7) >= kFinishReasons) in.fail();
  event.outcome = static_cast<Outcome>(flags & 15);
  event.finish = static_cast<FinishReason>(flags >> 4 & 7);
  event.streamed = (flags >> 7 & 1) != 0;
  event.connected = (flags >> 8 & 1) != 0;
  event.kernel_stamped = (flags >> 9 & 1) != 0;
  event.done_marker = (flags >> 10 & 1) != 0;
  event.query.salted = (flags >> 11 & 1) != 0;
  event.query.index = static_cast<std::uint32_t>(in.delta(state_.done_index));
  event.query.phase = state_.phase;
  event.query.sample = static_cast<std::uint32_t>(in.varint(0xffffffff));
  if (event.query.salted) event.query.salt = in.fixed64();
  const std::uint8_t present = in.byte();
  std::int64_t last = state_.time;
  for (std::size_t i = 0; i < kMilestones.size(); ++i) {
    Instant& milestone = event.*kMilestones[i];
    milestone = Instant::none();
    if ((present >> i & 1) == 0) continue;
    milestone = Instant{in_reach(in, in.delta(last))};
    last = milestone.ns;
  }
  for (Duration* const d :
       {&event.read_delay_first_token, &event.read_delay_done, &event.connect_time}) {
    d->ns = in_reach(in, in.delta(0));
  }
  event.http_status = static_cast<std::uint16_t>(in.varint(0xffff));
  event.endpoint = static_cast<std::uint16_t>(in.varint(0xffff));
  event.stream_events = static_cast<std::uint32_t>(in.varint(0xffffffff));
  event.fragments = static_cast<std::uint32_t>(in.varint(0xffffffff));
  event.first_fragment_bytes = static_cast<std::uint32_t>(in.varint(0xffffffff));
  event.output_bytes = in.varint();
  event.received_bytes = in.varint();
  Usage& usage = event.usage;
  for (std::int32_t* const tokens : {&usage.prompt_tokens, &usage.completion_tokens,
                                     &usage.reasoning_tokens, &usage.cached_tokens}) {
    *tokens = static_cast<std::int32_t>(in.delta(0));
  }
  out.text = in.bytes(in.varint(kDetailMax));
  state_.done_index = event.query.index;
  state_.time = in_reach(in, done_read(event, state_.time));
  out.at = Instant{state_.time};
  in_flight_.erase(query_key(event.query));
}

}  // namespace assay::record
