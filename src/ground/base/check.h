// CHECK(condition): stops the program at a fault of our own, in every build. Prints the expression,
// file and line, then aborts. Never for input, files, the network or a peer's bytes: use Result.
#pragma once

namespace assay {

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace assay

#define CHECK(condition)                             \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::assay::check_failed(#condition, __FILE__, __LINE__))
