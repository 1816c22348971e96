#include "sim/transfer.h"

#include <algorithm>

namespace assay::sim {

void SharedLink::progress(Instant now) {
  if (!transfers_.empty() && now > at_) {
    const double each = (now - at_).seconds() * rate_ / static_cast<double>(transfers_.size());
    for (Transfer& transfer : transfers_) transfer.left -= each;
  }
  at_ = std::max(at_, now);
}

void SharedLink::add(std::uint32_t id, double bytes, Instant now) {
  progress(now);
  transfers_.push_back({id, bytes + setup_s_ * rate_});
}

void SharedLink::remove(std::uint32_t id, Instant now) {
  progress(now);
  std::erase_if(transfers_, [&](const Transfer& transfer) { return transfer.id == id; });
}

Instant SharedLink::next() const {
  if (transfers_.empty()) return Instant::max();
  double least = transfers_.front().left;
  for (const Transfer& transfer : transfers_) least = std::min(least, transfer.left);
  const double seconds = std::max(0.0, least) * static_cast<double>(transfers_.size()) / rate_;
  return at_ + Duration::from_seconds(seconds) + 1_ns;
}

void SharedLink::advance(Instant now, std::vector<std::uint32_t>& done) {
  while (next() <= now) {
    progress(next());
    for (const Transfer& transfer : transfers_) {
      if (transfer.left <= 1e-6 * rate_ * 1e-3) done.push_back(transfer.id);
    }
    const double edge = 1e-6 * rate_ * 1e-3;
    std::erase_if(transfers_, [&](const Transfer& transfer) { return transfer.left <= edge; });
  }
  progress(now);
}

}  // namespace assay::sim
