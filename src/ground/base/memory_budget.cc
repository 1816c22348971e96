#include "base/memory_budget.h"

#include "base/check.h"

namespace assay {

bool MemoryBudget::take(std::uint64_t bytes) {
  std::uint64_t before = in_use_.load(std::memory_order_relaxed);
  do {
    if (bytes > bytes_max_ - before) return false;
  } while (!in_use_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  const std::uint64_t now = before + bytes;
  std::uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return true;
}

void MemoryBudget::give_back(std::uint64_t bytes) {
  const std::uint64_t before = in_use_.fetch_sub(bytes, std::memory_order_relaxed);
  CHECK(before >= bytes);
}

bool BudgetedText::grow(std::size_t more) {
  const std::size_t need = text_.size() + more + kPadding;
  const std::size_t wanted = std::max(need, text_.capacity() + text_.capacity() / 2);
  const std::uint64_t bytes = wanted + 1;
  if (budget_ != nullptr && !budget_->take(bytes)) return false;
  std::string larger;
  larger.reserve(wanted);
  larger.append(text_);
  text_.swap(larger);
  if (budget_ != nullptr) budget_->give_back(taken_);
  taken_ = bytes;
  return true;
}

void BudgetedText::free() {
  std::string().swap(text_);
  if (budget_ != nullptr) budget_->give_back(taken_);
  taken_ = 0;
}

}  // namespace assay
