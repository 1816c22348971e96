// The samples that a LoadGen test passes to a system under test, and its answers. These headers
// have the names, fields and namespaces of LoadGen 6.0.17's, so that a program written for that
// library compiles against ours (docs/guide/loadgen.md). Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iostream>

// NOLINTBEGIN(readability-identifier-naming)
namespace mlperf {

using ::size_t;
using ::uintptr_t;

// Names one issued sample of one test; never 0. Opaque: ours is a number, not an address.
typedef std::uintptr_t ResponseId;
constexpr ResponseId kResponseIdReserved = 0;

// A row of the sample library.
typedef std::size_t QuerySampleIndex;

struct QuerySample {
  ResponseId id;
  QuerySampleIndex index;
};

// The bytes at `data` are read during the call that completes the sample, never later. `n_tokens`
// counts where the test measures tokens.
struct QuerySampleResponse {
  ResponseId id;
  std::uintptr_t data;
  std::size_t size;
  std::int64_t n_tokens;

  QuerySampleResponse() : QuerySampleResponse(0, 0, 0, 0) {}
  QuerySampleResponse(ResponseId of, std::uintptr_t bytes, std::size_t count)
      : QuerySampleResponse(of, bytes, count, 0) {}
  QuerySampleResponse(ResponseId of, std::uintptr_t bytes, std::size_t count, std::int64_t tokens)
      : id(of), data(bytes), size(count), n_tokens(tokens) {}
};

typedef std::int64_t QuerySampleLatency;  // nanoseconds

}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
