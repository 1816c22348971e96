// For tests of a disk that takes bytes and then cannot promise them: fdatasync() of this program
// fails with `error` while one of these lives. One at a time; any thread may write meanwhile.
#pragma once

#include <atomic>
#include <cstddef>

namespace assay::record {

class FailingSync {
 public:
  explicit FailingSync(int error) { error_ = error; }
  ~FailingSync() { error_ = 0; }
  FailingSync(const FailingSync&) = delete;
  FailingSync& operator=(const FailingSync&) = delete;
  static int error() { return error_; }  // 0: the disk's own answer

 private:
  static inline std::atomic<int> error_{0};
};

// For tests of a file system that takes a part of a write: write() of this program takes `most`
// bytes of each, and a signal interrupts every second one, while one of these lives. One at a time.
class ShortWrites {
 public:
  explicit ShortWrites(std::size_t most) { most_ = most; }
  ~ShortWrites() { most_ = kAll; }
  ShortWrites(const ShortWrites&) = delete;
  ShortWrites& operator=(const ShortWrites&) = delete;
  static std::size_t most() { return most_; }
  static bool interrupts() { return most_ != kAll && ++writes_ % 2 == 0; }

 private:
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  static inline std::atomic<std::size_t> most_{kAll};
  static inline std::atomic<unsigned> writes_{0};
};

}  // namespace assay::record
