// The kind of a value, so that every axis, marker, table and tile prints it the same way: with its
// unit and three significant digits (base/text.h). Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace assay::report {

enum class Quantity : std::uint8_t {
  count,              // queries, tokens: "32,720"
  tokens_per_second,  // "9,932 tok/s"
  rate,               // "38.4/s"
  duration,           // nanoseconds: "412 ms"
  elapsed,            // nanoseconds since the start: "2:30"
  share,              // 0 to 1: "90.0 %"
  times,              // "3.40 ×"
};

std::string quantity_text(Quantity quantity, double value);
// The same for an axis: no trailing zeros, and no unit where the axis' title has it.
std::string tick_text(Quantity quantity, double value);

// 0:07 · 14:12 · 1:02:03
std::string clock_text(Duration elapsed);

// A share as a percentage; "under 0.001 %" for a tiny share that is not zero.
std::string share_text(double share);

}  // namespace assay::report
