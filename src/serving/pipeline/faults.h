// Faults: the mistakes of a file, gathered so that all are reported at once, in the order of their
// lines. One thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"

namespace assay::pipeline {

class Faults {
 public:
  explicit Faults(std::string_view name) : name_(name) {}

  // `fix` may be empty.
  void add(int line, std::string_view field, std::string_view wrong, std::string_view fix = {}) {
    std::string text = format("{}:{}: {}: {}", name_, line, field, wrong);
    if (!fix.empty()) text += format("\n  {}", fix);
    faults_.emplace_back(line, std::move(text));
  }
  bool none() const { return faults_.empty(); }
  // REQUIRES: not none(). At most 20 are listed.
  Error error() {
    constexpr std::size_t kListed = 20;
    std::stable_sort(faults_.begin(), faults_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    for (std::size_t i = 0; i < faults_.size() && i < kListed; ++i) {
      text += (i == 0 ? "" : "\n") + faults_[i].second;
    }
    if (faults_.size() > kListed) text += format("\nand {} more", faults_.size() - kListed);
    return invalid(std::move(text));
  }

 private:
  std::string name_;
  std::vector<std::pair<int, std::string>> faults_{};
};

}  // namespace assay::pipeline
