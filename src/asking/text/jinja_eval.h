// Renders a parsed template. Steps, work, output and recursion are limited, so an endless loop is
// an error and not a hang. One thread; throws Fault with the line of the current node.
#pragma once

#include <cstdint>
#include <string>

#include "text/jinja_parse.h"

namespace assay::text::jinja {

struct Limits {
  std::uint64_t steps_max = 2'000'000;  // nodes and expressions evaluated
  std::size_t output_bytes_max = std::size_t{64} << 20;
  std::uint64_t work_bytes_max = std::uint64_t{1} << 30;  // of values made, copied, read
  int depth_max = 200;                                    // nested calls and blocks
};

std::string render(const Body& body, Dict globals, const Limits& limits = {});

}  // namespace assay::text::jinja
