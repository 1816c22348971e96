// The records of the event log: bytes to calls of an EventSink and back. The grammar, byte by byte,
// is docs/formats/event_log.md; block headers and files are record/event_log.h.
//
// A record contains only what the earlier records of its block do not imply: instants and indices
// are differences, so that a stream event takes 5 to 9 bytes. Blocks are independent with one
// exception: the query's sample and salt are in its sent and done records, and a reader remembers
// them in between. A stream event that comes before its query was sent, or whose `sent` was lost,
// is read back with the query's place only.
//
// Pure: no clock, no I/O. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "base/varint.h"
#include "domain/event_sink.h"
#include "domain/run_info.h"

namespace assay::record {

// Which phases' fragments are kept with their text. Their lengths are always kept.
enum class Texts : std::uint8_t { none, accuracy, all };
std::string_view to_string(Texts texts);

// By phase index; phases beyond the list are kept unless `texts` is none.
class TextRule {
 public:
  TextRule(Texts texts, const std::vector<PhaseInfo>& phases);
  bool kept(std::uint16_t phase) const {
    return phase < kept_.size() ? kept_[phase] : texts_ != Texts::none;
  }
  Texts texts() const { return texts_; }

 private:
  Texts texts_;
  std::vector<bool> kept_{};
};

// Additional fields for the next record of a kind.
enum class Extension : std::uint8_t {
  stream_event = 1,  // choice, tokens so far
  done = 2,          // what the request asked for; fragments after [DONE]
  event_uncertainty = 3,
  done_uncertainties = 4,
  done_sound = 5,
};

// Version of the grammar, in the log's first record; a reader refuses another.
inline constexpr std::int64_t kEventLogGrammar = 1;

// A fragment up to this size is part of its record; a longer one follows in pieces of this size.
inline constexpr std::size_t kInlineTextMax = 4096;
// Longest failure detail kept, in bytes.
inline constexpr std::size_t kDetailMax = 4096;
// Largest size of a record.
inline constexpr std::size_t kRecordMax = kInlineTextMax + 512;
// A reader refuses a longer fragment.
inline constexpr std::size_t kTextMax = std::size_t{256} << 20;

// The state that the next record's differences refer to. Starts anew in each block.
struct DeltaState {
  std::int64_t time = 0;  // the last record's
  std::int64_t read = 0;  // the last stream event's
  std::int64_t arrival = 0;
  std::uint32_t stream_index = 0;
  std::uint32_t sent_index = 0;
  std::uint32_t done_index = 0;
  std::uint16_t phase = 0;
  std::int64_t uncertainty = 0;  // of the events that share the last stream event's read

  static DeltaState at(Instant base) { return {base.ns, base.ns, base.ns, 0, 0, 0, 0, 0}; }
};

// Each appends one record at `p`, which has room for kRecordMax bytes, and returns its end.
char* put_phase_mark(char* p, DeltaState& state, const PhaseMark& mark);
char* put_sent(char* p, DeltaState& state, const Query& query, Instant due, Instant sent);
// REQUIRES: text.size() <= kInlineTextMax. `text` is empty where texts are not kept.
char* put_stream_event(char* p, DeltaState& state, const Query& query, const StreamEvent& event,
                       std::string_view text, bool text_kept);
// The head of an event with a long text; the text follows in pieces, `text_bytes` in all.
char* put_long_event(char* p, DeltaState& state, const Query& query, const StreamEvent& event,
                     std::size_t text_bytes);
// REQUIRES: piece.size() <= kInlineTextMax.
char* put_text_piece(char* p, std::string_view piece);
char* put_done(char* p, DeltaState& state, const Event& event, std::string_view detail);

// One call of an EventSink, read back.
struct Record {
  enum class Kind : std::uint8_t { phase_mark, sent, stream_event, done };
  Kind kind = Kind::phase_mark;
  Instant at{};  // when our thread had it; `read` for a stream event
  PhaseMark mark{};
  Query query{};
  Instant due{};
  Instant sent{};
  StreamEvent event{};
  Event done{};
  std::string_view text{};  // or the detail; valid until the next read

  void tell(EventSink& sink) const;
};

class RecordDecoder {
 public:
  explicit RecordDecoder(TextRule rule) : rule_(std::move(rule)) {}

  // `gap`: blocks before this one are missing.
  void start_block(Instant base, bool gap);

  enum class Step : std::uint8_t { record, end_of_block, bad };
  // Reads the block's next record into `out`. After `bad`, trouble() says what was wrong.
  Step next(ByteReader& in, Record& out);
  std::string_view trouble() const { return trouble_; }

  // Queries that were sent and have not ended.
  std::size_t unfinished() const { return in_flight_.size(); }

 private:
  bool decode(std::uint8_t tag, ByteReader& in, Record& out);
  void decode_phase_mark(ByteReader& in, Record& out);
  void decode_sent(std::uint8_t tag, ByteReader& in, Record& out);
  void decode_stream_event(std::uint8_t tag, ByteReader& in, Record& out);
  bool decode_long_event(ByteReader& in, Record& out);
  bool decode_text_piece(ByteReader& in, Record& out);
  void decode_extension(ByteReader& in);
  void take_sound(ByteReader& in);
  void add_extension(StreamEvent& event);
  void take_uncertainty(StreamEvent& event, bool same_instants);
  void decode_done(ByteReader& in, Record& out);
  Query known(std::uint32_t index);
  void refuse(std::string_view why) {
    if (trouble_.empty()) trouble_ = why;
  }

  TextRule rule_;
  DeltaState state_{};
  FlatMap<Query> in_flight_{1024};
  std::string text_{};          // of the long event that is being assembled
  std::size_t text_total_ = 0;  // 0: there is none
  Record long_event_{};
  StreamEvent more_of_event_{};  // from extensions, for the next record of the kind
  Event more_of_done_{};
  std::optional<Duration> event_uncertainty_{};
  std::string_view trouble_{};
};

}  // namespace assay::record
