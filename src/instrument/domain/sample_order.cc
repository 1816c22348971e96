#include "domain/sample_order.h"

#include <numeric>
#include <utility>

#include "base/check.h"

namespace assay {

SampleOrder::SampleOrder(Kind kind, std::uint32_t size, std::uint64_t seed, std::uint32_t sample)
    : kind_(kind), size_(size), sample_(sample), random_(seed) {
  CHECK(size > 0);
  if (kind == Kind::shuffled) {
    list_.resize(size);
    std::iota(list_.begin(), list_.end(), 0U);
    random_.shuffle(list_);
  }
}

SampleOrder SampleOrder::shuffled(std::uint32_t size, std::uint64_t seed) {
  return {Kind::shuffled, size, seed, 0};
}
SampleOrder SampleOrder::sequential(std::uint32_t size) { return {Kind::sequential, size, 0, 0}; }
SampleOrder SampleOrder::constant(std::uint32_t sample) { return {Kind::constant, 1, 0, sample}; }
SampleOrder SampleOrder::listed(std::vector<std::uint32_t> samples) {
  SampleOrder out(Kind::listed, static_cast<std::uint32_t>(samples.size()), 0, 0);
  out.list_ = std::move(samples);
  return out;
}
SampleOrder SampleOrder::with_replacement(std::uint32_t size, std::uint64_t seed) {
  return {Kind::with_replacement, size, seed, 0};
}
SampleOrder SampleOrder::drawn(std::function<std::uint32_t()> draw) {
  SampleOrder out(Kind::drawn, 1, 0, 0);
  out.draw_ = std::move(draw);
  return out;
}

std::uint32_t SampleOrder::next() {
  switch (kind_) {
    case Kind::constant:
      return sample_;
    case Kind::drawn:
      return draw_();
    case Kind::with_replacement:
      return static_cast<std::uint32_t>(random_.below(size_));
    case Kind::shuffled:
      if (position_ == 0 && begun_) random_.shuffle(list_);
      begun_ = true;
      break;
    case Kind::sequential:
    case Kind::listed:
      break;
  }
  const std::uint32_t at = position_;
  position_ = at + 1 == size_ ? 0 : at + 1;
  return kind_ == Kind::sequential ? at : list_[at];
}

}  // namespace assay
