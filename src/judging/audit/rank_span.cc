#include "audit/rank_span.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "metrics/point_fold.h"
#include "record/client_audit_json.h"

namespace assay::audit {
namespace {

// Shares of a rate that the clocks may leave open, as for any figure's range.
constexpr double kRateSuspected = 0.05;
constexpr double kRateGuilty = 0.20;

const Json& client_of(const Json& client, std::uint32_t rank) {
  static const Json kNone;
  for (const Json& one : client["ranks"].items()) {
    if (one["rank"].as_int(-1) == static_cast<std::int64_t>(rank)) return one;
  }
  return kNone;
}

Result<RankPart> read_rank(const std::filesystem::path& folder, const record::RankClock& clock,
                           const RunInfo& info, const Json& client, const JudgeOptions& how) {
  RankPart out{.rank = clock.rank, .host = clock.host, .lost = clock.lost};
  if (!clock.lost.empty()) return out;
  metrics::PointFold fold(info, {});
  ASSIGN_OR_RETURN(const auto replay, record::replay_run(folder, fold, clock.rank));
  const metrics::Point point = fold.finish(replay.end.end, replay.end.lost_records);
  out.began = point.began;
  const auto died = [](const record::LogEnd& end) { return end.end.state == RunState::crashed; };
  if (std::ranges::any_of(replay.shards, died)) out.lost = "it died before its end";
  if (!clock.probes.empty()) {
    ASSIGN_OR_RETURN(const auto map, record::ClockMap::make(clock.probes));
    // Own instants of the first and the last record: the offset changes by far less than the run.
    const Instant from = point.began - map.offset(point.began);
    const Instant to = point.ended - map.offset(point.ended);
    out.offset = map.offset(from);
    out.drift_ppm = map.drift() * 1e6;
    out.bound = map.bound_max(from, to);
  }
  const Json& own = client_of(client, clock.rank);
  if (!own.is_null()) {
    out.innocence = judge_client(record::client_audit_from_json(own), point, how);
  }
  return out;
}

}  // namespace

Result<RankSpan> read_ranks(const std::filesystem::path& folder, const record::RunReplay& replay,
                            const metrics::Point& point, const Json& client,
                            const JudgeOptions& how) {
  RankSpan out;
  Instant first = Instant::none();
  Instant last = Instant::none();
  for (const record::RankClock& clock : replay.ranks) {
    ASSIGN_OR_RETURN(RankPart part, read_rank(folder, clock, replay.info, client, how));
    out.bound = std::max(out.bound, part.bound);
    if (part.began.known()) {
      first = first.known() ? std::min(first, part.began) : part.began;
      last = last.known() ? std::max(last, part.began) : part.began;
    }
    out.ranks.push_back(std::move(part));
  }
  if (first.known()) out.start_spread = last - first;
  if (point.rates.duration > Duration{}) {
    out.rate_error =
        2 * static_cast<double>(out.bound.ns) / static_cast<double>(point.rates.duration.ns);
  }
  return out;
}

Innocence judge_ranks(const RankSpan& span) {
  Innocence out;
  // A reason of several ranks is kept once, with their names.
  std::map<std::string, std::size_t> known;
  std::vector<std::string> who;
  for (const RankPart& part : span.ranks) {
    for (const InnocenceReason& reason : part.innocence.reasons) {
      const std::string name = format("rank {}", part.rank);
      const auto [place, fresh] = known.try_emplace(reason.what, out.reasons.size());
      if (fresh) {
        out.reasons.push_back(reason);
        who.push_back(name);
      } else {
        who[place->second] += ", " + name;
      }
    }
  }
  for (std::size_t i = 0; i < out.reasons.size(); ++i) {
    out.reasons[i].what = who[i] + ": " + out.reasons[i].what;
  }
  if (span.rate_error > kRateSuspected) {
    out.reasons.push_back(
        {span.rate_error > kRateGuilty ? ClientLimited::yes : ClientLimited::suspected,
         format("the ranks' clocks leave {:.0f} % of every rate open: they are known to {}",
                100 * span.rate_error, human_duration(span.bound)),
         "measure for longer, or over a network with a shorter way between the hosts"});
  }
  std::ranges::stable_sort(out.reasons, std::ranges::greater{}, &InnocenceReason::weight);
  if (!out.reasons.empty()) out.client_limited = out.reasons.front().weight;
  return out;
}

Json to_json(const RankSpan& span) {
  Json list = Json::array();
  for (const RankPart& part : span.ranks) {
    Json one = Json().set("rank", part.rank).set("host", part.host);
    if (!part.lost.empty()) one.set("lost", part.lost);
    one.set("clock_offset_ns", part.offset.ns)
        .set("clock_drift_ppm", part.drift_ppm)
        .set("clock_bound_ns", part.bound.ns)
        .set("client_limited", to_string(part.innocence.client_limited));
    list.push_back(std::move(one));
  }
  // A spread below what the clocks can tell is no figure.
  const bool seen = span.start_spread > span.bound;
  return Json()
      .set("count", span.ranks.size())
      .set("clock_bound_ns", span.bound.ns)
      .set("start_spread_ns", seen ? Json(span.start_spread.ns) : Json(nullptr))
      .set("rate_error", span.rate_error)
      .set("ranks", std::move(list));
}

std::string ranks_text(const RankSpan& span) {
  std::set<std::string> hosts;
  std::string lost;
  for (const RankPart& part : span.ranks) {
    hosts.insert(part.host);
    if (!part.lost.empty()) {
      lost += format("; rank {} was lost: {}", part.rank, part.lost);
    }
  }
  return format("{} ranks on {}; clocks within {}; started within {}{}", span.ranks.size(),
                counted(hosts.size(), "host"), human_duration(span.bound),
                human_duration(std::max(span.start_spread, span.bound)), lost);
}

}  // namespace assay::audit
