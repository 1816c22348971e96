// For tests: cases that are drawn from a seed. A table of such cases is a class of its own on this.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace assay {

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : rng_(seed) {}

 protected:
  bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }
  template <typename T>
  T pick(const std::vector<T>& from) {
    return from[rng_.below(from.size())];
  }

  Rng rng_;
};

}  // namespace assay
