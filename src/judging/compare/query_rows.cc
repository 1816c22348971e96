#include "compare/query_rows.h"

#include <algorithm>
#include <cmath>

namespace assay::compare {
namespace {

const double kLogWidth = std::log(1.0005);  // 65,535 buckets reach to 46 hours

}  // namespace

std::uint16_t QueryRows::bucket_of(double gap_ns) {
  if (gap_ns <= 1) return 0;
  return static_cast<std::uint16_t>(std::min(65535.0, std::round(std::log(gap_ns) / kLogWidth)));
}

double QueryRows::value_of(std::uint16_t bucket) { return std::exp(bucket * kLogWidth); }

void QueryRows::on_reply(const metrics::Reply& reply) {
  const Event& event = reply.event;
  if (!event.sent.known() || !event.done.known()) return;
  QueryRow row{.sent = event.sent,
               .done = event.done,
               .phase = event.query.phase,
               .ok = event.outcome == Outcome::ok};
  row.gaps_begin = gaps_.size();
  if (row.ok) {
    figures_.clear();
    metrics::kAssayDefinition.measure(reply, figures_);
    row.ttft = figures_.ttft;
    row.tpot = figures_.tpot;
    if (!figures_.more_tpot.empty()) row.tpot = metrics::mean_tpot(*reply.truth);
    row.latency = figures_.latency;
    const auto since = [](Instant end, Instant begin) -> std::optional<double> {
      if (!end.known() || !begin.known()) return std::nullopt;
      return static_cast<double>((end - begin).ns);
    };
    row.ttft_due = since(event.first_token, event.due);
    row.ttft_visible = since(event.first_visible, event.sent);
    row.latency_due = since(event.done, event.due);
    row.output_tokens = figures_.tokens.value_or(-1);
    row.gaps = static_cast<std::uint32_t>(figures_.itl.size());
    for (const double gap : figures_.itl) gaps_.push_back(bucket_of(gap));
  }
  rows_.push_back(row);
}

void QueryRows::sort() {
  std::ranges::stable_sort(rows_, {}, [](const QueryRow& row) { return row.sent; });
}

}  // namespace assay::compare
