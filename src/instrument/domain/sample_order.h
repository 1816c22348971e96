// SampleOrder: the sample of the k-th query of a phase. Endless; the stop rules end it.
//
// shuffled: without replacement. Before each pass, CPython's random.shuffle shuffles one index list
// in place, the same list each time, as the reference client does, so that the same seed gives the
// same order bit for bit (golden vectors in the tests). The first pass is drawn when the order is
// made, once for all its copies: a million rows take tens of ms.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/python_random.h"

namespace assay {

class SampleOrder {
 public:
  // REQUIRES for all: size > 0.
  static SampleOrder shuffled(std::uint32_t size, std::uint64_t seed);
  static SampleOrder sequential(std::uint32_t size);
  static SampleOrder constant(std::uint32_t sample);
  // These samples in this order, repeated.
  static SampleOrder listed(std::vector<std::uint32_t> samples);
  // randint(0, size − 1) of CPython for each.
  static SampleOrder with_replacement(std::uint32_t size, std::uint64_t seed);
  // Each sample is what `draw` returns next. A copy of the order copies `draw`, which must then
  // draw the same by itself: it keeps its state by value.
  static SampleOrder drawn(std::function<std::uint32_t()> draw);

  SampleOrder() : SampleOrder(Kind::constant, 1, 0, 0) {}
  std::uint32_t next();

 private:
  enum class Kind { shuffled, sequential, constant, with_replacement, listed, drawn };
  SampleOrder(Kind kind, std::uint32_t size, std::uint64_t seed, std::uint32_t sample);

  Kind kind_;
  std::uint32_t size_;
  std::uint32_t position_ = 0;
  bool begun_ = false;  // the first pass is
  std::uint32_t sample_;
  std::vector<std::uint32_t> list_{};
  std::function<std::uint32_t()> draw_{};
  PythonRandom random_;
};

}  // namespace assay
