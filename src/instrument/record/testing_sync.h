// For tests of a disk that takes bytes and then cannot promise them: fdatasync() of this program
// fails with `error` while one of these lives. One at a time; any thread may write meanwhile.
#pragma once

#include <atomic>

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

}  // namespace assay::record
