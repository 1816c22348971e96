#include "observe/load_fold.h"

#include <algorithm>

namespace assay::observe {
namespace {

constexpr std::size_t kCellsMax = 1 << 19;  // 87 minutes of 10 ms, then cells of 20 ms

}  // namespace

void Load::sum_up() {
  sums_.assign(cells.size() + 1, 0);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    sums_[i + 1] = sums_[i] + cells[i] * width.seconds();
  }
}

double Load::integral(Instant at) const {
  if (at <= origin || cells.empty()) return 0;
  const double place = (at - origin).seconds() / width.seconds();
  if (place >= static_cast<double>(cells.size())) return sums_.back();
  const auto cell = static_cast<std::size_t>(place);
  return sums_[cell] + (place - static_cast<double>(cell)) * cells[cell] * width.seconds();
}

double Load::mean(Instant from, Instant to) const {
  return (integral(to) - integral(from)) / (to - from).seconds();
}

void LoadFold::widen() {
  std::vector<double>& cells = load_.cells;
  for (std::size_t i = 0; i < cells.size(); i += 2) {
    cells[i / 2] = (cells[i] + (i + 1 < cells.size() ? cells[i + 1] : 0)) / 2;
  }
  cells.resize((cells.size() + 1) / 2);
  load_.width = load_.width * 2;
}

void LoadFold::advance(Instant to) {
  while (at_ < to) {
    auto cell = static_cast<std::size_t>((at_ - load_.origin).ns / load_.width.ns);
    if (cell >= kCellsMax) {
      widen();
      continue;
    }
    if (cell >= load_.cells.size()) load_.cells.resize(cell + 1, 0);
    const Instant cell_end = load_.origin + load_.width * (static_cast<std::int64_t>(cell) + 1);
    const Instant end = std::min(cell_end, to);
    load_.cells[cell] += now_in_flight_ * (end - at_).seconds() / load_.width.seconds();
    at_ = end;
  }
}

void LoadFold::step(Instant at, double by) {
  if (!began_) {
    began_ = true;
    load_.origin = at;
    at_ = at;
  }
  // Logs of several threads are merged by block, so an event may be a little older than the last.
  advance(at);
  now_in_flight_ = std::max(now_in_flight_ + by, 0.0);
}

void LoadFold::on_sent(const Query&, Instant, Instant sent) { step(sent, 1); }

void LoadFold::on_done(const Event& event, std::string_view) {
  if (event.sent.known() && event.done.known()) step(event.done, -1);
}

Load LoadFold::finish() {
  Load out = std::move(load_);
  out.sum_up();
  return out;
}

}  // namespace assay::observe
