// MemoryBudget: a limit on the bytes that its users hold together, and the peak of what they held.
//
// BudgetedText: text that asks its budget before it grows, so that the budget is never exceeded.
// Growing takes the new memory before it gives the old back, because both exist while the text is
// copied. A text keeps its memory for the next one until release(); in steady state nothing is
// allocated and no budget is touched.
//
// Threads: any number of threads may share a budget (one relaxed atomic, touched only when memory
// grows or is given back; docs/decisions/0056). A text belongs to one thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // False when `bytes` more would exceed the budget; nothing is taken then.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);

  std::uint64_t bytes_max() const { return bytes_max_; }
  std::uint64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  // More than half is in use: memory that is only kept for later should be given back.
  bool crowded() const { return in_use() > bytes_max_ / 2; }

 private:
  const std::uint64_t bytes_max_;
  std::atomic<std::uint64_t> in_use_{0};
  std::atomic<std::uint64_t> peak_{0};
};

class BudgetedText {
 public:
  // Bytes behind the text that may be read; their values are undefined.
  static constexpr std::size_t kPadding = 64;
  // Bytes that release() keeps for the next text where the budget is not crowded.
  static constexpr std::size_t kKeptBytes = std::size_t{64} << 10;

  // `budget`: must outlive the text; null: no limit.
  explicit BudgetedText(MemoryBudget* budget = nullptr) : budget_(budget) {}
  ~BudgetedText() { free(); }
  BudgetedText(const BudgetedText&) = delete;
  BudgetedText& operator=(const BudgetedText&) = delete;

  // False when the budget does not allow it; the text is then unchanged.
  [[nodiscard]] bool append(std::string_view more) {
    if (text_.capacity() < text_.size() + more.size() + kPadding && !grow(more.size())) {
      return false;
    }
    text_.append(more.data(), more.size());
    return true;
  }
  // Forgets the text and keeps its memory.
  void clear() { text_.clear(); }
  // REQUIRES: size <= this->size().
  void cut(std::size_t size) { text_.resize(size); }
  // Forgets the text; gives its memory back if it is large or the budget is crowded.
  void release() {
    text_.clear();
    if (text_.capacity() > kSmall && (text_.capacity() > kKeptBytes || crowded())) free();
  }

  std::string_view view() const { return text_; }
  std::size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }

 private:
  static constexpr std::size_t kSmall = 1024;

  bool crowded() const { return budget_ != nullptr && budget_->crowded(); }
  bool grow(std::size_t more);
  void free();

  MemoryBudget* budget_;
  std::uint64_t taken_ = 0;
  std::string text_{};
};

}  // namespace assay
