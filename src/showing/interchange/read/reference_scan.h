// ReferenceScan: the first pass over the reference client's events: which phase each query belongs
// to, and its place in the order of issue. reference_run.h is its only user. One thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "interchange/read/reference_events.h"
#include "interchange/read/reference_run.h"

namespace assay::interchange {

// sample_idx_map.json: the phases in their order, and each query's phase and row.
struct ReferenceIndex {
  bool known = false;
  std::vector<std::string> phases{};
  std::unordered_map<std::string, std::pair<std::uint16_t, std::uint32_t>> rows{};
};

// Code::invalid with the member that is no map of rows.
Result<ReferenceIndex> read_reference_index(std::string_view text);

class ReferenceScan {
 public:
  explicit ReferenceScan(ReferenceIndex index);

  Result<void> add(const ReferenceEvent& event);

  // Moves the phases, the places and the end of the run into `run`. The scan is empty afterwards.
  Result<void> finish(ReferenceRun& run);

  bool streamed() const { return streamed_; }
  bool every_chunk() const { return every_chunk_; }
  std::uint64_t warmup() const { return warmup_; }
  bool has_rows() const { return index_.known; }
  // The rows of the measured dataset; 0 unless each of them was asked, or if they are unknown.
  std::uint64_t rows_of_dataset() const;

 private:
  // One phase, in the order of our plans: the measured one, its tail, those of sample_idx_map.json.
  struct Part {
    PhaseKind kind = PhaseKind::performance;
    std::string name{};
    std::uint32_t issued = 0;
    std::uint32_t row_max = 0;
    Instant began = Instant::none();
  };
  static constexpr std::uint16_t kPerformance = 0;
  static constexpr std::uint16_t kTail = 1;
  static constexpr std::uint16_t kOthers = 2;

  Result<void> issued(const ReferenceEvent& event);
  Result<std::uint16_t> part_of(const ReferenceEvent& event, std::uint32_t& row) const;

  ReferenceIndex index_;
  std::vector<Part> parts_{};
  std::unordered_map<std::string, ReferenceRun::Place> places_{};
  Instant began_ = Instant::none();
  Instant tracking_ = Instant::none();
  bool stopped_ = false;
  bool ended_ = false;
  bool interrupted_ = false;
  bool streamed_ = false;
  bool every_chunk_ = false;
  std::uint64_t warmup_ = 0;
  Sha256 identity_{};
};

}  // namespace assay::interchange
