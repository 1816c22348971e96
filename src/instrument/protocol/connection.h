// Connection and Slot: the records of HttpTarget's pool. The target drives them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/http1_response.h"
#include "net/http2_client.h"
#include "net/socket.h"
#include "net/tls.h"
#include "protocol/exchange.h"

namespace assay::protocol {

// One query under way. Made once and reused, for a query of any connection.
struct Slot {
  explicit Slot(MemoryBudget* budget) : exchange(budget) {}

  Exchange exchange;
  std::uint64_t serial = 0;  // of its use: a late deadline with another serial is void
  std::uint32_t connection = 0;
  std::int32_t stream = 0;       // HTTP/2's number
  bool framing_watched = false;  // the outcome is known and the end of the body is awaited
  bool sent_told = false;
  bool out = false;               // HTTP/2: the whole request was handed over
  bool again = false;             // the server left it unprocessed: it goes out once more
  std::uint32_t unprocessed = 0;  // how often: see kUnprocessedMax
};

struct Connection {
  enum class State : std::uint8_t { closed, connecting, handshaking, open };

  explicit Connection(MemoryBudget* budget) : parser(budget) {}

  State state = State::closed;
  bool fresh = true;        // no query yet: the first one paid for opening it
  bool reused = false;      // the query under way is not its first
  bool listed = false;      // among those that can take a query
  bool want_write = false;  // epoll watches for writability too
  bool stamped = false;     // the kernel gives receive stamps
  bool unflushed = false;   // HTTP/2: has requests that wait for flush_requests()
  bool starved = false;     // HTTP/2: the server allows no stream, and queries wait
  bool replied = false;     // HTTP/2: brought the head of a reply
  std::uint16_t endpoint = 0;
  std::uint64_t serial = 0;  // of this use of the record
  net::Fd fd{};
  std::unique_ptr<net::TlsSession> tls{};  // null for plain TCP
  net::ResponseParser parser;
  std::unique_ptr<net::Http2Client> http2{};  // null for HTTP/1.1
  // HTTP/2: our limit of streams; lower after the server refused streams it had allowed.
  std::uint32_t streams_taken = 0;
  // Queries under way: at most one with HTTP/1.1.
  std::vector<Slot*> active{};
  std::vector<Slot*> going_out{};  // HTTP/2: their requests end in `unsent`
  std::string unsent{};            // bytes that the kernel did not take yet
  std::size_t unsent_at = 0;
  Instant opened{};         // when connecting began
  Duration connect_time{};  // until it could carry a request
  Instant idle_since{};
  Instant begun_at{};                    // HTTP/1.1: no byte of the current request went out before
  Instant emptied_at = Instant::none();  // when a read last emptied the socket

  bool busy() const { return !active.empty(); }
  // HTTP/1.1: the query under way. REQUIRES: busy().
  Slot* asked() const { return active[0]; }
};

}  // namespace assay::protocol
