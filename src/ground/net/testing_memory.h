// For tests: what the program holds of the heap. A sanitizer's allocator says 0 at all times.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace assay::net {

// The bytes more that the heap holds after `times` calls than before them. The first calls make
// what is made once.
template <typename Call>
std::ptrdiff_t bytes_kept_by(int times, Call&& call) {
  for (int i = 0; i < 3; ++i) call();
  const auto before = static_cast<std::ptrdiff_t>(::mallinfo2().uordblks);
  for (int i = 0; i < times; ++i) call();
  return static_cast<std::ptrdiff_t>(::mallinfo2().uordblks) - before;
}

}  // namespace assay::net
