// Measures: our names for what servers, cards and machines say of themselves, and the table of the
// names that each engine gives them (facts: names as exposed, units, what a counter counts).
//
// One source may have several names for one measure (an older and a newer one): the first row of
// the table that the source has counts, and the others are left out. A series of a rank other than
// the first of its tensor-parallel group repeats the first one's requests and is left out too.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "observe/prometheus_text.h"

namespace assay::observe {

enum class MeasureKind : std::uint8_t {
  gauge,
  counter,    // only grows; a fall is a restart
  histogram,  // of which the sum and the count are read: exact means
};

// How the series of one source are put together: requests of two engines add up, their caches'
// shares do not.
enum class Together : std::uint8_t { sum, mean };

struct Measure {
  std::string_view id{};     // "requests_running": the last word is the unit, where there is one
  std::string_view words{};  // "requests running"
  std::string_view unit{};   // "", "s", "W", "J", "tokens", "share"
  MeasureKind kind = MeasureKind::gauge;
  Together together = Together::sum;
  bool load = false;  // follows the load at once, so its lag can be seen
};

// Every measure, in the order of a report.
std::span<const Measure> measures();
const Measure* find_measure(std::string_view id);

struct NameRow {
  std::string_view engine{};   // "vllm", "sglang", "trtllm", "triton", "tgi", "llama.cpp", "dcgm"
  std::string_view name{};     // as exposed; of a histogram without _sum and _count
  std::string_view measure{};  // Measure::id
  double scale = 1;            // into the measure's unit
  std::string_view label{};    // a label that a series must have, with its value; "" for none
  std::string_view label_value{};
};

// The table, most preferred names first.
std::span<const NameRow> name_rows();

// Whether this series is counted under this row; a histogram's sum and count by their own names.
bool row_has(const NameRow& row, std::string_view name, const Labels& labels);

// Buckets and creation times are not kept: they would be nine tenths of a recording.
bool worth_keeping(std::string_view name);

}  // namespace assay::observe
