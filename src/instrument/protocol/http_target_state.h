// The inside of HttpTarget: its pool and its loop. For http_target*.cc only.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "net/receive.h"
#include "net/url.h"
#include "protocol/connection.h"
#include "protocol/http_target.h"
#include "protocol/prepared_requests.h"
#include "protocol/secrets.h"

namespace assay::protocol {

inline constexpr std::size_t kReceiveBytes = 256 * 1024;
inline constexpr int kReadyMax = 128;
// Connections that are read one after the other before any of what they brought is looked at, and
// what is read of each: decisions/0038.
inline constexpr std::size_t kHeldMax = 32;
inline constexpr std::size_t kHeldBytes = 32 * 1024;
// Handled between two looks at the clock when a send is due: receiving always gets its share, or a
// sender that fell behind would never see a reply again.
inline constexpr std::size_t kShareOfReceiving = 8;
// Connects in progress to one endpoint: more would overflow a listener's queue.
inline constexpr std::uint32_t kConnectingMax = 256;
// Streams that we put on one HTTP/2 connection, whatever more the peer allows: what nginx and Envoy
// allow by default is 100 to 128.
inline constexpr std::uint32_t kStreamsMax = 100;
// A query that servers leave unprocessed goes out again so often. Not counted: a connection that
// answered another query before it went away.
inline constexpr std::uint32_t kUnprocessedMax = 3;
// What stands before a socket that takes nothing, of frames that HTTP/2 has to send.
inline constexpr std::size_t kUnsentMax = std::size_t{1} << 20;
// HTTP/2 requests that go out together, at most: beginning one takes about a microsecond.
inline constexpr std::size_t kBegunMax = 64;

// A query that was submitted and has no connection yet.
struct Waiting {
  Query query{};
  Instant due{};
  Instant sent = Instant::none();  // known where it goes out again: see Keeping
  std::uint32_t unprocessed = 0;   // see Slot
};

// Whether an endpoint keeps HTTP/1.1 connections open, as its replies promise. Some close each one
// behind a streamed reply all the same (cpp-httplib, and so llama.cpp), and a query that follows at
// once crosses with the end. That is no failure of the query's: until one kept connection has
// brought a second reply it goes out again on a new one, and from the first that was lost no
// connection is used twice. Where keeping is proven, nothing is ever sent twice: a retry would hide
// a failure.
enum class Keeping : std::uint8_t { unproven, proven, refuted };

// One of the run's endpoints: where it is, and who is free.
struct Destination {
  net::Url url{};
  std::string name{};  // for messages
  std::vector<net::Address> addresses{};
  std::size_t address_next = 0;
  std::vector<std::uint32_t> idle{};  // can take a query; last used is taken first
  std::deque<Waiting> waiting{};
  std::uint32_t connecting = 0;
  std::uint32_t open = 0;
  std::uint32_t queries_each = 1;  // that one connection carries: more with HTTP/2
  Keeping keeping = Keeping::unproven;
};

// Deadlines of one length each, so that a queue is always in order of time. A serial that no longer
// fits says that what was awaited has ended.
struct ConnectDeadline {
  Instant at{};
  std::uint32_t connection = 0;
  std::uint64_t serial = 0;
};
struct QueryDeadline {
  Instant at{};
  Slot* slot = nullptr;
  std::uint64_t serial = 0;
};

// A read that nobody has looked at yet.
struct HeldRead {
  std::uint32_t connection = 0;
  std::uint64_t serial = 0;  // the connection's, at the read
  std::string_view bytes{};
  int error = 0;
  Stamp at{};
};

// A failure met inside submit(), told at the next poll().
struct Failure {
  Query query{};
  Instant due{};
  Instant at{};
  std::uint16_t endpoint = 0;
  Outcome outcome = Outcome::connect_failed;
  std::string detail{};
};

// How many connections a process that may have so many descriptors opens; `wanted` 0: as many as
// that allows.
std::uint32_t connections_max_of(std::uint64_t descriptors, std::uint32_t wanted);

inline Outcome outcome_of(int error) {
  return error == ETIMEDOUT ? Outcome::timed_out : Outcome::reset;
}

struct HttpTarget::State final : public net::Http2Events {
  State(const Endpoints& spec_in, const HttpTargetOptions& options_in, const Clock& clock_in)
      : spec(spec_in), options(options_in), clock(clock_in), redactor(redactor_of(spec_in)) {}
  ~State() override;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // For exchanges: what blots out our secrets, where we have any.
  const Redactor* blot() const { return redactor.empty() ? nullptr : &redactor; }

  // The pool (http_target_pool.cc)
  Result<void> open_destinations();
  void open_if_needed(std::uint16_t endpoint);
  bool open_connection(std::uint16_t endpoint);
  // REQUIRES: no query is under way on it.
  void close_connection(std::uint32_t id);
  // TCP and TLS are up. HTTP/2 begins, and can carry requests when the server has begun too.
  void established(std::uint32_t id);
  void can_carry(std::uint32_t id);
  void connect_failed(std::uint32_t id, Outcome outcome, std::string why);
  std::optional<std::uint32_t> take_free(Destination& destination, Instant now);
  bool close_somebody_idle();
  bool can_take_more(const Connection& c) const;
  // A query has ended on it: used again, listed as free, or closed when nobody uses it.
  void release(std::uint32_t id, bool keep);
  void watch(std::uint32_t id, bool write);
  void count_retransmits(const Connection& c);
  Slot* take_slot();
  void free_slot(Slot* slot);

  // Sending (http_target_send.cc)
  void start(std::uint32_t id, const Waiting& next);
  // A request in the clear. As flush().
  bool send_pieces(std::uint32_t id, const Pieces& request, Instant now, int* errno_out);
  // Sends what is unsent. False when the connection is broken; errno_out says how.
  bool flush(std::uint32_t id, int* errno_out);
  // HTTP/2 requests that were begun one after the other go out together, a write for a connection.
  void flush_requests();
  // Whether poll() should wait for those that are about to be begun.
  bool more_to_begin(Instant until);
  static std::string_view unsent_of(Connection& c);
  static bool gather(Connection& c);
  void all_sent(Connection& c, Instant at);
  // The connection broke before it brought a byte of this reply, and may have been over before the
  // query was sent.
  bool crossed_with_the_end(const Connection& c, const Slot& slot) const;
  void send_again(std::uint32_t id, Slot* slot);
  // HTTP/2's: the server did nothing with it.
  void send_unprocessed_again(Slot* slot, bool keep);
  void wait_again(const Slot& slot);

  // Receiving (http_target_receive.cc)
  // Handles some of what epoll told: more than its share only where that is done by `until`. Says
  // how many connections that was.
  std::size_t handle_some(Instant until);
  bool only_readable(const epoll_event& event) const;
  bool hold(const epoll_event& event, char* room);
  void fetch_ahead(const HeldRead& read) const;
  void look_at(const HeldRead& read);
  void handle(const epoll_event& event);
  void on_connected(std::uint32_t id);
  void go_on_with_handshake(std::uint32_t id);
  void on_readable(std::uint32_t id, bool to_the_end);
  net::Received receive(Connection& c, char* room, std::size_t size, Stamp* at);
  // What a read brought. It may end the connection: then the serial is another, and nothing more is
  // to be read.
  void on_read(std::uint32_t id, std::string_view bytes, int error, const Stamp& at);
  void on_ciphertext(std::uint32_t id, std::string_view bytes, const Stamp& stamp);
  void on_reply_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                      const Stamp& stamp);
  void on_http1_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                      const Stamp& stamp);
  void on_early_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                      const Stamp& stamp);
  void on_http2_bytes(std::uint32_t id, std::string_view bytes, const Stamp& stamp);
  // After bytes went in or out: tells what ended, and ends the connection that has nothing more to
  // say. `sound`: neither failed.
  void settle_http2(std::uint32_t id, bool sound, int error, const Stamp& at);
  void settle_beginning(std::uint32_t id, bool sound, std::string why);
  void end_streams(bool keep);
  void watch_starved(std::uint32_t id, Instant now);
  void watch_framing(Slot& slot, Instant now);

  // Ends and deadlines (http_target_ends.cc)
  void on_closed(std::uint32_t id, int error, const Stamp& stamp);
  void fail_active(std::uint32_t id, Outcome outcome, const Stamp& stamp, std::string_view why);
  // The query's on_done was called.
  void query_ended(Slot* slot, bool keep);
  void give_up_on(Slot* slot, Outcome outcome, const Stamp& stamp, std::string_view why);
  void fail_later(const Query& query, Instant due, std::uint16_t endpoint, Outcome outcome,
                  std::string detail);
  void tell_failures();
  void expire(Instant now);
  void give_up_connecting(std::uint32_t id, const Stamp& at);
  Instant next_deadline() const;
  void wait(Instant until);

  // net::Http2Events: `user` is a Slot, the stamp is that of the read in hand.
  void on_head(void* user, const net::ResponseHead& head) override;
  void on_body(void* user, std::string_view piece, std::size_t rest) override;
  void on_request_out(void* user) override;
  void on_end(void* user, const net::Http2End& end) override;

  Endpoints spec;
  HttpTargetOptions options;
  const Clock& clock;
  const Redactor redactor;
  PreparedRequests requests{};
  std::vector<Destination> destinations{};
  std::vector<std::unique_ptr<Connection>> connections{};
  std::vector<std::uint32_t> free_records{};
  std::vector<std::unique_ptr<Slot>> slots{};
  std::vector<Slot*> free_slots{};
  std::optional<net::TlsContext> tls{};
  net::Fd epoll{};
  net::StampClock stamp_clock{};
  Instant stamp_refresh{};
  EventSink* sink = nullptr;  // of the call in progress
  Instant last_read{};
  Stamp stamp{};                // of the read in hand
  std::size_t behind_body = 0;  // bytes of that read behind the last piece of a body
  ThreadBooksReader books{};
  WakeWatch wake_watch{[this] { return books.look(); }};
  // What is ready now was not when the wait before this one ended, and not when this one began.
  Instant quiet_before = Instant::none();
  Instant quiet_now = Instant::none();
  std::uint64_t serial = 0;
  ReplyDecoder decoder{options.memory};
  std::array<epoll_event, kReadyMax> ready{};
  int ready_count = 0;
  int ready_at = 0;
  std::array<HeldRead, kHeldMax> held{};
  std::size_t held_count = 0;
  std::deque<ConnectDeadline> connect_deadlines{};
  std::deque<QueryDeadline> query_deadlines{};
  std::deque<QueryDeadline> framing_deadlines{};
  std::deque<QueryDeadline> failed_deadlines{};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> unflushed{};  // connections, their serials
  std::size_t begun = 0;  // HTTP/2 requests since the last flush
  std::size_t begun_at_last_poll = 0;
  std::vector<Failure> failures{};
  std::vector<Slot*> ended{};   // HTTP/2 streams that ended in the feed in hand
  std::string connect_error{};  // the latest, for connect_ahead
  std::size_t next_endpoint = 0;
  std::size_t in_flight = 0;
  std::uint32_t open_total = 0;
  TransportStats stats{};
  std::vector<char> buffer = std::vector<char>(kReceiveBytes + kDecodePadding);
  std::vector<char> held_buffer = std::vector<char>(kHeldMax * kHeldBytes + kDecodePadding);
  std::vector<char> plaintext{};  // for TLS; made with the context
};

}  // namespace assay::protocol
