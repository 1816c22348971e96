// SampleIndex writes sample_idx_map.json of a run folder, a file of the reference client, from a
// replay of the event log. For each phase except warm-up it maps a query's uuid (domain/query.h;
// the server's own log may use it) to the row of the dataset that the query used. As in the
// reference client, a replay's queries stand under its performance phase, those after the boundary
// (tail) too. A repeated conversation uses the rows of its first pass: info.facts["rows_of_pass"]
// is the number of rows. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "domain/quiet_sink.h"
#include "domain/run_info.h"

namespace assay::interchange {

class SampleIndex final : public QuietSink {
 public:
  explicit SampleIndex(RunInfo info);

  void on_sent(const Query& query, Instant due, Instant sent) override;
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
  // By phase, in the order of the log.
  std::vector<std::vector<Used>> phases_{};
};

}  // namespace assay::interchange
