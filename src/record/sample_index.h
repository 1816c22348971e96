// SampleIndex: sample_idx_map.json of a run folder: for each phase but warm-up, which row of the
// dataset each query used, by the query's uuid (domain/query.h), the name that the server's own log
// may know it by. The reference client's file, made from a replay of the event log. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/result.h"
#include "domain/event_sink.h"
#include "domain/run_info.h"

namespace assay::record {

class SampleIndex final : public EventSink {
 public:
  explicit SampleIndex(RunInfo info) : info_(std::move(info)) {}

  void on_phase(const PhaseMark&) override {}
  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query&, const StreamEvent&, std::string_view) override {}
  void on_done(const Event& event, std::string_view detail) override;

  Result<void> write(const std::filesystem::path& path) const;

 private:
  void note(const Query& query);

  RunInfo info_;
  // By phase: a query's index and its sample, in the order in which they were heard of.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> phases_{};
};

}  // namespace assay::record
