// Transport: how queries travel on one connection that is up. HTTP/1.1 carries one query at a time,
// HTTP/2 many. HttpTarget has the socket, TLS, the pool and the deadlines; it chooses the transport
// at the end of the handshake and asks later only through this interface
// (docs/decisions/0062-one-transport-seam.md).
//
// A transport moves no bytes itself. begin() and output() give the bytes to send; feed() takes the
// bytes of one read, with the read's stamp, and passes them to each query's Exchange. It reports
// ended queries in TransportShared::ended, so that the target, and not a callback, changes the
// pool. One virtual call a read and a few a query; nothing is allocated per query by the seam.
//
// One thread. Not re-entrant: a sink that is called from feed() may call begin() of another
// transport, but none of this one's functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "domain/event_sink.h"
#include "net/receive.h"
#include "protocol/exchange.h"
#include "protocol/prepared_requests.h"

namespace assay::protocol {

// Our limit of streams on one HTTP/2 connection, even if the peer allows more: nginx and Envoy
// allow 100 to 128 by default.
inline constexpr std::uint32_t kStreamsMax = 100;
// How often a query that servers leave unprocessed goes out again. A connection that answered
// another query before it went away does not count.
inline constexpr std::uint32_t kUnprocessedMax = 3;

// A job under way (job_transport.cc). It outlives the connection that began it.
struct Job {
  std::string path{};    // of the POST
  std::string query{};   // of its target, with the '?'
  std::string fields{};  // of each GET's head
  std::string id{};
  Instant running_at{};    // the job had not ended yet then
  Instant asked_at{};      // the last look
  Instant next_at{};       // the next one, or the fetch
  bool completed = false;  // what it made is to be fetched
  std::uint32_t lost = 0;  // connections since its last answer
};

// One query under way. Made once and reused, for a query of any connection.
struct Slot {
  explicit Slot(MemoryBudget* budget) : exchange(budget) {}

  Exchange exchange;
  std::uint64_t serial = 0;  // of its use: a late deadline with another serial is void
  std::uint32_t connection = 0;
  std::int32_t stream = 0;       // the number that HTTP/2 gave it
  bool framing_watched = false;  // the outcome is known and the end of the body is awaited
  bool sent_told = false;
  bool out = false;               // the transport has given out the whole request
  bool again = false;             // the server left it unprocessed, or a job goes on: once more
  std::uint32_t unprocessed = 0;  // how often: see kUnprocessedMax
  std::unique_ptr<Job> job{};     // of a kind whose queries are jobs, once it is begun
};

// The queries of one connection, as the pool and the transport see them.
struct Lane {
  std::uint16_t endpoint = 0;
  bool blocked = false;         // bytes wait until the socket is writable: epoll watches for it
  std::vector<Slot*> active{};  // queries under way
  std::vector<Slot*>
      going_out{};  // of them, those with a whole request that is not sent to its end

  bool busy() const { return !active.empty(); }
  void remove(Slot* slot) {
    std::erase(active, slot);
    std::erase(going_out, slot);
  }
};

// Deadlines of one length each stand in one queue, so that a queue is always in order of time. A
// deadline whose serial no longer matches is void.
struct QueryDeadline {
  Instant at{};
  Slot* slot = nullptr;
  std::uint64_t serial = 0;
};

// A turn that waits before it sends more (kind/realtime.cc), or a job that is looked at again: such
// deadlines differ in length, so each is put in its place.
inline void add_in_order(std::deque<QueryDeadline>& queue, const QueryDeadline& deadline) {
  const auto place =
      std::upper_bound(queue.begin(), queue.end(), deadline,
                       [](const QueryDeadline& a, const QueryDeadline& b) { return a.at < b.at; });
  queue.insert(place, deadline);
}

// What all transports of one target share.
struct TransportShared {
  TransportShared(std::uint64_t run_key_in, MemoryBudget* memory_in)
      : run_key(run_key_in), memory(memory_in) {}

  // After bytes of its reply: sets the deadline for the end of a reply whose outcome is known.
  void watch_framing(Slot& slot, Instant now);

  std::uint64_t run_key;
  MemoryBudget* memory;
  PreparedRequests requests{};
  ReplyDecoder decoder{memory};
  EventSink* sink = nullptr;  // of the target's call in progress
  Duration poll_interval{};   // of jobs, and whether what they made is fetched
  bool fetch_artefacts = true;
  net::StampClock stamp_clock{};
  // Queries that have ended, and whose on_done was called unless they go out again. The target
  // empties it.
  std::vector<Slot*> ended{};
  std::deque<QueryDeadline> framing_deadlines{};
  std::deque<QueryDeadline> failed_deadlines{};
  std::deque<QueryDeadline> paced{};  // go_on() is due
};

// What feed() says of the connection.
struct Fed {
  bool sound = true;     // false: it cannot go on; ending() says why
  bool changed = false;  // a query has ended, or what standing() and capacity() say may be new
  bool output = false;   // output() may have bytes that answer the peer
};

// How the queries on a connection end that ends itself.
struct Ending {
  bool complete = false;  // the end of the connection was the end of the reply
  Outcome outcome = Outcome::truncated;
  std::string why{};
};

class Transport {
 public:
  enum class Standing : std::uint8_t {
    beginning,  // the peer has not allowed a query yet
    open,
    leaving,  // takes no new query; those under way may end
    over,     // there is nothing left to read or to send
  };
  // On which side a connection failed.
  enum class Side : std::uint8_t {
    reading,  // the peer closed it (error 0), or reading failed (errno)
    sending,  // sending failed (errno), or the protocol broke or ended (error 0)
  };

  virtual ~Transport() = default;

  // Begins the query of `slot`, which is in the lane's `active`, at `now`. Without bytes in
  // `request_out` the request is part of output(), and may be sent with others together. `whole`:
  // gives the bytes in one piece. They are valid until the next begin() of any transport of the
  // target. False when the connection takes no query.
  // REQUIRES: capacity() was not 0 before `slot` was in the lane.
  virtual bool begin(Slot& slot, Instant now, bool whole, Pieces* request_out) = 0;
  // The bytes of a read; `rest` more of the same read follow in the next call.
  virtual Fed feed(std::string_view bytes, std::size_t rest, const Stamp& at) = 0;
  // The next bytes to send besides requests that begin() gave; "" when there are none. Each call
  // removes what it returns; the view is valid until the next call.
  virtual std::string_view output() = 0;
  // More of the query's request is due, by TransportShared::paced; output() has it then.
  virtual void go_on(Slot&, Instant) {}
  // Gives a query up; nothing more is reported of it. False when that costs the connection, else
  // output() has what the peer must know. The caller takes it out of the lane.
  virtual bool cancel(Slot& slot) = 0;
  // The server left the query unprocessed (Slot::again), and it is no longer in the lane: counts
  // this in the slot, and adapts the capacity.
  virtual void unprocessed(Slot& slot) = 0;

  // The sample whose query is to follow on this connection, and no other; kNoTurn: none. Such a
  // query may begin although capacity() is 0.
  virtual std::uint32_t awaits() const { return PreparedRequests::kNoTurn; }
  // The connection has ended: whether the query does not end with it. It is then among those that
  // have ended, perhaps to go on on another connection (Slot::again).
  virtual bool goes_on(Slot&, const Stamp&) { return false; }

  // How many more queries it takes now.
  virtual std::uint32_t capacity() const = 0;
  // How many it takes at once, as the peer has it; 0: none for now.
  virtual std::uint32_t limit() const = 0;
  virtual Standing standing() const = 0;
  // Whether the peer says before it closes which queries it leaves unprocessed. If not, a query on
  // a kept connection may cross with its end.
  virtual bool announces_end() const = 0;
  // How the queries under way end, when the connection ends.
  virtual Ending ending(Side side, int error) = 0;
  // For a person: the peer allowed no query in time; `within` is that time.
  virtual std::string refusal(std::string_view within) const = 0;
};

// `lane` and `shared` must outlive the transport.
std::unique_ptr<Transport> make_http1_transport(Lane& lane, TransportShared& shared);
std::unique_ptr<Transport> make_http2_transport(Lane& lane, TransportShared& shared);
// Over a WebSocket: a turn at a time, and a connection for each, or for each conversation.
std::unique_ptr<Transport> make_socket_transport(Lane& lane, TransportShared& shared);
// A job at a time, over HTTP/1.1.
std::unique_ptr<Transport> make_job_transport(Lane& lane, TransportShared& shared);

// The outcome of a query whose connection failed with this errno, or 0.
Outcome outcome_of(int error);

}  // namespace assay::protocol
