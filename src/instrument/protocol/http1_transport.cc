// HTTP/1.1 behind the seam: one query at a time, parsed in place.
#include <cstring>

#include "base/check.h"
#include "base/format.h"
#include "net/http1_response.h"
#include "protocol/transport.h"

namespace assay::protocol {
namespace {

class Http1Transport final : public Transport {
 public:
  Http1Transport(Lane& lane, TransportShared& shared)
      : lane_(lane), shared_(shared), parser_(shared.memory) {}

  bool begin(Slot& slot, Instant now, bool whole, Pieces* request_out) override {
    parser_.reset();
    begun_at_ = now;
    slot.out = true;
    lane_.going_out.push_back(&slot);
    *request_out =
        shared_.requests.fill(slot.exchange.query(), lane_.endpoint, shared_.run_key, whole);
    return true;
  }

  Fed feed(std::string_view bytes, std::size_t rest, const Stamp& at) override {
    // Bytes without a request: with them in the stream, the next reply would be read wrongly.
    if (!lane_.busy()) return {.sound = false, .changed = true};
    Slot& slot = *lane_.active[0];
    if (at.arrival < begun_at_ && !slot.exchange.reply_started()) {
      return feed_early(slot, bytes, rest, at);
    }
    return feed_reply(slot, bytes, rest, at);
  }

  std::string_view output() override { return {}; }
  bool cancel(Slot&) override { return false; }
  void unprocessed(Slot&) override { CHECK(false); }  // HTTP/1.1 cannot say it

  std::uint32_t capacity() const override { return leaving_ || lane_.busy() ? 0 : 1; }
  std::uint32_t limit() const override { return 1; }
  Standing standing() const override { return leaving_ ? Standing::leaving : Standing::open; }
  bool announces_end() const override { return false; }

  Ending ending(Side, int error) override {
    if (error != 0) return {.outcome = outcome_of(error), .why = std::strerror(error)};
    if (parser_.end_of_input() == net::ResponseParser::State::complete) return {.complete = true};
    return {.outcome = parser_.malformed() ? Outcome::bad_reply : Outcome::truncated,
            .why = std::string(parser_.error())};
  }
  std::string refusal(std::string_view within) const override {
    return format("no connection within {}", within);
  }

 private:
  using ParserState = net::ResponseParser::State;

  Fed feed_reply(Slot& slot, std::string_view bytes, std::size_t rest, const Stamp& at) {
    Exchange& exchange = slot.exchange;
    ReplyDecoder& decoder = shared_.decoder;
    EventSink& sink = *shared_.sink;
    exchange.on_bytes(bytes.size(), at);
    bool sound = true;
    const ParserState state = parser_.feed(
        bytes, [&](const net::ResponseHead& head) { sound = exchange.on_head(head); },
        [&](std::string_view piece) {
          if (sound) sound = exchange.on_body(piece, bytes.size() + rest, at, decoder, sink);
        });
    if (!sound || state == ParserState::failed) {
      const Outcome outcome = parser_.no_room() ? Outcome::over_memory : Outcome::bad_reply;
      exchange.cut_short(outcome, at, parser_.error(), decoder, sink);
      return end(slot, false);
    }
    if (state == ParserState::complete) {
      const bool keep = parser_.head().keep_alive && bytes.empty() && rest == 0 && !lane_.blocked;
      exchange.complete(at, decoder, sink);
      return end(slot, keep);
    }
    shared_.watch_framing(slot, at.read);
    return {};
  }

  // A server that replies at once after connect: the reply would count for the next query, with no
  // delay. Or the stamp's mapping is a little wrong, and the reply came at once. Rare, and inlined
  // it would cost each read a frame on the stack.
  [[gnu::noinline]] Fed feed_early(Slot& slot, std::string_view bytes, std::size_t rest,
                                   const Stamp& at) {
    net::StampClock& clock = shared_.stamp_clock;
    clock.refresh();
    if (at.arrival + clock.error_max() + clock.slew_max() >= begun_at_) {
      Stamp now = at;
      now.arrival = begun_at_;
      return feed_reply(slot, bytes, rest, now);
    }
    slot.exchange.on_bytes(bytes.size(), at);
    slot.exchange.cut_short(Outcome::bad_reply, at, "the reply came before the request was sent",
                            shared_.decoder, *shared_.sink);
    return end(slot, false);
  }

  Fed end(Slot& slot, bool keep) {
    leaving_ = !keep;
    shared_.ended.push_back(&slot);
    return {.changed = true};
  }

  Lane& lane_;
  TransportShared& shared_;
  net::ResponseParser parser_;
  Instant begun_at_{};  // no byte of the current request went out before
  bool leaving_ = false;
};

}  // namespace

std::unique_ptr<Transport> make_http1_transport(Lane& lane, TransportShared& shared) {
  return std::make_unique<Http1Transport>(lane, shared);
}

}  // namespace assay::protocol
