// The private state of HttpTarget: its pool and its loop. For http_target*.cc only.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
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
// Connections that are read one after the other before their bytes are parsed, and the bytes read
// from each: decisions/0038.
inline constexpr std::size_t kHeldMax = 32;
inline constexpr std::size_t kHeldBytes = 32 * 1024;
// Connections handled between two clock readings when a send is due: receiving always gets its
// share, because a late sender must still see replies.
inline constexpr std::size_t kShareOfReceiving = 8;
// Connects in progress to one endpoint: more would overflow a listener's queue.
inline constexpr std::uint32_t kConnectingMax = 256;
// Limit of bytes that a transport gave and that wait for a socket that takes none.
inline constexpr std::size_t kUnsentMax = std::size_t{1} << 20;
// Most requests that go out together, where a transport collects them: beginning one takes about a
// microsecond.
inline constexpr std::size_t kBegunMax = 64;

// A submitted query without a connection.
struct Waiting {
  Query query{};
  Instant due{};
  Instant sent = Instant::none();  // known if it goes out again: see Keeping
  std::uint32_t unprocessed = 0;   // see Slot
  std::unique_ptr<Job> job{};      // which goes on
};

// Whether an endpoint keeps HTTP/1.1 connections open, as its replies promise. Some servers still
// close each one after a streamed reply (cpp-httplib, and so llama.cpp), and a query sent at once
// crosses that close. This is no failure of the query: until one kept connection has brought a
// second reply it goes out again on a new one, and after the first such loss no connection is used
// twice. Where keeping is proven, no query is sent twice: a retry would hide a failure.
enum class Keeping : std::uint8_t { unproven, proven, refuted };

// One of the run's endpoints: its address and its free connections.
struct Destination {
  Destination() = default;
  Destination(Destination&&) = default;

  // Goes on to the name's next address; false where it is the first one again.
  bool try_next_address() {
    address_next = (address_next + 1) % addresses.size();
    return address_next != 0;
  }

  net::Url url{};
  std::string name{};  // for messages
  std::vector<net::Address> addresses{};
  std::size_t address_next = 0;
  std::vector<std::uint32_t> idle{};  // can take a query; last used is taken first
  std::deque<Waiting> waiting{};
  std::uint32_t connecting = 0;
  std::uint32_t open = 0;
  std::uint32_t queries_each = 1;  // on one connection: more with HTTP/2
  Keeping keeping = Keeping::unproven;
};

// Over when the connection no longer awaits anything until that instant.
struct ConnectDeadline {
  Instant at{};
  std::uint32_t connection = 0;
};

// A read that is not parsed yet.
struct HeldRead {
  std::uint32_t connection = 0;
  std::uint64_t serial = 0;  // the connection's, at the read
  std::string_view bytes{};
  int error{};
  Stamp at{};
};

// A failure inside submit(), reported at the next poll().
struct Failure {
  Query query{};
  Instant due{};
  Instant at{};
  std::uint16_t endpoint = 0;
  Outcome outcome = Outcome::connect_failed;
  std::string detail{};
};

// How many connections a process with this limit of descriptors opens; `wanted` 0: as many as it
// allows.
std::uint32_t connections_max_of(std::uint64_t descriptors, std::uint32_t wanted);

struct HttpTarget::State {
  State(const Endpoints& spec_in, const HttpTargetOptions& options_in, const Clock& clock_in)
      : spec(spec_in),
        options(options_in),
        clock(clock_in),
        redactor(redactor_of(spec_in)),
        shared(options_in.run_key, options_in.memory) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The redactor for exchanges; null if there are no secrets.
  const Redactor* blot() const { return redactor.empty() ? nullptr : &redactor; }

  // Opening (http_target_open.cc)
  void open_if_needed(std::uint16_t endpoint);
  void open_connection(std::uint16_t endpoint);
  // Gives it the time for connecting, from then on.
  void await(std::uint32_t id, Instant since);
  void on_connected(std::uint32_t id);
  void go_on_with_handshake(std::uint32_t id);
  // TCP and TLS are up: chooses the transport.
  void established(std::uint32_t id);
  void settle_beginning(std::uint32_t id, bool sound, std::optional<int> error);
  void can_carry(std::uint32_t id);
  void connect_failed(std::uint32_t id, Outcome outcome, std::string why);

  // The pool (http_target_pool.cc)
  Result<void> open_destinations();
  // The connection whose session goes on with this sample.
  std::optional<std::uint32_t> take_held(std::uint32_t sample);
  std::optional<std::uint32_t> take_free(Destination& destination, Instant now);
  // A query has ended on it: reuses it, lists it as free, or closes it.
  void release(std::uint32_t id, bool keep);
  static bool can_take_more(const Connection& c);
  void let_go(std::uint32_t id);
  bool close_an_idle_connection();
  // REQUIRES: no query is under way on it.
  void close_connection(std::uint32_t id);
  void count_retransmits(const Connection& c);
  void watch(std::uint32_t id, bool write);
  void set_watched(std::uint32_t id, int operation, bool write);
  Slot* take_slot();
  // Off its connection too.
  void take_off(Connection& c, Slot* slot);
  void free_slot(Slot* slot);

  // Sending (http_target_send.cc)
  void start(std::uint32_t id, Waiting next);
  // Sends a request without TLS. As flush().
  std::optional<int> send_pieces(std::uint32_t id, const Pieces& request, Instant now);
  // Whether poll() should wait for requests that are about to begin.
  bool more_to_begin(Instant until);
  // Sends requests that were begun together, one write for each connection.
  void flush_requests();
  // Sends what is unsent. Returns how the connection is broken, if it is: the errno, or 0 where TLS
  // is.
  std::optional<int> flush(std::uint32_t id);
  static bool gather(Connection& c);
  static std::string_view unsent_of(Connection& c);
  void all_sent(Connection& c, Instant at);
  // The connection broke before it brought a byte of this reply, and may have been closed before
  // the query was sent.
  bool crossed_with_the_end(const Connection& c, const Slot& slot) const;
  void send_again(std::uint32_t id, Slot* slot);
  // The server did not process the query, or its job goes on.
  void send_unprocessed_again(Slot* slot, bool keep);
  void wait_again(Slot& slot);

  // Receiving (http_target_receive.cc)
  void wait(Instant until);
  Instant next_deadline() const;
  void take_ready(int n, Instant since);
  // Handles some of epoll's events: more than its share only if `until` allows. Returns how many
  // connections it handled.
  std::size_t handle_some(Instant until);
  bool only_readable(const epoll_event& event) const;
  bool hold(const epoll_event& event, char* room);
  void fetch_ahead(const HeldRead& read) const;
  void look_at(const HeldRead& read);
  void handle(const epoll_event& event);
  void on_readable(std::uint32_t id, bool to_the_end);
  net::Received receive(Connection& c, char* room, std::size_t size, Stamp* at);
  // Handles the bytes of a read. It may end the connection: then the serial changes, and nothing
  // more must be read.
  void on_read(std::uint32_t id, std::string_view bytes, int error, const Stamp& at);
  void on_ciphertext(std::uint32_t id, std::string_view bytes, const Stamp& stamp);
  void on_reply_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                      const Stamp& stamp);
  void after_feed(std::uint32_t id, Fed fed, const Stamp& stamp);
  // After bytes went in or out: removes queries that ended, and ends a connection that is over.
  // `sound`: what came in was; `error`: how sending failed, as flush().
  void settle(std::uint32_t id, bool sound, std::optional<int> error, const Stamp& at);
  void remove_ended(bool keep);
  // The query's on_done was called.
  void query_ended(Slot* slot, bool keep);
  void watch_starved(std::uint32_t id);

  // Ends and deadlines (http_target_ends.cc)
  void expire(Instant now);
  // More of a turn is due.
  void go_on(Slot* slot, const Stamp& at);
  void give_up_connecting(std::uint32_t id, const Stamp& at);
  void give_up_on(Slot* slot, Outcome outcome, const Stamp& stamp, std::string_view why);
  void on_closed(std::uint32_t id, int error, const Stamp& stamp);
  // The connection ends, with the queries on it.
  void end_connection(std::uint32_t id, Transport::Side side, int error, const Stamp& stamp);
  void end_active(std::uint32_t id, const Ending& ending, const Stamp& stamp);
  void fail_later(const Query& query, Instant due, std::uint16_t endpoint, Outcome outcome,
                  std::string detail);
  void tell_failures();

  Endpoints spec;
  bool socket = false;  // queries are turns on WebSockets
  bool jobs = false;    // queries are jobs
  HttpTargetOptions options;
  const Clock& clock;
  const Redactor redactor;
  TransportShared shared;
  std::vector<Destination> destinations{};
  std::vector<std::unique_ptr<Connection>> connections{};
  // Connections that wait for the next turn of their session, by its sample. One conversation may
  // be under way twice; then either may go on.
  std::unordered_multimap<std::uint32_t, std::uint32_t> held_sessions{};
  std::vector<std::uint32_t> free_records{};
  std::vector<std::unique_ptr<Slot>> slots{};
  std::vector<Slot*> free_slots{};
  std::optional<net::TlsContext> tls{};
  net::Fd epoll{};
  Instant stamp_refresh{};
  Instant last_read{};
  ThreadBooksReader books{};
  WakeWatch wake_watch{[this] { return books.look(); }};
  // Starts of waits and looks that listed all ready events: before the last, and the last.
  Instant quiet_before = Instant::none();
  Instant quiet_now = Instant::none();
  std::uint64_t serial = 0;
  std::array<epoll_event, kReadyMax> ready{};
  int ready_count = 0;
  int ready_at = 0;
  std::array<HeldRead, kHeldMax> held{};
  std::size_t held_count = 0;
  std::deque<ConnectDeadline> connect_deadlines{};
  std::deque<QueryDeadline> query_deadlines{};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> unflushed{};  // connections, their serials
  std::size_t begun = 0;  // requests of theirs since the last flush
  std::size_t begun_at_last_poll = 0;
  std::vector<Failure> failures{};
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
