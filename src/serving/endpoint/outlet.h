// Outlet sends a reply's bytes to the socket. It decides how many events go into one write, where a
// write is cut and what it waits for, and records when each event was handed to the kernel.
//
// Without quirks, one send() takes one event (or several, events_per_write) directly from a scratch
// buffer. Quirks that cut or delay split the reply's bytes into pieces, each sent after its own
// delay. Belongs to one worker's thread.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "endpoint/byte_buffer.h"
#include "endpoint/quirk.h"
#include "endpoint/sse_frame.h"
#include "endpoint/truth_log.h"
#include "net/http_server.h"
#include "sim/due_queue.h"

namespace assay::endpoint {

// An event in bytes that are about to be sent.
struct EventMark {
  std::size_t end = 0;  // its end, as an offset in those bytes
  std::uint32_t tokens = 0;
  Category category = Category::other;
  Duration wait{};  // before it is sent
};

// Events being written: the body's bytes and the end of each event in them.
struct EventBatch {
  ByteBuffer bytes{};
  std::vector<EventMark> marks{};

  void mark(Category category, std::uint32_t tokens, Duration wait = {}) {
    marks.push_back({bytes.size(), tokens, category, wait});
  }
  void clear() {
    bytes.clear();
    marks.clear();
  }
  bool empty() const { return marks.empty(); }
};

// The step after bytes have been handed over.
enum class Then : std::uint8_t {
  more,    // more bytes of the reply
  finish,  // the reply is complete
  close,   // a normal end of the connection, at any point of the reply
  reset
};

// The sending state of one reply.
struct Output {
  net::ConnectionId connection = 0;
  std::uint32_t slot = 0;        // of its stream
  std::uint32_t generation = 0;  // of that slot; 0: unused
  std::uint32_t number = 0;      // of the request, in the truth log
  std::uint32_t events = 0;      // handed over
  std::uint32_t tokens = 0;      // in those events
  bool close_after = false;      // the connection ends with the reply
  bool body_ended = false;
  bool socket = false;     // events are messages of a WebSocket, which outlives the reply
  Then then = Then::more;  // after all is handed over
  Instant last_handed{};

  struct Piece {
    Duration wait{};
    std::string bytes{};
    std::vector<EventMark> marks{};
    Then then = Then::more;
  };
  struct Unsent {
    std::uint64_t end = 0;  // in the count of HttpServer::accepted()
    EventMark mark{};
  };
  // State that only some replies need; not allocated for the others.
  struct Extra {
    std::unique_ptr<BodyCoder> coder{};  // null: clean chunks
    std::string batch{};                 // the head, or events held back
    std::vector<EventMark> batch_marks{};
    std::deque<Piece> pieces{};
    bool waiting = false;         // a timer runs for the first piece
    std::deque<Unsent> unsent{};  // accepted by the server, not yet by the kernel
  };
  std::unique_ptr<Extra> extra{};

  Extra& more() {
    if (extra == nullptr) extra = std::make_unique<Extra>();
    return *extra;
  }
};

struct OutletOptions {
  Quirks quirks{};
  std::uint32_t events_per_write = 1;
};

class Outlet {
 public:
  Outlet(const OutletOptions& options, const Clock& clock, TruthRecorder& truth);
  void set_server(net::HttpServer* server) { server_ = server; }

  enum class Status : std::uint8_t {
    open,      // more to come or to send
    complete,  // all handed over and the connection is free (or closed)
    gone       // the connection broke
  };

  // Sends the head of a response, now or with the first event.
  Status head(Output& output, std::string_view bytes, bool now);
  // Sends events, or any body bytes with marks; `then` ends the reply.
  Status send(Output& output, const EventBatch& batch, Then then);
  // Sends framed bytes: a whole reply without streaming.
  Status send_raw(Output& output, std::span<const std::string_view> parts, const EventMark& mark,
                  Then then);

  // The kernel took more of the waiting bytes.
  Status progress(Output& output, std::uint64_t handed);
  // The next delayed piece is due at next(); take_due() gives its slot, then call resume().
  Instant next() const { return due_.empty() ? Instant::max() : due_.front().at; }
  bool take_due(Instant now, std::uint32_t& slot, std::uint32_t& generation);
  Status resume(Output& output);

 private:
  bool cuts() const { return cuts_; }
  Status hand(Output& output, std::span<const std::string_view> parts,
              std::span<const EventMark> marks, Then then);
  void note(Output& output, const EventMark& mark, Instant at);
  Status conclude(Output& output, Then then);
  void encode(Output& output, const EventBatch& batch, Then then);
  void put_message(std::string_view event);
  Status flush_batch(Output& output, Then then);
  void cut_up(Output& output, std::string_view bytes, std::span<const EventMark> marks, Then then);
  Status send_pieces(Output& output);

  OutletOptions options_;
  const Clock& clock_;
  TruthRecorder& truth_;
  net::HttpServer* server_ = nullptr;
  bool cuts_;
  ByteBuffer out_{};                    // the body with HTTP framing
  std::vector<EventMark> out_marks_{};  // in out_
  sim::DueQueue due_{};
};

}  // namespace assay::endpoint
