// Worker: one thread of the endpoint, as its server's service. It reads a request, lets the engine
// set the tokens' due times, and has the tokens written and sent. Workers share only the truth log
// and the counters for /metrics.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "endpoint/ask.h"
#include "endpoint/event_writer.h"
#include "endpoint/job_book.h"
#include "endpoint/options.h"
#include "endpoint/outlet.h"
#include "endpoint/realtime_session.h"
#include "endpoint/stats.h"
#include "endpoint/truth_log.h"
#include "net/http_server.h"
#include "sim/engine.h"
#include "sim/fixed_engine.h"

namespace assay::endpoint {

class Worker final : public net::HttpService {
 public:
  // The references must outlive the worker.
  Worker(const EndpointOptions& options, std::uint32_t thread, std::unique_ptr<sim::Engine> engine,
         TruthLog* truth, JobBook& jobs, const Clock& clock);

  void set_server(net::HttpServer* server);
  // The stats of all workers, for /metrics.
  void set_all(std::span<const WorkerStats* const> all) { all_ = all; }
  const WorkerStats& stats() const { return stats_; }
  // Call it after the loop has ended: it flushes the records to the truth log.
  void end();

  void on_request(net::ConnectionId connection, const net::RequestHead& head,
                  std::string_view body) override;
  void on_bytes(net::ConnectionId connection, std::string_view bytes) override;
  void on_gone(net::ConnectionId connection) override;
  void on_progress(net::ConnectionId connection, std::uint64_t handed) override;
  Instant on_turn(Instant now) override;

 private:
  struct Stream {
    Output out{};
    Reply reply{};
    Fault fault{};
    bool fault_done = false;
    bool gzip = false;
    std::uint32_t fault_at = 0;   // tokens written before the fault
    std::uint64_t engine_id = 0;  // 0: none; the stream is free
    Instant arrived{};
    std::uint64_t body_hash = 0;  // for the quirk cached-replies
    std::string head{};           // of a reply without streaming, as far as known

    // Makes it free again; keeps the memory of `head`.
    void clear();
  };

  // Requests with an immediate reply.
  bool answer_get(net::ConnectionId connection, const net::RequestHead& head);
  void tokenize(net::ConnectionId connection, const net::RequestHead& head, std::string_view body);
  void respond(net::ConnectionId connection, const net::RequestHead& head, int status,
               std::string_view content_type, std::string_view body,
               std::string_view extra_header = {});
  void respond_error(net::ConnectionId connection, const net::RequestHead& head,
                     const ApiError& error, std::string_view extra_header = {});
  bool authorized(const net::RequestHead& head) const;

  // Requests for tokens.
  // `model`: as the path names it, where it does.
  void answer(net::ConnectionId connection, const net::RequestHead& head, std::string_view body,
              Route route, std::string_view model = {});
  void answer_tensors(net::ConnectionId connection, const net::RequestHead& head,
                      std::string_view body);
  // Realtime (worker_socket.cc): a session is a WebSocket, and a turn of it a reply.
  struct Session {
    Session(net::ConnectionId connection_in, std::uint64_t number, std::string_view model)
        : connection(connection_in), said(number, model) {}

    net::ConnectionId connection;
    RealtimeSession said;
  };
  // A job of this worker's own, until it ends (worker_jobs.cc).
  struct OwnJob {
    Stream stream{};
    VideoJob said{};
  };
  // In place of a connection's slot, in the engine's id of a job.
  static constexpr std::uint32_t kJobSlot = 0xffff'ffff;
  void open_job(Stream& stream, const net::RequestHead& head);
  void move_job_on(const sim::Emission& emission);
  void answer_job(net::ConnectionId connection, const net::RequestHead& head);
  void open_session(net::ConnectionId connection, const net::RequestHead& head);
  Session* session_of(net::ConnectionId connection);
  void begin_turn(Session& session);
  void refuse_turn(const Stream& stream, const ApiError& error);

  // Calls of gRPC, in worker_grpc.cc. A refusal is a head that is all.
  void answer_grpc(net::ConnectionId connection, const net::RequestHead& head,
                   std::string_view body);
  void respond_grpc(net::ConnectionId connection, std::string_view message);
  void refuse_grpc(net::ConnectionId connection, std::int32_t status, std::string_view words);
  void send_grpc(Stream& stream, std::string_view body);
  void reject(Stream& stream, const net::RequestHead& head, const ApiError& error);
  void http_fault(Stream& stream, const net::RequestHead& head);
  void prepare(Stream& stream, const net::RequestHead& head, std::uint64_t seed);
  void draw_fault_place(Stream& stream, std::uint64_t seed);
  void begin_stream(Stream& stream, const net::RequestHead& head);
  void put_head(const Stream& stream, const net::RequestHead& head);
  void record_request(const Stream& stream, const net::RequestHead& head);

  // The engine for this body: the model's, or the cache.
  sim::Engine& engine_for(Stream& stream, std::string_view body);
  void cancel(std::uint64_t engine_id);

  void emit(const sim::Emission& emission);
  void prefetch(std::size_t emission) const;
  void emit_last(Stream& stream);
  void emit_plain(Stream& stream);
  void send_plain(Stream& stream, std::string_view body);
  void inject(Stream& stream);
  void inject_plain(Stream& stream, std::string_view body);
  // The fault of a stream; one that says an error cuts a reply that cannot say it.
  static FaultKind fault_of(const Stream& stream);
  // Handles the result of a send; false when the stream is over.
  bool settle(Stream& stream, Outlet::Status status);
  void end_stream(Stream& stream, TruthOutcome outcome, int status = 200);
  void count_fault(const Fault& fault);
  void observe(const Stream& stream, Instant due, Instant before, bool first);

  const EndpointOptions& options_;
  const std::uint32_t thread_;
  const Clock& clock_;
  std::unique_ptr<sim::Engine> engine_;
  JobBook* jobs_;  // of all workers
  // The quirk cached-replies: hashes of served requests, and an engine that takes no time.
  static constexpr std::size_t kCachedMax = std::size_t{1} << 20;
  std::unordered_set<std::uint64_t> cached_{};
  std::unique_ptr<sim::FixedEngine> cache_{};
  TruthRecorder truth_;
  WorkerStats stats_;
  AskReader reader_;
  EventWriter writer_;
  Outlet outlet_;
  net::HttpServer* server_ = nullptr;
  std::span<const WorkerStats* const> all_{};

  std::vector<Stream> streams_{};                         // by slot
  std::vector<std::unique_ptr<Session>> sessions_{};      // by slot
  std::unordered_map<std::uint64_t, OwnJob> own_jobs_{};  // by the engine's id
  std::uint64_t sessions_opened_ = 0;
  std::vector<sim::Emission> emissions_{};
  std::size_t emission_at_ = 0;
  std::uint32_t numbers_ = 0;
  std::uint32_t generations_ = 0;
  bool head_at_once_;
  Ask ask_{};
  EventBatch batch_{};
  ByteBuffer head_{};
  ByteBuffer body_{};
  Instant flushed_{};
  Instant counted_{};
};

}  // namespace assay::endpoint
