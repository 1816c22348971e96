#include "protocol/exchange.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "net/content_headers.h"
#include "net/grpc.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

// An error body is for a person; a whole reply may have long text or base64.
constexpr std::size_t kErrorBodyMax = 64 * 1024;
constexpr std::size_t kFoundMax = 64 * 1024;
constexpr std::size_t kShownBytes = 1024;  // of an event that could not be read
constexpr std::size_t kRedactedKept = 64 * 1024;
constexpr std::size_t kWholeBodyMax = std::size_t{1} << 30;
// At most this many bytes behind an event are framing and no other event: "\r\n" after its chunk,
// and the chunk that ends the body.
constexpr std::size_t kFramingBytes = 7;
// The status of a connection that became a WebSocket.
constexpr std::uint16_t kSwitched = 101;
// At most this many bytes behind an event were written with it: the "\r\n" after its chunk.
constexpr std::size_t kChunkEndBytes = 2;
// A core that sleeps deeply wakes up to this much later than WakeWatch allows for.
constexpr Duration kDeepWake{150'000};

}  // namespace

// The kernel's stamp is that of a read's last byte, if the read emptied the socket.
Duration Stamp::uncertainty(bool exact) const {
  if (exact && kernel && emptied) return {};
  Instant earliest = not_before;
  if (wake != nullptr) {
    // A thread that slept on after its last byte had come was not woken when it should have been (a
    // hypervisor held its core). The bytes before that one may have waited too: no bound.
    const Instant slept = wake->slept_until(read);
    if (slept.known() && slept - arrival <= kDeepWake) earliest = std::max(earliest, slept);
  }
  if (!earliest.known()) return {};
  return std::max(arrival - earliest, Duration{});
}

void Exchange::begin(const Query& query, Instant due, std::uint16_t endpoint, const Asked& asked,
                     const Redactor* redactor) {
  event_ = Event{};
  event_.query = query;
  event_.due = due;
  event_.endpoint = endpoint;
  event_.streamed = event_.stream_asked = asked.stream;
  event_.tokens_max = asked.tokens_max;
  event_.choices_asked = asked.choices;
  state_.api = asked.api;
  sound_.begin(asked.sound_rate);
  mode_ = Mode::undecided;
  grain_ = {};
  given_up_ = false;
  failure_ = Outcome::ok;
  has_choice_ = false;
  begun_.reset();
  finished_.reset();
  malformed_ = 0;
  head_ = {};
  found_.clear();
  redactor_ = redactor;
  redacting_ = 0;
}

// Longer waits that a server asks for are cut: a run must end.
constexpr Duration kRetryAfterMax{3'600'000'000'000};

void Exchange::set_connected(Duration connect_time) {
  event_.connected = true;
  event_.connect_time = connect_time;
}

void Exchange::on_bytes(std::size_t count, const Stamp& stamp) {
  event_.received_bytes += count;
  if (!event_.first_byte.known()) {
    event_.first_byte = stamp.arrival;
    event_.kernel_stamped = stamp.kernel;
  } else {
    event_.kernel_stamped = event_.kernel_stamped && stamp.kernel;
  }
}

bool Exchange::give_up(Outcome outcome, std::string_view words) {
  given_up_ = true;
  failure_ = outcome;
  found_ = words;
  return false;
}

bool Exchange::give_up_for_memory() {
  CHECK(budget_ != nullptr);  // without one there is room
  return give_up(Outcome::over_memory,
                 format("reply over the memory budget of {} for all connections (--memory-max)",
                        human_bytes(budget_->bytes_max())));
}

bool Exchange::on_head(const net::ResponseHead& head) {
  head_ = head;
  event_.http_status = head.status;
  if (head.status != 200 && head.retry_after_s() >= 0) {
    event_.retry_after = std::min(Duration{head.retry_after_s() * 1'000'000'000LL}, kRetryAfterMax);
  }
  if (head.status != 200) {
    mode_ = Mode::error_body;
    failure_ = Outcome::http_error;
    return true;
  }
  // Decide at the head: a body compressed as a stream may bring no data for a long time.
  if (head.coding != net::ContentCoding::identity) {
    return give_up(Outcome::bad_reply,
                   format("the reply is compressed ({}), not asked for", to_string(head.coding)));
  }
  if (head.type == net::ContentType::event_stream) mode_ = Mode::events;
  if (streams_lines(kind_of(state_.api), event_.stream_asked, head)) mode_ = Mode::lines;
  return true;
}

// Some servers send a wrong stream type, or answer a streaming request with a plain object; the
// first bytes show which.
void Exchange::decide(std::string_view piece) {
  if (kind_of(state_.api).job) {  // the bytes of a file
    mode_ = Mode::whole;
    return;
  }
  if (kind_of(state_.api).raw_sound) {
    // Samples are any bytes: a reply is JSON or a page only if it says so, and looks so.
    const bool text = head_.type == net::ContentType::text;
    const bool json = (text || head_.type == net::ContentType::json) && piece.starts_with('{');
    const bool page = text && piece.starts_with('<');
    const bool events = piece.starts_with("data:") || piece.starts_with("event:");
    mode_ = json || page ? Mode::whole : events ? Mode::events : Mode::sound;
    // With a length the reply was whole before its first byte left.
    if (mode_ == Mode::sound && head_.has_length) event_.streamed = false;
    return;
  }
  const std::size_t at = piece.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (at == std::string_view::npos) return;
  const char c = piece[at];
  mode_ = c == 'd' || c == ':' || c == 'e' || c == 'i' || c == 'r' ? Mode::events : Mode::whole;
}

bool Exchange::on_body(std::string_view piece, std::size_t rest, const Stamp& stamp,
                       ReplyDecoder& decoder, EventSink& sink) {
  if (mode_ == Mode::undecided) decide(piece);
  switch (mode_) {
    case Mode::undecided:
      break;  // white space so far
    case Mode::events: {
      const std::size_t size = piece.size();
      const bool fits = sse_.feed(piece, [&](std::string_view data, std::size_t consumed) {
        const std::size_t behind = size - consumed + rest;
        const bool shares = behind > kFramingBytes;
        uncertainty_ = stamp.uncertainty(behind <= kChunkEndBytes);
        on_stream_data(data, shares, stamp, decoder, sink);
      });
      if (given_up_) return false;
      if (sse_.no_room()) return give_up_for_memory();
      if (!fits) {
        return give_up(Outcome::bad_reply, "one event of the stream is longer than 64 MiB");
      }
      return true;
    }
    case Mode::lines:
      return feed_lines(piece, rest, stamp, decoder, sink);
    case Mode::messages:
      CHECK(false && "messages have no body");
    case Mode::whole:
      if (!body_.append(piece)) return give_up_for_memory();
      if (body_.size() <= kWholeBodyMax) return true;
      return give_up(Outcome::bad_reply, "the reply is longer than 1 GiB");
    case Mode::sound:
      on_sound(piece, rest, stamp, sink);
      return !given_up_;
    case Mode::error_body:
      // For a compressed body the status must suffice.
      if (head_.coding != net::ContentCoding::identity) return true;
      // Words that find no room are left out too.
      given_up_ = !body_.append(piece.substr(0, kErrorBodyMax - body_.size())) ||
                  body_.size() == kErrorBodyMax;
      return !given_up_;
  }
  return true;
}

void Exchange::on_socket() {
  mode_ = Mode::messages;
  event_.http_status = kSwitched;
}

void Exchange::on_message(std::string_view event, std::size_t behind, const Stamp& stamp,
                          ReplyDecoder& decoder, EventSink& sink) {
  uncertainty_ = stamp.uncertainty(behind == 0);
  on_stream_data(event, behind > 0, stamp, decoder, sink);
}

bool Exchange::feed_lines(std::string_view piece, std::size_t rest, const Stamp& stamp,
                          ReplyDecoder& decoder, EventSink& sink) {
  const std::size_t size = piece.size();
  const bool fits = lines_.feed(piece, [&](std::string_view line, std::size_t consumed) {
    const std::size_t behind = size - consumed + rest;
    uncertainty_ = stamp.uncertainty(behind <= kChunkEndBytes);
    on_stream_data(line, behind > kFramingBytes, stamp, decoder, sink);
  });
  if (given_up_) return false;
  if (lines_.no_room()) return give_up_for_memory();
  return fits || give_up(Outcome::bad_reply, "one line of the stream is longer than 64 MiB");
}

void Exchange::emit(Category category, std::string_view text, bool shares_read, const Stamp& stamp,
                    EventSink& sink) {
  if (!text.empty()) {  // else it is no fragment
    const auto bytes = static_cast<std::uint32_t>(text.size());
    if (event_.fragments == 0) event_.first_fragment_bytes = bytes;
    ++event_.fragments;
    event_.output_bytes += bytes;
    if (event_.streamed) {
      if (!event_.first_token.known()) {
        event_.first_token = stamp.arrival;
        event_.read_delay_first_token = stamp.read - stamp.arrival;
        event_.first_token_uncertainty = uncertainty_;
      }
      if (category == Category::text && !event_.first_visible.known()) {
        event_.first_visible = stamp.arrival;
        event_.first_visible_uncertainty = uncertainty_;
      }
      event_.last_token = stamp.arrival;
    }
  }
  if (redactor_ != nullptr) text = redactor_->piece(text, redacting_, redacted_);
  tell(category, text.size(), text, shares_read, stamp, sink);
}

void Exchange::tell(Category category, std::uint64_t bytes, std::string_view text, bool shares_read,
                    const Stamp& stamp, EventSink& sink) {
  sink.on_stream_event(event_.query,
                       StreamEvent{.category = category,
                                   .kernel_stamped = stamp.kernel,
                                   .shares_read = shares_read,
                                   .choice = decoded_.choice,
                                   .bytes = static_cast<std::uint32_t>(bytes),
                                   .tokens_so_far = tokens_so_far_,
                                   .arrival = stamp.arrival,
                                   .read = stamp.read,
                                   .uncertainty = uncertainty_},
                       text);
}

void Exchange::keep_sound(std::string_view bytes) {
  if (artefacts_ != nullptr && !body_.append(bytes)) give_up_for_memory();
}

// Bytes of a reply that is a sound itself.
void Exchange::on_sound(std::string_view piece, std::size_t rest, const Stamp& stamp,
                        EventSink& sink) {
  keep_sound(piece);
  const std::uint64_t bytes = sound_.feed(piece);
  if (!event_.streamed) {
    event_.sound.bytes += bytes;
    return;
  }
  ++event_.stream_events;
  if (!event_.first_event.known()) event_.first_event = stamp.arrival;
  uncertainty_ = stamp.uncertainty(rest <= kChunkEndBytes);
  hear(bytes, rest > kFramingBytes, stamp, sink);
}

void Exchange::hear_event(std::string_view base64, bool shares_read, const Stamp& stamp,
                          EventSink& sink) {
  const std::uint64_t bytes = sound_.feed_base64(base64);
  if (artefacts_ != nullptr) {
    if (const auto decoded = decode_base64(base64)) keep_sound(*decoded);
  }
  if (!sound_.sound() && failure_ == Outcome::ok) {
    failure_ = Outcome::bad_reply;
    found_ = "the sound of an event is not base64";
  }
  hear(bytes, shares_read, stamp, sink);
}

// The player begins with the first piece, and waits where it has played all that came.
void Exchange::hear(std::uint64_t bytes, bool shares_read, const Stamp& stamp, EventSink& sink) {
  if (bytes == 0) return tell(Category::other, 0, {}, shares_read, stamp, sink);  // a head
  Sound& sound = event_.sound;
  sound.bytes += bytes;
  ++sound.pieces;
  const std::uint32_t rate = sound_.rate();
  if (event_.streamed && !sound.first.known()) {
    sound.first = plays_until_ = stamp.arrival;
    sound.first_read_delay = stamp.read - stamp.arrival;
    sound.first_uncertainty = uncertainty_;
  } else if (event_.streamed && rate > 0 && stamp.arrival > plays_until_) {
    ++sound.underruns;
    sound.waited += stamp.arrival - plays_until_;
    plays_until_ = stamp.arrival;
  }
  if (rate > 0) plays_until_ = plays_until_ + sound_.length_of(bytes);
  tell(Category::sound, bytes, {}, shares_read, stamp, sink);
}

void Exchange::note_usage(const DecodedEvent& decoded) {
  if (decoded.finish != FinishReason::none) event_.finish = decoded.finish;
  if (decoded.has_usage) take_counts(event_.usage, decoded.usage);
}

void Exchange::on_stream_data(std::string_view data, bool shares_read, const Stamp& stamp,
                              ReplyDecoder& decoder, EventSink& sink) {
  ++event_.stream_events;
  if (!event_.first_event.known()) event_.first_event = stamp.arrival;
  decoder.decode(data, state_, decoded_);
  if (decoded_.category == Category::marker) {
    note_done_marker(shares_read, stamp, sink);
    return;
  }
  if (mode_ == Mode::events && sse_.names_error()) take_as_error(data, error_words_, decoded_);
  if (decoded_.malformed) {
    if (malformed_++ == 0) unread_ = error_text(data.substr(0, kShownBytes));
    if (decoded_.no_room) give_up_for_memory();
    if (failure_ == Outcome::ok) failure_ = Outcome::bad_reply;
  }
  tokens_so_far_ = decoded_.has_usage ? decoded_.usage.completion_tokens : -1;
  for (;;) {
    take_decoded(shares_read || !decoded_.more_choices.empty(), stamp, sink);
    if (decoded_.more_choices.empty()) break;
    decoder.next_choice(&state_, decoded_);
  }
  tokens_so_far_ = -1;
  if (decoded_.ends) note_end(stamp);
}

// One choice of the event.
void Exchange::take_decoded(bool shares_read, const Stamp& stamp, EventSink& sink) {
  if (decoded_.category == Category::error) {
    if (failure_ != Outcome::over_memory) failure_ = Outcome::stream_error;
    if (found_.empty()) found_ = decoded_.error.substr(0, kFoundMax);
  }
  if (event_.done_marker && decoded_.fragment_count > 0) {
    // Most clients have stopped reading by now: these are counted only here.
    event_.fragments_after_done += decoded_.fragment_count;
    tokens_so_far_ = -1;
    emit(Category::other, {}, shares_read, stamp, sink);
    return;
  }
  note_usage(decoded_);
  has_choice_ = has_choice_ || decoded_.has_choice;
  if (const std::size_t choice = decoded_.choice; choice < kChoicesJudged) {
    if (decoded_.fragment_count > 0) begun_.set(choice);
    if (decoded_.finish != FinishReason::none) finished_.set(choice);
  }
  emit_decoded(shares_read, stamp, sink);
}

void Exchange::emit_decoded(bool shares_read, const Stamp& stamp, EventSink& sink) {
  if (decoded_.fragment_count == 0) emit(decoded_.category, {}, shares_read, stamp, sink);
  for (std::size_t i = 0; i < decoded_.fragment_count; ++i) {
    const Fragment& fragment = decoded_.fragments[i];
    const bool more = i + 1 < decoded_.fragment_count;
    if (fragment.category == Category::sound) {
      hear_event(fragment.text, shares_read, stamp, sink);  // an event's last fragment
      continue;
    }
    emit(fragment.category, fragment.text, shares_read || more, stamp, sink);
  }
}

// The first one counts: most clients never see later events.
void Exchange::note_end(const Stamp& stamp) {
  if (event_.done_marker) return;
  event_.done_marker = true;
  event_.done = stamp.arrival;
  event_.read_delay_done = stamp.read - stamp.arrival;
  event_.done_uncertainty = uncertainty_;
}

void Exchange::note_done_marker(bool shares_read, const Stamp& stamp, EventSink& sink) {
  note_end(stamp);
  emit(Category::marker, {}, shares_read, stamp, sink);
}

// A call of gRPC has failed where its status says so, whatever came before it.
bool Exchange::end_failed_call(const Stamp& stamp, EventSink& sink) {
  const std::int32_t status = head_.grpc_status;
  if (mode_ == Mode::error_body || given_up_ || status == net::kGrpcOk) return false;
  if (status < 0) {
    end(Outcome::truncated, stamp, "the reply ended without grpc-status", sink);
  } else {
    end(status == net::kGrpcDeadlineExceeded ? Outcome::timed_out : Outcome::stream_error, stamp,
        net::grpc_words(status, std::string_view(head_.grpc_message).substr(0, kFoundMax)), sink);
  }
  return true;
}

void Exchange::complete(const Stamp& stamp, ReplyDecoder& decoder, EventSink& sink) {
  if (is_grpc(state_.api.api) && end_failed_call(stamp, sink)) return;
  switch (mode_) {
    case Mode::error_body: {
      // The status comes first; the server's words, if any, give the reason.
      const std::string words =
          head_.location.empty() ? error_text(body_.view()) : "it has moved to " + head_.location;
      end(Outcome::http_error, stamp, format("HTTP {}: {}", head_.status, words), sink);
      return;
    }
    case Mode::events:
      uncertainty_ = stamp.uncertainty(true);
      if (!given_up_ && !sse_.finish([&](std::string_view data, std::size_t) {
            on_stream_data(data, false, stamp, decoder, sink);
          })) {
        give_up_for_memory();
      }
      complete_stream(stamp, sink);
      return;
    case Mode::lines:
      uncertainty_ = stamp.uncertainty(true);
      if (!given_up_) {
        lines_.finish([&](std::string_view line, std::size_t) {
          on_stream_data(line, false, stamp, decoder, sink);
        });
      }
      complete_stream(stamp, sink);
      return;
    case Mode::messages:
      complete_stream(stamp, sink);
      return;
    case Mode::whole:
      if (given_up_) {
        end(failure_, stamp, failure_words(), sink);
      } else {
        complete_whole(stamp, decoder, sink);
      }
      return;
    case Mode::sound:
      complete_sound(stamp, sink);
      return;
    case Mode::undecided:
      if (given_up_) {
        end(failure_, stamp, failure_words(), sink);
      } else {
        end(Outcome::truncated, stamp, "the reply is empty", sink);
      }
      return;
  }
}

std::string Exchange::failure_words() const {
  if (!found_.empty()) return found_;
  // The content of an unreadable event is lost, and so is the reply: no client could use it.
  // OpenAI's own clients parse each event up to [DONE], and end there with an exception.
  return format(
      "{} of {} events of the stream {} not a JSON object, the first {}: clients that parse each "
      "event fail there",
      malformed_, event_.stream_events, malformed_ == 1 ? "is" : "are",
      unread_.empty() ? "without data" : format("\"{}\"", unread_));
}

void Exchange::complete_stream(const Stamp& stamp, EventSink& sink) {
  const Kind& kind = kind_of(state_.api);
  const bool finished = !kind.ends_itself && event_.finish != FinishReason::none;
  const bool all_finished = finished && (begun_ & ~finished_).none();
  if (failure_ != Outcome::ok) {
    end(failure_, stamp, failure_words(), sink);
  } else if (kind.raw_sound && event_.done_marker && event_.sound.bytes == 0) {
    end(Outcome::bad_reply, stamp, "the reply holds no sound", sink);
  } else if (event_.done_marker && !has_choice_) {
    end(Outcome::bad_reply, stamp, "the stream ended without a choice in any of its events", sink);
  } else if (event_.done_marker || all_finished) {
    end(Outcome::ok, stamp, {}, sink);
  } else if (finished) {
    end(Outcome::truncated, stamp,
        "the stream ended without a finish reason of each choice and without [DONE]", sink);
  } else if (event_.stream_events == 0) {
    end(Outcome::truncated, stamp, "the stream ended before its first event", sink);
  } else if (kind.ends_itself) {
    end(Outcome::truncated, stamp, format("the stream ended without {}", kind.end_name), sink);
  } else {
    end(Outcome::truncated, stamp, "the stream ended without a finish reason and without [DONE]",
        sink);
  }
}

void Exchange::complete_sound(const Stamp& stamp, EventSink& sink) {
  if (failure_ != Outcome::ok) {
    end(failure_, stamp, failure_words(), sink);
    return;
  }
  uncertainty_ = stamp.uncertainty(true);
  const std::uint64_t rest = sound_.finish();
  if (event_.streamed && rest > 0) hear(rest, false, stamp, sink);
  if (!event_.streamed) {
    const std::uint64_t bytes = std::exchange(event_.sound.bytes, 0) + rest;
    if (bytes > 0) hear(bytes, false, stamp, sink);
  }
  if (event_.sound.bytes == 0) {
    end(Outcome::bad_reply, stamp, "the reply holds no sound", sink);
  } else if (sound_.missing() > 0) {
    end(Outcome::truncated, stamp,
        format("the sound ended {} bytes before the length in its head", sound_.missing()), sink);
  } else {
    // Only the body's end says that the sound is whole: it is recorded as an event, as [DONE] is.
    if (event_.streamed) tell(Category::marker, 0, {}, false, stamp, sink);
    end(Outcome::ok, stamp, {}, sink);
  }
}

void Exchange::complete_whole(const Stamp& stamp, ReplyDecoder& decoder, EventSink& sink) {
  event_.streamed = false;
  uncertainty_ = stamp.uncertainty(true);
  decoder.decode_reply(state_.api, body_.view(), decoded_);
  if (decoded_.no_room) {
    give_up_for_memory();
    end(failure_, stamp, failure_words(), sink);
    return;
  }
  const bool is_error = decoded_.category == Category::error;
  if (!is_error && (decoded_.malformed || !decoded_.has_choice)) {
    end(Outcome::bad_reply, stamp, format("not a reply of this API: {}", error_text(body_.view())),
        sink);
    return;
  }
  if (!is_error && kind_of(state_.api).all_units && decoded_.units != event_.choices_asked) {
    end(Outcome::bad_reply, stamp,
        format("{} inputs were sent, and {} results came", event_.choices_asked, decoded_.units),
        sink);
    return;
  }
  for (;;) {
    note_usage(decoded_);
    if (decoded_.category == Category::error) {
      end(Outcome::stream_error, stamp, decoded_.error.substr(0, kFoundMax), sink);
      return;
    }
    for (std::size_t i = 0; i < decoded_.fragment_count; ++i) {
      emit(decoded_.fragments[i].category, decoded_.fragments[i].text, false, stamp, sink);
    }
    if (decoded_.more_choices.empty()) break;
    decoder.next_choice(nullptr, decoded_);
  }
  end(Outcome::ok, stamp, {}, sink);
}

void Exchange::cut_short(Outcome outcome, const Stamp& stamp, std::string_view detail,
                         ReplyDecoder& decoder, EventSink& sink) {
  if (mode_ == Mode::error_body) {
    complete(stamp, decoder, sink);  // the status says more than the ending
    return;
  }
  if (settled()) {
    complete_stream(stamp, sink);  // only framing is missing, or the failure came before the end
    return;
  }
  end(outcome, stamp, detail, sink);
}

void Exchange::fail(Outcome outcome, Instant at, std::string_view detail, EventSink& sink) {
  end(outcome, Stamp{.arrival = at, .read = at}, detail, sink);
}

void Exchange::end(Outcome outcome, const Stamp& stamp, std::string_view detail, EventSink& sink) {
  event_.outcome = outcome;
  if (event_.sound.bytes > 0 && sound_.rate() > 0) {
    event_.sound.length = sound_.length_of(event_.sound.bytes);
  }
  if (outcome != Outcome::ok || !event_.done_marker) {
    event_.done = stamp.arrival;
    event_.read_delay_done = stamp.read - stamp.arrival;
    event_.done_uncertainty = stamp.uncertainty(true) + grain_;
  }
  event_.released = std::max(event_.done, stamp.arrival);
  if (artefacts_ != nullptr && outcome == Outcome::ok && !body_.empty()) {
    artefacts_->put(event_.query, state_.api.api, body_.view());
  }
  if (redactor_ == nullptr) {
    sink.on_done(event_, detail);
  } else {
    sink.on_done(event_, redactor_->text(detail));
    if (redacted_.capacity() > kRedactedKept) std::string().swap(redacted_);
  }
  sse_.reset();
  lines_.reset();
  state_.reset();
  body_.release();
}

}  // namespace assay::protocol
