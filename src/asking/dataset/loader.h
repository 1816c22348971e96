// Loader: adds rows to a dataset, from any kind of file: single questions, conversations and
// traces. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "dataset/dataset.h"
#include "dataset/preset.h"
#include "dataset/rows.h"
#include "domain/sample.h"

namespace assay::dataset {

// The kind that all rows must have; any: each row's own form decides.
enum class RowKind : std::uint8_t { any, sharegpt, mooncake, openai_batch };

class Loader {
 public:
  // `spec` must outlive the loader.
  Loader(const Spec& spec, RowMapper::Cells cells, RowKind kind, std::optional<Preset> preset);

  bool full() const { return spec_.rows_max > 0 && rows_ >= spec_.rows_max; }
  // `place`: the row's line, or "row 17".
  Result<void> add(Json row, std::string_view place);
  Result<void> add_text(std::string_view text, std::string_view place);
  Result<Dataset> finish(std::string sha256);

  Error at(std::string_view place, std::string_view message) const;

 private:
  // Keeps the sample, or only counts it when enough samples are kept.
  void keep(Sample sample);
  Result<void> add_conversation(const Json& row, std::string_view place);
  Result<void> add_trace(const Json& row, std::string_view place);
  Result<void> add_lengths(const Json& row, std::string_view place);
  // Sorts a trace by time; its first instant becomes 0.
  void order_by_time(Dataset& out);

  const Spec& spec_;
  RowMapper mapper_;
  RowKind kind_;
  std::uint64_t rows_ = 0;
  std::uint64_t conversations_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t traced_ = 0;
  std::uint64_t without_tokens_ = 0;  // rows of a trace that are left out
  std::uint64_t not_kept_ = 0;
  std::int64_t tokens_ = 0;  // of traces, whose tokens are made and not read
  std::vector<Sample> samples_{};
  std::vector<Duration> times_{};
};

}  // namespace assay::dataset
