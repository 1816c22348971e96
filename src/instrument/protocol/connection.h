// Connection: one record of HttpTarget's pool. The target drives it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/socket.h"
#include "net/tls.h"
#include "protocol/transport.h"

namespace assay::protocol {

struct Connection {
  enum class State : std::uint8_t {
    closed,
    connecting,
    handshaking,  // of TLS
    beginning,    // the transport waits for its peer
    open
  };

  State state = State::closed;
  bool fresh = true;         // no query yet: the first one paid for opening it
  bool doubted = false;      // carries a query that may cross with the connection's end
  bool listed = false;       // among those that can take a query
  bool stamped = false;      // the kernel gives receive stamps
  bool unflushed = false;    // has requests that wait for flush_requests()
  std::uint64_t serial = 0;  // of this use of the record
  net::Fd fd{};
  std::unique_ptr<net::TlsSession> tls{};  // null for plain TCP
  Lane lane{};
  std::unique_ptr<Transport> transport{};  // null until TCP and TLS are up
  std::string unsent{};                    // bytes that the kernel did not take yet
  std::size_t unsent_at = 0;
  // Until then it must be open, or its peer must allow a query where queries wait; none: neither is
  // awaited.
  Instant awaited_until = Instant::none();
  Instant opened{};         // when connecting began
  Duration connect_time{};  // until it could carry a request
  Instant idle_since{};
  Instant emptied_at = Instant::none();  // when a read last emptied the socket
  std::uint32_t held_for =
      PreparedRequests::kNoTurn;  // the sample that it waits for, without a query

  bool busy() const { return lane.busy(); }
  bool opening() const { return state != State::closed && state != State::open; }
};

}  // namespace assay::protocol
