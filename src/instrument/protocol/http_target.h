// HttpTarget: sends queries to inference endpoints over HTTP/1.1 or HTTP/2 and times every event of
// the replies.
//
// One epoll, a pool of kept-alive connections for each endpoint (last used first), endpoints in
// turn. Requests are made before the run (prepare): the sending path patches a request id and a
// salt into ready bytes and passes them to the kernel. Replies are parsed in place from one receive
// buffer. Arrival is the kernel's receive stamp where there is one (plain TCP and TLS on Linux),
// else the time of our read.
//
// No call blocks for long: submit() uses an idle connection, opens one, or queues the query until
// one is free; connecting, handshakes and writing go on in poll(). Belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/result.h"
#include "domain/plan.h"
#include "domain/request_spec.h"
#include "domain/target.h"
#include "protocol/artefact_queue.h"
#include "protocol/prepared_requests.h"

namespace assay::protocol {

struct HttpTargetOptions {
  std::uint64_t run_key = 0;  // see query_uuid()
  bool kernel_stamps = true;
  std::uint32_t connections_max = 0;  // over all endpoints; 0: what descriptors allow
  // Budget for the memory of replies, shared by all its users; must outlive the target. Null: no
  // limit.
  MemoryBudget* memory = nullptr;
  std::string ca_file{};  // PEM of certificates to trust instead of the system's
  // Gets the bytes of replies that are pictures, videos or sounds; must outlive the target. Null:
  // no reader wants them.
  ArtefactQueue* artefacts = nullptr;
  // Which endpoint each phase of the plan asks; empty: they take turns.
  std::vector<std::uint16_t> endpoint_of_phase{};
};

// What the transport counted, for the run's self-audit.
struct TransportStats {
  std::uint64_t connections_opened = 0;
  std::uint64_t connections_failed = 0;
  std::uint64_t connections_lost_idle = 0;  // closed by the peer while idle
  std::uint64_t reads = 0;
  std::uint64_t reads_stamped = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t retransmits = 0;            // TCP segments sent again, over all connections
  std::uint64_t queued_for_connection = 0;  // queries that had to wait for one
  // Queries that met the end of a kept connection before any kept connection had brought a second
  // reply, and went out again on a new one.
  std::uint64_t queries_sent_again = 0;
  // Queries that an HTTP/2 server left unprocessed (GOAWAY, REFUSED_STREAM); they went out again.
  std::uint64_t queries_unprocessed = 0;
  // Requests that the measuring thread had to make itself (body_feed.h).
  std::uint64_t requests_made_late = 0;
  // Waits that a signal cut short: a stop and its end (SIGSTOP, SIGCONT, the freezer), or a
  // handler.
  std::uint64_t waits_interrupted = 0;
  Duration interrupted_for{};  // their total length
  std::uint32_t connections_max = 0;
  std::uint32_t connections_peak = 0;
  Duration stamp_error_max{};  // of the mapping from the kernel's clock to ours
  Duration stamp_slew_max{};
  std::string tls_version{};
};

class HttpTarget final : public Target {
 public:
  // Resolves names and makes the body of every request of every phase. The clock must outlive the
  // target.
  static Result<std::unique_ptr<HttpTarget>> create(const Plan& plan,
                                                    const std::vector<PlannedDataset>& datasets,
                                                    const Endpoints& endpoints,
                                                    const HttpTargetOptions& options,
                                                    const Clock& clock);
  // As above, with bodies that several targets share.
  static Result<std::unique_ptr<HttpTarget>> create(const Plan& plan,
                                                    std::shared_ptr<const PreparedBodies> bodies,
                                                    const Endpoints& endpoints,
                                                    const HttpTargetOptions& options,
                                                    const Clock& clock);
  ~HttpTarget() override;

  // Opens `count` connections (spread over the endpoints) and waits until they are ready, so that
  // connecting is not measured. Fails when an endpoint cannot be reached at all.
  Result<void> connect_ahead(std::uint32_t count);

  // Waits, at most until `limit`, until requests that are made during the run are a little ahead.
  void get_ahead(Clock& clock, Instant limit);

  void submit(const Query& query, Instant due, EventSink& sink) override;
  void poll(Instant until, EventSink& sink) override;
  std::size_t in_flight() const override;
  void cancel_all(EventSink& sink) override;

  TransportStats stats() const;

 private:
  struct State;
  explicit HttpTarget(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::protocol
