// Outlet: the way of a reply's bytes to the socket: how many events go into one write, where a
// write is cut, what waits before it, and when each event was handed to the kernel.
//
// The clean way is one send() an event (or for several, events_per_write) straight from a scratch
// buffer. Quirks of cutting and waiting put the reply's bytes into pieces, each sent after its own
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

// An event within bytes that are about to be sent.
struct EventMark {
  std::size_t end = 0;  // where it ends in those bytes
  std::uint32_t tokens = 0;
  Category category = Category::other;
  Duration wait{};  // before it is sent
};

// Events in the making: the body's bytes and where each event ends in them.
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

// What follows when bytes have been handed over.
enum class Then : std::uint8_t {
  more,    // more bytes of the reply
  finish,  // the reply is complete
  close,   // an ordinary end of the connection, whatever the reply
  reset
};

// Where one reply stands on its way out.
struct Output {
  net::ConnectionId connection = 0;
  std::uint32_t slot = 0;        // of the stream it belongs to
  std::uint32_t generation = 0;  // of that slot; 0: nothing under way
  std::uint32_t number = 0;      // of the request, in the truth log
  std::uint32_t events = 0;      // handed over
  std::uint32_t tokens = 0;      // of them
  bool close_after = false;      // the connection ends with the reply
  bool body_ended = false;
  Then then = Then::more;  // once all is handed over
  Instant last_handed{};

  struct Piece {
    Duration wait{};
    std::string bytes{};
    std::vector<EventMark> marks{};
    Then then = Then::more;
  };
  struct Unsent {
    std::uint64_t end = 0;  // as HttpServer::accepted() counts
    EventMark mark{};
  };
  // What only some replies need: not allocated for the others.
  struct Extra {
    std::unique_ptr<BodyCoder> coder{};  // null: clean chunks
    std::string batch{};                 // the head, or events that wait for others
    std::vector<EventMark> batch_marks{};
    std::deque<Piece> pieces{};
    bool waiting = false;         // a timer runs for the first piece
    std::deque<Unsent> unsent{};  // accepted by the server and not yet by the kernel
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
    open,      // more is to come or to go out
    complete,  // all is handed over and the connection is free (or closed): the reply is over
    gone       // the connection broke
  };

  // The head of a response; sent now, or with the first event.
  Status head(Output& output, std::string_view bytes, bool now);
  // Events, or with body bytes and marks anything else; `then` ends the reply.
  Status send(Output& output, const EventBatch& batch, Then then);
  // Bytes that are already framed: a whole plain reply.
  Status send_raw(Output& output, std::span<const std::string_view> parts, const EventMark& mark,
                  Then then);

  // The kernel took more of what had to wait.
  Status progress(Output& output, std::uint64_t handed);
  // Pieces that waited long enough: the slot of one of them, whose resume() is to be called.
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
  Status flush_batch(Output& output, Then then);
  void cut_up(Output& output, std::string_view bytes, std::span<const EventMark> marks, Then then);
  Status send_pieces(Output& output);

  OutletOptions options_;
  const Clock& clock_;
  TruthRecorder& truth_;
  net::HttpServer* server_ = nullptr;
  bool cuts_;
  ByteBuffer out_{};                    // the body as HTTP carries it
  std::vector<EventMark> out_marks_{};  // in out_
  sim::DueQueue due_{};
};

}  // namespace assay::endpoint
