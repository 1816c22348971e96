// Histogram: counts of non-negative whole numbers in log-linear buckets, 128 for each power of two,
// so that a value is known to within 0.8 %. It always takes 58 kB; recording costs a shift and an
// increment.
//
// For live figures and for series too long to keep. Published results come from exact values. One
// thread may record while others read: a reader may see each bucket at a slightly different moment.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace assay {

class Histogram {
 public:
  static constexpr int kSubBits = 7;
  static constexpr std::size_t kBuckets = static_cast<std::size_t>(64 - kSubBits + 1) << kSubBits;

  void record(std::uint64_t value) {
    std::atomic<std::uint64_t>& bucket = buckets_[index(value)];
    bucket.store(bucket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  std::uint64_t count() const {
    std::uint64_t total = 0;
    for (const auto& bucket : buckets_) total += bucket.load(std::memory_order_relaxed);
    return total;
  }

  // The middle of the smallest bucket with at least p % of the values at or below it; 0 when empty.
  double percentile(double p) const {
    const std::uint64_t total = count();
    if (total == 0) return 0;
    const double wanted = p / 100.0 * static_cast<double>(total);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i].load(std::memory_order_relaxed);
      if (seen > 0 && static_cast<double>(seen) >= wanted) return middle(i);
    }
    return middle(kBuckets - 1);
  }

  void add(const Histogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      buckets_[i].fetch_add(other.buckets_[i].load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
    }
  }

  void clear() {
    for (auto& bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
  }

  std::uint64_t bucket_count(std::size_t i) const {
    return buckets_[i].load(std::memory_order_relaxed);
  }
  static std::size_t index(std::uint64_t value) {
    if (value < (std::uint64_t{2} << kSubBits)) return static_cast<std::size_t>(value);
    const int shift = 63 - std::countl_zero(value) - kSubBits;
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(value >> shift);
  }
  // The lowest value of bucket i.
  static std::uint64_t lowest(std::size_t i) {
    if (i < (std::size_t{2} << kSubBits)) return i;
    const std::size_t shift = (i >> kSubBits) - 1;
    return static_cast<std::uint64_t>(i - (shift << kSubBits)) << shift;
  }
  static double middle(std::size_t i) {
    if (i < (std::size_t{2} << kSubBits)) return static_cast<double>(i);
    const std::size_t shift = (i >> kSubBits) - 1;
    return static_cast<double>(lowest(i)) + 0.5 * static_cast<double>(std::uint64_t{1} << shift);
  }

 private:
  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
};

}  // namespace assay
