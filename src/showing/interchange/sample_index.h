// SampleIndex: sample_idx_map.json of a run folder: for each phase but warm-up, which row of the
// dataset each query used, by the query's uuid (domain/query.h), the name that the server's own log
// may know it by. The reference client's file, made from a replay of the event log. As there, a
// replay's queries stand under its performance phase, those after the boundary (tail) too, and a
// repeat of a conversation uses the rows of the first: info.facts["rows_of_pass"] says how many
// there are. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/result.h"
#include "domain/event_sink.h"
#include "domain/run_info.h"

namespace assay::interchange {

class SampleIndex final : public EventSink {
 public:
  explicit SampleIndex(RunInfo info);

  void on_phase(const PhaseMark&) override {}
  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query&, const StreamEvent&, std::string_view) override {}
  void on_tick(Instant) override {}
  void on_done(const Event& event, std::string_view detail) override;

  Result<void> write(const std::filesystem::path& path) const;

 private:
  struct Used {
    std::uint16_t phase = 0;
    std::uint32_t index = 0;
    std::uint32_t row = 0;
  };

  bool is_tail(std::size_t phase) const;
  void note(const Query& query);

  RunInfo info_;
  std::uint64_t rows_of_pass_;  // 0: a sample is a row
  // By phase, in the order in which they were heard of.
  std::vector<std::vector<Used>> phases_{};
};

}  // namespace assay::interchange
