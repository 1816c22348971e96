#include "metrics/gap_limits.h"

#include <algorithm>
#include <array>

#include "base/varint.h"

namespace assay::metrics {
namespace {

// Rounds up, so that the result is still an upper limit.
std::int64_t share(Duration of, std::size_t parts) {
  const auto n = static_cast<std::int64_t>(parts);
  return of.ns / n + (of.ns % n != 0 ? 1 : 0);
}

}  // namespace

Duration less(Duration value, Duration by) {
  if (value.ns < 0) return value;
  return by >= value ? Duration{} : value - by;
}

Duration more(Duration value, Duration by) {
  if (value.ns > 0 && by > Duration::max() - value) return Duration::max();
  return value + by;
}

void GapLimits::clear() {
  arrival_ = read_ = Instant::none();
  open_ = {};
  closed_.clear();
}

void GapLimits::fragment(Instant arrival, Instant read, Duration uncertainty) {
  if (arrival == arrival_ && read == read_) {
    ++open_.fragments;
  } else {
    close();
    const bool first = !arrival_.known();
    open_ = {.fragments = 1,
             .first = first,
             .gap = first ? Duration{} : arrival - arrival_,
             .before = open_.of_last,
             .of_first = uncertainty};
    arrival_ = arrival;
    read_ = read;
  }
  open_.of_last = uncertainty;
}

void GapLimits::close() {
  const bool exact = open_.before.ns == 0 && open_.of_first.ns == 0 && open_.of_last.ns == 0;
  if (open_.fragments == 0 || exact) return;
  std::array<char, 6 * kVarintMax> text;
  char* p = put_varint(text.data(), open_.fragments);
  p = put_varint(p, open_.first ? 1 : 0);
  for (const Duration d : {open_.gap, open_.before, open_.of_first, open_.of_last}) {
    p = put_delta(p, d.ns, 0);
  }
  closed_.append(text.data(), static_cast<std::size_t>(p - text.data()));
}

void GapLimits::limit(Series& gaps) {
  close();
  open_.fragments = 0;
  ByteReader in(closed_);
  while (!in.at_end()) {
    Read read{.fragments = static_cast<std::uint32_t>(in.varint()), .first = in.varint() != 0};
    for (Duration* const d : {&read.gap, &read.before, &read.of_first, &read.of_last}) {
      d->ns = in.delta(0);
    }
    limit(read, gaps);
  }
}

void GapLimits::limit(const Read& read, Series& gaps) {
  const std::size_t count = read.fragments - (read.first ? 1 : 0);
  if (count == 0) return;
  const Duration whole = read.first ? read.of_first : more(read.gap, read.before);
  const Duration within = std::min(read.of_first, whole);
  std::vector<std::int64_t> values(count);
  std::vector<std::int64_t> low(count);
  std::vector<std::int64_t> high(count);
  for (std::size_t k = 1; k <= count; ++k) {
    std::int64_t& limit = high[k - 1];
    limit = share(whole, k);
    // The gap before the read, and after it the gaps within.
    if (!read.first && k > 1) limit = std::min(limit, share(within, k - 1));
    limit = std::max<std::int64_t>(limit, 0);
  }
  Duration sum_low{};
  if (!read.first) {
    values[0] = read.gap.ns;
    sum_low = less(read.gap, read.of_last);
    low[0] =
        std::max(less(read.gap, read.of_first).ns, sum_low.ns / static_cast<std::int64_t>(count));
    low[0] = std::min(low[0], values[0]);
    high[0] = std::max(high[0], values[0]);
  }
  gaps.limit_together({.values = values,
                       .low = low,
                       .high = high,
                       .total_low = sum_low.ns,
                       .total_high = whole.ns});
}

}  // namespace assay::metrics
