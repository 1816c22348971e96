// HTTP/2 behind the seam: many queries at a time, each a stream of one session.
#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "net/http2_client.h"
#include "protocol/transport.h"

namespace assay::protocol {
namespace {

class Http2Transport final : public Transport, private net::Http2Events {
 public:
  Http2Transport(Lane& lane, TransportShared& shared) : lane_(lane), shared_(shared) {}

  bool begin(Slot& slot, Instant, bool, Pieces*) override {
    const auto request =
        shared_.requests.fill_http2(slot.exchange.query(), lane_.endpoint, shared_.run_key);
    carried_ = true;
    slot.stream = client_.submit(request.fields, request.body, &slot);
    return slot.stream >= 0;
  }

  Fed feed(std::string_view bytes, std::size_t, const Stamp& at) override {
    stamp_ = at;
    behind_body_ = bytes.size();
    // Acknowledgements and window updates go out, and a GOAWAY to a peer that broke the protocol.
    return {.sound = client_.feed(bytes), .changed = true, .output = true};
  }

  std::string_view output() override { return client_.output(); }

  bool cancel(Slot& slot) override {
    client_.forget(slot.stream);
    return true;
  }

  void unprocessed(Slot& slot) override {
    // A connection that answers some queries before it goes away is progress: their number limits
    // it.
    const bool goes = client_.going_away();
    if (!goes || !replied_) ++slot.unprocessed;
    // Refused one by one: the server takes only as many as it has now.
    if (!goes) taken_ = static_cast<std::uint32_t>(lane_.active.size());
  }

  std::uint32_t capacity() const override {
    const std::size_t most = std::min(taken_, client_.streams_max());
    if (client_.going_away() || lane_.active.size() >= most) return 0;
    return static_cast<std::uint32_t>(most - lane_.active.size());
  }
  std::uint32_t limit() const override { return std::min(kStreamsMax, client_.streams_max()); }

  Standing standing() const override {
    if (client_.over()) return Standing::over;
    if (client_.going_away()) return Standing::leaving;
    const bool allows = client_.begun() && client_.streams_max() > 0;
    return allows || carried_ ? Standing::open : Standing::beginning;
  }
  bool announces_end() const override { return true; }

  Ending ending(Side side, int error) override {
    const std::string said = client_.error();
    if (side == Side::reading) {
      const bool cut = error == 0 && said.empty();
      return {.outcome = cut ? Outcome::truncated : outcome_of(error),
              .why = !said.empty() ? said
                     : !carried_   ? "the server closed the connection before it began HTTP/2"
                     : error == 0  ? "the connection was closed"
                                   : std::strerror(error)};
    }
    const Outcome outcome = client_.broken() ? Outcome::bad_reply : outcome_of(error);
    if (!said.empty()) return {.outcome = outcome, .why = said};
    if (error != 0) {
      return {.outcome = outcome, .why = format("cannot send: {}", std::strerror(error))};
    }
    return {.outcome = outcome,
            .why = !client_.going_away() ? "the connection broke"
                   : carried_            ? "the server said GOAWAY"
                                         : "the server said GOAWAY before a request"};
  }

  std::string refusal(std::string_view within) const override {
    if (!client_.begun()) {
      return format("the server did not begin HTTP/2 within {} (no SETTINGS came)", within);
    }
    return format(
        "the server allowed no HTTP/2 stream within {} (SETTINGS_MAX_CONCURRENT_STREAMS is 0)",
        within);
  }

 private:
  // net::Http2Events; `user` is a Slot.
  void on_head(void* user, const net::ResponseHead& head) override {
    Slot& slot = *static_cast<Slot*>(user);
    replied_ = true;
    slot.exchange.on_bytes(0, stamp_);
    if (slot.exchange.on_head(head)) {
      shared_.watch_framing(slot, stamp_.read);
    } else {
      client_.cancel(slot.stream);
    }
  }

  void on_body(void* user, std::string_view piece, std::size_t rest) override {
    Slot& slot = *static_cast<Slot*>(user);
    slot.exchange.on_bytes(piece.size(), stamp_);
    behind_body_ = rest;
    if (slot.exchange.given_up()) return;
    if (slot.exchange.on_body(piece, rest, stamp_, shared_.decoder, *shared_.sink)) {
      shared_.watch_framing(slot, stamp_.read);
      return;
    }
    client_.cancel(slot.stream);
  }

  void on_request_out(void* user) override {
    Slot* const slot = static_cast<Slot*>(user);
    slot->out = true;
    lane_.going_out.push_back(slot);
  }

  void on_end(void* user, const net::Http2End& end) override {
    Slot* const slot = static_cast<Slot*>(user);
    Exchange& exchange = slot->exchange;
    shared_.ended.push_back(slot);
    if (end.unprocessed && !exchange.reply_started() && slot->unprocessed < kUnprocessedMax) {
      slot->again = true;
    } else if (end.code == 0) {
      Stamp at_end = stamp_;
      at_end.emptied = stamp_.emptied && behind_body_ == 0;
      if (end.grpc_status >= 0) exchange.set_grpc(end.grpc_status, end.grpc_message);
      exchange.complete(at_end, shared_.decoder, *shared_.sink);
    } else if (!end.broken.empty()) {
      cut_short(exchange, Outcome::bad_reply, format("HTTP/2: {}", end.broken));
    } else {
      const std::string_view times = end.unprocessed ? ", again and again" : "";
      cut_short(exchange, Outcome::reset,
                format("HTTP/2 stream reset: {}{}", net::http2_error_name(end.code), times));
    }
  }

  void cut_short(Exchange& exchange, Outcome outcome, std::string_view why) {
    exchange.cut_short(outcome, stamp_, why, shared_.decoder, *shared_.sink);
  }

  Lane& lane_;
  TransportShared& shared_;
  net::Http2Client client_{*this};
  Stamp stamp_{};                      // of the latest read
  std::size_t behind_body_ = 0;        // bytes of that read behind the last piece of a body
  std::uint32_t taken_ = kStreamsMax;  // less after the server refused streams it had allowed
  bool carried_ = false;               // a query was begun on it
  bool replied_ = false;               // brought the head of a reply
};

}  // namespace

std::unique_ptr<Transport> make_http2_transport(Lane& lane, TransportShared& shared) {
  return std::make_unique<Http2Transport>(lane, shared);
}

}  // namespace assay::protocol
