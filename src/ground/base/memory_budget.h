// MemoryBudget: how many bytes something may hold in all, and how many it held at most.
//
// BudgetedText: text that grows as it comes and asks its budget before it does, so that the budget
// is kept and not found to be overdrawn. Growing takes the new memory before the old is given back,
// as both are there while the text is copied. A text keeps its memory for the next one until
// release() is asked; in steady state nothing is allocated and no budget is touched.
//
// Threads: a budget may be shared by any number of threads (one relaxed atomic, touched when memory
// grows or is given back and at no other time; docs/decisions/0056). A text belongs to one.
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

  // False when so many more would be over the budget; then nothing was taken.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);

  std::uint64_t bytes_max() const { return bytes_max_; }
  std::uint64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  // Half of it is in use: what is only kept for later should be given back.
  bool crowded() const { return in_use() > bytes_max_ / 2; }

 private:
  const std::uint64_t bytes_max_;
  std::atomic<std::uint64_t> in_use_{0};
  std::atomic<std::uint64_t> peak_{0};
};

class BudgetedText {
 public:
  // So many bytes behind the text are readable, whatever they hold.
  static constexpr std::size_t kPadding = 64;
  // What release() leaves for the next text where the budget is not crowded.
  static constexpr std::size_t kKeptBytes = std::size_t{64} << 10;

  // `budget`: must outlive the text; null: no limit.
  explicit BudgetedText(MemoryBudget* budget = nullptr) : budget_(budget) {}
  ~BudgetedText() { free(); }
  BudgetedText(const BudgetedText&) = delete;
  BudgetedText& operator=(const BudgetedText&) = delete;

  // False when the budget does not allow it; the text is then as it was.
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
  // Forgets the text, and gives its memory back where it is much or others need it.
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
