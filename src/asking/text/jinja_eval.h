// Renders a parsed template. Steps, work, output and recursion are limited, so a template that
// loops is an error and not a hang. One thread; throws Fault with the line that was at work.
#pragma once

#include <cstdint>
#include <string>

#include "text/jinja_parse.h"

namespace assay::text::jinja {

struct Limits {
  std::uint64_t steps_max = 2'000'000;  // nodes and expressions evaluated
  std::size_t output_bytes_max = std::size_t{64} << 20;
  std::uint64_t work_bytes_max = std::uint64_t{1} << 30;  // of values made, copied, looked at
  int depth_max = 200;                                    // calls and blocks within each other
};

std::string render(const Body& body, Dict globals, const Limits& limits = {});

}  // namespace assay::text::jinja
