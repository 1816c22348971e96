// RowMapper: maps one row of a file of any format to a Sample. dataset.h has the rules for columns.
// One thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "dataset/dataset.h"
#include "dataset/preset.h"
#include "domain/sample.h"

namespace assay::dataset {

class RowMapper {
 public:
  enum class Cells {
    typed,  // JSON: a number is a number
    text,   // CSV: lists and objects are written as JSON in a cell, and an empty cell is none
  };

  // `spec` must outlive the mapper. `preset` is applied to rows after columns are renamed.
  RowMapper(const Spec& spec, Cells cells, std::optional<Preset> preset = {});

  // An error names the column; the caller adds the line.
  // REQUIRES: row.is_object().
  Result<Sample> map(Json row);
  // Call it after the last row: a parser source that no row had is an error.
  Result<void> finish() const;

 private:
  Json rename(Json row);
  Result<Sample> read(Json row);
  Result<void> read_kind_columns(Json& row, Sample& sample);
  bool asks_by_itself(const Json& row, const Sample& sample) const;
  Result<void> read_question(Json& row, Sample& sample);
  Result<void> join_instruction(Json& row);
  Result<void> read_prompt(Json& row, Sample& sample);
  Result<void> read_limits(Json& row, Sample& sample);
  Result<void> read_body(Json& row, Sample& sample);
  // Removes the cell from the row and returns it, parsed if it is text that holds JSON; null if
  // there is no such cell.
  Result<Json> take_structure(Json& row, std::string_view column) const;
  Json take(Json& row, std::string_view column) const;
  Result<std::string> take_text(Json& row, std::string_view column) const;

  const Spec& spec_;
  Cells cells_;
  std::optional<Preset> preset_;
  std::vector<bool> source_seen_{};
  std::string first_columns_{};
};

// "prompt, system, id": the row's columns, for a message.
std::string columns_of(const Json& row);

}  // namespace assay::dataset
