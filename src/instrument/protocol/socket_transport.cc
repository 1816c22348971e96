// A WebSocket behind the seam: one turn of a session at a time. A session keeps its conversation,
// so a turn has a connection of its own, or that of the turn before it in its conversation, where
// it says only what is new (`session` in kind/realtime.cc).
//
// The turn's script (kind/realtime.cc) goes out a message an event, as far as its instants allow;
// the query counts as sent with its last event, which asks for the response. What the server says
// of the session is beside the turn; the reply begins with the first event that is not.
#include <charconv>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/format.h"
#include "net/websocket.h"
#include "net/websocket_handshake.h"
#include "protocol/kind/kind.h"
#include "protocol/transport.h"

namespace assay::protocol {
namespace {

class SocketTransport final : public Transport, private net::WebSocketEvents {
 public:
  SocketTransport(Lane& lane, TransportShared& shared)
      : lane_(lane), shared_(shared), reader_(net::WebSocketSide::client, shared.memory) {
    const std::string key = net::new_websocket_key();
    handshake_.emplace(key);
    out_ = shared.requests.handshake(lane.endpoint);
    out_ += net::websocket_request_headers(key);
  }

  bool begin(Slot& slot, Instant now, bool, Pieces* request_out) override {
    const Query& query = slot.exchange.query();
    script_ = shared_.requests.fill_body(query, lane_.endpoint, shared_.run_key);
    id_ = query_uuid(shared_.run_key, query.phase, query.index);
    const PreparedRequests::SessionTurn turn = shared_.requests.session_turn(query);
    resumed_ = taken_;
    script_at_ = resumed_ ? turn.goes_on_at : 0;
    next_ = turn.next;
    begun_at_ = now;
    taken_ = true;
    answering_ = over_ = false;
    slot.exchange.on_socket();
    go_on(slot, now);
    if (slot.out) {
      // output() is empty when its bytes are gone, and they are gone now.
      sending_.swap(out_);
      out_.clear();
      request_out->add(sending_);
    }
    return true;
  }

  void go_on(Slot& slot, Instant now) override {
    while (script_at_ < script_.size()) {
      const std::size_t end = script_.find('\n', script_at_);
      std::string_view line = std::string_view(script_).substr(script_at_, end - script_at_);
      const Instant at = begun_at_ + wait_of(line);
      if (at > now) {
        add_in_order(shared_.paced, {at, &slot, slot.serial});
        return;
      }
      script_at_ = end + 1;
      if (script_at_ < script_.size()) {
        writer_.text(out_, line);
        continue;
      }
      // The endpoint's log of the truth has the id, so that both can be laid side by side.
      const std::string id =
          format(R"({{"event_id":"{}",)", std::string_view(id_.data(), id_.size()));
      writer_.text(out_, id, line.substr(1));
      slot.out = true;
      lane_.going_out.push_back(&slot);
    }
  }

  Fed feed(std::string_view bytes, std::size_t rest, const Stamp& at) override {
    fed_ = {};
    stamp_ = at;
    rest_ = rest;
    if (handshake_) {
      if (handshake_->feed(bytes) == net::ClientHandshake::State::reading) return {};
      if (handshake_->state() == net::ClientHandshake::State::refused) return {.sound = false};
      handshake_.reset();
      fed_.changed = true;
    }
    if (!reader_.feed(bytes, *this)) break_off();
    if (fed_.output) fed_.changed = true;
    return fed_;
  }

  std::string_view output() override {
    sending_.clear();
    sending_.swap(out_);
    return sending_;
  }

  bool cancel(Slot&) override { return false; }
  void unprocessed(Slot& slot) override { ++slot.unprocessed; }

  std::uint32_t capacity() const override {
    return handshake_ || taken_ || leaving_ || lane_.busy() ? 0 : 1;
  }
  std::uint32_t limit() const override { return 1; }
  Standing standing() const override {
    if (leaving_) return Standing::leaving;
    return handshake_ ? Standing::beginning : Standing::open;
  }
  bool announces_end() const override { return false; }

  Ending ending(Side, int error) override {
    if (handshake_ && handshake_->status() != 0) return {.why = refusal_words()};
    if (handshake_ && handshake_->state() == net::ClientHandshake::State::refused) {
      return {.why = std::string(handshake_->error())};
    }
    if (error != 0) return {.outcome = outcome_of(error), .why = std::strerror(error)};
    if (!ended_.empty()) return {.outcome = Outcome::truncated, .why = ended_};
    return {.outcome = Outcome::truncated,
            .why = handshake_ ? "the server closed the connection before it was a WebSocket"
                              : "the connection was closed without a close frame"};
  }

  std::uint32_t awaits() const override {
    return over_ && !leaving_ ? next_ : PreparedRequests::kNoTurn;
  }

  std::string refusal(std::string_view within) const override {
    return format("the server did not open a WebSocket within {}", within);
  }

 private:
  std::string refusal_words() const {
    if (!handshake_->error().empty()) return std::string(handshake_->error());
    const std::string words = error_text(handshake_->body());
    return format("no WebSocket: HTTP {}{}{}", handshake_->status(), words.empty() ? "" : ": ",
                  words);
  }

  // Takes the line's instant from its front: "@100000 {…}".
  static Duration wait_of(std::string_view& line) {
    if (!line.starts_with('@')) return {};
    std::int64_t us{};
    const auto [end, error] = std::from_chars(line.data() + 1, line.data() + line.size(), us);
    CHECK(error == std::errc{});
    line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
    return Duration{us * 1'000};
  }

  // The query under way, unless its end is known.
  Slot* slot() { return lane_.busy() && !over_ ? lane_.active[0] : nullptr; }

  // net::WebSocketEvents
  void on_message(bool text, std::string_view data, std::size_t behind) override {
    Slot* const at = slot();
    if (at == nullptr) return;  // said before the turn, or after its end
    Exchange& exchange = at->exchange;
    if (!answering_ && text && shared_.requests.kind().beside(data)) return;
    answering_ = true;
    exchange.on_bytes(data.size(), stamp_);
    if (!text) return end(*at, Outcome::bad_reply, "a binary message came; events are text");
    exchange.on_message(data, behind + rest_, stamp_, shared_.decoder, *shared_.sink);
    if (!exchange.settled() && !exchange.given_up()) return;
    const bool sound = !exchange.given_up() && !exchange.failed();
    exchange.complete(stamp_, shared_.decoder, *shared_.sink);
    if (!sound || next_ == PreparedRequests::kNoTurn) return leave(net::kCloseNormal);
    shared_.ended.push_back(at);
    over_ = true;
    fed_.changed = true;
  }

  void on_ping(std::string_view payload) override {
    writer_.frame(out_, net::FrameType::pong, payload);
    fed_.output = true;
  }
  void on_pong(std::string_view) override {}

  void on_close(std::uint16_t code, std::string_view reason) override {
    ended_ = format("the server closed the WebSocket with {}{}{}",
                    code == net::kCloseNoCode ? "no code" : format("code {}", code),
                    reason.empty() ? "" : ": ", reason);
    Slot* const at = slot();
    if (at != nullptr && resumed_ && !answering_ && said_goodbye(code)) {
      at->again = true;  // the turn crossed with the session's end, and may begin another
    } else if (at != nullptr) {
      return end(*at, Outcome::truncated, ended_, code);
    }
    leave(code);
  }

  static bool said_goodbye(std::uint16_t code) {
    return code == net::kCloseNormal || code == net::kCloseGoingAway || code == net::kCloseNoCode;
  }

  void break_off() {
    const std::string why = format("WebSocket: {}", reader_.error());
    ended_ = why;
    const Outcome outcome = reader_.no_room() ? Outcome::over_memory : Outcome::bad_reply;
    if (Slot* const at = slot()) return end(*at, outcome, why, reader_.close_code());
    leave(reader_.close_code());
  }

  void end(Slot& at, Outcome outcome, std::string_view why,
           std::uint16_t code = net::kCloseNormal) {
    at.exchange.cut_short(outcome, stamp_, why, shared_.decoder, *shared_.sink);
    leave(code);
  }

  // Says goodbye; the query under way, if any, has had its end.
  void leave(std::uint16_t code) {
    if (Slot* const at = slot()) shared_.ended.push_back(at);
    over_ = true;
    if (!leaving_) {
      writer_.close(out_, code);
      fed_.output = true;
    }
    leaving_ = true;
    fed_.changed = true;
  }

  Lane& lane_;
  TransportShared& shared_;
  std::optional<net::ClientHandshake> handshake_{};  // until the WebSocket is open
  net::WebSocketReader reader_;
  net::WebSocketWriter writer_{net::WebSocketSide::client};
  std::string out_{};      // bytes to send
  std::string sending_{};  // those that output() or begin() gave out
  std::string script_{};   // of the turn
  std::size_t script_at_ = 0;
  QueryUuid id_{};
  std::uint32_t next_ = PreparedRequests::kNoTurn;  // the sample that goes on in this session
  Instant begun_at_{};
  Stamp stamp_{};         // of the current read
  std::size_t rest_ = 0;  // bytes of that read that come with the next feed()
  Fed fed_{};
  std::string ended_{};     // why the server ended it
  bool taken_ = false;      // has had a turn
  bool resumed_ = false;    // this one is not its first
  bool answering_ = false;  // the reply has begun
  bool over_ = false;       // the query has had its end
  bool leaving_ = false;
};

}  // namespace

std::unique_ptr<Transport> make_socket_transport(Lane& lane, TransportShared& shared) {
  return std::make_unique<SocketTransport>(lane, shared);
}

}  // namespace assay::protocol
