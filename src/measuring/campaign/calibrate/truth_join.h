// TruthJoin compares a client's record with the endpoint's truth log. It reads a run from its log,
// finds each reply in the truth log by its request id, and subtracts from every event's arrival the
// instant at which the endpoint handed it to its kernel. Both instants are CLOCK_MONOTONIC of one
// host. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audit/certificate.h"
#include "endpoint/truth_log.h"
#include "metrics/reply_fold.h"

namespace assay::campaign {

// The events of a client as the endpoint wrote them. A window of TCP that is full cuts the bytes of
// a sound anywhere, and each piece is an event of the client; they are put together until they have
// the bytes of the truth's tokens, with the instants of the last piece. Unchanged where that does
// not come out even.
std::vector<StreamEvent> as_written(std::span<const StreamEvent> events,
                                    std::span<const endpoint::TruthEvent> truth);

class TruthJoin final : public metrics::ReplyFold {
 public:
  // `truth` must outlive this.
  TruthJoin(const RunInfo& info, const endpoint::TruthRecord& truth)
      : ReplyFold(info), run_key_(info.run_key), truth_(truth) {}

  // Fills in replies, unmatched and the errors of both clocks.
  void finish(audit::CalibratedLevel& level);
  // The errors of all fragments' arrivals; call it once.
  audit::ErrorFigures instants() { return audit::error_figures(instants_); }

 private:
  struct Errors {
    std::vector<std::int64_t> ttft{};
    std::vector<std::int64_t> itl{};
    std::vector<std::int64_t> latency{};
    audit::ClockErrors finish();
  };

  void on_reply(const metrics::Reply& reply) override;
  void compare(const Event& end, std::span<const StreamEvent> events,
               const endpoint::TruthReply& truth);
  // Latency, which is all that a reply without a stream has.
  void compare_ends(const Event& event, const endpoint::TruthReply& truth);

  std::uint64_t run_key_;
  const endpoint::TruthRecord& truth_;
  std::uint64_t replies_ = 0;
  std::uint64_t unmatched_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t stamped_ = 0;
  std::uint64_t shared_ = 0;
  std::vector<std::int64_t> instants_{};
  Errors arrival_{};
  Errors alone_{};
  Errors read_{};
};

}  // namespace assay::campaign
