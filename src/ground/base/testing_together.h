// For tests: the sum of values of any types, to say in one line that all of them are 0 or false.
#pragma once

namespace assay {

template <typename... T>
double together(const T&... values) {
  return (static_cast<double>(values) + ...);
}

}  // namespace assay
