// For tests: what the program holds of the heap. A sanitizer's allocator says 0 at all times.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace assay::net {

inline std::ptrdiff_t heap_bytes() {
  const auto held = ::mallinfo2();
  return static_cast<std::ptrdiff_t>(held.uordblks + held.hblkhd);
}

// The bytes more that the heap holds after `times` calls than before them. The first calls make
// what is made once.
template <typename Call>
std::ptrdiff_t bytes_kept_by(int times, Call&& call) {
  for (int i = 0; i < 3; ++i) call();
  const std::ptrdiff_t before = heap_bytes();
  for (int i = 0; i < times; ++i) call();
  return heap_bytes() - before;
}

}  // namespace assay::net
