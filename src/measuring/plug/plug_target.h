// PlugTarget: a Target whose queries a program of the user's answers, line by line over its
// standard input and output (docs/formats/plugin.md). For what no kind of API speaks: a library in
// another language, a protocol of one's own.
//
// A query is one line with the JSON request that the kind of API would have sent. Lines of the
// reply are read as they come. An arrival is the instant of our read, and it may have come since
// the pipe was last seen empty: that is its uncertainty.
//
// Faults of the program are outcomes: it ends or closes its output (`reset`), it writes what is no
// line of this protocol (`bad_reply`), it is silent beyond the query's time limit (`timed_out`), it
// does not become ready (`connect_failed`). After the first two it is started again for the next
// query, as a server would be connected to again; queries wait until it is ready, and the loop does
// not. A program that has failed kStartsMax times in a row without a reply is not started again.
//
// One thread; each measuring thread has a program of its own.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/piped_program.h"
#include "domain/request_spec.h"
#include "domain/target.h"
#include "plug/plug_line.h"
#include "protocol/prepared_requests.h"

namespace assay::plug {

// "program:COMMAND" names a program in the place of a URL.
inline constexpr std::string_view kScheme = "program:";
// The command; "" for a URL.
std::string_view command_of(std::string_view endpoint);
bool is_program(const Endpoints& endpoints);
// Endpoints as the bodies of requests are made for them: a program has no address.
Endpoints without_programs(const Endpoints& endpoints);

inline constexpr int kStartsMax = 3;

struct PlugOptions {
  std::uint64_t run_key = 0;
  Duration ready_max{60'000'000'000};  // from its start to its `ready`
};

class PlugTarget final : public Target {
 public:
  // Starts the program and waits until it is ready. `plan`: this thread's. `clock` must outlive it.
  static Result<std::unique_ptr<PlugTarget>> create(
      const Plan& plan, std::shared_ptr<const protocol::PreparedBodies> bodies,
      const Endpoints& endpoints, const PlugOptions& options, Clock& clock);
  ~PlugTarget() override;

  void submit(const Query& query, Instant due, EventSink& sink) override;
  void poll(Instant until, EventSink& sink) override;
  std::size_t in_flight() const override { return open_.size(); }
  void cancel_all(EventSink& sink) override;

  // What the program calls itself; may be "".
  const std::string& name() const { return name_; }
  std::uint64_t starts() const { return starts_; }

 private:
  struct Open {
    Event event{};
    std::uint16_t choice = 0;
  };
  struct Waiting {
    std::uint64_t key = 0;
    std::string line{};
    std::size_t sent = 0;
  };

  PlugTarget(const Plan& plan, std::shared_ptr<const protocol::PreparedBodies> bodies,
             const Endpoints& endpoints, const PlugOptions& options, Clock& clock);
  // Starts the program, which is not ready yet.
  Result<void> launch();
  // Blocks: for the begin of a run.
  Result<void> wait_ready();
  void write(EventSink& sink);
  void read(EventSink& sink);
  void take(std::string_view line, Instant arrival, bool shares_read, EventSink& sink);
  void take_reply(PlugLine& line, Instant arrival, bool shares_read, EventSink& sink);
  void time_out(Instant now, EventSink& sink);
  // Ends the program and every query that it has.
  void fail_all(Outcome outcome, const std::string& why, EventSink& sink);
  void finish(std::map<std::uint64_t, Open>::iterator at, std::string_view detail, EventSink& sink);
  Instant next_limit(Instant until) const;

  protocol::PreparedRequests requests_;
  std::string command_;
  Duration query_timeout_;
  PlugOptions options_;
  Clock& clock_;

  PipedProgram process_{};
  bool ready_ = false;
  Instant ready_by_{};
  std::string name_{};
  std::string received_{};
  Instant seen_empty_{};  // when the pipe was last read to its end
  std::map<std::uint64_t, Open> open_{};
  std::deque<Waiting> waiting_{};
  // Queries that failed when they were submitted: they end at the next poll().
  std::deque<std::pair<std::uint64_t, std::string>> refused_{};
  std::uint64_t starts_ = 0;
  int failed_starts_ = 0;  // since the last reply
};

}  // namespace assay::plug
